//! One event of the block layer: what happened to which request, when and by whom.

use ioscape_schema::{IoFlags, Op};

/// What happened to a request; the letters are blkparse's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A request arrives (Q, `block_bio_queue`).
    Queue,
    /// The request enters the device's queue (G and I, `block_io_start`, `block_getrq`,
    /// `block_rq_insert`).
    Start,
    /// The request was appended to an earlier one (M, `block_bio_backmerge`, `block_rq_merge`).
    BackMerge,
    /// The request was put before an earlier one, which now starts with it (F,
    /// `block_bio_frontmerge`).
    FrontMerge,
    /// The request is issued to the device (D, `block_rq_issue`).
    Issue,
    /// The device returned the request, to be issued again (R, `block_rq_requeue`).
    Requeue,
    /// The request completes (C, `block_rq_complete`).
    Complete,
    /// The request is cut in two at the sector `from` (X).
    Split,
    /// The request was sent on from another device, `from` (A).
    Remap,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub kind: Kind,
    pub time_ns: u64,
    /// Major number times 2^20 plus minor number.
    pub device: u32,
    /// First sector of 512 bytes.
    pub sector: u64,
    pub bytes: u64,
    pub op: Op,
    pub flags: IoFlags,
    pub process: u32,
    /// Index in the table of commands.
    pub command: u32,
    pub error: u16,
    /// The other device and sector of a remapping; the other sector of a split.
    pub from: (u32, u64),
}

impl Event {
    /// Creates an event of which only the place and time are known.
    pub fn new(kind: Kind, time_ns: u64, device: u32, sector: u64) -> Self {
        Self {
            kind,
            time_ns,
            device,
            sector,
            bytes: 0,
            op: Op::Read,
            flags: IoFlags::empty(),
            process: 0,
            command: 0,
            error: 0,
            from: (0, 0),
        }
    }
}

/// Bits of a minor number.
const MINOR_BITS: u32 = 20;

/// Returns the number of the device `major,minor`.
pub(crate) fn device(major: u64, minor: u64) -> Option<u32> {
    (major < 1 << 12 && minor < 1 << MINOR_BITS).then_some((major << MINOR_BITS | minor) as u32)
}

/// Returns the device's name, such as `8,0`.
pub(crate) fn device_name(device: u32) -> String {
    format!("{},{}", device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1))
}

/// Returns what the kernel's event `name` means for a request.
pub(crate) fn kernel_event(name: &[u8]) -> Option<Kind> {
    Some(match name {
        b"block_bio_queue" => Kind::Queue,
        b"block_io_start" | b"block_getrq" | b"block_rq_insert" => Kind::Start,
        b"block_bio_backmerge" | b"block_rq_merge" => Kind::BackMerge,
        b"block_bio_frontmerge" => Kind::FrontMerge,
        b"block_rq_issue" => Kind::Issue,
        b"block_rq_requeue" => Kind::Requeue,
        b"block_rq_complete" | b"block_bio_complete" => Kind::Complete,
        b"block_split" => Kind::Split,
        b"block_bio_remap" | b"block_rq_remap" => Kind::Remap,
        _ => return None,
    })
}

/// Returns an error's number. The kernel's block tracer records it as a negative number in 16 bits:
/// 65531 is 5.
pub(crate) fn positive_error(told: u16) -> u16 {
    (told as i16).unsigned_abs()
}
