//! What the analysis of a block trace found about its blocks: overwrites, popularity, working sets
//! and cache hits.

use crate::Distribution;
use serde::{Deserialize, Serialize};

/// Overwrites of blocks (Figure 12).
///
/// A request of n bytes touches n / block blocks, rounded up, from the block in which it begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overwrites {
    /// Time from one write of a block to its next, in nanoseconds; absent if arrivals are in steps
    /// of more than 0.1 s.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub delay_ns: Distribution,
    /// Number of block writes.
    pub block_writes: u64,
    /// Block writes that overwrote a block written earlier in the trace; missing in older results.
    #[serde(default)]
    pub count: u64,
    /// Fraction of overwrites within a second of the block's previous write.
    ///
    /// Absent if arrivals are in steps of more than 0.1 s. Like the two below, also absent without
    /// overwrites, or if the trace is less than twice as long as the limit. An overwrite is seen
    /// only if both writes are in the trace: at a delay of half its length one in two is seen, and
    /// at its full length none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_1s: Option<f64>,
    /// Within 30 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_30s: Option<f64>,
    /// Within an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_1h: Option<f64>,
}

impl Overwrites {
    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.block_writes == 0
    }

    /// Returns the number of overwrites seen, also from an older result; 0 if that does not record
    /// it.
    pub fn seen(&self) -> u64 {
        self.count.max(self.delay_ns.count)
    }
}

/// How writes spread over blocks, the most written blocks first (Figure 13).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Popularity {
    /// Distinct blocks written.
    pub blocks_written: u64,
    /// Points (n, fraction of the block writes that go to the n most written blocks).
    pub curve: Vec<(u64, f64)>,
    /// Fraction that goes to the most written 1 % of the written blocks.
    pub top_1_percent_written: f64,
    /// Fraction that goes to the most written 1 % of all blocks of the devices, if their capacity
    /// is known.
    pub top_1_percent_capacity: Option<f64>,
}

/// Non-volatile memory needed to hold the writes of 30 seconds (Figures 17 and 18).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Absorption {
    /// The writes considered: `all` or `metadata`.
    pub writes: String,
    /// Length of an interval.
    pub interval_ns: u64,
    /// Intervals with at least one such write.
    pub intervals: u64,
    /// Distinct bytes written in an interval, in bytes.
    pub bytes: Distribution,
    /// Fraction of intervals with writes that fit into 100 KiB.
    pub fit_100k: f64,
    /// Fraction of intervals with writes that fit into 200 KiB.
    pub fit_200k: f64,
    /// Fraction of the written bytes that overwrite bytes written earlier in the same interval.
    pub overwritten_frac: f64,
    /// For a cache emptied after each interval: its size in bytes, a lower bound of the fraction of
    /// written bytes absorbed, and one of overwrites (Figure 18).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorbed: Vec<[f64; 3]>,
}

/// Distinct bytes touched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkingSet {
    /// Distinct bytes touched in all, in whole blocks.
    pub bytes: u64,
    /// Distinct bytes read, in whole blocks; absent, like `write_bytes`, if the trace does not
    /// record operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Distinct bytes written, in whole blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes: Option<u64>,
    /// Distinct bytes touched in each time window.
    pub over_time: Vec<WorkingSetWindows>,
}

impl WorkingSet {
    /// Returns whether nothing was touched.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// Distinct bytes in time windows of one width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkingSetWindows {
    /// Width of a window.
    pub window_ns: u64,
    /// Start of the first window, relative to the start of the trace.
    pub start_ns: i64,
    /// Distinct bytes touched in each window.
    pub bytes: Vec<u64>,
}

/// Miss ratio of an LRU cache by its size. Reads and writes count alike, and every miss allocates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MissRatio {
    /// The curves: an exact one if the block table was small enough, and one sampled by block
    /// (SHARDS).
    pub curves: Vec<MissRatioCurve>,
}

/// One miss-ratio curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MissRatioCurve {
    /// One block in this many is sampled; 1 means exact.
    pub one_in: u64,
    /// Distinct blocks sampled.
    pub blocks: u64,
    /// Mean absolute error of the miss ratio over all sizes; 0 for the exact curve. Without an
    /// exact curve it is a bound that holds for nine of ten traces: the mean half width of
    /// `interval90`.
    pub error: f64,
    /// For each point of a sampled curve, the miss ratios between which the exact curve lies: the
    /// bounds hold for nine of ten traces at every point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval90: Vec<[f64; 2]>,
    /// Points (cache size in bytes, miss ratio).
    pub points: Vec<(f64, f64)>,
}
