//! Current disk activity: a line of `ioscape trace top --json`.

use serde::{Deserialize, Serialize};

/// Activity of the recorded disks in about a second. A request counts when it completes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopSecond {
    /// End of the second, in nanoseconds since 1970.
    pub ended_unix_ns: u64,
    /// Its actual length in seconds.
    pub elapsed_s: f64,
    /// Kernel events lost because the buffers were full; the figures are then too low.
    pub lost_events: u64,
    /// All disks together.
    pub all: TopRow,
    /// By disk, in descending order of total time of requests in flight.
    pub devices: Vec<TopRow>,
    /// By submitting process, in the same order; all beyond the first hundred share one row without
    /// a process.
    pub processes: Vec<TopRow>,
    /// By operation and block type, in the same order.
    pub types: Vec<TopRow>,
    /// Histogram of the time from arrival to completion: below 1 us, then each below twice as much,
    /// the last with all others.
    pub latency_counts: Vec<u64>,
}

/// Activity of one disk, process or type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopRow {
    /// Name of the disk, the command or the type.
    pub name: String,
    /// Process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Number of requests.
    pub ios: u64,
    /// Number of reads.
    pub reads: u64,
    /// Number of writes of data; flushes and discards are neither reads nor writes.
    #[serde(default)]
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Times from arrival to completion; absent without requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<TopLatency>,
    /// Mean number of requests in flight: the total time of completed requests over the elapsed
    /// time.
    pub queue_length: f64,
    /// Requests in flight at the end, as the kernel reports; absent if not queried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u64>,
}

/// Times of requests from arrival to completion; quantiles are at most 3 % too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopLatency {
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile; absent with fewer than 100 requests, of which it is the longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// Longest.
    pub max_ns: u64,
}

impl TopSecond {
    /// Number of counts in [`Self::latency_counts`]: from below 1 us to 2^24 us (17 s) and more.
    pub const LATENCY_STEPS: usize = 26;

    /// Returns the index of the count for a time.
    pub fn latency_step(ns: u64) -> usize {
        ((ns / 1000).checked_ilog2().map_or(0, |octave| octave as usize + 1))
            .min(Self::LATENCY_STEPS - 1)
    }

    /// Converts a count of a row to a rate per second.
    pub fn per_second(&self, count: u64) -> f64 {
        if self.elapsed_s > 0.0 { count as f64 / self.elapsed_s } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_steps_of_two() {
        let steps = [0, 999, 1000, 1999, 2000, 1_000_000, u64::MAX].map(TopSecond::latency_step);
        assert_eq!(steps, [0, 0, 1, 1, 2, 10, TopSecond::LATENCY_STEPS - 1]);
    }
}
