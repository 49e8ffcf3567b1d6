//! The reuse of one sample's blocks: its miss ratio, and how far that may be from the miss ratio of
//! all blocks.

use crate::analyze::log_histogram::LogHistogram;
use crate::analyze::stack_distance::Stack;
use serde::{Deserialize, Serialize};

/// Groups into which the sampled blocks are divided: how much the groups differ shows how much
/// another sample would.
const GROUPS: usize = 16;
/// Bits of a hash that choose the group; other bits choose the sample.
const GROUP_SHIFT: u32 = 60;
/// Standard errors to either side such that nine curves of ten lie within at all sizes. Of 1.6 and
/// 1 to 4 and 3, these are the smallest that do so on six public traces sampled six times each, and
/// on twelve synthetic kinds of stream.
const VERTICAL: f64 = 3.0;
const HORIZONTAL: f64 = 2.5;
/// Width of a histogram's bin, relative to its value.
const BIN: f64 = 1.0 / 16.0;

/// What is counted of one group of blocks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Group {
    reuses: LogHistogram<4>,
    uses: u64,
}

impl Group {
    /// Uses that miss in a cache that holds `blocks` of the sampled blocks.
    fn misses(&self, blocks: u64) -> u64 {
        self.uses - if blocks == 0 { 0 } else { self.reuses.count_to(blocks - 1) }
    }
}

/// One block in `one_in`, followed while there are at most `most` of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    one_in: u64,
    most: usize,
    stack: Stack,
    /// Blocks in order of first use, kept for a merge.
    firsts: Vec<(u64, u8)>,
    groups: Vec<Group>,
    followed: bool,
}

impl Sample {
    /// Starts with nothing seen.
    pub fn new(one_in: u64, most: usize) -> Self {
        let groups = vec![Group::default(); if one_in == 1 { 1 } else { GROUPS }];
        Self { one_in, most, stack: Stack::default(), firsts: Vec::new(), groups, followed: true }
    }

    /// One block in this many is sampled.
    pub fn one_in(&self) -> u64 {
        self.one_in
    }

    /// Whether the sample never had too many blocks.
    pub fn is_followed(&self) -> bool {
        self.followed
    }

    /// Whether a block with this hash belongs to the sample.
    #[inline]
    pub fn holds(&self, hash: u64) -> bool {
        hash & (self.one_in - 1) == 0
    }

    /// Number of distinct blocks.
    pub fn blocks(&self) -> usize {
        self.stack.len()
    }

    /// Uses a block; `keep` says whether to store what a merge needs.
    #[inline]
    pub fn touch(&mut self, key: u64, hash: u64, keep: bool) {
        let number = if self.groups.len() == 1 { 0 } else { (hash >> GROUP_SHIFT) as u8 };
        self.groups[usize::from(number)].uses += 1;
        self.reuse(key, number, keep);
        self.check();
    }

    fn reuse(&mut self, key: u64, number: u8, keep: bool) {
        match self.stack.touch(key) {
            Some(distance) => self.groups[usize::from(number)].reuses.add(distance),
            None if keep => self.firsts.push((key, number)),
            None => {}
        }
    }

    fn check(&mut self) {
        if self.stack.len() > self.most {
            self.followed = false;
            (self.stack, self.firsts, self.groups) = Default::default();
        }
    }

    /// Renames the keys of the blocks.
    pub fn rename(&mut self, name: impl Fn(u64) -> u64) {
        self.firsts.iter_mut().for_each(|first| first.0 = name(first.0));
        self.stack.rename(name);
    }

    /// Adds the later part. A block first used there may have been used here: its distance counts
    /// the blocks used here since then, and those that the later part used first before it.
    pub fn merge(&mut self, later: Self, keep: bool) {
        self.followed &= later.followed;
        if !self.followed {
            (self.stack, self.firsts, self.groups) = Default::default();
            return;
        }
        for &(key, number) in &later.firsts {
            self.reuse(key, number, keep);
        }
        for key in later.stack.keys() {
            self.stack.touch(key);
        }
        for (mine, theirs) in self.groups.iter_mut().zip(&later.groups) {
            mine.reuses.merge(&theirs.reuses);
            mine.uses += theirs.uses;
        }
        self.check();
    }

    fn misses(&self, size: f64) -> impl Iterator<Item = f64> + Clone + '_ {
        let blocks = (size / self.one_in as f64) as u64;
        self.groups.iter().map(move |group| group.misses(blocks) as f64)
    }

    /// The miss ratio of a cache of `size` blocks. Each sampled miss stands for `one_in` misses of
    /// all `accesses` (the adjusted form of SHARDS, which corrects for a sample with more or less
    /// than its share of uses).
    pub fn ratio(&self, size: u64, accesses: u64) -> f64 {
        self.ratio_at(size as f64, accesses)
    }

    fn ratio_at(&self, size: f64, accesses: u64) -> f64 {
        let misses: f64 = self.misses(size).sum();
        (misses * self.one_in as f64 / accesses.max(1) as f64).min(1.0)
    }

    /// The standard error of the miss ratio due to the choice of blocks, estimated from how the
    /// groups differ.
    fn spread(&self, size: f64, accesses: u64) -> f64 {
        let number = self.groups.len() as f64;
        let mean = self.misses(size).sum::<f64>() / number;
        let squares: f64 = self.misses(size).map(|misses| (misses - mean).powi(2)).sum();
        (squares * number / (number - 1.0)).sqrt() * self.one_in as f64 / accesses.max(1) as f64
    }

    /// The range that holds all blocks' miss ratio in nine of ten traces, at all sizes at once.
    ///
    /// Two things are uncertain. One is which blocks are in the sample: the groups show how much
    /// that matters. The other is the size of the cache for which the sample stands: of `size`
    /// blocks, size / one_in are sampled on average, with the root of that as the standard error,
    /// so the cache may be that much smaller or larger. Where the curve falls steeply, the second
    /// dominates.
    pub fn interval90(&self, size: u64, accesses: u64) -> [f64; 2] {
        let size = size as f64;
        let apart = HORIZONTAL * (self.one_in as f64 / size).sqrt();
        let (small, large) = (size * (1.0 - apart).max(0.0), size * (1.0 + apart + BIN));
        let here = VERTICAL * self.spread(size, accesses);
        let above =
            self.ratio_at(small, accesses) + here.max(VERTICAL * self.spread(small, accesses));
        let below =
            self.ratio_at(large, accesses) - here.max(VERTICAL * self.spread(large, accesses));
        [below.max(0.0), above.min(1.0)]
    }
}
