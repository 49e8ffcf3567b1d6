//! What would an LRU cache of any size miss? Exact while the blocks are few, sampled by block beyond (SHARDS).

use super::blocks::{BlockSize, touched};
use super::log_histogram::LogHistogram;
use super::stack_distance::Stack;
use ioscape_schema::Io;
use ioscape_schema::trace_summary::{MissRatio, MissRatioCurve};

/// Sampling rates: one block in so many. Each is followed until it holds too many blocks.
const ONE_IN: [u64; 4] = [1, 16, 256, 4096];
/// Most blocks a rate follows: 64 Ki, in about 3 MB.
const MOST_BLOCKS: usize = 1 << 16;

/// Reuse of the blocks of half of one sample.
#[derive(Clone, Debug, Default)]
struct Half {
    stack: Stack,
    /// Blocks in the order of their first use, kept for a merge.
    firsts: Vec<u64>,
    reuses: LogHistogram<4>,
    uses: u64,
}

impl Half {
    fn touch(&mut self, key: u64, keep: bool) {
        self.uses += 1;
        match self.stack.touch(key) {
            Some(distance) => self.reuses.add(distance),
            None if keep => self.firsts.push(key),
            None => {}
        }
    }

    /// What is first used in the later part may have been used here: its distance is that to the blocks used here since, and to
    /// those that the later part had used first.
    fn merge(&mut self, later: Self, keep: bool) {
        for &key in &later.firsts {
            match self.stack.touch(key) {
                Some(distance) => self.reuses.add(distance),
                None if keep => self.firsts.push(key),
                None => {}
            }
        }
        for key in later.stack.keys() {
            self.stack.touch(key);
        }
        self.reuses.merge(&later.reuses);
        self.uses += later.uses;
    }

    /// Uses that miss in a cache that holds `blocks` blocks of this half's.
    fn misses(&self, blocks: u64) -> u64 {
        self.uses - if blocks == 0 { 0 } else { self.reuses.count_to(blocks - 1) }
    }
}

/// One sampling rate; the exact one has one half only.
#[derive(Clone, Debug)]
struct Rate {
    one_in: u64,
    most: usize,
    halves: Vec<Half>,
    alive: bool,
}

impl Rate {
    fn new(one_in: u64, exact_most: usize) -> Self {
        let halves = vec![Half::default(); if one_in == 1 { 1 } else { 2 }];
        let most = if one_in == 1 { exact_most.max(MOST_BLOCKS) } else { MOST_BLOCKS };
        Self { one_in, most, halves, alive: true }
    }

    fn blocks(&self) -> usize {
        self.halves.iter().map(|half| half.stack.len()).sum()
    }

    fn check(&mut self) {
        if self.blocks() > self.most {
            self.alive = false;
            self.halves = Vec::new();
        }
    }

    /// Cache size in blocks and miss ratio, of all halves or of one; sampled misses stand for `one_in` times as many of all
    /// `accesses` (the adjusted form of SHARDS, which makes up for a sample with more or less than its share of uses).
    fn curve(&self, halves: &[Half], sizes: &[u64], accesses: u64) -> Vec<f64> {
        let scale = self.one_in * self.halves.len() as u64;
        let ratio = |&size: &u64| {
            let misses: u64 = halves.iter().map(|half| half.misses(size / scale)).sum();
            let expected = accesses as f64 / scale as f64 * halves.len() as f64;
            if expected > 0.0 { (misses as f64 / expected).min(1.0) } else { 0.0 }
        };
        sizes.iter().map(ratio).collect()
    }
}

/// Stack distances of all blocks touched, reads and writes alike, every miss allocating; one cache for all devices.
#[derive(Clone, Debug)]
pub struct StackDistances {
    size: BlockSize,
    /// Whether orders are kept that a merge into an earlier part needs.
    part: bool,
    rates: Vec<Rate>,
    accesses: u64,
}

impl StackDistances {
    /// The exact curve is followed up to `exact_most` blocks, at least 64 Ki.
    pub fn new(size: BlockSize, exact_most: usize, part: bool) -> Self {
        let rates = ONE_IN.map(|one_in| Rate::new(one_in, exact_most)).into();
        Self { size, part, rates, accesses: 0 }
    }

