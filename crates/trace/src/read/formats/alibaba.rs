//! Alibaba block traces 2020: `device_id,opcode,offset,length,timestamp` in Unix microseconds (see
//! its README.md).

use crate::read::decode::Epoch;
use crate::read::lines::Pieces;
use crate::read::row::at;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{field, fields, letter, number, only, request, whole, wrong};

/// Parses Alibaba lines.
#[derive(Default)]
pub(crate) struct Alibaba;

impl Pieces for Alibaba {
    const EPOCH: Epoch = Epoch::Unix;
    const NAMES: &'static str = "device_id,opcode,offset,length,timestamp";

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [device, op, offset, length, time] = only(fields::<5>(line, b','))?;
        let op = letter(op).filter(|_| op.len() == 1).ok_or_else(|| wrong("the opcode", op))?;
        let request = request(op, number("the offset", offset)?, number("the length", length)?)?;
        let time_ns = field(whole(time).and_then(|t| t.checked_mul(1000)), "the time", time)?;
        let number = number("the device", device)?;
        let device = sink.tables.device(device, || format!("device {number}"))?;
        sink.rows.push(at(time_ns, request, device));
        Ok(())
    }
}
