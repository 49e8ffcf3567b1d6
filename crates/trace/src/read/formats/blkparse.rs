//! blkparse's default text: `major,minor cpu sequence seconds.nanoseconds pid action rwbs`, then
//! what depends on the action (blktrace's `doc/blkparse.1` and `blkparse_fmt.c`).

use crate::read::decode::Epoch;
use crate::read::events::{Event, Kind, Pairing, device, positive_error, rwbs};
use crate::read::head::{Head, Likeness};
use crate::read::lines::Pieces;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{SECTOR, decimal, field, number, whole, words, wrong};
use ioscape_schema::IoFlags;

/// Why an event after a summary is refused.
const SECOND: &str = "a second output of blkparse, whose times count from another beginning: put it into a file of its own";

/// Why an event without a count of sectors is refused.
const UNCOUNTED: &str = "no \"+ count\" after the sector, so this is not blkparse's default output: leave out its option -f";

/// Parses blkparse lines.
#[derive(Default)]
pub(crate) struct Blkparse {
    pairing: Pairing,
    /// Whether the summary after the events has begun.
    summary: bool,
}

/// Recognizes the format if any line is an event.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    Likeness::certain_if(head.lines.iter().any(|line| is_event(line)))
}

fn is_event(line: &[u8]) -> bool {
    let Some(([device, cpu, sequence, time, pid, action, _], _)) = words::<7>(line) else {
        return false;
    };
    numbers(device).is_some()
        && [cpu, sequence, pid].iter().all(|word| whole(word).is_some())
        && time.contains(&b'.')
        && decimal(time, 9).is_some()
        && action.len() <= 2
}

/// Whether the summary begins here: with the first CPU or, with `blkparse -s`, with the first
/// process, such as `dd (697)` or `dd (697, ...)`.
fn begins_summary(line: &[u8]) -> bool {
    line.starts_with(b"CPU") || line.starts_with(b"Total") || is_process(line)
}

/// Counts the events that blkparse missed, by a line such as `Skips: 12 forward (3,000 -  30.0%)`
/// for each device. It does not tell on which CPU.
fn count_skipped(line: &[u8], sink: &mut Sink<'_>) {
    let told =
        line.strip_prefix(b"Skips: ").and_then(|told| told.split(|&byte| byte == b'(').nth(1));
    let Some(told) = told.and_then(|told| told.split(|&byte| byte == b'-').next()) else { return };
    // Thousands are grouped as the locale has it.
    let digits: Vec<u8> = told.iter().copied().filter(u8::is_ascii_digit).collect();
    if let Some(events) = whole(&digits).filter(|events| *events > 0) {
        let lost = &mut sink.tables.info.lost_by_cpu;
        lost.resize(lost.len().max(1), 0);
        lost[0] = lost[0].saturating_add(events);
    }
}

fn is_process(line: &[u8]) -> bool {
    let Some(inner) = line.trim_ascii_end().strip_suffix(b")") else { return false };
    let Some(open) = memchr::memrchr(b'(', inner) else { return false };
    let process = inner[open + 1..].strip_suffix(b", ...").unwrap_or(&inner[open + 1..]);
    // Messages may end like this too, but they begin with their device.
    let has_device = words::<1>(line).is_some_and(|([first], _)| numbers(first).is_some());
    whole(process).is_some() && !has_device
}

/// Parses a device such as `8,16`.
pub(super) fn numbers(text: &[u8]) -> Option<u32> {
    let comma = memchr::memchr(b',', text)?;
    device(whole(&text[..comma])?, whole(&text[comma + 1..])?)
}

/// Returns the kind of an action, if it matters here.
fn kind(action: &[u8]) -> Option<Kind> {
    Some(match action {
        b"Q" => Kind::Queue,
        b"G" | b"I" => Kind::Start,
        b"M" => Kind::BackMerge,
        b"F" => Kind::FrontMerge,
        b"D" => Kind::Issue,
        b"R" => Kind::Requeue,
        b"C" => Kind::Complete,
        b"X" => Kind::Split,
        b"A" => Kind::Remap,
        _ => return None,
    })
}

