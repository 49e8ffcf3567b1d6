//! What a drive holds before a run begins. It is computed, not stored: a terabyte that is never
//! written takes no memory.

use super::divisor::Divisor;
use super::{Filled, Flash, Model};
use ioscape_schema::units::Bytes;

/// The initial state of every die: which pages each of its blocks holds.
#[derive(Clone, Debug)]
pub struct Filling {
    dies: u32,
    by_die: Divisor,
    /// Pages on the first die; other dies have the same number or one fewer.
    share: u32,
    pages: u32,
    /// First page, in order of writing, of every block that holds data; then the end.
    starts: Vec<u32>,
    /// Whether the order of writing is unrelated to the page numbers, and the last block is still
    /// being written.
    scattered: bool,
    /// Whether all blocks but the last are full.
    whole: bool,
    blocks_per_die: u32,
    pages_per_block: u32,
    by_block: Divisor,
}

/// Number of pages on the first die; other dies have the same number or one fewer.
pub fn share(flash: &Flash, pages: u32) -> u32 {
    pages.div_ceil(flash.channels * flash.dies_per_channel)
}

impl Filling {
    /// Describes chips with `pages` logical pages. `counts` is the number of pages in use of each
    /// block of a die. `scattered` says that the order of writing is unrelated to the page numbers,
    /// and that the last block is still being written.
    pub fn new(flash: &Flash, pages: u32, counts: &[u16], scattered: bool) -> Self {
        let mut starts = vec![0];
        starts.extend(counts.iter().scan(0, |sum, &count| {
            *sum += u32::from(count);
            Some(*sum)
        }));
        let dies = flash.channels * flash.dies_per_channel;
        let share = share(flash, pages);
        let Flash { blocks_per_die, pages_per_block, .. } = *flash;
        let whole = counts.split_last().is_none_or(|(_, before)| {
            before.iter().all(|count| u32::from(*count) == pages_per_block)
        });
        let [by_die, by_block] = [dies, pages_per_block].map(Divisor::new);
        Self {
            dies,
            by_die,
            share,
            pages,
            starts,
            scattered,
            whole,
            blocks_per_die,
            pages_per_block,
            by_block,
        }
    }

    /// Number of logical pages.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// The block that a die is writing, by its number on the die, and how many of its places are
    /// taken, which differs between dies.
    pub fn open(&self, die: u32) -> (u32, u32) {
        let used = self.blocks();
        if !self.scattered || used == 0 {
            return (used, 0);
        }
        let taken = self.starts[used as usize] - self.starts[used as usize - 1];
        let left = u64::from(self.pages_per_block - taken);
        (used - 1, taken + (left * u64::from(die) / u64::from(self.dies)) as u32)
    }

    /// Number of blocks of a die that hold data.
    pub fn blocks(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Pages in use of each of these blocks on this die.
    pub fn counts(&self, die: u32) -> Vec<u16> {
        let mut counts: Vec<u16> =
            self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as u16).collect();
        let last = self.share.saturating_sub(1);
        if self.share > 0
            && u64::from(last) * u64::from(self.dies) + u64::from(die) >= u64::from(self.pages)
            && let Some((block, _)) = self.locate(last)
        {
            counts[block as usize] -= 1;
        }
        counts
    }

    /// The physical page where a logical page is at first.
    pub fn place(&self, page: u32) -> Option<u32> {
        let [number, die] = self.by_die.split(page);
        let (block, place) = self.locate(number).filter(|_| page < self.pages)?;
        let block = die * self.blocks_per_die + block;
        Some(block * self.pages_per_block + place)
    }

    /// Block, and place in it, of a die's page by its number on that die; `None` if it holds nothing
    /// at first.
    fn locate(&self, number: u32) -> Option<(u32, u32)> {
        let at = if self.scattered { permuted(number, self.share, false) } else { number };
        if at >= self.starts[self.blocks() as usize] {
            return None;
        }
        if self.whole {
            let [block, place] = self.by_block.split(at);
            return Some((block, place));
        }
        let block = self.starts.partition_point(|&start| start <= at) as u32 - 1;
        Some((block, at - self.starts[block as usize]))
    }