    /// Takes in the next request.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        for key in touched(io, self.size) {
            self.accesses += 1;
            let hash = mix(key);
            for rate in self.rates.iter_mut().filter(|rate| rate.alive) {
                if hash & (rate.one_in - 1) != 0 {
                    break;
                }
                let half = if rate.one_in == 1 { 0 } else { (hash >> 63) as usize };
                rate.halves[half].touch(key, self.part);
                rate.check();
            }
        }
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        self.accesses += later.accesses;
        for (mine, theirs) in self.rates.iter_mut().zip(later.rates) {
            mine.alive &= theirs.alive;
            if !mine.alive {
                mine.halves = Vec::new();
                continue;
            }
            for (half, other) in mine.halves.iter_mut().zip(theirs.halves) {
                half.merge(other, self.part);
            }
            mine.check();
        }
    }

    /// The curves of the rates that hold enough blocks to say something, the finest first. A sampled one begins at a cache that
    /// holds 16 of the sampled blocks: smaller ones cannot be told apart.
    pub fn finish(&self) -> MissRatio {
        let kept: Vec<&Rate> = self
            .rates
            .iter()
            .filter(|rate| rate.alive && (rate.one_in == 1 || rate.blocks() >= 32))
            .collect();
        let Some(finest) = kept.first() else { return MissRatio::default() };
        let blocks = finest.blocks() as u64 * finest.one_in;
        let sizes: Vec<u64> = (0..63)
            .flat_map(|power| [1u64 << power, (1u64 << power) + ((1u64 << power) >> 1)])
            .filter(|&size| size / 2 <= blocks)
            .collect();
        let exact = finest.one_in == 1;
        let curve = |rate: &&Rate| {
            let least = if rate.one_in == 1 { 1 } else { 16 * rate.one_in };
            let sizes: Vec<u64> = sizes.iter().copied().filter(|&size| size >= least).collect();
            let at = |rate: &Rate, halves: &[Half]| rate.curve(halves, &sizes, self.accesses);
            let ratios = at(rate, &rate.halves);
            let error = if exact {
                mean_difference(&at(finest, &finest.halves), &ratios)
            } else {
                mean_difference(&at(rate, &rate.halves[..1]), &at(rate, &rate.halves[1..])) / 2.0
            };
            let points = sizes.iter().map(|&size| (size * self.size.bytes()) as f64).zip(ratios);
            MissRatioCurve {
                one_in: rate.one_in,
                blocks: rate.blocks() as u64,
                error,
                points: points.collect(),
            }
        };
        MissRatio { curves: kept.iter().map(curve).collect() }
    }
}

fn mean_difference(one: &[f64], other: &[f64]) -> f64 {
    let sum: f64 = one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum();
    if one.is_empty() { 0.0 } else { sum / one.len() as f64 }
}

/// Spreads keys evenly over all 64 bits (the finalizer of splitmix64).
#[inline]
pub fn mix(key: u64) -> u64 {
    let key = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Request;

    fn over(blocks: impl Iterator<Item = u64>) -> StackDistances {
        let mut seen = StackDistances::new(BlockSize::of(4096), 0, false);
        for block in blocks {
            let request = Request { offset: block * 4096, len: 4096, ..Request::default() };
            seen.update(&Io { request, ..Io::default() });
        }
        seen
    }

    #[test]
    fn a_loop_hits_only_in_a_cache_that_holds_it() {
        let found = over((0..10).flat_map(|_| 0..96)).finish();
        let exact = &found.curves[0];
        assert_eq!((exact.one_in, exact.blocks, exact.error), (1, 96, 0.0));
        let at = |blocks: u64| {
            let size = (blocks * 4096) as f64;
            exact.points.iter().find(|p| p.0 == size).map(|p| p.1)
        };
        assert_eq!([at(64), at(96), at(128)], [Some(1.0), Some(0.1), Some(0.1)]);
    }

    #[test]
    fn a_sample_is_near_the_exact_curve_and_states_its_error() {
        // A skewed stream over 60,000 blocks: the cube of a uniform number.
        let block = |i: u64| ((mix(i) as f64 / u64::MAX as f64).powi(3) * 60_000.0) as u64;
        let found = over((0..400_000).map(block)).finish();
        let sampled = &found.curves[1];
        assert_eq!((found.curves[0].one_in, sampled.one_in), (1, 16));
        assert!(sampled.error > 0.0 && sampled.error < 0.03, "{}", sampled.error);
    }

    #[test]
    fn too_many_blocks_leave_the_sample_alone() {
        let found = over((0..2).flat_map(|_| 0..200_000)).finish();
        assert_eq!(found.curves[0].one_in, 16);
        let last = found.curves[0].points.last().map(|p| p.1);
        assert!(last.is_some_and(|miss| (miss - 0.5).abs() < 0.02), "{last:?}");
    }
}
