//! Tencent cloud block storage: `Timestamp,Offset,Size,IOType,VolumeID`, in seconds and sectors
//! (SNIA's README); 1 is a write.

use super::fio::are_samples;
use crate::read::decode::Epoch;
use crate::read::head::{Head, Likeness};
use crate::read::lines::{Pieces, fits, rows_of};
use crate::read::plausible::are_too_large;
use crate::read::row::at;
use crate::read::tables::{Bad, Sink, in_seconds};
use crate::read::text::{field, fields, number, only, sectors, whole, wrong};
use ioscape_schema::Op;

/// Counts the first lines that can be rows, unless their sizes are in bytes or fio wrote them: its
/// means are also five numbers, but with blanks between.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    let other = are_samples(head) || are_too_large(&rows_of::<Tencent>(&head.lines).1);
    if other { Likeness::NONE } else { fits::<Tencent>(head) }
}

/// Parses Tencent lines.
#[derive(Default)]
pub(crate) struct Tencent;

impl Pieces for Tencent {
    const EPOCH: Epoch = Epoch::Unix;
    const NAMES: &'static str = "Timestamp,Offset,Size,IOType,VolumeID";

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [time, offset, size, op, volume] = only(fields::<5>(line, b','))?;
        let op = match op {
            b"0" => Op::Read,
            b"1" => Op::Write,
            _ => return Err(wrong("the type", op)),
        };
        let request = sectors(op, number("the offset", offset)?, number("the size", size)?)?;
        let time = field(whole(time).and_then(|t| t.checked_mul(1_000_000_000)), "the time", time)?;
        let number = number("the volume", volume)?;
        let device = sink.tables.device(volume, || format!("volume {number}"))?;
        in_seconds(sink);
        sink.rows.push(at(time, request, device));
        Ok(())
    }
}
