//! MQSim and SSDSim traces: `time_ns devno lba sectors op`, with sectors of 512 bytes; 1 is a read
//! (MQSim's README).

use crate::read::decode::Epoch;
use crate::read::lines::Pieces;
use crate::read::row::at;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{number, one_is_read, only, sectors, words};

/// Parses SSDSim lines.
#[derive(Default)]
pub(crate) struct SsdSim;

impl Pieces for SsdSim {
    const EPOCH: Epoch = Epoch::Clock { unix_offset_ns: None };

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [time, disk, block, count, op] = only(words::<5>(line))?;
        let op = one_is_read(op)?;
        let request = sectors(op, number("the block", block)?, number("the sector count", count)?)?;
        let time_ns = number("the time", time)?;
        let number = number("the device", disk)?;
        let device = sink.tables.device(disk, || format!("disk {number}"))?;
        sink.rows.push(at(time_ns, request, device));
        Ok(())
    }
}
