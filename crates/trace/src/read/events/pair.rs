//! Rows from events: arrival, issue and completion of one request find each other by device and sector.

use super::event::{Event, Kind, device_name};
use crate::read::tables::{Bad, Sink};
use crate::read::text::SECTOR;
use ioscape_schema::{Io, IoFlags, Op, Partition, Request};
use rustc_hash::{FxHashMap, FxHashSet};

/// Events looked at to know which kinds the source has.
const PROBE: usize = 1 << 14;
/// Requests under way that are remembered; older ones are forgotten, for their end was lost.
const MOST_OPEN: usize = 1 << 20;

/// Device, first sector, and whether it is a flush without bytes.
type Key = (u32, u64, bool);

/// A map that forgets what was put in long ago.
struct Fading<V> {
    young: FxHashMap<Key, V>,
    old: FxHashMap<Key, V>,
    forgotten: u64,
}

impl<V> Default for Fading<V> {
    fn default() -> Self {
        Self { young: FxHashMap::default(), old: FxHashMap::default(), forgotten: 0 }
    }
}

impl<V: Copy> Fading<V> {
    fn insert(&mut self, key: Key, value: V) {
        if self.young.len() >= MOST_OPEN {
            self.forgotten += self.old.len() as u64;
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    fn get(&self, key: &Key) -> Option<V> {
        self.young.get(key).or_else(|| self.old.get(key)).copied()
    }

    fn remove(&mut self, key: &Key) -> Option<V> {
        if self.young.is_empty() && self.old.is_empty() {
            return None;
        }
        let young = self.young.remove(key);
        if self.old.is_empty() {
            young
        } else {
            self.old.remove(key).filter(|_| young.is_none()).or(young)
        }
    }

    fn len(&self) -> u64 {
        (self.young.len() + self.old.len()) as u64 + self.forgotten
    }
}

/// What is known when a request arrives.
#[derive(Clone, Copy)]
struct Arrival {
    queued_ns: u64,
    process: u32,
    command: u32,
    flags: IoFlags,
}

/// A request at the device.
#[derive(Clone, Copy)]
struct Issued {
    io: Io,
    /// First byte as it was issued, before parts of it completed.
    first: u64,
    len: u64,
    /// Bytes that have completed.
    done: u64,
}

/// What makes a row in this source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowsFrom {
    Completions,
    Issues,
    Arrivals,
}

/// The open requests.
#[derive(Default)]
pub(crate) struct Pairing {
    held: Vec<Event>,
    rows_from: Option<RowsFrom>,
    arrivals: Fading<Arrival>,
    issued: Fading<Issued>,
    partitions: Fading<u32>,
    /// Devices that were sent flushes without bytes: whatever else ends there without bytes is the second end of such a flush.
    flushed: FxHashSet<u32>,
    /// Completions whose beginning is not in the trace.
    orphans: u64,
}

fn key(event: &Event) -> Key {
    (event.device, event.sector, event.bytes == 0)
}

impl Pairing {
    /// Takes the next event in time.
    pub fn take(&mut self, event: Event, sink: &mut Sink<'_>) -> Result<(), Bad> {
        if self.rows_from.is_some() {
            return self.apply(&event, sink);
        }
        self.held.push(event);
        if self.held.len() >= PROBE { self.decide(sink) } else { Ok(()) }
    }

    /// After the last event of a part: what is still open may complete in the next.
    pub fn pause(&mut self, sink: &mut Sink<'_>) {
        if self.held.iter().any(|event| event.kind == Kind::Complete) {
            let _ = self.decide(sink);
        }
    }

    /// After the last event; what is still open is counted in the notes.
    pub fn end(&mut self, sink: &mut Sink<'_>) {
        // A source has at most 65,536 devices when it was read so far; an excess was told as it came.
        let _ = self.decide(sink);
        for (name, count) in [
            ("completions without a beginning", self.orphans),
            ("requests without a completion", self.issued.len()),
        ] {
            if count > 0 {
                sink.tables.info.notes.insert(name.to_owned(), count.to_string());
            }
        }
    }

    fn decide(&mut self, sink: &mut Sink<'_>) -> Result<(), Bad> {
        let held = std::mem::take(&mut self.held);
        let has = |kind| held.iter().any(|event| event.kind == kind);
        if self.rows_from.is_none() {
            self.rows_from = Some(match () {
                () if has(Kind::Complete) => RowsFrom::Completions,
                () if has(Kind::Issue) => RowsFrom::Issues,
                () => RowsFrom::Arrivals,
            });
            if self.rows_from != Some(RowsFrom::Completions) && !held.is_empty() {
                let text = "the trace has no completions: times at the device are not known";
                sink.tables.info.notes.insert("times".to_owned(), text.to_owned());
            }
        }
        held.iter().try_for_each(|event| self.apply(event, sink))
    }

    fn apply(&mut self, event: &Event, sink: &mut Sink<'_>) -> Result<(), Bad> {
        match event.kind {
            Kind::Queue => self.arrive(event, true),
            Kind::Start => self.arrive(event, false),
            Kind::BackMerge => drop(self.arrivals.remove(&key(event))),
            Kind::FrontMerge => self.front_merge(event),
            Kind::Requeue => self.requeue(event),
            Kind::Split => self.split(event),
            Kind::Remap => self.remap(event),
            Kind::Issue => return self.issue(event, sink),
            Kind::Complete => return self.complete(event, sink),
        }
        if event.kind == Kind::Queue && self.rows_from == Some(RowsFrom::Arrivals) {
            let io = self.row(event, sink)?;
            sink.rows.push(io);
        }
        Ok(())
    }

