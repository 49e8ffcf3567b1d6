//! A part of the table of blocks: 16 bytes a block, in the order of their keys, with gaps.
//!
//! Ordered linear probing (Amble and Knuth 1974): a key's search begins where it would be if all keys were spread evenly, and ends
//! at the first key that is not smaller. So most of the places can be taken, and to grow is to copy in order.

use super::block::{Block, First, WORD_BITS};
use branches::prefetch_read_data;

/// Of so many places at most [`FULL`] are taken.
const OF: usize = 10;
const FULL: usize = 7;
/// Places in a line of the processor's caches.
const LINE: usize = 64 / size_of::<Slot>();
/// Places behind the last home, for keys that are pushed on.
const TAIL: usize = 48;
/// Homes to begin with.
const LEAST: usize = 16;
/// Fewer homes are doubled when they are too few, more are increased by a fifth.
const SMALL: usize = 1024;
/// That the rest of the word is an index of `spilled`.
const SPILLED: u128 = 1 << WORD_BITS;

/// A block's key in the lowest bits and its word above; a word of 0 tells that the place is free.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
struct Slot([u64; 2]);

const KEY_BITS: u32 = u32::BITS;

impl Slot {
    #[inline]
    fn of(key: u32, word: u128) -> Self {
        let both = (word << KEY_BITS) | u128::from(key);
        Self([both as u64, (both >> 64) as u64])
    }

    #[inline]
    fn key(&self) -> u32 {
        self.0[0] as u32
    }

    #[inline]
    fn word(&self) -> u128 {
        (u128::from(self.0[0]) | (u128::from(self.0[1]) << 64)) >> KEY_BITS
    }

    #[inline]
    fn is_free(&self) -> bool {
        // The marks are in the upper half, and every block has one.
        self.0[1] == 0
    }
}

/// Where a block is, or belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    at: usize,
    /// Whether it is there.
    pub known: bool,
}

/// Blocks by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Partition {
    slots: Vec<Slot>,
    /// Beside `slots`, where they are kept.
    firsts: Vec<First>,
    keeps_firsts: bool,
    homes: usize,
    len: usize,
    /// Blocks whose values do not fit into a word.
    spilled: Vec<Block>,
}

impl Partition {
    #[inline]
    fn home(&self, key: u32) -> usize {
        ((u64::from(key) * self.homes as u64) >> 32) as usize
    }

    /// Has the place of a key brought into the caches while the processor goes on.
    #[inline]
    pub fn fetch(&self, key: u32) {
        let home = self.home(key);
        for at in [home, home + LINE] {
            if let Some(slot) = self.slots.get(at) {
                prefetch_read_data::<_, 0>(&raw const *slot);
            }
        }
    }

    /// The place of a key.
    #[inline]
    pub fn seek(&self, key: u32) -> Place {
        self.seek_from(self.home(key), key)
    }

    /// The place of a key that is greater than the one whose place is `before`; nothing has been put since but that one.
    #[inline]
    pub fn seek_behind(&self, before: Place, key: u32) -> Place {
        if before.known { self.seek_from(before.at + 1, key) } else { self.seek(key) }
    }

    #[inline]
    fn seek_from(&self, mut at: usize, key: u32) -> Place {
        while let Some(slot) = self.slots.get(at) {
            if slot.is_free() {
                break;
            }
            if slot.key() >= key {
                return Place { at, known: slot.key() == key };
            }
            at += 1;
        }
        Place { at, known: false }
    }

    /// What is known of the block in a place; `base` as in [`put`](Self::put).
    #[inline]
    pub fn get(&self, place: Place, base: u32) -> Block {
        if !place.known {
            return Block::default();
        }
        let word = self.slots[place.at].word();
        if word & SPILLED == 0 {
            return Block::of_word(word, base);
        }
        self.spilled[(word & !SPILLED) as usize]
    }

    /// Keeps a block that was touched; its times are counted from the second `base`.
    #[inline]
    pub fn put(&mut self, place: Place, key: u32, block: &Block, base: u32) {
        if !place.known {
            self.insert(place.at, key, block, base);
            return;
        }
        let had = self.slots[place.at].word();
        if had & SPILLED != 0 {
            self.spilled[(had & !SPILLED) as usize] = *block;
            return;
        }
        let word = block.word(base).unwrap_or_else(|| self.spill(block));
        self.slots[place.at] = Slot::of(key, word);
    }

    /// The first touch and write of a block in a part of a trace, where they are kept.
    #[inline]
    pub fn first(&mut self, key: u32) -> Option<&mut First> {
        let place = self.seek(key);
        if place.known { self.firsts.get_mut(place.at) } else { None }
    }

    /// No blocks yet; a part of a trace keeps what they begin with.
    pub fn new(keeps_firsts: bool) -> Self {
        Self { keeps_firsts, ..Self::default() }
    }

