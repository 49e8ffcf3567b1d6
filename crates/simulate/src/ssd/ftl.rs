//! The translation layer: where every logical page lies, and greedy garbage collection.

use super::Flash;

/// What programming one page came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Programmed {
    /// Pages that garbage collection had to move before.
    pub moved: u32,
    /// Blocks it erased.
    pub erased: u32,
}

/// A die's blocks.
#[derive(Clone, Debug)]
struct Die {
    /// First of its blocks.
    first: u32,
    /// The block that is being written, and the pages written in it.
    open: u32,
    filled: u32,
    /// Erased blocks.
    free: Vec<u32>,
}

/// The map between logical and physical pages. Numbers are kept plus one, so that memory never touched says "nothing".
#[derive(Clone, Debug)]
pub struct Ftl {
    physical: Vec<u32>,
    logical: Vec<u32>,
    /// Pages in use of every block.
    valid: Vec<u16>,
    dies: Vec<Die>,
    pages_per_block: u32,
    blocks_per_die: u32,
}

impl Ftl {
    /// Erased chips that are to hold so many logical pages.
    pub fn new(flash: &Flash, pages: u32) -> Self {
        let dies = flash.channels * flash.dies_per_channel;
        let blocks = dies * flash.blocks_per_die;
        let die = |n: u32| {
            let first = n * flash.blocks_per_die;
            let free = (first + 1..first + flash.blocks_per_die).rev().collect();
            Die { first, open: first, filled: 0, free }
        };
        Self {
            physical: vec![0; pages as usize],
            logical: vec![0; blocks as usize * flash.pages_per_block as usize],
            valid: vec![0; blocks as usize],
            dies: (0..dies).map(die).collect(),
            pages_per_block: flash.pages_per_block,
            blocks_per_die: flash.blocks_per_die,
        }
    }

    /// The die that a page lives on.
    #[inline]
    pub fn die(&self, page: u32) -> usize {
        page as usize % self.dies.len()
    }

    /// Whether a page was ever written.
    #[inline]
    pub fn holds(&self, page: u32) -> bool {
        self.physical[page as usize] > 0
    }

    /// Writes a page anew.
    pub fn program(&mut self, page: u32) -> Programmed {
        if let Some(old) = self.physical[page as usize].checked_sub(1) {
            self.valid[(old / self.pages_per_block) as usize] -= 1;
            self.logical[old as usize] = 0;
        }
        let die = self.die(page);
        let mut done = Programmed::default();
        while self.dies[die].filled == self.pages_per_block {
            self.open_block(die, &mut done);
        }
        self.append(die, page);
        done
    }

    fn append(&mut self, die: usize, page: u32) {
        let at = &mut self.dies[die];
        let physical = at.open * self.pages_per_block + at.filled;
        at.filled += 1;
        self.valid[at.open as usize] += 1;
        self.physical[page as usize] = physical + 1;
        self.logical[physical as usize] = page + 1;
    }

    /// Opens an erased block; when it was the last, the block with fewest pages in use moves there and is erased.
    fn open_block(&mut self, die: usize, done: &mut Programmed) {
        let Some(open) = self.dies[die].free.pop() else { return };
        let is_last = self.dies[die].free.is_empty();
        (self.dies[die].open, self.dies[die].filled) = (open, 0);
        if !is_last {
            return;
        }
        let first = self.dies[die].first;
        let others = (first..first + self.blocks_per_die).filter(|&b| b != open);
        let Some(victim) = others.min_by_key(|&b| self.valid[b as usize]) else { return };
        let pages = victim * self.pages_per_block..(victim + 1) * self.pages_per_block;
        for physical in pages {
            if let Some(page) = self.logical[physical as usize].checked_sub(1) {
                self.logical[physical as usize] = 0;
                self.append(die, page);
                done.moved += 1;
            }
        }
        self.valid[victim as usize] = 0;
        done.erased += 1;
        self.dies[die].free.push(victim);
    }
}
