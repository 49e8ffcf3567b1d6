//! The translation layer: where every logical page lies, and greedy garbage collection.

use super::Flash;
use super::divisor::Divisor;
use super::filling::Filling;
use super::map::{Entry, Map};

/// The cost of programming one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Programmed {
    /// Pages that garbage collection had to move first.
    pub moved: u32,
    /// Blocks that garbage collection erased.
    pub erased: u32,
}

/// Bit in a block's count of pages in use: the block is open or free, and is not collected.
const NOT_CLOSED: u16 = 1 << 15;

/// A die's blocks.
#[derive(Clone, Debug)]
struct Die {
    /// The block being written, by its number on the die, and the pages written in it.
    open: u32,
    filled: u32,
    /// Erased blocks.
    free: Vec<u32>,
}

/// The map between logical and physical pages. A logical page always lives on the same die.
#[derive(Clone, Debug)]
pub struct Ftl {
    map: Map,
    filling: Filling,
    /// Pages in use of every block, combined with [`NOT_CLOSED`].
    valid: Vec<u16>,
    /// Logical pages by place, for blocks written since the beginning; empty for all others.
    written: Vec<Vec<u32>>,
    dies: Vec<Die>,
    by_die: Divisor,
    pages: u32,
    pages_per_block: u32,
    by_block: Divisor,
    blocks_per_die: u32,
}

/// The logical page with number `number` on a die.
fn page(number: u32, dies: u32, die: u32) -> u32 {
    u32::try_from(u64::from(number) * u64::from(dies) + u64::from(die)).unwrap_or(u32::MAX)
}

impl Ftl {
    /// Creates the map of chips in their initial state.
    pub fn new(flash: &Flash, filling: Filling) -> Self {
        let dies = flash.channels * flash.dies_per_channel;
        let pages = filling.pages();
        let (all, used) = (flash.blocks_per_die, filling.blocks());
        let blocks = dies as usize * all as usize;
        let (mut valid, mut written) = (Vec::with_capacity(blocks), vec![Vec::new(); blocks]);
        let mut at_work = Vec::new();
        for die in 0..dies {
            let first = valid.len();
            valid.extend(filling.counts(die));
            valid.resize(first + all as usize, NOT_CLOSED);
            let (open, filled) = filling.open(die);
            if open < used {
                let at = first + open as usize;
                valid[at] |= NOT_CLOSED;
                written[at] = filling.held(open).map(|n| page(n, dies, die)).collect();
                written[at].resize(filled as usize, u32::MAX);
            }
            at_work.push(Die { open, filled, free: (open + 1..all).rev().collect() });
        }
        Self {
            map: Map::new(pages),
            filling,
            valid,
            written,
            dies: at_work,
            by_die: Divisor::new(dies),
            pages,
            pages_per_block: flash.pages_per_block,
            by_block: Divisor::new(flash.pages_per_block),
            blocks_per_die: all,
        }
    }

    /// The die that a page lives on.
    #[inline]
    pub fn die(&self, page: u32) -> usize {
        self.by_die.split(page)[1] as usize
    }

    /// The physical page at a place of a die's block.
    fn physical(&self, die: usize, block: u32, place: u32) -> u32 {
        (die as u32 * self.blocks_per_die + block) * self.pages_per_block + place
    }

    /// The physical page that holds a logical page; `None` if that was never written, or was
    /// discarded.
    #[inline]
    pub fn place(&self, page: u32) -> Option<u32> {
        match self.map.get(page) {
            Entry::First => self.filling.place(page),
            Entry::Nowhere => None,
            Entry::At(physical) => Some(physical),
        }
    }

    /// Takes a page's old copy out of use.
    fn invalidate(&mut self, page: u32) {
        if let Some(old) = self.place(page) {
            self.valid[self.by_block.split(old)[0] as usize] -= 1;
        }
    }