    fn spill(&mut self, block: &Block) -> u128 {
        if self.spilled.len() == self.spilled.capacity() {
            self.spilled.reserve_exact(self.spilled.len() / OF + LEAST);
        }
        self.spilled.push(*block);
        SPILLED | (self.spilled.len() - 1) as u128
    }

    #[inline(never)]
    fn insert(&mut self, mut at: usize, key: u32, block: &Block, base: u32) {
        self.len += 1;
        if self.len * OF > self.homes * FULL {
            let more = if self.homes < SMALL { self.homes } else { self.homes / 5 };
            self.grow((self.homes + more).max(LEAST));
            at = self.seek(key).at;
        }
        let mut end = at;
        while self.slots.get(end).is_some_and(|slot| !slot.is_free()) {
            end += 1;
        }
        if end >= self.slots.len() {
            self.lengthen(end + TAIL);
        }
        let word = block.word(base).unwrap_or_else(|| self.spill(block));
        self.slots.copy_within(at..end, at + 1);
        self.slots[at] = Slot::of(key, word);
        if self.keeps_firsts {
            self.firsts.copy_within(at..end, at + 1);
            self.firsts[at] = First::default();
        }
    }

    fn lengthen(&mut self, to: usize) {
        self.slots.reserve_exact(to - self.slots.len());
        self.slots.resize(to, Slot::default());
        if self.keeps_firsts {
            self.firsts.reserve_exact(to - self.firsts.len());
            self.firsts.resize(to, First::default());
        }
    }

    /// Copies all to `homes` homes; that is in order.
    fn grow(&mut self, homes: usize) {
        self.homes = homes;
        let (slots, firsts) = (std::mem::take(&mut self.slots), std::mem::take(&mut self.firsts));
        let room = homes + TAIL;
        self.slots = vec![Slot::default(); room];
        self.firsts = vec![First::default(); if self.keeps_firsts { room } else { 0 }];
        let mut next = 0;
        for (from, slot) in slots.into_iter().enumerate().filter(|(_, slot)| !slot.is_free()) {
            let at = self.home(slot.key()).max(next);
            if at >= self.slots.len() {
                self.lengthen(at + TAIL);
            }
            self.slots[at] = slot;
            if let Some(first) = firsts.get(from) {
                self.firsts[at] = *first;
            }
            next = at + 1;
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.firsts.capacity() * size_of::<First>()
            + self.spilled.capacity() * size_of::<Block>()
    }

    /// All blocks in the order of their keys, each with what a part keeps of its beginning.
    pub fn iter(&self, base: u32) -> impl Iterator<Item = (u32, Block, First)> + '_ {
        let taken = self.slots.iter().enumerate().filter(|(_, slot)| !slot.is_free());
        taken.map(move |(at, slot)| {
            let block = self.get(Place { at, known: true }, base);
            (slot.key(), block, self.firsts.get(at).copied().unwrap_or_default())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::set_windows::Moment;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Times within the range of a word and beyond it, few writes and many.
    fn blocks() -> impl Strategy<Value = Block> {
        let last = prop_oneof![1_000u32..1_100, Just(u32::MAX), Just(1)];
        (last, 1u32..4, 0u32..3000, any::<bool>(), 0u64..2_000_000_000).prop_map(
            |(last, marks, writes, same, ns)| {
                let begun = u64::from(last - 1) * 1_000_000_000;
                let last_write_ns = if same { begun + ns % 1_000_000_000 } else { ns };
                Block {
                    last: Moment::numbered(last),
                    writes: (marks << 30) | writes,
                    last_write_ns: if writes > 0 { last_write_ns } else { 0 },
                }
            },
        )
    }

    proptest! {
        #[test]
        fn it_holds_what_a_map_holds(
            puts in prop::collection::vec((any::<u32>(), 0u32..31, blocks()), 0..400),
            firsts in any::<bool>(),
        ) {
            let base = 500;
            let (mut partition, mut map) = (Partition::new(firsts), BTreeMap::new());
            for (number, (key, shift, block)) in (1u32..).zip(puts) {
                // Small keys crowd at one end, and some come again.
                let key = if shift % 2 == 0 { key >> shift } else { u32::MAX - (key >> shift) };
                let place = partition.seek(key);
                let before: Option<&(Block, u32)> = map.get(&key);
                prop_assert_eq!(place.known, before.is_some());
                prop_assert_eq!(partition.get(place, base), before.map(|one| one.0).unwrap_or_default());
                partition.put(place, key, &block, base);
                if !place.known && firsts {
                    partition.first(key).expect("it is there").touch = Moment::numbered(number);
                }
                let first = before.map_or(number, |one| one.1);
                map.insert(key, (block, first));
            }
            prop_assert_eq!(partition.len(), map.len());
            let found: Vec<_> = partition.iter(base).map(|(key, block, first)| (key, block, first.touch)).collect();
            let told = |first: u32| if firsts { Moment::numbered(first) } else { Moment::NEVER };
            let expected: Vec<_> = map.into_iter().map(|(key, (block, first))| (key, block, told(first))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
