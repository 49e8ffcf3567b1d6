//! CloudPhysics traces as libCacheSim's CSV: `version,time,op,size,lbn`, in seconds, SCSI opcode,
//! bytes and sectors.

use super::vscsi::operation;
use crate::read::decode::Epoch;
use crate::read::lines::Pieces;
use crate::read::row::at;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{SECTOR, decimal, field, fields, hex, number, request, whole, wrong};

/// Parses CloudPhysics lines.
#[derive(Default)]
pub(crate) struct CloudPhysics;

impl Pieces for CloudPhysics {
    const EPOCH: Epoch = Epoch::Clock { unix_offset_ns: None };
    const NAMES: &'static str = "version,time,op,size,lbn";

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let ([version, time, op, size, block], count) =
            fields::<5>(line, b',').ok_or("fewer than 5 fields")?;
        if count > 5 || !matches!(version, b"1" | b"2") {
            return Err(wrong("the version", version));
        }
        let Some(op) = hex(op).and_then(|o| operation(u16::try_from(o).ok()?)) else {
            return Err(wrong("the opcode", op));
        };
        let offset = field(whole(block).and_then(|b| b.checked_mul(SECTOR)), "the block", block)?;
        let request = request(op, offset, number("the size", size)?)?;
        let time_ns = field(decimal(time, 9), "the time", time)?;
        let device = sink.tables.only_device()?;
        sink.rows.push(at(time_ns, request, device));
        Ok(())
    }
}
