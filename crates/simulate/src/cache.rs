//! A drive's write buffer: which blocks are dirty, the order in which they are destaged, and when
//! their space is freed.

use crate::layout::Layout;
use crate::places::Places;
use std::collections::BTreeMap;

/// The order in which the buffer is written to the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Destage {
    /// In the order of arrival.
    #[default]
    Fcfs,
    /// Least access time per block first: shortest access time, modified to favour large writes,
    /// which free more space.
    Satf,
}

/// When the space of a write that is being destaged is freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freeing {
    /// When the whole write is done, as in the paper's drives; this is why small caches made bursts
    /// slower.
    #[default]
    WholeWrite,
    /// Block by block as they are written.
    AsWritten,
}

/// One stretch of dirty blocks, no longer than the write that brought it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dirty {
    /// First block.
    pub block: u64,
    /// Number of blocks.
    pub count: u64,
    /// When its data had arrived.
    pub arrived_ns: u64,
    /// Order of arrival.
    sequence: u64,
}

/// The dirty blocks, as stretches that never overlap.
#[derive(Clone, Debug, Default)]
pub struct Buffer<'a> {
    by_block: BTreeMap<u64, Dirty>,
    by_sequence: BTreeMap<u64, u64>,
    /// Where the stretches lie on the medium; kept only after [`Self::placed`] was called.
    places: Option<Places<'a>>,
    sequence: u64,
    blocks: u64,
}

impl<'a> Buffer<'a> {
    /// Dirty blocks held.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Whether nothing is dirty.
    pub fn is_empty(&self) -> bool {
        self.by_block.is_empty()
    }

    /// All stretches by block number.
    pub fn iter(&self) -> impl Iterator<Item = &Dirty> {
        self.by_block.values()
    }

    /// Stretches held.
    pub fn stretches(&self) -> usize {
        self.by_block.len()
    }

    /// Returns the stretches by their position on the disk, which is kept up to date from then on.
    pub fn placed(&mut self, layout: &'a Layout) -> &Places<'a> {
        self.places.get_or_insert_with(|| {
            let mut places = Places::new(layout);
            self.by_block.values().for_each(|dirty| places.put(dirty.block, dirty.count));
            places
        })
    }

    /// Stops tracking positions.
    pub fn misplace(&mut self) {
        self.places = None;
    }

    /// The stretch that begins at a block.
    pub fn at(&self, block: u64) -> Option<Dirty> {
        self.by_block.get(&block).copied()
    }

    /// The stretch that arrived first.
    pub fn oldest(&self) -> Option<Dirty> {
        let (_, block) = self.by_sequence.first_key_value()?;
        self.by_block.get(block).copied()
    }

    /// Removes a stretch.
    pub fn remove(&mut self, block: u64) -> Option<Dirty> {
        let dirty = self.by_block.remove(&block)?;
        self.by_sequence.remove(&dirty.sequence);
        self.blocks -= dirty.count;
        if let Some(places) = &mut self.places {
            places.remove(block, dirty.count);
        }
        Some(dirty)
    }

    fn put(&mut self, dirty: Dirty) {
        self.blocks += dirty.count;
        if let Some(places) = &mut self.places {
            places.put(dirty.block, dirty.count);
        }
        self.by_sequence.insert(dirty.sequence, dirty.block);
        self.by_block.insert(dirty.block, dirty);
    }

    /// Makes blocks dirty, replacing what they overwrite. Returns the number of blocks overwritten.
    pub fn insert(&mut self, block: u64, count: u64, arrived_ns: u64) -> u64 {
        // A stretch of no blocks would never be overwritten, and costs are per block.
        if count == 0 {
            return 0;
        }
        let overwritten = self.discard(block, count);
        self.sequence += 2;
        self.put(Dirty { block, count, arrived_ns, sequence: self.sequence });
        overwritten
    }

    /// Removes blocks; returns how many of them were dirty.
    pub fn discard(&mut self, block: u64, count: u64) -> u64 {
        let (end, mut gone) = (block + count, 0);
        while let Some(old) = self.overlapping(block, count) {
            self.remove(old.block);
            let (old_end, low) = (old.block + old.count, old.block.max(block));
            let high = old_end.min(end);
            gone += high - low;
            if old.block < block {
                self.put(Dirty { count: block - old.block, ..old });
            }
            if old_end > end {
                // Two stretches of one write keep its place in the order, the later part right
                // behind the first.
                let sequence = if old.block < block { old.sequence | 1 } else { old.sequence };
                self.put_behind(Dirty { block: end, count: old_end - end, sequence, ..old });
            }
        }
        gone
    }

    /// Inserts a stretch at its place in the order or, if that is taken, at the end.
    fn put_behind(&mut self, mut dirty: Dirty) {
        if self.by_sequence.contains_key(&dirty.sequence) {
            self.sequence += 2;
            dirty.sequence = self.sequence;
        }
        self.put(dirty);
    }

    /// The last stretch that overlaps these blocks.
    fn overlapping(&self, block: u64, count: u64) -> Option<Dirty> {
        let (_, last) = self.by_block.range(..block + count).next_back()?;
        (last.block + last.count > block).then_some(*last)
    }

    /// Whether all of these blocks are dirty, so that a read of them needs no access to the medium.
    pub fn holds(&self, block: u64, count: u64) -> bool {
        let mut end = block + count;
        while let Some(part) = self.overlapping(block, end - block) {
            if part.block + part.count < end {
                return false;
            }
            if part.block <= block {
                return true;
            }
            end = part.block;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn overwrites_take_no_room_and_the_rest_stays() {
        let mut buffer = Buffer::default();
        assert_eq!(buffer.insert(10, 10, 1), 0);
        assert_eq!(buffer.insert(13, 4, 2), 4);
        assert_eq!((buffer.blocks(), buffer.iter().count()), (10, 3));
        assert!(buffer.holds(10, 10) && !buffer.holds(9, 3) && !buffer.holds(18, 3));
        assert_eq!(buffer.oldest().map(|d| (d.block, d.count)), Some((10, 3)));
        buffer.remove(10);
        assert_eq!(buffer.oldest().map(|d| d.block), Some(17), "parts of one write stay together");
        assert_eq!(buffer.discard(0, 100), 7);
        assert!(buffer.is_empty() && buffer.blocks() == 0 && buffer.oldest().is_none());
    }

    #[test]
    fn no_blocks_are_no_stretch() {
        let mut buffer = Buffer::default();
        buffer.insert(10, 10, 1);
        assert_eq!(buffer.insert(15, 0, 2), 0);
        assert_eq!((buffer.blocks(), buffer.stretches()), (10, 1));
    }

    proptest! {
        #[test]
        fn the_buffer_agrees_with_a_set_of_blocks(writes in prop::collection::vec((0u64..64, 1u64..12, any::<bool>()), 1..60)) {
            let mut buffer = Buffer::default();
            let mut truth = std::collections::BTreeSet::new();
            for (block, count, insert) in writes {
                let known = (block..block + count).filter(|b| truth.contains(b)).count() as u64;
                if insert {
                    prop_assert_eq!(buffer.insert(block, count, 0), known);
                    truth.extend(block..block + count);
                } else {
                    prop_assert_eq!(buffer.discard(block, count), known);
                    truth.retain(|b| *b < block || *b >= block + count);
                }
                prop_assert_eq!(buffer.blocks(), truth.len() as u64);
                prop_assert_eq!(buffer.by_sequence.len(), buffer.by_block.len());
                for b in 0..76 {
                    prop_assert_eq!(buffer.holds(b, 2), truth.contains(&b) && truth.contains(&(b + 1)));
                }
            }
        }
    }
}
