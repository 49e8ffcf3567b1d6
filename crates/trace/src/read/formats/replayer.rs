//! The trace replayer of Heimdall and IODA: `time_ms disk offset size op`, in bytes; 1 is a read
//! (see its README.md).

use crate::read::decode::Epoch;
use crate::read::lines::Pieces;
use crate::read::row::at;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{decimal, field, number, one_is_read, only, request, words};

/// Parses replayer lines.
#[derive(Default)]
pub(crate) struct Replayer;

impl Pieces for Replayer {
    const EPOCH: Epoch = Epoch::Start;

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [time, disk, offset, size, op] = only(words::<5>(line))?;
        let op = one_is_read(op)?;
        let request = request(op, number("the offset", offset)?, number("the size", size)?)?;
        let time_ns = field(decimal(time, 6), "the time", time)?;
        let number = number("the disk", disk)?;
        let device = sink.tables.device(disk, || format!("disk {number}"))?;
        sink.rows.push(at(time_ns, request, device));
        Ok(())
    }
}
