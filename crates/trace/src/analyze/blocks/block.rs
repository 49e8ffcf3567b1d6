//! What is known of one block.

use crate::analyze::set_windows::Moment;

/// Neighbouring blocks that share a hash and so lie together: requests touch runs of blocks, and
/// popular blocks have popular neighbours.
pub(super) const GROUP: u64 = 1 << GROUP_BITS;
pub(super) const GROUP_BITS: u32 = 2;

/// Mark of a block that was read; the other mark is for writes. They share a word with the number
/// of writes of Figures 12 and 13.
pub(super) const WAS_READ: u32 = 1 << 31;
pub(super) const WAS_WRITTEN: u32 = 1 << 30;
/// The bits that hold the number of writes.
pub(super) const WRITES: u32 = WAS_WRITTEN - 1;

/// What is known of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// The last touch.
    pub last: Moment,
    /// The number of writes, and the marks.
    pub writes: u32,
    /// The last counted write; 0 if there is none.
    pub last_write_ns: u64,
}

/// Position of the marks above the number of writes.
pub(super) const MARKS: u32 = WRITES.count_ones();

/// What a part of a trace keeps of a block in addition, for its merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct First {
    /// The first counted write; 0 if there is none.
    pub write_ns: u64,
    /// The first touch.
    pub touch: Moment,
}

/// Increases the number of writes, which stays below the marks.
pub(super) fn more_writes(writes: u32, more: u32) -> u32 {
    (writes & WRITES).saturating_add(more).min(WRITES) | (writes & !WRITES)
}
