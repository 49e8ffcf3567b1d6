//! Blocks in entries of 16 bytes, one for all neighbouring blocks in the same state: requests touch
//! runs of blocks, and most runs recur unchanged.

use super::block::{Block, First, GROUP, WRITES, more_writes};
use super::entry::{Set, Slot, Touched};
use super::ordered::{Entry, Ordered};
use crate::analyze::set_windows::Moment;

/// A list of spilled blocks grows by one part in this many.
const SPILL_GROWTH: usize = 10;
const LEAST_SPILLED: usize = 16;

/// A request's touch of some blocks of one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetTouch {
    /// The key of the first block of the group.
    pub group: u32,
    pub set: Set,
    /// The request's operation, as a mark of [`Block`].
    pub mark: u32,
    pub now: Moment,
    /// The time of a write that counts in the figures.
    pub written_ns: Option<u64>,
    /// The second from which times are counted.
    pub base: u32,
}

impl SetTouch {
    /// Applies the touch to a block; returns what was known of the block before, if it was there.
    pub fn apply(&self, block: &mut Block, known: bool) -> Touched {
        let again = self.written_ns.is_some() && block.writes & WRITES > 0;
        let last_write_ns = again.then_some(block.last_write_ns);
        let before = Touched { known, last: block.last, last_write_ns };
        block.last = self.now;
        block.writes |= self.mark;
        if let Some(ns) = self.written_ns {
            block.last_write_ns = ns;
            block.writes = more_writes(block.writes, 1);
        }
        before
    }

    /// What a part keeps of blocks that are touched for the first time.
    fn first(&self) -> First {
        First { touch: self.now, write_ns: self.written_ns.unwrap_or(0) }
    }
}

/// Returns the key of the group's first block, and the block as a set.
#[inline]
fn split_key(key: u32) -> (u32, Set) {
    let within = key & (GROUP as u32 - 1);
    (key - within, 1 << within)
}

/// Stores a block that fits no entry; returns its number.
#[cold]
pub(super) fn spill(spilled: &mut Vec<Block>, block: &Block) -> usize {
    if spilled.len() == spilled.capacity() {
        spilled.reserve_exact(spilled.len() / SPILL_GROWTH + LEAST_SPILLED);
    }
    spilled.push(*block);
    spilled.len() - 1
}

/// Builds an entry for blocks, which may have to be kept elsewhere.
fn entry(key: u32, set: Set, block: &Block, base: u32, spilled: &mut Vec<Block>) -> Slot {
    Slot::of(key, set, block, base)
        .unwrap_or_else(|| Slot::spilled(key, set, spill(spilled, block)))
}

impl Ordered<Slot> {
    /// Returns where a block's entry is or belongs, after its group's; and whether it is there.
    #[inline]
    pub fn seek_block(&self, key: u32) -> (usize, bool) {
        let (group, set) = split_key(key);
        let (mut at, mut found) = self.seek(group);
        while found && self.at(at).set() & set == 0 {
            at += 1;
            found = self.has(at, group);
        }
        (at, found)
    }

    /// Touches blocks of a group and passes on what was known and of how many blocks; returns how
    /// many are new. There must be room for an entry.
    #[inline]
    pub fn touch(
        &mut self,
        touch: &SetTouch,
        spilled: &mut Vec<Block>,
        tell: &mut impl FnMut(&Touched, u32),
    ) -> u32 {
        let (mut at, mut found) = self.seek(touch.group);
        let mut left = touch.set;
        while found {
            let set = self.at(at).set() & left;
            if set != 0 {
                tell(&self.touch_entry(at, set, touch, spilled), set.count_ones());
                left &= !set;
                if left == 0 {
                    return 0;
                }
            }
            at += 1;
            found = self.has(at, touch.group);
        }
        tell(&self.touch_new(at, left, touch, spilled), left.count_ones());
        left.count_ones()
    }

    /// Touches blocks of which nothing was known.
    #[inline(never)]
    fn touch_new(
        &mut self,
        at: usize,
        set: Set,
        touch: &SetTouch,
        spilled: &mut Vec<Block>,
    ) -> Touched {
        let mut block = Block::default();
        let before = touch.apply(&mut block, false);
        let slot = entry(touch.group, set, &block, touch.base, spilled);
        self.add(at, slot, &touch.first());
        before
    }