impl Pieces for Blkparse {
    const EPOCH: Epoch = Epoch::Start;

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        self.summary |= begins_summary(line);
        if self.summary {
            count_skipped(line, sink);
            return if is_event(line) { Err(SECOND.into()) } else { Ok(()) };
        }
        let ([place, cpu, sequence, time, pid, action], count) =
            words::<6>(line).ok_or("fewer than 6 fields")?;
        let device = numbers(place).ok_or_else(|| wrong("the device", place))?;
        field(whole(cpu).and(whole(sequence)), "the CPU", cpu)?;
        let time_ns = field(decimal(time, 9), "the time", time)?;
        let process = field(whole(pid).filter(|p| *p <= u64::from(u32::MAX)), "the process", pid)?;
        let Some(kind) = kind(action) else { return known(action) };
        if count < 8 {
            return Err("an action without letters and sector".into());
        }
        let ([_, _, _, _, _, _, letters, sector], _) = words::<8>(line).ok_or("a short line")?;
        let mut event = Event::new(kind, time_ns, device, 0);
        (event.op, event.flags) = rwbs(letters).ok_or_else(|| wrong("the letters", letters))?;
        event.process = process as u32;
        if sector.starts_with(b"[") || sector.starts_with(b"(") {
            // A flush, or a command that is not a transfer: no sector is recorded.
            return self.without_sector(event, sink);
        }
        event.sector = number("the sector", sector)?;
        if rest(&mut event, line, sink)? { self.pairing.take(event, sink) } else { Ok(()) }
    }

    fn end(&mut self, sink: &mut Sink<'_>) {
        self.pairing.end(sink);
    }
}

impl Blkparse {
    fn without_sector(&mut self, event: Event, sink: &mut Sink<'_>) -> Result<(), Bad> {
        if event.flags.contains(IoFlags::FLUSH) {
            return self.pairing.take(event, sink);
        }
        Ok(())
    }
}

/// Accepts actions that say nothing about a request: plugs, timers, messages, bounces.
fn known(action: &[u8]) -> Result<(), Bad> {
    match action {
        b"P" | b"U" | b"UT" | b"m" | b"S" | b"B" | b"N" | b"T" => Ok(()),
        _ => Err(wrong("the action", action)),
    }
}

/// Parses what follows the sector: `+ n`, `/ sector`, `<- (major,minor) sector`, and at the end
/// `[comm]` or `[error]`. Returns `false` for a command that is passed through to the device.
fn rest(event: &mut Event, line: &[u8], sink: &mut Sink<'_>) -> Result<bool, Bad> {
    let [mark, place] = match words::<10>(line) {
        Some((cells, _)) => [cells[8], cells[9]],
        None => [words::<9>(line).map_or(&b""[..], |(cells, _)| cells[8]), b""],
    };
    match (mark, event.kind) {
        (b"+", _) => {
            let count = number("the sector count", place)?;
            event.bytes = count.checked_mul(SECTOR).ok_or("a sector count beyond 2^55")?;
        }
        (b"/", Kind::Split) => event.from.1 = number("the sector", place)?,
        // It moved nothing.
        ([b'[' | b'(', ..], Kind::Complete | Kind::Requeue) => {}
        // Bytes rather than a sector, before a command in parentheses or nothing.
        ([b'[' | b'(', ..], Kind::Start | Kind::Issue) => return Ok(false),
        _ => return Err(UNCOUNTED.into()),
    }
    if event.kind == Kind::Remap {
        let (found, _) = words::<13>(line).ok_or("a remapping without its origin")?;
        let bare = found[11].strip_prefix(b"(").and_then(|t| t.strip_suffix(b")"));
        let from = bare.and_then(numbers).ok_or_else(|| wrong("the origin", found[11]))?;
        event.from = (from, number("the origin's sector", found[12])?);
    }
    if let Some(inner) = bracket(line) {
        match event.kind {
            Kind::Complete => {
                let told = whole(inner).map_or(0, |error| error.min(0xffff) as u16);
                event.error = positive_error(told);
            }
            _ if inner != b"(null)" => event.command = sink.tables.command(inner),
            _ => {}
        }
    }
    Ok(true)
}

/// Returns what is in the brackets at the end of a line: a command, which may contain brackets, or
/// an error.
pub(super) fn bracket(line: &[u8]) -> Option<&[u8]> {
    let open = memchr::memchr(b'[', line)?;
    let close = memchr::memrchr(b']', line)?;
    line.get(open + 1..close)
}
