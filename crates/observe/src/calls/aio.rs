//! Reads the requests of `io_submit(2)` from a stopped process's memory, and the results of
//! `io_getevents(2)`.

use super::memory::{Bytes, read};

/// Size of `struct iocb` and of `struct io_event` (`linux/aio_abi.h`), in bytes.
const BLOCK: usize = 64;
const EVENT: usize = 32;
/// The kernel takes no more in one call (by default, `/proc/sys/fs/aio-max-nr` is below this).
const MOST: u64 = 1 << 16;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A sync: waits for dirty pages.
    Sync,
    /// A wait until dirty pages were sent to storage.
    WriteBack,
    /// Opening a file.
    Open,
    /// Closing a descriptor.
    Close,
    /// Anything else; it moves no bytes of a file that could be identified.
    Other,
}

/// A request, in the terms of its system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Control {
    /// The key under which its completion is reported.
    pub(super) key: u64,
    pub(super) asked: Asked,
    /// Its descriptor, or an index in the ring's table of files. For an open, the index that the
    /// file gets, if it gets one there.
    pub(super) fd: i32,
    pub(super) is_fixed_file: bool,
    /// Offset in the file; -1 stands for the file's own position.
    pub(super) offset: u64,
    pub(super) len: u64,
    /// Flags of `preadv2(2)`.
    pub(super) flags: u32,
}

/// Total bytes of the `count` vectors at `address`.
pub(super) fn vector_bytes(tid: i32, address: u64, count: u64) -> u64 {
    let count = count.min(1024) as usize;
    let vectors = read(tid, address, count * 16).unwrap_or_default();
    (0..count).filter_map(|one| vectors.word64(16 * one + 8)).fold(0, u64::saturating_add)
}

/// The requests submitted by `io_submit(context, count, list)`.
pub(super) fn submitted(tid: i32, count: u64, list: u64) -> Vec<Control> {
    let count = count.min(MOST) as usize;
    let Some(pointers) = read(tid, list, count * 8) else { return Vec::new() };
    let blocks = (0..count).map_while(|one| {
        let address = pointers.word64(8 * one)?;
        control(tid, address, &read(tid, address, BLOCK)?)
    });
    blocks.collect()
}

fn control(tid: i32, address: u64, block: &Bytes) -> Option<Control> {
    let (pointer, len) = (block.word64(24)?, block.word64(32)?);
    let (asked, len) = match block.word16(16)? {
        0 => (Asked::Read, len),
        1 => (Asked::Write, len),
        2 | 3 => (Asked::Sync, 0),
        7 => (Asked::Read, vector_bytes(tid, pointer, len)),
        8 => (Asked::Write, vector_bytes(tid, pointer, len)),
        _ => (Asked::Other, 0),
    };
    Some(Control {
        key: address,
        asked,
        fd: block.word32(20)? as i32,
        is_fixed_file: false,
        offset: block.word64(40)?,
        len,
        flags: block.word32(12)?,
    })
}

/// Keys and values of the completions that `io_getevents` wrote to `events`.
pub(super) fn completed(tid: i32, count: u64, events: u64) -> Vec<(u64, i64)> {
    let count = count.min(MOST) as usize;
    let Some(bytes) = read(tid, events, count * EVENT) else { return Vec::new() };
    let one = |at: usize| Some((bytes.word64(at + 8)?, bytes.word64(at + 16)? as i64));
    (0..count).filter_map(|number| one(number * EVENT)).collect()
}
