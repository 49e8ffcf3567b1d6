//! The map of a log-structured file system: where each block of a set was last written. Cleaning is
//! not simulated; the log is assumed to have room.

/// Blocks per piece in which the set was written before a run begins: 32 KB. The order of the
/// pieces is unrelated to their numbers, as after random updates of large files.
const PIECE_BLOCKS: u32 = 8;

/// The place of each block.
#[derive(Clone, Debug)]
pub struct Log {
    places: Vec<u32>,
    end: u32,
}

impl Log {
    /// Creates the map of a set of `blocks` blocks that was written piece by piece.
    pub fn new(blocks: u32) -> Self {
        let pieces = blocks / PIECE_BLOCKS;
        let step = u64::from(scattering(pieces));
        let place = |block: u32| match block / PIECE_BLOCKS {
            piece if piece < pieces => {
                let there = u64::from(piece) * step % u64::from(pieces);
                there as u32 * PIECE_BLOCKS + block % PIECE_BLOCKS
            }
            _ => block,
        };
        Self { places: (0..blocks).map(place).collect(), end: 0 }
    }

    /// Appends blocks, no more than the set has, to the log; returns the place of the first.
    pub fn append(&mut self, blocks: &[u32]) -> u32 {
        if self.end as usize + blocks.len() > self.places.len() {
            self.end = 0;
        }
        let first = self.end;
        for &block in blocks {
            self.places[block as usize] = self.end;
            self.end += 1;
        }
        first
    }

    /// The places of the blocks, as runs of a first place and a length.
    pub fn runs(&self, blocks: std::ops::Range<u32>) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for block in blocks {
            let place = self.places[block as usize];
            match runs.last_mut() {
                Some((first, count)) if *first + *count == place => *count += 1,
                _ => runs.push((place, 1)),
            }
        }
        runs
    }
}

/// A step that visits each of `count` pieces once and puts neighbours far apart: near the golden
/// section and coprime to `count`.
fn scattering(count: u32) -> u32 {
    let golden = (u64::from(count) * 618 / 1000) as u32;
    (golden.max(1)..=count).find(|&step| divisor(step, count) == 1).unwrap_or(1)
}

/// Greatest common divisor.
fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_a_place_of_its_own_and_pieces_stay_together() {
        for blocks in [1, 7, 16, 100, 4096] {
            let log = Log::new(blocks);
            let mut places = log.places.clone();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..blocks), "{blocks}");
        }
        let log = Log::new(4096);
        assert_eq!(log.runs(8..16).len(), 1);
        assert_eq!(log.runs(0..32).len(), 4);
    }

    #[test]
    fn what_is_written_together_lies_together() {
        let mut log = Log::new(64);
        assert_eq!(log.append(&[3, 40, 41, 9]), 0);
        assert_eq!(log.runs(40..42), [(1, 2)]);
        assert_eq!((log.append(&[5; 50]), log.append(&[7; 20])), (4, 0));
    }
}
