//! Commands to a disk, and their outcomes.

use crate::cache::{Destage, Freeing};

/// What the disk does with writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteCache {
    /// No write cache: a write completes when it is on the medium.
    #[default]
    None,
    /// Writes that nobody waits for complete once they are in the volatile buffer, a FIFO (Ruemmler
    /// & Wilkes 1993, "Immediate reporting"). In a drive that flushes first, all writes do.
    Immediate,
    /// All writes that fit complete once they are in a volatile buffer of this many bytes, which is
    /// destaged in order of shortest access time. Flushes and writes through the cache (FUA) wait
    /// for the medium.
    Volatile {
        /// Its size.
        bytes: u64,
    },
    /// All writes complete once they are in a non-volatile buffer of this many bytes.
    Nvram {
        /// Its size.
        bytes: u64,
        /// Order of writing.
        destage: Destage,
        /// When its space is freed.
        freeing: Freeing,
    },
}

impl WriteCache {
    /// Whether a write may be reported complete that a power failure would lose.
    pub fn reports_early(self) -> bool {
        matches!(self, Self::Immediate | Self::Volatile { .. })
    }
}

/// Options of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskOptions {
    /// Whether it reads ahead.
    pub read_ahead: bool,
    /// Its write cache.
    pub cache: WriteCache,
    /// How many commands it accepts at once, choosing their order itself; 0 counts as 1.
    pub queue_depth: u32,
}

/// Writes longer than this bypass the write buffer (Ruemmler & Wilkes 1993, "Non-volatile write
/// caching at the disk").
pub const STREAMED_OVER_BYTES: u64 = 32 << 10;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Number of blocks.
    pub block: u64,
    /// Blocks.
    pub count: u64,
    /// Whether it writes.
    pub write: bool,
    /// Whether somebody waits for it: immediate reporting does not apply to such a write.
    pub synchronous: bool,
}

/// When, and for how long, a command needs the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusNeed {
    /// When the need begins.
    pub at_ns: u64,
    /// How long it lasts.
    pub for_ns: u64,
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Completion.
    pub completed_ns: u64,
    /// Where the time went.
    pub parts: Parts,
}

/// Where the time of a command went; overlaps aside, the parts add up to the time from issue to
/// completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Waiting for the mechanism or for room in the buffer.
    pub waited_ns: u64,
    /// Controller time.
    pub overhead_ns: u64,
    /// Transferring on the bus, and waiting for it.
    pub bus_ns: u64,
    /// Seek and settling.
    pub seek_ns: u64,
    /// Rotational latency, and waiting for data to write.
    pub rotation_ns: u64,
    /// Transfer to or from the medium.
    pub transfer_ns: u64,
    /// Whether it completed in the buffer rather than on the medium.
    pub cached: bool,
}

impl Parts {
    /// The sum of all parts.
    pub fn total_ns(&self) -> u64 {
        self.waited_ns
            + self.overhead_ns
            + self.bus_ns
            + self.seek_ns
            + self.rotation_ns
            + self.transfer_ns
    }
}

/// What a disk wrote and absorbed, in blocks; for several disks, in bytes ([`Self::in_bytes`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Blocks that were written to it.
    pub written: u64,
    /// Blocks that went to the medium.
    pub destaged: u64,
    /// Blocks overwritten in the buffer.
    pub absorbed: u64,
    /// Reads that the buffer answered.
    pub read_hits: u64,
    /// Reads of data that a solid-state drive that began empty does not hold: never written, or
    /// discarded.
    pub unwritten_reads: u64,
    /// Blocks of a solid-state drive's buffer that were not yet in the cells at the end.
    pub held: u64,
    /// Blocks of flash that garbage collection erased.
    pub erased: u64,
    /// Of the blocks written to it, those that are an array's parity.
    pub parity_written: u64,
    /// Of the blocks overwritten in the buffer, those that are an array's parity.
    pub parity_absorbed: u64,
}

/// How long drives were busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Sum of the times with at least one command, in nanoseconds.
    pub busy_ns: u64,
    /// That of the busiest drive.
    pub busiest_ns: u64,
    /// Number of drives.
    pub drives: u64,
}

/// A time in which a drive had a command throughout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Its beginning in nanoseconds.
    pub from_ns: u64,
    /// Its end.
    pub until_ns: u64,
    /// The number of commands.
    pub commands: u64,
}

impl Traffic {
    /// Converts blocks of this size to bytes.
    pub fn in_bytes(&self, block_bytes: u32) -> Self {
        let bytes = |blocks: u64| blocks * u64::from(block_bytes);
        Self {
            written: bytes(self.written),
            destaged: bytes(self.destaged),
            absorbed: bytes(self.absorbed),
            held: bytes(self.held),
            parity_written: bytes(self.parity_written),
            parity_absorbed: bytes(self.parity_absorbed),
            ..*self
        }
    }

    /// The sum of `self` and `other`.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            written: self.written + other.written,
            destaged: self.destaged + other.destaged,
            erased: self.erased + other.erased,
            absorbed: self.absorbed + other.absorbed,
            read_hits: self.read_hits + other.read_hits,
            unwritten_reads: self.unwritten_reads + other.unwritten_reads,
            held: self.held + other.held,
            parity_written: self.parity_written + other.parity_written,
            parity_absorbed: self.parity_absorbed + other.parity_absorbed,
        }
    }
}
