//! Block events as text: tracefs (`trace`, `trace_pipe`), `trace-cmd report` and `perf script`,
//! which write the event's own part alike.
//!
//! A line is `comm-pid [cpu] flags seconds.micros: event: body` or
//! `comm pid [cpu] seconds.micros: block:event: body`; perf may leave out the CPU.

use super::blkparse::{bracket, numbers};
use crate::read::decode::Epoch;
use crate::read::events::{Event, Kind, Pairing, is_passed_through, kernel_event, kernel_rwbs};
use crate::read::head::{Head, Likeness};
use crate::read::lines::Pieces;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{SECTOR, decimal, hex, number, whole, wrong};

/// Parses lines of block events.
#[derive(Default)]
pub(crate) struct TraceEvents {
    pairing: Pairing,
}

/// A line, cut into its parts.
struct Cut<'a> {
    comm: &'a [u8],
    process: u32,
    time_ns: u64,
    /// Whether the time is in seconds, which have a decimal point. Some kernel clocks count other
    /// units.
    in_seconds: bool,
    name: &'a [u8],
    body: &'a [u8],
}

/// Why times without a point are refused.
const NO_SECONDS: &str =
    "a time without a point, of a clock that counts no seconds: record with another trace_clock";

/// Recognizes the format if any line is a block event.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    let is_event = |line: &&[u8]| cut(line).is_some_and(|cut| cut.name.starts_with(b"block_"));
    Likeness::certain_if(head.lines.iter().any(is_event))
}

/// Cuts a line into its parts.
fn cut(line: &[u8]) -> Option<Cut<'_>> {
    let (comm, process, after) = at_cpu(line).or_else(|| at_time(line))?;
    let colon = memchr::memmem::find(after, b": ")?;
    let time = after[..colon].rsplit(|byte| *byte == b' ').next()?;
    let rest = after[colon + 1..].trim_ascii_start();
    let name_end = memchr::memmem::find(rest, b": ")?;
    let name = rest[..name_end].rsplit(|byte| *byte == b':').next()?;
    Some(Cut {
        comm,
        process,
        time_ns: decimal(time, 9)?,
        in_seconds: time.contains(&b'.'),
        name,
        body: rest[name_end + 1..].trim_ascii(),
    })
}

/// Returns the command, the process and what follows `[cpu]`. A command may contain brackets too.
/// The brackets of the CPU hold a number of at least three digits and follow a process and a blank.
fn at_cpu(line: &[u8]) -> Option<(&[u8], u32, &[u8])> {
    let mut from = 0;
    loop {
        let open = from + memchr::memchr(b'[', line.get(from..)?)?;
        let close = open + memchr::memchr(b']', &line[open..])?;
        let (head, inner) = (&line[..open], &line[open + 1..close]);
        if inner.len() > 2
            && inner.iter().all(u8::is_ascii_digit)
            && head.last().is_some_and(u8::is_ascii_whitespace)
            && let Some((comm, process)) = command_and_process(head)
        {
            return Some((comm, process, line[close + 1..].trim_ascii_start()));
        }
        from = open + 1;
    }
}

/// Does the same for a line without CPU, where the time is the last word before the first `: `.
fn at_time(line: &[u8]) -> Option<(&[u8], u32, &[u8])> {
    let colon = memchr::memmem::find(line, b": ")?;
    let blank = memchr::memrchr(b' ', &line[..colon])?;
    let (comm, process) = command_and_process(&line[..blank])?;
    Some((comm, process, &line[blank + 1..]))
}

/// Returns the command of `comm-pid` or `comm pid`, and the number of its thread, which is last in
/// perf's `comm pid/tid`. perf may leave out the command.
fn command_and_process(head: &[u8]) -> Option<(&[u8], u32)> {
    let head = without_thread_group(head.trim_ascii());
    let at = head.iter().rposition(|byte| !byte.is_ascii_digit())?;
    let thread = u32::try_from(whole(&head[at + 1..])?).ok()?;
    let comm = match head[at] {
        b'-' | b' ' | b'\t' => &head[..at],
        b'/' => {
            let from = memchr::memrchr(b' ', &head[..at]).map_or(0, |blank| blank + 1);
            whole(&head[from..at])?;
            &head[..from]
        }
        _ => return None,
    };
    Some((comm.trim_ascii(), thread))
}

/// Returns what comes before `(TGID)`, the column of ftrace's `record-tgid`, which has dashes if
/// the group is unknown.
fn without_thread_group(head: &[u8]) -> &[u8] {
    let inner = head.strip_suffix(b")").and_then(|head| {
        let open = memchr::memrchr(b'(', head)?;
        let is_group = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-');
        head[open + 1..].iter().all(is_group).then_some(open)
    });
    inner.map_or(head, |open| head[..open].trim_ascii())
}

