//! What would an LRU cache of any size miss? Exact while the blocks are few, sampled by block
//! beyond that (SHARDS).

mod sample;

use super::blocks::{BlockSize, on};
use super::uses::Use;
use ioscape_schema::statistics::mean;
use ioscape_schema::trace_summary::{MissRatio, MissRatioCurve};
use sample::Sample;
use serde::{Deserialize, Serialize};

/// Sampling rates: one block in so many. Each is followed until it has too many blocks.
const ONE_IN: [u64; 4] = [1, 16, 256, 4096];
/// The most blocks that a rate follows: 64 Ki, in about 3 MB.
const MOST_BLOCKS: usize = 1 << 16;
/// Fewest blocks of a meaningful sample.
const LEAST_BLOCKS: usize = 32;

/// Stack distances of all blocks touched, reads and writes alike, with every miss allocating; one
/// cache for all devices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StackDistances {
    size: BlockSize,
    /// Whether the orders needed for a merge into an earlier part are kept.
    part: bool,
    samples: Vec<Sample>,
    accesses: u64,
}

impl StackDistances {
    /// Follows the exact curve up to `exact_most` blocks, at least 64 Ki.
    pub fn new(size: BlockSize, exact_most: usize, part: bool) -> Self {
        let sample = |one_in: u64| {
            let most = if one_in == 1 { exact_most.max(MOST_BLOCKS) } else { MOST_BLOCKS };
            Sample::new(one_in, most)
        };
        Self { size, part, samples: ONE_IN.map(sample).into(), accesses: 0 }
    }

    /// Takes in the next uses of blocks of the chosen size.
    pub fn update_all(&mut self, uses: &[Use]) {
        self.accesses += uses.len() as u64;
        let mut rest = uses;
        while let Some(finest) = self.samples.iter().position(Sample::is_followed) {
            // A block not in the finest sample is in none: for most blocks, the only check.
            let sample = &self.samples[finest];
            let Some(next) = rest.iter().position(|one| sample.holds(one.hash)) else { return };
            let Use { key, hash, .. } = rest[next];
            self.touch(finest, key, hash);
            rest = &rest[next + 1..];
        }
    }

    /// Uses a block in the samples from `finest` on.
    #[inline(never)]
    fn touch(&mut self, finest: usize, key: u64, hash: u64) {
        let samples = self.samples[finest..].iter_mut();
        for sample in samples.filter(|sample| sample.is_followed()) {
            if !sample.holds(hash) {
                break;
            }
            sample.touch(key, hash, self.part);
        }
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        self.accesses += later.accesses;
        for (mine, theirs) in self.samples.iter_mut().zip(later.samples) {
            mine.merge(theirs, self.part);
        }
    }

    /// Renumbers the devices; `numbers` maps present numbers to new ones.
    pub fn renumber(&mut self, numbers: &[u16]) {
        self.samples.iter_mut().for_each(|sample| sample.rename(|key| on(numbers, key)));
    }

    /// The curves of the rates with enough blocks to be meaningful, the finest first. A sampled
    /// curve begins at a cache that holds 16 of the sampled blocks: smaller caches cannot be
    /// distinguished.
    pub fn finish(&self) -> MissRatio {
        let told = |sample: &&Sample| {
            sample.is_followed() && (sample.one_in() == 1 || sample.blocks() >= LEAST_BLOCKS)
        };
        let kept: Vec<&Sample> = self.samples.iter().filter(told).collect();
        let Some(finest) = kept.first() else { return MissRatio::default() };
        let blocks = finest.blocks() as u64 * finest.one_in();
        let sizes: Vec<u64> = (0..63)
            .flat_map(|power| [1u64 << power, (1u64 << power) + ((1u64 << power) >> 1)])
            .filter(|&size| size / 2 <= blocks)
            // The half steps between 1 and 2 round to 1 again.
            .skip(1)
            .collect();
        let exact = (finest.one_in() == 1).then_some(*finest);
        MissRatio { curves: kept.iter().map(|one| self.curve(one, exact, &sizes)).collect() }
    }

    fn curve(&self, sample: &Sample, exact: Option<&Sample>, sizes: &[u64]) -> MissRatioCurve {
        let least = if sample.one_in() == 1 { 1 } else { 16 * sample.one_in() };
        let sizes: Vec<u64> = sizes.iter().copied().filter(|&size| size >= least).collect();
        let ratio = |of: &Sample, size: u64| of.ratio(size, self.accesses);
        let ratios: Vec<f64> = sizes.iter().map(|&size| ratio(sample, size)).collect();
        let sampled = sizes.iter().filter(|_| sample.one_in() > 1);
        let interval90: Vec<[f64; 2]> =
            sampled.map(|&size| sample.interval90(size, self.accesses)).collect();
        let errors: Vec<f64> = match exact {
            Some(exact) => {
                sizes.iter().zip(&ratios).map(|(&s, r)| (ratio(exact, s) - r).abs()).collect()
            }
            None => interval90
                .iter()
                .zip(&ratios)
                .map(|([low, high], r)| (r - low).max(high - r))
                .collect(),
        };
        let points = sizes.iter().map(|&size| (size * self.size.bytes()) as f64).zip(ratios);
        MissRatioCurve {
            one_in: sample.one_in(),
            blocks: sample.blocks() as u64,
            error: mean(&errors),
            interval90,
            points: points.collect(),
        }
    }
}

#[cfg(test)]
mod tests;