    /// Touches some blocks of an entry; returns what was known of each.
    #[inline]
    fn touch_entry(
        &mut self,
        at: usize,
        set: Set,
        touch: &SetTouch,
        spilled: &mut Vec<Block>,
    ) -> Touched {
        self.single(at, set, spilled);
        let SetTouch { mark, now, written_ns, base, .. } = *touch;
        let touched = self.at_mut(at).touch(mark, now, written_ns, base);
        let before = touched.unwrap_or_else(|| self.touch_elsewhere(at, touch, spilled));
        let is_first_write = before.last_write_ns.is_none();
        if let Some((kept, ns)) = self.beside(at).zip(written_ns).filter(|_| is_first_write) {
            kept.write_ns = ns;
        }
        before
    }

    /// Does the same for blocks that are kept elsewhere, or are from now on.
    #[cold]
    fn touch_elsewhere(
        &mut self,
        at: usize,
        touch: &SetTouch,
        spilled: &mut Vec<Block>,
    ) -> Touched {
        let mut block = self.block(at, touch.base, spilled);
        let before = touch.apply(&mut block, true);
        self.set_block(at, &block, touch.base, spilled);
        before
    }

    /// Splits these blocks of an entry off into an entry of their own.
    #[inline]
    fn single(&mut self, at: usize, set: Set, spilled: &mut Vec<Block>) {
        if self.at(at).set() != set {
            self.part(at, set, spilled);
        }
    }

    /// Leaves an entry with these of its blocks; the others get an entry after it.
    #[inline(never)]
    fn part(&mut self, at: usize, set: Set, spilled: &mut Vec<Block>) {
        let (slot, first) = (*self.at(at), self.beside(at).copied());
        let others = slot.set() & !set;
        let rest = match slot.writes() {
            Ok(_) => slot.with(others),
            Err(number) => {
                let block = spilled[number];
                Slot::spilled(slot.key(), others, spill(spilled, &block))
            }
        };
        *self.at_mut(at) = slot.with(set);
        self.insert_with(at + 1, rest, first);
    }

    fn insert_with(&mut self, at: usize, slot: Slot, first: Option<First>) {
        self.insert(at, slot);
        if let Some((kept, first)) = self.beside(at).zip(first) {
            *kept = first;
        }
    }

    /// Adds new blocks: to an entry of their group in the same state, or as an entry of their own,
    /// which belongs at `at`.
    fn add(&mut self, at: usize, slot: Slot, first: &First) {
        let mut before = at;
        while before > 0 && self.has(before - 1, slot.key()) {
            before -= 1;
            let like = *self.at(before);
            if like.is_like(&slot) && self.beside(before).is_none_or(|kept| kept == first) {
                *self.at_mut(before) = like.with(like.set() | slot.set());
                return;
            }
        }
        self.insert_with(at, slot, Some(*first));
    }

    /// The state of an entry's blocks.
    #[inline]
    pub fn block(&self, at: usize, base: u32, spilled: &[Block]) -> Block {
        self.at(at).block(base).unwrap_or_else(|number| spilled[number])
    }

    /// Replaces the state of all blocks of an entry.
    fn set_block(&mut self, at: usize, block: &Block, base: u32, spilled: &mut Vec<Block>) {
        let slot = *self.at(at);
        match slot.writes() {
            Err(number) => spilled[number] = *block,
            Ok(_) => *self.at_mut(at) = entry(slot.key(), slot.set(), block, base, spilled),
        }
    }

    /// Stores the state of one block and, if it is new, what a part keeps of its beginning; returns
    /// whether it is new.
    pub fn put(
        &mut self,
        key: u32,
        block: &Block,
        first: &First,
        base: u32,
        spilled: &mut Vec<Block>,
    ) -> bool {
        let (at, known) = self.seek_block(key);
        let (group, set) = split_key(key);
        if known {
            self.single(at, set, spilled);
            self.set_block(at, block, base, spilled);
        } else {
            let slot = entry(group, set, block, base, spilled);
            self.add(at, slot, first);
        }
        !known
    }

    /// The first touch and write of this block alone, in a part of a trace that keeps them.
    pub fn first(&mut self, key: u32, spilled: &mut Vec<Block>) -> Option<&mut First> {
        let (at, known) = self.seek_block(key);
        if !known || !self.keeps_beside() {
            return None;
        }
        self.single(at, split_key(key).1, spilled);
        self.beside(at)
    }
}
