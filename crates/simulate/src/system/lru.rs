//! An LRU cache: the blocks of a set that are in memory, in order of last use, and which are dirty.

use super::dirty::Dirty;

/// Stands for no block.
const NONE: u32 = u32::MAX;

/// A file cache over the blocks of one set, numbered from 0.
#[derive(Clone, Debug)]
pub struct Lru {
    newer: Vec<u32>,
    older: Vec<u32>,
    present: Vec<bool>,
    /// Until when each block is locked for writing back; empty if none was ever locked.
    locked_ns: Vec<u64>,
    dirty: Dirty,
    newest: u32,
    oldest: u32,
    used: u32,
    room: u32,
}

impl Lru {
    /// An empty cache of `room` blocks over a set of `blocks`.
    pub fn new(blocks: u32, room: u32) -> Self {
        let count = blocks as usize;
        Self {
            newer: vec![NONE; count],
            older: vec![NONE; count],
            present: vec![false; count],
            locked_ns: Vec::new(),
            dirty: Dirty::new(blocks),
            newest: NONE,
            oldest: NONE,
            used: 0,
            room,
        }
    }

    /// Whether a block is in memory.
    pub fn holds(&self, block: u32) -> bool {
        self.present[block as usize]
    }

    /// The number of dirty blocks.
    pub fn dirty(&self) -> usize {
        self.dirty.len()
    }

    /// The time until which a block may not be changed.
    pub fn locked_ns(&self, block: u32) -> u64 {
        self.locked_ns.get(block as usize).copied().unwrap_or(0)
    }

    /// Locks a block against changes before `until_ns`.
    pub fn lock(&mut self, block: u32, until_ns: u64) {
        self.locked_ns.resize(self.present.len(), 0);
        self.locked_ns[block as usize] = until_ns;
    }

    fn unlink(&mut self, block: u32) {
        let (newer, older) = (self.newer[block as usize], self.older[block as usize]);
        match newer {
            NONE => self.newest = older,
            other => self.older[other as usize] = older,
        }
        match older {
            NONE => self.oldest = newer,
            other => self.newer[other as usize] = newer,
        }
    }

    /// Uses a block; returns the block evicted for it, if any, and whether that was dirty.
    pub fn touch(&mut self, block: u32) -> Option<(u32, bool)> {
        let mut gone = None;
        if self.present[block as usize] {
            if self.newest == block {
                return None;
            }
            self.unlink(block);
        } else {
            if self.room == 0 {
                return None;
            }
            if self.used == self.room {
                let victim = self.oldest;
                self.unlink(victim);
                self.present[victim as usize] = false;
                gone = Some((victim, self.dirty.remove(victim)));
            } else {
                self.used += 1;
            }
            self.present[block as usize] = true;
        }
        self.newer[block as usize] = NONE;
        self.older[block as usize] = self.newest;
        match self.newest {
            NONE => self.oldest = block,
            other => self.newer[other as usize] = block,
        }
        self.newest = block;
        gone
    }

    /// Marks a block in memory as dirty.
    pub fn soil(&mut self, block: u32) {
        if self.present[block as usize] {
            self.dirty.insert(block);
        }
    }

    /// Marks dirty blocks as clean and returns them as runs of at most `longest` consecutive
    /// blocks, in order from `from` on and wrapping around. Takes at least `count` blocks, if there
    /// are as many.
    pub fn clean(&mut self, from: u32, count: usize, longest: u32) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (taken, block) in self.dirty.from(from).enumerate() {
            match runs.last_mut() {
                Some((first, length)) if *first + *length == block && *length < longest => {
                    *length += 1
                }
                _ if taken >= count => break,
                _ => runs.push((block, 1)),
            }
        }
        for &(first, length) in &runs {
            for block in first..first + length {
                self.dirty.remove(block);
            }
        }
        runs
    }

    /// Marks a block as clean.
    pub fn wash(&mut self, block: u32) {
        self.dirty.remove(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_block_leaves() {
        let mut cache = Lru::new(10, 3);
        for block in [1, 2, 3] {
            assert_eq!(cache.touch(block), None);
        }
        cache.touch(1);
        cache.soil(2);
        assert_eq!(cache.touch(4), Some((2, true)));
        assert_eq!(cache.touch(5), Some((3, false)));
        assert!(cache.holds(1) && cache.holds(4) && !cache.holds(2) && cache.dirty() == 0);
    }

    #[test]
    fn dirty_blocks_are_taken_in_runs_from_where_the_arm_is() {
        let mut cache = Lru::new(20, 20);
        for block in [1, 2, 3, 7, 12, 13] {
            cache.touch(block);
            cache.soil(block);
        }
        assert_eq!(cache.clean(5, 3, 8), [(7, 1), (12, 2)]);
        assert_eq!(cache.clean(0, 9, 2), [(1, 2), (3, 1)]);
        assert_eq!(cache.dirty(), 0);
    }
}