    /// The pages that a block holds at first: their numbers on the die, in order of their places.
    pub fn held(&self, block: u32) -> impl Iterator<Item = u32> + use<'_> {
        let block = block as usize;
        let range = self.starts.get(block + 1).map_or(0..0, |&end| self.starts[block]..end);
        range.map(|at| if self.scattered { permuted(at, self.share, true) } else { at })
    }
}

/// Keys of the rounds of the Feistel network.
const KEYS: [u32; 4] = [0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f];

/// A permutation of the numbers below `count`, or its inverse: a Feistel network over the next
/// power of four, repeated until the number is below `count` (Black & Rogaway 2002, "Ciphers with
/// arbitrary finite domains", cycle walking).
fn permuted(number: u32, count: u32, inverse: bool) -> u32 {
    let bits = (32 - count.saturating_sub(1).leading_zeros()).max(2).div_ceil(2);
    let mask = (1u32 << bits) - 1;
    let mixed = |half: u32, key: u32| {
        (half ^ key).wrapping_mul(0x2c1b_3c6d).rotate_left(13).wrapping_mul(key) >> 7
    };
    let mut at = u64::from(number);
    loop {
        let (mut left, mut right) = ((at >> bits) as u32, at as u32 & mask);
        for round in 0..KEYS.len() {
            if inverse {
                let key = KEYS[KEYS.len() - 1 - round];
                (left, right) = (right ^ (mixed(left, key) & mask), left);
            } else {
                (left, right) = (right, left ^ (mixed(right, KEYS[round]) & mask));
            }
        }
        at = u64::from(left) << bits | u64::from(right);
        if at < u64::from(count) {
            return at as u32;
        }
    }
}

impl Model {
    /// Warns of writes to a drive that is laid out anew for each measurement, and so has erased
    /// flash; `None` if it begins in its steady state, or its spare flash is doubted as a whole.
    pub fn doubt_of_garbage(&self) -> Option<String> {
        let flash = &self.flash;
        let used = share(flash, self.pages()).div_ceil(flash.pages_per_block);
        let blocks = u64::from(flash.blocks_per_die - used) * u64::from(self.dies());
        let pages = blocks * u64::from(flash.pages_per_block);
        let spare = Bytes(pages as f64 * f64::from(flash.page_bytes));
        let erased = match self.filled {
            Filled::Empty => "all flash erased but that of its set".to_owned(),
            Filled::Full => format!("{spare} of erased flash"),
            Filled::SteadyState => return None,
        };
        (!self.is_spare_assumed).then(|| {
            format!(
                "every point begins with {erased} and collects no garbage before writes have used it up: writes to a drive that has long been in use may be several times slower, as `ioscape evaluate sim:NAME --precondition steady-state` tells"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_is_undone_by_its_inverse() {
        for count in [1, 2, 3, 17, 1000, 70_000] {
            let mut seen = vec![false; count as usize];
            for number in 0..count {
                let other = permuted(number, count, false);
                assert!(
                    !std::mem::replace(&mut seen[other as usize], true),
                    "{count}: {other} twice"
                );
                assert_eq!(permuted(other, count, true), number);
            }
        }
    }

    #[test]
    fn erased_flash_is_told_unless_there_is_none_or_it_is_assumed() {
        let mut drive = crate::ssd::find("generic-ssd").unwrap();
        let said = drive.build().unwrap().doubt_of_garbage().expect("it begins full");
        assert!(said.starts_with("every point begins with 68 GiB of erased flash"), "{said}");
        // Shipped drives are in the program: a user has no file to copy.
        assert!(said.contains("--precondition steady-state"), "{said}");
        drive.filled = Filled::Empty;
        let said = drive.build().unwrap().doubt_of_garbage().expect("nothing but its set");
        assert!(said.starts_with("every point begins with all flash erased but that of its set"));
        drive.filled = Filled::SteadyState;
        assert_eq!(drive.build().unwrap().doubt_of_garbage(), None);
        drive.filled = Filled::Full;
        drive.sources.insert("filled".to_owned(), crate::ssd::ASSUMED_SPARE.to_owned());
        assert_eq!(drive.build().unwrap().doubt_of_garbage(), None);
    }
}
