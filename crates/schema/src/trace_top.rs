//! What disks are doing right now: a line of `ioscape trace top --json`.

use serde::{Deserialize, Serialize};

/// What the recorded disks did in about a second. A request counts when it completes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopSecond {
    /// When it ended, since 1970.
    pub ended_unix_ns: u64,
    /// How long it was.
    pub elapsed_s: f64,
    /// Events of the kernel that its buffers could not keep; the figures are too low then.
    pub lost_events: u64,
    /// All disks together.
    pub all: TopRow,
    /// By disk, the one with the most time of requests under way first.
    pub devices: Vec<TopRow>,
    /// By process that the requests arrived from, likewise; beyond the first hundred in one row without a process.
    pub processes: Vec<TopRow>,
    /// By what was done and what the blocks hold, likewise.
    pub types: Vec<TopRow>,
    /// Requests by their time from arrival to completion: the first count is of those below 1 us, each further one of those below
    /// twice as much, the last of all others.
    pub latency_counts: Vec<u64>,
}

/// What was done for one disk, process or type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopRow {
    /// Its name: that of the disk, the command, or the type.
    pub name: String,
    /// The number of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Requests.
    pub ios: u64,
    /// Those that read.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Times from arrival to completion; absent without requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<TopLatency>,
    /// Requests under way in the mean: the times of those that completed, divided by the time that passed.
    pub queue_length: f64,
    /// Requests that the kernel says are under way at the end; absent where it is not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u64>,
}

/// Times of requests from arrival to completion; quantiles are at most 3 % too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopLatency {
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Longest.
    pub max_ns: u64,
}

impl TopSecond {
    /// Counts in [`Self::latency_counts`]: from below 1 us to 2^24 us (17 s) and more.
    pub const LATENCY_STEPS: usize = 26;

    /// Which of the counts a time belongs to.
    pub fn latency_step(ns: u64) -> usize {
        ((ns / 1000).checked_ilog2().map_or(0, |octave| octave as usize + 1))
            .min(Self::LATENCY_STEPS - 1)
    }

    /// Requests per second of a row.
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