impl Pieces for TraceEvents {
    const EPOCH: Epoch = Epoch::Clock { unix_offset_ns: None };

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        if line.starts_with(b"#") || line.trim_ascii().is_empty() || is_of_trace_cmd(line) {
            return Ok(());
        }
        if let Some(lost) = lost_events(line) {
            return count_lost(lost, sink);
        }
        let Some(cut) = cut(line) else {
            let why = "not of the form command pid [cpu] time: event: ...";
            return if is_of_stack(line) { Ok(()) } else { Err(why.into()) };
        };
        let Some(kind) = kernel_event(cut.name) else { return Ok(()) };
        if !cut.in_seconds {
            return Err(NO_SECONDS.into());
        }
        let mut event = Event::new(kind, cut.time_ns, 0, 0);
        event.process = cut.process;
        if !body(&mut event, cut.body)? {
            return Ok(());
        }
        event.command = sink.tables.command(cut.comm);
        self.pairing.take(event, sink)
    }

    fn end(&mut self, sink: &mut Sink<'_>) {
        self.pairing.end(sink);
    }
}

/// Whether `trace-cmd report` writes this line before the first event.
fn is_of_trace_cmd(line: &[u8]) -> bool {
    let words: [&[u8]; 2] = [b"cpus=", b"version = "];
    words.iter().any(|word| line.starts_with(word))
        || line.starts_with(b"CPU ") && line.ends_with(b" is empty")
}

/// Whether a line is of the call stack below an event: `=> function`, or perf's address and function
/// after a tab. After blanks, `dd` is a command.
fn is_of_stack(line: &[u8]) -> bool {
    let word = line.trim_ascii_start().split(u8::is_ascii_whitespace).next();
    word.is_some_and(|word| word == b"=>" || line.starts_with(b"\t") && hex(word).is_some())
}

/// Parses `major,minor letters [bytes (command)] sector + count ...`, with `/ sector` for a split
/// and `<- (major,minor) sector` for a remapping. Returns `false` for a command that is passed
/// through.
fn body(event: &mut Event, body: &[u8]) -> Result<bool, Bad> {
    let mut words = body.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let mut next = || words.next().ok_or("an event that is too short");
    let place = next()?;
    event.device = numbers(place).ok_or_else(|| wrong("the device", place))?;
    let letters = next()?;
    (event.op, event.flags) = kernel_rwbs(letters).ok_or_else(|| wrong("the letters", letters))?;
    let mut word = next()?;
    let mut told_bytes = None;
    // Requests record their bytes and, in parentheses, a SCSI command, which may contain spaces.
    let first = word;
    if let Some(start) = memchr::memchr(b'(', body)
        && (first.starts_with(b"(") || body[..start].trim_ascii_end().ends_with(first))
        && event.kind != Kind::Remap
    {
        told_bytes = whole(first);
        while !word.ends_with(b")") {
            word = next()?;
        }
        word = next()?;
    }
    let sector = number("the sector", word)?;
    // A flush has no sector, so the kernel writes -1.
    event.sector = if sector == u64::MAX { 0 } else { sector };
    match next()? {
        b"+" => {
            let count = next()?;
            let sectors = number("the sector count", count)?;
            if is_passed_through(letters, sector, sectors) {
                return Ok(false);
            }
            event.bytes = sectors.checked_mul(SECTOR).ok_or("a sector count beyond 2^55")?;
        }
        b"/" => {
            let second = next()?;
            event.from.1 = number("the sector", second)?;
        }
        sign => return Err(wrong("the sign after the sector", sign)),
    }
    if event.kind == Kind::Remap {
        next()?;
        let origin = next()?;
        let bare = origin.strip_prefix(b"(").and_then(|t| t.strip_suffix(b")"));
        let from = bare.and_then(numbers).ok_or_else(|| wrong("the origin", origin))?;
        let sector = next()?;
        event.from = (from, number("the origin's sector", sector)?);
    }
    if let Some(bytes) = told_bytes.filter(|bytes| *bytes > 0) {
        event.bytes = bytes;
    }
    if event.kind == Kind::Complete {
        let digits = bracket(body).map(|inner| inner.strip_prefix(b"-").unwrap_or(inner));
        event.error = digits.and_then(whole).map_or(0, |error| error.min(0xffff) as u16);
    }
    Ok(true)
}

