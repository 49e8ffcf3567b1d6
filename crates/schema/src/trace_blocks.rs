//! What an analysis of a block trace found of blocks: which are written again, how few take how much, and what caches make of them.

use crate::Distribution;
use serde::{Deserialize, Serialize};

/// Blocks written again (Figure 12).
///
/// A request of n bytes touches n / block blocks, rounded up, from the block it begins in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overwrites {
    /// Time from one write of a block to its next, in nanoseconds; absent where arrivals are told in whole seconds.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub delay_ns: Distribution,
    /// Blocks written, each time counted.
    pub block_writes: u64,
    /// Those that wrote a block again which was written before in the trace; older results lack it.
    #[serde(default)]
    pub count: u64,
    /// Fraction of these that came within a second of the block's last write; absent where arrivals are told in whole seconds, and like
    /// the two below without overwrites, and of a trace that is not at least twice as long: an overwrite is seen only where both
    /// writes are in the trace, so of those whose delay is the trace's length none is, and of those of half of it one in two.
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
    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.block_writes == 0
    }

    /// Overwrites seen, also in an older result; 0 where that does not tell.
    pub fn seen(&self) -> u64 {
        self.count.max(self.delay_ns.count)
    }
}

/// How writes spread over blocks, the most written first (Figure 13).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Popularity {
    /// Distinct blocks written.
    pub blocks_written: u64,
    /// Share of the block writes that go to the most written n blocks: n, share.
    pub curve: Vec<(u64, f64)>,
    /// Share that goes to 1 % of the written blocks.
    pub top_1_percent_written: f64,
    /// Share that goes to 1 % of all blocks of the devices, when their capacity is told.
    pub top_1_percent_capacity: Option<f64>,
}

/// Non-volatile memory needed for the writes of 30 seconds (Figures 17 and 18).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Absorption {
    /// `all` or `metadata`.
    pub writes: String,
    /// Length of an interval.
    pub interval_ns: u64,
    /// Intervals with at least one such write.
    pub intervals: u64,
    /// Distinct bytes written in an interval, in bytes.
    pub bytes: Distribution,
    /// Fraction of intervals (of those with writes) that fit 100 KiB.
    pub fit_100k: f64,
    /// Fraction that fits 200 KiB.
    pub fit_200k: f64,
    /// Fraction of the written bytes that overwrite bytes written earlier in the same interval.
    pub overwritten_frac: f64,
    /// Cache emptied after each interval: bytes, least share of written bytes taken, and of overwrites (Figure 18).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorbed: Vec<[f64; 3]>,
}

/// Distinct bytes touched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkingSet {
    /// Distinct bytes touched in all, in whole blocks.
    pub bytes: u64,
    /// Distinct bytes read, in whole blocks; like those written absent where the trace does not tell operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Distinct bytes written, in whole blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes: Option<u64>,
    /// Distinct bytes touched in each window of time.
    pub over_time: Vec<WorkingSetWindows>,
}

impl WorkingSet {
    /// Whether nothing was touched.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// Distinct bytes by windows of one width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkingSetWindows {
    /// Width of a window.
    pub window_ns: u64,
    /// Beginning of the first window, from the beginning of the trace.
    pub start_ns: i64,
    /// Distinct bytes touched in each.
    pub bytes: Vec<u64>,
}

/// Miss ratio of an LRU cache by its size, reads and writes alike, every miss allocating.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MissRatio {
    /// The curves: exact where the block table was small enough, and sampled by block (SHARDS).
    pub curves: Vec<MissRatioCurve>,
}

/// One miss-ratio curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MissRatioCurve {
    /// One block in this many is followed; 1 is exact.
    pub one_in: u64,
    /// Distinct blocks followed.
    pub blocks: u64,
    /// Mean absolute error of the miss ratio over all sizes: against the exact curve where there is one, else a bound of it that
    /// holds for nine of ten traces, the mean half width of `interval90`; 0 for the exact curve.
    pub error: f64,
    /// For each point of a sampled curve, between which miss ratios the exact curve lies: for nine of ten traces at every point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval90: Vec<[f64; 2]>,
    /// Cache size in bytes, miss ratio.
    pub points: Vec<(f64, f64)>,
}
