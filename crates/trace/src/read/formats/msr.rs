//! MSR Cambridge traces: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, with
//! Windows times in units of 100 ns (see its README.txt), or as passed on with times from 1970 or
//! from the beginning.

use crate::read::decode::Epoch;
use crate::read::lines::Pieces;
use crate::read::row::answered;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{field, fields, letter, number, only, request, whole, wrong};

/// 1 January 1970 in units of 100 ns since 1601.
const UNIX: u64 = 116_444_736_000_000_000;

/// Parses MSR lines.
#[derive(Default)]
pub(crate) struct Msr {
    key: Vec<u8>,
    /// The beginning of all times, in units of 100 ns, and what it is; known from the first row.
    begin: Option<(u64, Epoch)>,
}

impl Pieces for Msr {
    const EPOCH: Epoch = Epoch::Unix;
    const NAMES: &'static str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [time, host, disk, op, offset, size, response] = only(fields::<7>(line, b','))?;
        let ticks = number("the time", time)?;
        let begin = self.begin.unwrap_or_else(|| begin_of(ticks));
        let since = ticks.checked_sub(begin.0).and_then(|t| t.checked_mul(100));
        let time_ns = field(since, "the time", time)?;
        let response_ns =
            field(whole(response).and_then(|t| t.checked_mul(100)), "the response time", response)?;
        let op = letter(op).ok_or_else(|| wrong("the type", op))?;
        let request = request(op, number("the offset", offset)?, number("the size", size)?)?;
        self.key.clear();
        self.key.extend_from_slice(host);
        self.key.push(b'_');
        self.key.extend_from_slice(disk);
        let device = sink.tables.device_named(&self.key)?;
        sink.rows.push(answered(time_ns, response_ns, request, device));
        self.begin = Some(begin);
        Ok(())
    }

    fn epoch(&self) -> Epoch {
        self.begin.map_or(Self::EPOCH, |begin| begin.1)
    }
}

/// Returns what the first time of a trace counts from.
fn begin_of(ticks: u64) -> (u64, Epoch) {
    match ticks {
        UNIX.. => (UNIX, Epoch::Unix),
        _ => (0, Epoch::of_first(ticks.saturating_mul(100))),
    }
}
