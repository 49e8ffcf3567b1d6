//! The two kinds of entries for blocks: 16 bytes for neighbouring blocks in the same state, or a
//! line of the processor's caches with each block separately.

use super::block::{Block, First, GROUP, GROUP_BITS, MARKS, WRITES};
use super::ordered::Entry;
use crate::analyze::set_windows::Moment;
use crate::analyze::time_series::SECOND_NS;

/// Blocks of one group, one bit each, the first block lowest.
pub(super) type Set = u8;

/// Bits of a slot, from the lowest on: the set of blocks in the group, the number of the group, the
/// number of writes, two marks as in [`Block`], a mark for blocks kept elsewhere, and the higher
/// bits of the second of the last touch; then the lower bits of that second, and the nanosecond of
/// the last write.
const GROUP_AT: u32 = GROUP as u32;
const ALL_OF_GROUP: u64 = (1 << GROUP_AT) - 1;
const WRITES_AT: u32 = GROUP_AT + u32::BITS - GROUP_BITS;
const WRITES_BITS: u32 = 11;
const MARKS_AT: u32 = WRITES_AT + WRITES_BITS;
const MARKS_BITS: u32 = 2;
const SPILLED: u64 = 1 << (MARKS_AT + MARKS_BITS);
const SECOND_AT: u32 = MARKS_AT + MARKS_BITS + 1;
const LOW_BITS: u32 = 9;
const LOW: u64 = (1 << LOW_BITS) - 1;
const SECOND_BITS: u32 = u64::BITS - SECOND_AT + LOW_BITS;
const NS_BITS: u32 = u64::BITS - LOW_BITS;
/// Seconds that a time may lie before the first touch: 97 days. After it, three times as many.
pub(super) const SECONDS_BEFORE: u32 = 1 << (SECOND_BITS - 2);

/// Blocks of one group that are in the same state.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Slot {
    low: u64,
    /// For blocks kept elsewhere, their number there.
    high: u64,
}

/// When a second begins.
#[inline]
fn begin(second: u32) -> u64 {
    u64::from(second.saturating_sub(1)) * SECOND_NS
}

impl Entry for Slot {
    const FULL: usize = 80;
    type Beside = First;

    #[inline]
    fn key(&self) -> u32 {
        ((self.low >> GROUP_AT) as u32) << GROUP_BITS
    }

    #[inline]
    fn is_free(&self) -> bool {
        self.low & ALL_OF_GROUP == 0
    }
}

/// The group of a key and some of its blocks, as a slot stores them.
#[inline]
fn named(key: u32, set: Set) -> u64 {
    u64::from(key >> GROUP_BITS) << GROUP_AT | u64::from(set)
}

impl Slot {
    /// Stores some blocks of the group of a key; `None` if they do not fit because their last touch
    /// or write lies months from the second `base`, or they were written 2048 times.
    #[inline]
    pub fn of(key: u32, set: Set, block: &Block, base: u32) -> Option<Self> {
        let writes = block.writes & WRITES;
        let second = block.last.number().wrapping_sub(base);
        let ns = if writes > 0 { block.last_write_ns.wrapping_sub(begin(base)) } else { 0 };
        if second >> SECOND_BITS != 0 || writes >> WRITES_BITS != 0 || ns >> NS_BITS != 0 {
            return None;
        }
        let second = u64::from(second);
        let low = named(key, set)
            | u64::from(writes) << WRITES_AT
            | u64::from(block.writes >> MARKS) << MARKS_AT
            | second >> LOW_BITS << SECOND_AT;
        Some(Self { low, high: ns << LOW_BITS | second & LOW })
    }

    /// Its blocks.
    #[inline]
    pub fn set(&self) -> Set {
        (self.low & ALL_OF_GROUP) as Set
    }

    /// The same state for other blocks.
    #[inline]
    #[must_use]
    pub fn with(&self, set: Set) -> Self {
        Self { low: self.low & !ALL_OF_GROUP | u64::from(set), ..*self }
    }

