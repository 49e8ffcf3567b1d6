//! FIU traces: `time pid process lba blocks W|R major minor md5`, in nanoseconds and sectors of 512
//! bytes (SNIA's README).

use crate::read::decode::Epoch;
use crate::read::lines::Pieces;
use crate::read::row::at;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{field, letter, number, sectors, whole, words, wrong};
use ioscape_schema::Io;

/// Parses FIU lines.
#[derive(Default)]
pub(crate) struct Fiu {
    key: Vec<u8>,
}

impl Pieces for Fiu {
    const EPOCH: Epoch = Epoch::Clock { unix_offset_ns: None };

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let ([time, pid, process, block, blocks, op, major, minor], _) =
            words::<8>(line).ok_or("fewer than 8 fields")?;
        let op = letter(op).filter(|_| op.len() == 1).ok_or_else(|| wrong("the kind", op))?;
        let request = sectors(op, number("the block", block)?, number("the block count", blocks)?)?;
        let time_ns = number("the time", time)?;
        let pid = field(whole(pid).filter(|p| *p <= u64::from(u32::MAX)), "the process", pid)?;
        let known = whole(major).and(whole(minor)).is_some();
        if !known {
            return Err(wrong("the device", major));
        }
        self.key.clear();
        self.key.extend_from_slice(major);
        self.key.push(b',');
        self.key.extend_from_slice(minor);
        let device = sink.tables.device_named(&self.key)?;
        let command = sink.tables.command(process);
        sink.rows.push(Io { process: pid as u32, command, ..at(time_ns, request, device) });
        Ok(())
    }
}
