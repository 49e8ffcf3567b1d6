//! The set of dirty blocks: one bit per block, so that updates on every write are cheap.

const BITS: u32 = u64::BITS;

/// A set of block numbers, in order.
#[derive(Clone, Debug, Default)]
pub struct Dirty {
    words: Vec<u64>,
    count: usize,
}

impl Dirty {
    /// An empty set, for `blocks` blocks.
    pub fn new(blocks: u32) -> Self {
        Self { words: vec![0; blocks.div_ceil(BITS) as usize], count: 0 }
    }

    /// The number of blocks in the set.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Adds a block.
    #[inline]
    pub fn insert(&mut self, block: u32) {
        let (word, bit) = (&mut self.words[(block / BITS) as usize], 1 << (block % BITS));
        self.count += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Removes a block; returns whether it was in the set.
    #[inline]
    pub fn remove(&mut self, block: u32) -> bool {
        let (word, bit) = (&mut self.words[(block / BITS) as usize], 1 << (block % BITS));
        let was = *word & bit != 0;
        self.count -= usize::from(was);
        *word &= !bit;
        was
    }

    /// All blocks of the set in order from `block` on, wrapping around.
    pub fn from(&self, block: u32) -> impl Iterator<Item = u32> {
        let (first, words) = ((block / BITS) as usize, self.words.len());
        let below = (1u64 << (block % BITS)) - 1;
        // The word with `block` comes twice: first the bits from it on, at the end those before it.
        let places = (0..words + usize::from(words > 0)).map(move |n| {
            let place = (first + n) % words;
            let taken = match n {
                0 => !below,
                _ if n == words => below,
                _ => u64::MAX,
            };
            (place, self.words[place] & taken)
        });
        places.flat_map(|(place, word)| bits(word).map(move |bit| place as u32 * BITS + bit))
    }
}

/// The positions of a word's set bits.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word > 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_in_their_order_from_anywhere_and_around() {
        let mut dirty = Dirty::new(200);
        for block in [3, 63, 64, 130, 199, 64] {
            dirty.insert(block);
        }
        assert_eq!(dirty.len(), 5);
        let from = |block| dirty.from(block).collect::<Vec<u32>>();
        assert_eq!(from(0), [3, 63, 64, 130, 199]);
        assert_eq!(from(64), [64, 130, 199, 3, 63]);
        assert_eq!(from(131), [199, 3, 63, 64, 130]);
        assert!(dirty.remove(64) && !dirty.remove(64));
        assert_eq!(dirty.len(), 4);
        assert_eq!(Dirty::new(0).from(0).count(), 0);
    }
}