    /// Whether the blocks of both, which are of one group, are in the same state and kept here.
    #[inline]
    pub fn is_like(&self, other: &Self) -> bool {
        (self.low ^ other.low) >> GROUP_AT == 0
            && self.high == other.high
            && self.low & SPILLED == 0
    }

    /// Touches the blocks at a second and a time, counted from the second `base`; `written` says
    /// whether this is a counted write. Returns what was known of each. Does nothing if they are
    /// kept elsewhere, or would have to be.
    #[inline]
    pub fn touch(
        &mut self,
        mark: u32,
        now: Moment,
        written_ns: Option<u64>,
        base: u32,
    ) -> Option<Touched> {
        let writes = (self.low >> WRITES_AT) as u32 & ((1 << WRITES_BITS) - 1);
        let second = u64::from(now.number().wrapping_sub(base));
        let ns = written_ns.map_or(0, |ns| ns.wrapping_sub(begin(base)));
        let more = u32::from(written_ns.is_some());
        let fits =
            second >> SECOND_BITS == 0 && ns >> NS_BITS == 0 && (writes + more) >> WRITES_BITS == 0;
        if !fits || self.low & SPILLED != 0 {
            return None;
        }
        let before = (self.low >> SECOND_AT << LOW_BITS | self.high & LOW) as u32;
        let last_ns = begin(base).wrapping_add(self.high >> LOW_BITS);
        self.low = self.low & ((1 << SECOND_AT) - 1)
            | u64::from(mark >> MARKS) << MARKS_AT
            | second >> LOW_BITS << SECOND_AT;
        self.low += u64::from(more) << WRITES_AT;
        self.high = if more > 0 { ns << LOW_BITS } else { self.high & !LOW } | second & LOW;
        Some(Touched {
            known: true,
            last: Moment::numbered(before.wrapping_add(base)),
            last_write_ns: (more > 0 && writes > 0).then_some(last_ns),
        })
    }

    /// An entry for blocks that do not fit; `number` is their number among those.
    pub fn spilled(key: u32, set: Set, number: usize) -> Self {
        Self { low: named(key, set) | SPILLED, high: number as u64 }
    }

    /// The number of writes and the marks of each block, or the blocks' number among those that do
    /// not fit.
    #[inline]
    pub fn writes(&self) -> Result<u32, usize> {
        if self.low & SPILLED != 0 {
            return Err(self.high as usize);
        }
        let writes = (self.low >> WRITES_AT) as u32 & ((1 << WRITES_BITS) - 1);
        let marks = (self.low >> MARKS_AT) as u32 & ((1 << MARKS_BITS) - 1);
        Ok(writes | marks << MARKS)
    }

    /// The state of each block, or the blocks' number among those that do not fit.
    #[inline]
    pub fn block(&self, base: u32) -> Result<Block, usize> {
        let writes = self.writes()?;
        let low = (self.high & LOW) as u32;
        let second = ((self.low >> SECOND_AT) as u32) << LOW_BITS | low;
        let ns = self.high >> LOW_BITS;
        Ok(Block {
            last: Moment::numbered(second.wrapping_add(base)),
            writes,
            last_write_ns: if writes & WRITES > 0 { begin(base).wrapping_add(ns) } else { 0 },
        })
    }
}

/// Position of the marks in a line's number of writes: two marks as in [`Block`], and one for a
/// block kept elsewhere.
const LINE_MARKS: u32 = u16::BITS - 2;
const LINE_SPILLED: u16 = 1 << (LINE_MARKS - 1);
const LINE_WRITES: u32 = LINE_SPILLED as u32 - 1;

/// The state of a block before a touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    /// Whether the block was there.
    pub known: bool,
    /// The last touch.
    pub last: Moment,
    /// The previous counted write, if this touch is a counted write.
    pub last_write_ns: Option<u64>,
}

