//! VMware's vscsi traces, as published by CloudPhysics: little-endian records of 32 bytes (version
//! 1) or 40 bytes (version 2).
//!
//! Layout: `traceReader/customizedReader/vscsi.h` of libCacheSim. Lengths are in bytes, as the
//! published trace shows.

use crate::read::decode::Epoch;
use crate::read::head::{Head, Likeness};
use crate::read::lines::Pieces;
use crate::read::record::{half, long, word};
use crate::read::row;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{SECTOR, request};
use ioscape_schema::{IoFlags, Op, Request};

/// The size of a version's records in bytes, and where their fields lie.
struct Layout {
    size: usize,
    version: usize,
    command: usize,
    len: usize,
    count: usize,
    response: Option<usize>,
}

const LAYOUTS: [Layout; 2] = [
    Layout { size: 32, version: 14, command: 12, len: 4, count: 8, response: None },
    Layout { size: 40, version: 2, command: 0, len: 8, count: 12, response: Some(32) },
];

/// SCSI's SYNCHRONIZE CACHE, short and long.
const FLUSHES: [u16; 2] = [0x35, 0x91];

/// Returns the operation of a SCSI command that moves data.
pub(super) fn operation(command: u16) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0x88 | 0xa8 => Some(Op::Read),
        0x0a | 0x2a | 0x8a | 0xaa => Some(Op::Write),
        _ => None,
    }
}

/// Recognizes version `V` by the first two records.
pub(super) fn looks_like<const V: usize>(head: &Head<'_>) -> Likeness {
    let (bytes, at) = (head.bytes, &LAYOUTS[V - 1]);
    let is_record = |from: usize| {
        bytes.len() >= from + at.size
            && usize::from(half(bytes, from + at.version) >> 8) == V
            && known(half(bytes, from + at.command))
            && word(bytes, from + at.count) <= 1 << 16
    };
    Likeness::certain_if(head.is_binary() && is_record(0) && is_record(at.size))
}

fn known(command: u16) -> bool {
    operation(command).is_some() || FLUSHES.contains(&command)
}

/// Parses records of version `V`.
#[derive(Default)]
pub(crate) struct Vscsi<const V: usize>;

impl<const V: usize> Pieces for Vscsi<V> {
    const EPOCH: Epoch = Epoch::Clock { unix_offset_ns: None };
    const RECORD: usize = LAYOUTS[V - 1].size;

    fn piece(&mut self, record: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let at = &LAYOUTS[V - 1];
        let far = || Bad::from("a time or block beyond 2^64");
        let time_ns = long(record, 24).checked_mul(1000).ok_or_else(far)?;
        let response_us = at.response.map(|at| long(record, at));
        let response_ns = response_us.map(|us| us.checked_mul(1000).ok_or_else(far)).transpose()?;
        let device = sink.tables.only_device()?;
        let command = half(record, at.command);
        if FLUSHES.contains(&command) {
            let mut flush = row::at(time_ns, Request { op: Op::Write, offset: 0, len: 0 }, device);
            flush.flags = IoFlags::FLUSH;
            sink.rows.push(flush);
            return Ok(());
        }
        let op = operation(command)
            .ok_or_else(|| Bad::from(format!("SCSI command {command:#04x} moves no data")))?;
        let offset = long(record, 16).checked_mul(SECTOR).ok_or_else(far)?;
        let request = request(op, offset, word(record, at.len).into())?;
        sink.rows.push(row::answered(time_ns, response_ns, request, device));
        Ok(())
    }
}
