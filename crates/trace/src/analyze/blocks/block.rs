//! What is known of one block.

use crate::analyze::set_windows::Moment;

/// Neighbouring blocks that share a hash and so lie together: requests touch runs of blocks, and what is popular has neighbours.
pub(super) const GROUP: u64 = 1 << GROUP_BITS;
pub(super) const GROUP_BITS: u32 = 2;

/// That a block was read, and that it was written, besides the number of its writes in Figures 12 and 13.
pub(super) const WAS_READ: u32 = 1 << 31;
pub(super) const WAS_WRITTEN: u32 = 1 << 30;
/// The bits of the number of its writes.
pub(super) const WRITES: u32 = WAS_WRITTEN - 1;

/// What is known of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// The last touch.
    pub last: Moment,
    /// The number of writes and the marks.
    pub writes: u32,
    /// The last of the writes that are counted; 0 without one.
    pub last_write_ns: u64,
}

/// Where the marks are in the number of writes.
pub(super) const MARKS: u32 = WRITES.count_ones();

/// What a part of a trace also keeps of a block for its merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct First {
    /// The first of the writes that are counted; 0 without one.
    pub write_ns: u64,
    /// The first touch.
    pub touch: Moment,
}

/// The number of writes increased, which stays below the marks.
pub(super) fn more_writes(writes: u32, more: u32) -> u32 {
    (writes & WRITES).saturating_add(more).min(WRITES) | (writes & !WRITES)
}
