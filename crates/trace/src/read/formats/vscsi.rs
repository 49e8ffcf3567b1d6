//! VMware's vscsi traces, as published by CloudPhysics: little-endian records of 32 bytes (version
//! 1) or 40 bytes (version 2).
//!
//! Layout: `traceReader/customizedReader/vscsi.h` of libCacheSim. Lengths are in bytes, as the
//! published trace shows.

use crate::read::decode::Epoch;
use crate::read::head::{Head, Likeness};
use crate::read::lines::Pieces;
use crate::read::record::{half, long, word};
use crate::read::row::{answered, at};
use crate::read::tables::{Bad, Sink};
use crate::read::text::{SECTOR, request};
use ioscape_schema::{IoFlags, Op, Request};

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

/// Recognizes version 1 by the first two records.
pub(super) fn looks_like_one(head: &Head<'_>) -> Likeness {
    let bytes = head.bytes;
    let is_record = |from: usize| {
        bytes.len() >= from + 32
            && half(bytes, from + 14) >> 8 == 1
            && known(half(bytes, from + 12))
            && word(bytes, from + 8) <= 1 << 16
    };
    Likeness::certain_if(head.is_binary() && is_record(0) && is_record(32))
}

/// Recognizes version 2 by the first two records.
pub(super) fn looks_like_two(head: &Head<'_>) -> Likeness {
    let bytes = head.bytes;
    let is_record = |from: usize| {
        bytes.len() >= from + 40
            && half(bytes, from + 2) >> 8 == 2
            && known(half(bytes, from))
            && word(bytes, from + 12) <= 1 << 16
    };
    Likeness::certain_if(head.is_binary() && is_record(0) && is_record(40))
}

fn known(command: u16) -> bool {
    operation(command).is_some() || FLUSHES.contains(&command)
}

/// Adds one row from the fields that both versions have.
fn row(
    sink: &mut Sink<'_>,
    command: u16,
    len: u32,
    block: u64,
    times_us: (u64, u64),
) -> Result<(), Bad> {
    let far = || Bad::from("a time or block beyond 2^64");
    let time_ns = times_us.0.checked_mul(1000).ok_or_else(far)?;
    let response_ns = times_us.1.checked_mul(1000).ok_or_else(far)?;
    let device = sink.tables.only_device()?;
    if FLUSHES.contains(&command) {
        let mut flush = at(time_ns, Request { op: Op::Write, offset: 0, len: 0 }, device);
        flush.flags = IoFlags::FLUSH;
        sink.rows.push(flush);
        return Ok(());
    }
    let op = operation(command)
        .ok_or_else(|| Bad::from(format!("SCSI command {command:#04x} moves no data")))?;
    let request = request(op, block.checked_mul(SECTOR).ok_or_else(far)?, u64::from(len))?;
    sink.rows.push(answered(time_ns, response_ns, request, device));
    Ok(())
}

/// Parses records of version 1.
#[derive(Default)]
pub(crate) struct VscsiOne;

impl Pieces for VscsiOne {
    const EPOCH: Epoch = Epoch::Clock { unix_offset_ns: None };
    const RECORD: usize = 32;

    fn piece(&mut self, record: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let times_us = (long(record, 24), 0);
        row(sink, half(record, 12), word(record, 4), long(record, 16), times_us)
    }
}

/// Parses records of version 2.
#[derive(Default)]
pub(crate) struct VscsiTwo;

impl Pieces for VscsiTwo {
    const EPOCH: Epoch = Epoch::Clock { unix_offset_ns: None };
    const RECORD: usize = 40;

    fn piece(&mut self, record: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let times_us = (long(record, 24), long(record, 32));
        row(sink, half(record, 0), word(record, 8), long(record, 16), times_us)
    }
}
