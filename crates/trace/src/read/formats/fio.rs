//! fio's iolog, versions 2 and 3 (fio's HOWTO). Files become devices. Version 2 records time only
//! as waits. fio's logs of samples are not traces.

use crate::read::decode::Epoch;
use crate::read::head::{Head, Likeness};
use crate::read::lines::Pieces;
use crate::read::row::at;
use crate::read::tables::{Bad, Sink, without};
use crate::read::text::{field, fields, number, request, whole, words, wrong};
use ioscape_schema::{Io, IoFlags, Op, Request};

/// First lines of the two versions.
const MAGICS: [&[u8]; 2] = [b"fio version 2 iolog", b"fio version 3 iolog"];

/// The note about a log without any times.
const ARRIVALS: &str = "arrivals";

/// The note that counts calls of `sync_file_range`.
const RANGES: &str = "ranges synced";

/// What is said of waits. fio's `iolog.c` and its HOWTO differ.
const WAITS: &str = "waits are taken as fio replays them, as milliseconds since its start; its manual calls them microseconds since the previous wait: if the log was written by the manual, all times of arrivals are wrong";

/// Recognizes the format by the line of a version at the beginning.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    Likeness::certain_if(MAGICS.iter().any(|magic| head.bytes.starts_with(magic)))
}

/// Whether at least half of the lines are samples of bandwidth, latency or IOPS. These are numbers
/// only, like the requests of other formats.
pub(super) fn are_samples(head: &Head<'_>) -> bool {
    let count = head.lines.iter().filter(|line| is_sample(line)).count();
    count > 0 && 2 * count >= head.lines.len()
}

/// Whether a line is `milliseconds, value, direction, bytes, ...`, with a blank after each comma,
/// unlike other formats. Means (`log_avg_msec`) have 0 bytes. No sample has 1 byte, which marks a
/// write in another format.
fn is_sample(line: &[u8]) -> bool {
    let Some(([time, value, direction, bytes], _)) = fields::<4>(line, b',') else { return false };
    let are_numbers = [time, value, bytes].iter().all(|text| whole(text).is_some());
    let is_spaced = line.windows(2).filter(|two| *two == b", ").count() > 2;
    are_numbers && is_spaced && matches!(direction, b"0" | b"1" | b"2") && bytes != b"1"
}

/// Notes, once, that no request has a time.
fn without_arrivals(sink: &mut Sink<'_>) {
    let text = "version 2 of fio's iolog tells no times but waits, and there are none: all requests count as arriving at one time, so that times between arrivals, rates and queues say nothing";
    without(sink, ARRIVALS, text);
}

/// Parses lines of an iolog.
#[derive(Default)]
pub(crate) struct FioLog {
    version: u8,
    now_ns: u64,
    /// Number of calls of `sync_file_range`.
    ranges: u64,
}

impl Pieces for FioLog {
    const EPOCH: Epoch = Epoch::Start;

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        if let Some(index) = MAGICS.iter().position(|magic| line.starts_with(magic)) {
            self.version = index as u8 + 2;
            return Ok(());
        }
        match self.version {
            2 => self.entry(line, sink),
            3 => {
                let ([time], _) = words::<1>(line).ok_or("an empty line")?;
                let us = field(whole(time).filter(|us| *us < 1 << 53), "the time", time)?;
                self.now_ns = us * 1000;
                let rest = line.trim_ascii_start().get(time.len()..).unwrap_or_default();
                self.entry(rest, sink)
            }
            _ => {
                Err("the first line is not \"fio version 2 iolog\" or \"fio version 3 iolog\""
                    .into())
            }
        }
    }
}

impl FioLog {
    /// Parses `file action [offset length]`.
    fn entry(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let ([file, action], count) = words::<2>(line).ok_or("neither file nor action")?;
        let numbers = words::<4>(line).map(|(cells, _)| [cells[2], cells[3]]);
        let both = || {
            let [offset, length] = numbers.ok_or("no offset and length")?;
            let offset = number("the offset", offset)?;
            Ok::<_, Bad>((offset, number("the length", length)?))
        };
        let (op, flags) = match action {
            b"add" | b"open" => return sink.tables.device_named(file).map(drop),
            b"close" => return Ok(()),
            // It begins to write what is cached, and moves no data itself.
            b"sync_file_range" => {
                self.ranges += 1;
                sink.tables.info.notes.insert(RANGES.to_owned(), self.ranges.to_string());
                return Ok(());
            }
            b"wait" if self.version == 2 => return self.wait(line, sink),
            b"read" => (Op::Read, IoFlags::empty()),
            b"write" => (Op::Write, IoFlags::empty()),
            b"trim" => (Op::Write, IoFlags::DISCARD),
            b"sync" | b"datasync" => (Op::Write, IoFlags::FLUSH),
            _ => return Err(wrong("the action", action)),
        };
        let wanted = if flags == IoFlags::FLUSH {
            Request { op, offset: 0, len: 0 }
        } else if count > 4 {
            return Err("more than an offset and a length".into());
        } else {
            let (offset, length) = both()?;
            request(op, offset, length)?
        };
        let device = sink.tables.device_named(file)?;
        if self.version == 2 && self.now_ns == 0 {
            without_arrivals(sink);
        }
        sink.rows.push(Io { flags, ..at(self.now_ns, wanted, device) });
        Ok(())
    }

    /// Parses `file wait milliseconds ...`: the next request comes no earlier after fio's start.
    fn wait(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let ([_, _, time], _) = words::<3>(line).ok_or("a wait without its time")?;
        let ms = field(whole(time).filter(|ms| *ms < 1 << 43), "the wait", time)?;
        self.now_ns = self.now_ns.max(ms * 1_000_000);
        if self.now_ns > 0 {
            let notes = &mut sink.tables.info.notes;
            notes.remove(ARRIVALS);
            notes.insert("waits".to_owned(), WAITS.to_owned());
        }
        Ok(())
    }
}