    /// Programs a new copy of a page.
    pub fn program(&mut self, page: u32) -> Programmed {
        self.invalidate(page);
        // Garbage collection must not find it before it is written.
        self.map.set(page, None);
        let die = self.die(page);
        let mut done = Programmed::default();
        while self.dies[die].filled == self.pages_per_block {
            self.open_block(die, &mut done);
        }
        self.append(die, page);
        done
    }

    /// Leaves places of a die's open block unused, which are programmed with a batch but not
    /// filled. Returns how many are left.
    pub fn skip(&mut self, die: usize, places: u32) -> u32 {
        let at = &mut self.dies[die];
        at.filled = (at.filled + places).min(self.pages_per_block);
        let block = die * self.blocks_per_die as usize + at.open as usize;
        self.written[block].resize(at.filled as usize, u32::MAX);
        self.pages_per_block - at.filled
    }

    /// Discards pages: their copies become garbage.
    pub fn discard(&mut self, pages: std::ops::Range<u32>) {
        let (mut page, end) = (pages.start, pages.end.min(self.pages));
        while page < end {
            if Map::is_whole_piece(page, end) {
                for one in page..page + Map::piece() {
                    self.invalidate(one);
                }
                self.map.clear_piece(page);
                page += Map::piece();
            } else {
                self.invalidate(page);
                self.map.set(page, None);
                page += 1;
            }
        }
    }

    fn append(&mut self, die: usize, page: u32) {
        let (open, filled) = (self.dies[die].open, self.dies[die].filled);
        let block = die * self.blocks_per_die as usize + open as usize;
        self.dies[die].filled += 1;
        self.valid[block] += 1;
        self.written[block].push(page);
        self.map.set(page, Some(self.physical(die, open, filled)));
    }

    /// Opens an erased block; if it was the last, the pages in use of the block with the fewest
    /// move there, and that is erased.
    fn open_block(&mut self, die: usize, done: &mut Programmed) {
        let Some(open) = self.dies[die].free.pop() else { return };
        let first = die * self.blocks_per_die as usize;
        self.valid[first + self.dies[die].open as usize] &= !NOT_CLOSED;
        self.valid[first + open as usize] = NOT_CLOSED;
        self.written[first + open as usize].clear();
        (self.dies[die].open, self.dies[die].filled) = (open, 0);
        if self.dies[die].free.is_empty() {
            self.collect(die, done);
        }
    }

    /// Moves the pages in use of the block with the fewest to the open block, and erases the
    /// former.
    fn collect(&mut self, die: usize, done: &mut Programmed) {
        let first = die * self.blocks_per_die as usize;
        let blocks = &self.valid[first..first + self.blocks_per_die as usize];
        let victims = blocks.iter().enumerate().filter(|(_, count)| **count < NOT_CLOSED);
        let Some((victim, _)) = victims.min_by_key(|(_, count)| **count) else { return };
        for page in self.in_use(die, victim as u32) {
            self.append(die, page);
            done.moved += 1;
        }
        self.valid[first + victim] = NOT_CLOSED;
        self.written[first + victim] = Vec::new();
        done.erased += 1;
        self.dies[die].free.push(victim as u32);
    }

    /// The logical pages in use of a closed block.
    fn in_use(&self, die: usize, block: u32) -> Vec<u32> {
        let dies = self.dies.len() as u32;
        let written = &self.written[die * self.blocks_per_die as usize + block as usize];
        let held: Vec<u32> = if written.is_empty() {
            self.filling.held(block).map(|n| page(n, dies, die as u32)).collect()
        } else {
            written.clone()
        };
        let here = |(place, page): (usize, u32)| {
            let is_here = page < self.pages
                && self.place(page) == Some(self.physical(die, block, place as u32));
            is_here.then_some(page)
        };
        held.into_iter().enumerate().filter_map(here).collect()
    }

    /// The number of pages in use of each closed block of the first die.
    pub(super) fn closed_counts(&self) -> Vec<u16> {
        let blocks = &self.valid[..self.blocks_per_die as usize];
        blocks.iter().copied().filter(|count| *count < NOT_CLOSED).collect()
    }
}