/// Parses `CPU:1 [LOST 27 EVENTS]` or, from trace-cmd, `CPU:1 [27 EVENTS DROPPED]` into the CPU and
/// the number of events.
fn lost_events(line: &[u8]) -> Option<(u64, u64)> {
    let told = line.trim_ascii_start().strip_prefix(b"CPU:")?;
    let open = memchr::memchr(b'[', told)?;
    let (cpu, lost) = (told[..open].trim_ascii(), &told[open + 1..]);
    let dropped = || Some(lost).filter(|lost| lost.ends_with(b"DROPPED]"));
    let count = lost.strip_prefix(b"LOST ").or_else(dropped)?.split(|byte| *byte == b' ').next()?;
    Some((whole(cpu)?, whole(count).unwrap_or(1)))
}

fn count_lost((cpu, count): (u64, u64), sink: &mut Sink<'_>) -> Result<(), Bad> {
    let cpu = usize::try_from(cpu).ok().filter(|cpu| *cpu < 1 << 13).ok_or("a CPU above 8191")?;
    let lost = &mut sink.tables.info.lost_by_cpu;
    lost.resize(lost.len().max(cpu + 1), 0);
    lost[cpu] = lost[cpu].saturating_add(count);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> Event {
        let cut = cut(line.as_bytes()).unwrap();
        let mut event = Event::new(kernel_event(cut.name).unwrap(), cut.time_ns, 0, 0);
        assert!(body(&mut event, cut.body).unwrap(), "it is of a request");
        event
    }

    #[test]
    fn tracefs_and_perf_lines_are_read() {
        let perf = "             uio 13938 [001]  1425.254090:    block:block_rq_issue: 254,0 RA 32768 () 35571328 + 64 0x2,0,4 [uio]";
        let issued = event(perf);
        assert_eq!((issued.kind, issued.time_ns), (Kind::Issue, 1_425_254_090_000));
        assert_eq!((issued.device, issued.sector, issued.bytes), (254 << 20, 35_571_328, 32_768));
        let done = event(
            "  kworker/1:2-77 [001] ..s1. 12.5: block_rq_complete: 8,16 WS (2a 00) 64 + 8 be,0,4 [-5]",
        );
        assert_eq!((done.kind, done.error, done.bytes, done.sector), (Kind::Complete, 5, 4096, 64));
        let queued =
            event("a [b] c-d-9 [000] d..1 1.000001: block_bio_queue: 7,0 W 8 + 16 [a [b] c-d]");
        assert_eq!((queued.kind, queued.bytes, queued.time_ns), (Kind::Queue, 8192, 1_000_001_000));
        let mapped = event("x-1 [000] .... 1.0: block_bio_remap: 8,0 R 2056 + 8 <- (8,1) 8");
        assert_eq!((mapped.kind, mapped.from), (Kind::Remap, (8 << 20 | 1, 8)));
        let flush =
            event("x-1 [000] .... 1.0: block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 [x]");
        assert_eq!((flush.sector, flush.bytes), (0, 0));
    }

    #[test]
    fn lost_events_are_counted_by_cpu() {
        assert_eq!(lost_events(b"CPU:1 [LOST 27 EVENTS]"), Some((1, 27)));
        assert_eq!(lost_events(b"CPU:0 [LOST EVENTS]"), Some((0, 1)));
        assert_eq!(lost_events(b"CPU:2 [3 EVENTS DROPPED]"), Some((2, 3)));
        assert_eq!(lost_events(b"CPU:2 [EVENTS DROPPED]"), Some((2, 1)));
        assert_eq!(lost_events(b"CPU:2-7 [001] 1.0: block_plug: [a]"), None);
    }

    #[test]
    fn commands_have_brackets_and_numbers_of_their_own() {
        for (head, comm, process) in [
            ("worker[1000]-77 [001] ..... ", "worker[1000]", 77),
            ("   wk9[1000] 77 [001]    ", "wk9[1000]", 77),
            ("dd  1234/1235 [001] ", "dd", 1235),
            ("kworker/1:2-77  [001]  ", "kworker/1:2", 77),
            ("dd  1234 ", "dd", 1234),
            ("dd  1234/1235 ", "dd", 1235),
            (" 1234/1235 [001] ", "", 1235),
            (" 1234/1235 ", "", 1235),
        ] {
            let line = format!("{head}1.5: block_rq_issue: 8,0 R 512 () 8 + 1 [x]");
            let found = cut(line.as_bytes()).expect("it is an event");
            assert_eq!((found.comm, found.process), (comm.as_bytes(), process), "{line}");
            assert_eq!((found.time_ns, found.name), (1_500_000_000, &b"block_rq_issue"[..]));
        }
        assert!(cut(b"worker[1000] [001] 1.5: block_plug: [a]").is_none(), "no process");
    }
}
