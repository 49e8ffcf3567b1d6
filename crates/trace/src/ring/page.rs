//! One CPU's pages: a header with the first time and the number of bytes, then entries with time
//! differences (Linux's `kernel/trace/ring_buffer.c` and `include/linux/ring_buffer.h`).

use super::layout::{EventLayout, Field, Layout};
use crate::error::Error;
use crate::read::{Event, Input, is_passed_through, kernel_rwbs};
use std::collections::VecDeque;

/// Bits of the page's commit field: the bytes used, "events are missing before it", and "their
/// number is at its end".
const COUNT: u64 = 0xf_ffff;
const MISSED: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;
/// Kinds of entries other than events of up to 28 words.
const LONG: u32 = 0;
const PADDING: u32 = 29;
const EXTEND: u32 = 30;
const STAMP: u32 = 31;
/// Bits of an entry's time difference, and of the entry's kind below it.
const DELTA_SHIFT: u32 = 27;
const KIND_BITS: u32 = 5;
/// Bits of an absolute timestamp; the bits above are the last time's.
const STAMP_BITS: u32 = 59;
/// The longest name of a command.
const COMM: usize = 16;

/// An event, with the name of its process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub event: Event,
    comm: [u8; COMM],
}

impl Found {
    /// The name, which ends at a zero.
    pub fn command(&self) -> &[u8] {
        self.comm.split(|byte| *byte == 0).next().unwrap_or(&[])
    }
}

/// The pages of one CPU.
#[derive(Default)]
pub(super) struct Pages {
    /// Read one after the other.
    inputs: VecDeque<Input>,
    /// Events of the current page, the next one last.
    events: Vec<Found>,
    /// Events that the kernel reports as dropped.
    pub lost: u64,
}

impl Pages {
    /// Appends more pages.
    pub fn add(&mut self, input: Input) {
        self.inputs.push_back(input);
    }

    /// The time of the next event.
    pub fn peek(&mut self, layout: &Layout) -> Result<Option<u64>, Error> {
        while self.events.is_empty() {
            let Some(input) = self.inputs.front_mut() else { return Ok(None) };
            let page = input.peek(layout.page)?;
            if page.len() < layout.page {
                // The last page of a cut recording: its content cannot be told from stale data.
                self.inputs.pop_front();
                continue;
            }
            self.lost += page_of(&page[..layout.page], layout, &mut self.events);
            self.events.reverse();
            input.consume(layout.page);
        }
        Ok(self.events.last().map(|found| found.event.time_ns))
    }

    /// Takes the next event, after a peek.
    pub fn next(&mut self) -> Option<Found> {
        self.events.pop()
    }
}

