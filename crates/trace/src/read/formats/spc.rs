//! SPC traces, as in the UMass repository: `ASU,LBA,Size,Opcode,Timestamp[,...]`, with blocks of
//! 512 bytes, sizes in bytes, and seconds from the start.

use crate::read::decode::Epoch;
use crate::read::lines::Pieces;
use crate::read::row::at;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{SECTOR, decimal, field, fields, letter, number, request, whole, wrong};

/// Parses SPC lines.
#[derive(Default)]
pub(crate) struct Spc;

impl Pieces for Spc {
    const EPOCH: Epoch = Epoch::Start;
    const NAMES: &'static str = "ASU,LBA,Size,Opcode,Timestamp";

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let ([unit, block, size, op, time], _) =
            fields::<5>(line, b',').ok_or("fewer than 5 fields")?;
        let op = letter(op).filter(|_| op.len() == 1).ok_or_else(|| wrong("the opcode", op))?;
        let offset = field(whole(block).and_then(|b| b.checked_mul(SECTOR)), "the block", block)?;
        let request = request(op, offset, number("the size", size)?)?;
        let time_ns = field(decimal(time, 9), "the time", time)?;
        let number = number("the unit", unit)?;
        let device = sink.tables.device(unit, || format!("ASU {number}"))?;
        sink.rows.push(at(time_ns, request, device));
        Ok(())
    }
}
