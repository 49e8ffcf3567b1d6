//! The two kinds of entries that blocks are kept in: one block in 16 bytes, or neighbours in one line of the processor's caches.

use super::block::{Block, First, GROUP, GROUP_BITS, MARKS, WORD_BITS, WRITES};
use super::ordered::Entry;
use crate::analyze::set_windows::Moment;

/// That the rest of the word is the number of a block kept elsewhere.
const SPILLED: u128 = 1 << WORD_BITS;
const KEY_BITS: u32 = u32::BITS;

/// A block's key in the lowest bits and its word above; a word of 0 tells that the place is free.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Slot([u64; 2]);

impl Entry for Slot {
    const FULL: usize = 80;
    type Beside = First;

    #[inline]
    fn key(&self) -> u32 {
        self.0[0] as u32
    }

    #[inline]
    fn is_free(&self) -> bool {
        // The marks are in the upper half, and every block has one.
        self.0[1] == 0
    }
}

impl Slot {
    #[inline]
    pub fn new(key: u32, word: u128) -> Self {
        let both = (word << KEY_BITS) | u128::from(key);
        Self([both as u64, (both >> 64) as u64])
    }

    /// The block of the number `number` among those that fit no word.
    pub fn spilled(key: u32, number: usize) -> Self {
        Self::new(key, SPILLED | number as u128)
    }

    /// The block, or its number among those that fit no word.
    #[inline]
    pub fn block(&self, base: u32) -> Result<Block, usize> {
        let word = (u128::from(self.0[0]) | (u128::from(self.0[1]) << 64)) >> KEY_BITS;
        if word & SPILLED == 0 {
            return Ok(Block::of_word(word, base));
        }
        Err((word & !SPILLED) as usize)
    }
}

/// Bits of a line's number of writes: two marks as of [`Block`], and that the block is kept elsewhere.
const LINE_MARKS: u32 = u16::BITS - 2;
const LINE_SPILLED: u16 = 1 << (LINE_MARKS - 1);
const LINE_WRITES: u32 = LINE_SPILLED as u32 - 1;

/// The blocks of one group.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Line {
    /// Of a spilled block its number.
    last_write_ns: [u64; GROUP as usize],
    last: [Moment; GROUP as usize],
    /// 0 for a block that was not touched.
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
    /// Of the group that begins with the block of that key; at least one block is put into it.
    pub fn of_group(key: u32) -> Self {
        Self { key, ..Self::default() }
    }

    /// Whether a block of the group was touched.
    #[inline]
    pub fn has(&self, block: usize) -> bool {
        self.writes[block] != 0
    }

    /// A block that was touched, or its number among those that fit no line.
    #[inline]
    pub fn block(&self, block: usize) -> Result<Block, usize> {
        let (writes, last_write_ns) = (self.writes[block], self.last_write_ns[block]);
        if writes & LINE_SPILLED != 0 {
            return Err(last_write_ns as usize);
        }
        let marks = u32::from(writes >> LINE_MARKS) << MARKS;
        let writes = marks | (u32::from(writes) & LINE_WRITES);
        Ok(Block { last: self.last[block], writes, last_write_ns })
    }

    /// Keeps a block; `false` where it was written too often for a line.
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

    /// Tells that the block is kept elsewhere.
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

const _: () = assert!(size_of::<Line>() == 64 && GROUP == 1 << GROUP_BITS);
