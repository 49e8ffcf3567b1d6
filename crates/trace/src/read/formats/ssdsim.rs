//! MQSim and SSDSim: `time_ns devno lba sectors op`, sectors of 512 bytes; 1 is a read (MQSim's README).

use super::super::decode::Epoch;
use super::super::lines::Pieces;
use super::super::tables::{Bad, Sink};
use super::super::text::{field, sectors, whole, words, wrong};
use super::at;
use ioscape_schema::Op;

/// Parser of its lines.
#[derive(Default)]
pub(crate) struct SsdSim;

impl Pieces for SsdSim {
    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let ([time, disk, block, count, op], fields) =
            words::<5>(line).ok_or("fewer than 5 fields")?;
        if fields > 5 {
            return Err("more than 5 fields".into());
        }
        let op = match op {
            b"1" => Op::Read,
            b"0" => Op::Write,
            _ => return Err(wrong("the type", op)),
        };
        let block = field(whole(block), "the block", block)?;
        let request = sectors(op, block, field(whole(count), "the sector count", count)?)?;
        let time_ns = field(whole(time), "the time", time)?;
        let number = field(whole(disk), "the device", disk)?;
        let device = sink.tables.device(disk, || format!("disk {number}"))?;
        sink.rows.push(at(time_ns, request, device));
        Ok(())
    }

    fn epoch(&self) -> Epoch {
        Epoch::Clock { unix_offset_ns: None }
    }
}
