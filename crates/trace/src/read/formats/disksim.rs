//! DiskSim's two text formats (`disksim_iotrace.c`): ASCII requests, and measured service times for
//! validation.

use crate::read::decode::Epoch;
use crate::read::lines::Pieces;
use crate::read::row::{answered, at};
use crate::read::tables::{Bad, Sink};
use crate::read::text::{decimal, field, hex, letter, number, only, sectors, words, wrong};
use ioscape_schema::Op;

/// The bit of the flags that marks a read.
const READ: u64 = 1;

/// `time_ms devno blkno bcount flags`: blocks of 512 bytes, flags in hexadecimal.
#[derive(Default)]
pub(crate) struct Ascii;

impl Pieces for Ascii {
    const EPOCH: Epoch = Epoch::Start;

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [time, disk, block, count, flags] = only(words::<5>(line))?;
        let op = match field(hex(flags), "the flags", flags)? & READ {
            0 => Op::Write,
            _ => Op::Read,
        };
        let request = sectors(op, number("the block", block)?, number("the block count", count)?)?;
        let time_ns = field(decimal(time, 6), "the time", time)?;
        let number = number("the device", disk)?;
        let device = sink.tables.device(disk, || format!("disk {number}"))?;
        sink.rows.push(at(time_ns, request, device));
        Ok(())
    }
}

/// `R|W Hit|Miss blkno bcount service think` in microseconds. The next request starts a think time
/// after the completion.
#[derive(Default)]
pub(crate) struct Validate {
    next_ns: u64,
}

impl Pieces for Validate {
    const EPOCH: Epoch = Epoch::Start;

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let ([op, hit, block, count, service, think], fields) =
            words::<6>(line).ok_or("fewer than 6 fields")?;
        // Hit or Miss of the drive's cache, or another word for what was tried, in any case.
        if fields > 6 || !hit.iter().all(u8::is_ascii_alphabetic) {
            return Err("not of the form R|W Hit|Miss block count service think".into());
        }
        let op = letter(op).filter(|_| op.len() == 1).ok_or_else(|| wrong("the kind", op))?;
        let request = sectors(op, number("the block", block)?, number("the block count", count)?)?;
        let service_ns = field(decimal(service, 3), "the service time", service)?;
        let think_ns = field(decimal(think, 3), "the think time", think)?;
        let next_ns = self.next_ns.checked_add(service_ns).and_then(|t| t.checked_add(think_ns));
        let next_ns = next_ns.ok_or("times that sum up beyond 2^64")?;
        let device = sink.tables.only_device()?;
        sink.rows.push(answered(self.next_ns, service_ns, request, device));
        self.next_ns = next_ns;
        Ok(())
    }
}