    /// A second arrival at the same place replaces the first: that one's end was lost, or it was merged unseen.
    fn arrive(&mut self, event: &Event, replaces: bool) {
        if replaces || self.arrivals.get(&key(event)).is_none() {
            let Event { process, command, flags, .. } = *event;
            let arrival = Arrival { queued_ns: event.time_ns, process, command, flags };
            self.arrivals.insert(key(event), arrival);
        }
    }

    /// The request behind now starts here and keeps its time.
    fn front_merge(&mut self, event: &Event) {
        let behind = event.sector.saturating_add(event.bytes / SECTOR);
        if let Some(arrival) = self.arrivals.remove(&(event.device, behind, false)) {
            self.arrivals.insert(key(event), arrival);
        }
    }

    fn requeue(&mut self, event: &Event) {
        if let Some(issued) = self.issued.remove(&key(event)) {
            let Io { queued_ns, process, command, flags, .. } = issued.io;
            self.arrivals.insert(key(event), Arrival { queued_ns, process, command, flags });
        }
    }

    /// The second part arrived when the whole did.
    fn split(&mut self, event: &Event) {
        // Text does not tell how long the parts are.
        if let Some(arrival) = self.arrivals.get(&(event.device, event.sector, false)) {
            self.arrivals.insert((event.device, event.from.1, false), arrival);
        }
    }

    fn remap(&mut self, event: &Event) {
        let from = (event.from.0, event.from.1, event.bytes == 0);
        if let Some(arrival) = self.arrivals.get(&from) {
            self.arrivals.insert(key(event), arrival);
        }
        if event.from.0 >> 20 == event.device >> 20 {
            self.partitions.insert(key(event), event.from.0);
        }
    }

    fn issue(&mut self, event: &Event, sink: &mut Sink<'_>) -> Result<(), Bad> {
        let mut io = self.row(event, sink)?;
        if let Some(arrival) = self.arrivals.remove(&key(event)) {
            io.queued_ns = arrival.queued_ns.min(event.time_ns);
            (io.process, io.command) = (arrival.process, arrival.command);
        }
        if event.bytes == 0 && event.flags.contains(IoFlags::FLUSH) {
            self.flushed.insert(event.device);
        }
        if self.rows_from == Some(RowsFrom::Completions) {
            let (first, len) = (io.request.offset, event.bytes);
            self.issued.insert(key(event), Issued { io, first, len, done: 0 });
        } else if self.rows_from == Some(RowsFrom::Issues) {
            sink.rows.push(io);
        }
        Ok(())
    }

    fn complete(&mut self, event: &Event, sink: &mut Sink<'_>) -> Result<(), Bad> {
        if let Some(mut issued) = self.issued.remove(&key(event)) {
            issued.done += event.bytes;
            if issued.done < issued.len && event.bytes > 0 && event.error == 0 {
                let next = event.sector.saturating_add(event.bytes / SECTOR);
                self.issued.insert((event.device, next, false), issued);
                return Ok(());
            }
            issued.io.request.offset = issued.first;
            issued.io.completed_ns = event.time_ns.max(issued.io.issued_ns);
            issued.io.error = event.error;
            sink.rows.push(issued.io);
        } else if event.bytes == 0 && self.flushed.contains(&event.device) {
            // The kernel completes the flush that it sent, then each request that asked for one, of which none was issued.
        } else if let Some(arrival) = self.arrivals.remove(&key(event)) {
            // A device without a queue of its own (device mapper, md): it completes what merely arrived.
            let mut io = self.row(event, sink)?;
            io.queued_ns = arrival.queued_ns.min(event.time_ns);
            io.issued_ns = io.queued_ns;
            (io.process, io.command) = (arrival.process, arrival.command);
            // The end of a flush does not say that it was one.
            io.flags |= arrival.flags;
            io.error = event.error;
            sink.rows.push(io);
        } else if event.bytes > 0 {
            self.orphans += 1;
        }
        Ok(())
    }

    /// A row with all times at this event.
    fn row(&mut self, event: &Event, sink: &mut Sink<'_>) -> Result<Io, Bad> {
        let device =
            sink.tables.device(&event.device.to_le_bytes(), || device_name(event.device))?;
        let flushes = event.bytes == 0 && event.flags.contains(IoFlags::FLUSH);
        // The kernel gives a flush the sector -1; the bytes of a discard may not fit, and none of them moves.
        let offset = if event.bytes == 0 { 0 } else { event.sector.saturating_mul(SECTOR) };
        let most = u64::from(u32::MAX) / SECTOR * SECTOR;
        let len = event.bytes.min(most).min(u64::MAX - offset) as u32;
        let op = if flushes { Op::Write } else { event.op };
        let mut io = Io {
            request: Request { op, offset, len },
            queued_ns: event.time_ns,
            issued_ns: event.time_ns,
            completed_ns: event.time_ns,
            device,
            process: event.process,
            command: event.command,
            flags: event.flags,
            error: event.error,
            ..Io::default()
        };
        if let Some(from) = self.partitions.remove(&key(event)) {
            io.partition = partition(device, event.device, from, sink);
        }
        Ok(io)
    }
}

/// The number of the partition `from` of a device: its minor number less the device's where that is one, else the minor.
fn partition(index: u16, device: u32, from: u32, sink: &mut Sink<'_>) -> u16 {
    let number = match from.checked_sub(device) {
        Some(number @ 1..=255) => number as u16,
        _ => (from & 0xffff) as u16,
    };
    if let Some(device) = sink.tables.info.devices.get_mut(usize::from(index))
        && !device.partitions.iter().any(|known| known.number == number)
        && device.partitions.len() < 1 << 10
    {
        device.partitions.push(Partition { number, name: device_name(from) });
    }
    number
}