fn number(bytes: &[u8], field: Field) -> u64 {
    let mut value = [0; 8];
    let size = field.size.min(8);
    if let Some(found) = bytes.get(field.offset..field.offset + size) {
        value[..size].copy_from_slice(found);
    }
    u64::from_le_bytes(value)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Adds the events of one page; returns how many events are missing before it.
fn page_of(page: &[u8], layout: &Layout, events: &mut Vec<Found>) -> u64 {
    let commit = number(page, Field { size: layout.commit.size.min(4), ..layout.commit });
    let data = page.get(layout.data..).unwrap_or(&[]);
    let end = (commit & COUNT).min(data.len() as u64) as usize;
    let mut time_ns = number(page, Field { offset: 0, size: 8 });
    let mut at = 0;
    while at + 4 <= end {
        let head = word(data, at);
        let (kind, delta) = (head & ((1 << KIND_BITS) - 1), u64::from(head >> KIND_BITS));
        let next = u64::from(word(data, at + 4));
        match kind {
            PADDING if delta == 0 => break,
            PADDING => {
                time_ns = time_ns.wrapping_add(delta);
                at += 4 + next as usize;
                continue;
            }
            EXTEND => {
                time_ns = time_ns.wrapping_add(delta).wrapping_add(next << DELTA_SHIFT);
                at += 8;
                continue;
            }
            STAMP => {
                let above = time_ns >> STAMP_BITS << STAMP_BITS;
                time_ns = above | (delta | next << DELTA_SHIFT) & ((1 << STAMP_BITS) - 1);
                at += 8;
                continue;
            }
            _ => time_ns = time_ns.wrapping_add(delta),
        }
        // A long entry's length counts its own word.
        let (from, length) = if kind == LONG {
            (at + 8, (next as usize).saturating_sub(4))
        } else {
            (at + 4, 4 * kind as usize)
        };
        let Some(entry) = data[..end].get(from..from.saturating_add(length)) else { break };
        events.extend(event(entry, time_ns, layout));
        at = from + length.max(1).next_multiple_of(4);
    }
    missing(commit, data, end)
}

fn missing(commit: u64, data: &[u8], end: usize) -> u64 {
    if commit & MISSED == 0 {
        return 0;
    }
    let stored = Field { offset: end, size: 8 };
    if commit & MISSED_STORED != 0 { number(data, stored).clamp(1, 1 << 48) } else { 1 }
}

/// Decodes an entry, if it is an event of a known kind and of a request.
fn event(entry: &[u8], time_ns: u64, layout: &Layout) -> Option<Found> {
    let id = u16::from_le_bytes(entry.get(..2)?.try_into().ok()?);
    let fields: &EventLayout = layout.events.get(&id)?;
    let sector = number(entry, fields.sector);
    let device = number(entry, fields.device) as u32;
    // A flush has no sector: the kernel writes -1.
    let mut event =
        Event::new(fields.kind, time_ns, device, if sector == u64::MAX { 0 } else { sector });
    let letters = entry.get(fields.rwbs.offset..fields.rwbs.offset + fields.rwbs.size)?;
    let letters = letters.split(|byte| *byte == 0).next().unwrap_or(&[]);
    (event.op, event.flags) = kernel_rwbs(letters)?;
    event.process = number(entry, fields.pid) as u32;
    let sectors = number(entry, fields.sectors) & u64::from(u32::MAX);
    if is_passed_through(letters, sector, sectors) {
        return None;
    }
    event.bytes = match fields.bytes.map(|bytes| number(entry, bytes)) {
        Some(bytes) if bytes > 0 => bytes,
        _ => sectors * 512,
    };
    event.error =
        fields.error.map_or(0, |field| (number(entry, field) as i32).unsigned_abs() as u16);
    let old = |field: Option<Field>| field.map_or(0, |field| number(entry, field));
    event.from = (old(fields.old_device) as u32, old(fields.old_sector));
    let mut comm = [0; COMM];
    if let Some(found) = fields.comm.and_then(|f| entry.get(f.offset..f.offset + f.size.min(COMM)))
    {
        comm[..found.len()].copy_from_slice(found);
    }
    Some(Found { event, comm })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Kind;
    use ioscape_schema::IoFlags;
    use proptest::prelude::*;

    fn layout() -> Layout {
        let header = "field: u64 timestamp; offset:0; size:8;\nfield: local_t commit; offset:8; size:8;\nfield: char data; offset:16; size:240;\n";
        let text = "name: block_rq_issue\nID: 7\nfield:int common_pid; offset:4; size:4;\nfield:dev_t dev; offset:8; size:4;\n\
            field:sector_t sector; offset:16; size:8;\nfield:unsigned int nr_sector; offset:24; size:4;\n\
            field:char rwbs[8]; offset:28; size:8;\nfield:char comm[4]; offset:36; size:4;\n";
        Layout::parse(header, &[text]).unwrap()
    }

    fn entry(sector: u64) -> Vec<u8> {
        entry_of(sector, 8, b"WS\0\0\0\0\0\0")
    }

    fn entry_of(sector: u64, sectors: u32, rwbs: &[u8; 8]) -> Vec<u8> {
        let mut entry = vec![7, 0, 0, 0];
        entry.extend(9u32.to_le_bytes());
        entry.extend((8u32 << 20).to_le_bytes());
        entry.extend([0; 4]);
        entry.extend(sector.to_le_bytes());
        entry.extend(sectors.to_le_bytes());
        entry.extend(rwbs);
        entry.extend(b"fio\0");
        entry
    }

    fn page(missed: u32, entries: &[u8]) -> Vec<u8> {
        let mut page = 1_000u64.to_le_bytes().to_vec();
        page.extend((entries.len() as u32 | missed).to_le_bytes());
        page.extend([0; 4]);
        page.extend(entries);
        page.resize(256, 0);
        page
    }

    #[test]
    fn times_and_fields_of_a_page() {
        let mut entries = (10u32 | 5 << KIND_BITS).to_le_bytes().to_vec();
        entries.extend(entry(64));
        entries.extend((EXTEND | 1 << KIND_BITS).to_le_bytes());
        entries.extend(1u32.to_le_bytes());
        entries.extend((LONG | 2 << KIND_BITS).to_le_bytes());
        entries.extend(44u32.to_le_bytes());
        entries.extend(entry(u64::MAX));
        let mut events = Vec::new();
        assert_eq!(page_of(&page(0, &entries), &layout(), &mut events), 0);
        let times: Vec<u64> = events.iter().map(|found| found.event.time_ns).collect();
        assert_eq!(times, [1005, 1005 + 1 + (1 << 27) + 2]);
        let first = events[0].event;
        assert_eq!(
            (first.kind, first.sector, first.bytes, first.process),
            (Kind::Issue, 64, 4096, 9)
        );
        assert_eq!((events[0].command(), events[1].event.sector), (&b"fio"[..], 0));
    }

    /// The kernel reports a passed-through command without sectors at issue, and with -1 as its
    /// first sector at completion.
    #[test]
    fn commands_that_are_passed_through_are_no_events_and_zeroes_are() {
        let of =
            |sector, sectors| event(&entry_of(sector, sectors, b"N\0\0\0\0\0\0\0"), 5, &layout());
        assert!([of(0, 0), of(u64::MAX, 0), of(u64::MAX, 1)].iter().all(Option::is_none));
        let zeroes = of(64, 8).expect("it has sectors").event;
        assert_eq!((zeroes.bytes, zeroes.flags), (4096, IoFlags::ZEROES));
    }

    #[test]
    fn missing_events_are_counted() {
        assert_eq!(page_of(&page(MISSED as u32, &[]), &layout(), &mut Vec::new()), 1);
        let mut with_count = page((MISSED | MISSED_STORED) as u32, &[]);
        with_count[16..24].copy_from_slice(&27u64.to_le_bytes());
        assert_eq!(page_of(&with_count, &layout(), &mut Vec::new()), 27);
    }

    proptest! {
        #[test]
        fn no_page_panics(bytes in prop::collection::vec(any::<u8>(), 0..256), head in any::<[u8; 12]>()) {
            let mut page = head.to_vec();
            page.extend(bytes);
            page_of(&page, &layout(), &mut Vec::new());
        }
    }
}