/// The blocks of one group.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Line {
    /// For a spilled block, its number.
    last_write_ns: [u64; GROUP as usize],
    last: [Moment; GROUP as usize],
    /// 0 for an untouched block.
    writes: [u16; GROUP as usize],
    /// The key of the first block.
    key: u32,
}

impl Entry for Line {
    const FULL: usize = 75;
    type Beside = [First; GROUP as usize];

    #[inline]
    fn key(&self) -> u32 {
        self.key
    }

    #[inline]
    fn is_free(&self) -> bool {
        self.writes == [0; GROUP as usize]
    }
}

impl Line {
    /// Creates the line of the group that begins with the block `key`; at least one block must be
    /// put into it.
    pub fn of_group(key: u32) -> Self {
        Self { key, ..Self::default() }
    }

    /// Whether a block of the group was touched.
    #[inline]
    pub fn has(&self, block: usize) -> bool {
        self.writes[block] != 0
    }

    /// The writes and marks of a touched block, or its number among those that fit no line.
    #[inline]
    pub fn writes(&self, block: usize) -> Result<u32, usize> {
        let writes = self.writes[block];
        if writes & LINE_SPILLED != 0 {
            return Err(self.last_write_ns[block] as usize);
        }
        Ok(u32::from(writes >> LINE_MARKS) << MARKS | (u32::from(writes) & LINE_WRITES))
    }

    /// The state of a touched block, or its number among those that fit no line.
    #[inline]
    pub fn block(&self, block: usize) -> Result<Block, usize> {
        let writes = self.writes(block)?;
        Ok(Block { last: self.last[block], writes, last_write_ns: self.last_write_ns[block] })
    }

    /// Stores a block; `false` if it was written too often for a line.
    #[inline]
    pub fn put(&mut self, at: usize, block: &Block) -> bool {
        let writes = block.writes & WRITES;
        if writes > LINE_WRITES {
            return false;
        }
        self.writes[at] = ((block.writes >> MARKS) << LINE_MARKS | writes) as u16;
        self.last[at] = block.last;
        self.last_write_ns[at] = block.last_write_ns;
        true
    }

    /// Whether all blocks are kept here, and still would be after another write.
    #[inline]
    pub fn has_room(&self) -> bool {
        // All at once: the mark of a spilled block is the bit above the largest number of writes.
        let next = |one: u16| (one & (LINE_SPILLED | LINE_WRITES as u16)) + 1;
        let over = self.writes.iter().fold(0, |over, &one| over | next(one));
        over & (LINE_SPILLED | LINE_SPILLED << 1) == 0
    }

    /// Touches a block of a line that [has room](Self::has_room); `written_ns` is the time of a
    /// counted write. Returns what was known of the block.
    #[inline]
    pub fn touch(&mut self, at: usize, mark: u32, now: Moment, written_ns: Option<u64>) -> Touched {
        let before = self.writes[at];
        let last = std::mem::replace(&mut self.last[at], now);
        let mut writes = before | (mark >> MARKS << LINE_MARKS) as u16;
        let mut last_write_ns = None;
        if let Some(ns) = written_ns {
            let earlier = std::mem::replace(&mut self.last_write_ns[at], ns);
            last_write_ns = (u32::from(before) & LINE_WRITES > 0).then_some(earlier);
            writes += 1;
        }
        self.writes[at] = writes;
        Touched { known: before != 0, last, last_write_ns }
    }

    /// Marks a block as kept elsewhere.
    pub fn spill(&mut self, at: usize, number: usize) {
        (self.writes[at], self.last_write_ns[at]) = (LINE_SPILLED, number as u64);
    }

    /// The touched blocks of the group: their keys and places in the line.
    pub fn blocks(&self) -> impl Iterator<Item = (u32, usize)> + use<> {
        let this = *self;
        (0..GROUP as usize)
            .filter(move |&at| this.has(at))
            .map(move |at| (this.key + at as u32, at))
    }
}

const _: () =
    assert!(size_of::<Slot>() == 16 && size_of::<Line>() == 64 && GROUP == 1 << GROUP_BITS);
