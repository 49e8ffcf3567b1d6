//! What is known of one block, and most of the time as one word.

use crate::analyze::set_windows::Moment;
use crate::analyze::time_series::SECOND_NS;

/// Neighbouring blocks that share a hash and so lie together: requests touch runs of blocks, and what is popular has neighbours.
pub(super) const GROUP: u64 = 1 << GROUP_BITS;
pub(super) const GROUP_BITS: u32 = 2;

/// That a block was read, and that it was written, besides the number of its writes in Figures 12 and 13.
pub(super) const WAS_READ: u32 = 1 << 31;
pub(super) const WAS_WRITTEN: u32 = 1 << 30;
/// The bits of the number of its writes.
pub(super) const WRITES: u32 = WAS_WRITTEN - 1;

/// Bits of a word: the nanosecond of the last write, the second of the last touch, the number of writes, and two marks.
const NS_BITS: u32 = 56;
const SECOND_BITS: u32 = 26;
const WRITES_BITS: u32 = 11;
const SECOND_AT: u32 = NS_BITS;
const WRITES_AT: u32 = SECOND_AT + SECOND_BITS;
const MARKS_AT: u32 = WRITES_AT + WRITES_BITS;
/// Bits of a word that are used; none has all others clear.
pub(super) const WORD_BITS: u32 = MARKS_AT + 2;

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

impl Block {
    /// As a word; nothing where it does not fit: its last touch or write lies a year or more from the second `base`, or it was
    /// written 2048 times.
    #[inline]
    pub fn word(&self, base: u32) -> Option<u128> {
        let writes = self.writes & WRITES;
        let second = self.last.number().wrapping_sub(base);
        let ns = if writes > 0 { self.last_write_ns.wrapping_sub(begin(base)) } else { 0 };
        if second >> SECOND_BITS != 0 || writes >> WRITES_BITS != 0 || ns >> NS_BITS != 0 {
            return None;
        }
        let high = u64::from(second)
            | (u64::from(writes) << (WRITES_AT - SECOND_AT))
            | (u64::from(self.writes >> MARKS) << (MARKS_AT - SECOND_AT));
        Some(u128::from(ns) | (u128::from(high) << SECOND_AT))
    }

    /// Of such a word.
    #[inline]
    pub fn of_word(word: u128, base: u32) -> Self {
        let (low, high) = (word as u64, (word >> SECOND_AT) as u64);
        let bits = |at: u32, count: u32| ((high >> (at - SECOND_AT)) as u32) & ((1 << count) - 1);
        let writes = bits(WRITES_AT, WRITES_BITS);
        let ns = low & ((1 << NS_BITS) - 1);
        Self {
            last: Moment::numbered(bits(SECOND_AT, SECOND_BITS).wrapping_add(base)),
            writes: writes | (bits(MARKS_AT, 2) << MARKS),
            last_write_ns: if writes > 0 { begin(base).wrapping_add(ns) } else { 0 },
        }
    }
}

/// Where the marks are in the number of writes.
pub(super) const MARKS: u32 = WRITES.count_ones();

/// When a second begins.
#[inline]
fn begin(second: u32) -> u64 {
    u64::from(second.saturating_sub(1)) * SECOND_NS
}

/// What a part of a trace also keeps of a block for its merge.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct First {
    /// The first of the writes that are counted; 0 without one.
    pub write_ns: u64,
    /// The first touch.
    pub touch: Moment,
}
