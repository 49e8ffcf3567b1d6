//! What an application asks of a file system beyond five parameters: its requests by kind and size, and what a cache of any size would hold.

use crate::Op;
use serde::{Deserialize, Serialize};

/// Requests of one kind and about one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestClass {
    /// Read or write.
    pub op: Op,
    /// Whether each begins where the same process's previous request of this kind to the same file ended.
    pub sequential: bool,
    /// Number of requests.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Bytes of the sequential run that one of their bytes belongs to, in the mean: what write-back can gather.
    #[serde(default, deserialize_with = "crate::range::not_negative")]
    pub run_bytes: f64,
    /// Mean time of one where it was traced.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub response_time_ns: f64,
    /// Sizes of an LRU cache that begins empty, in bytes, each with the share of the class's bytes that it misses: read bytes not
    /// found there; written bytes that are new to it or left it since they were last written, and so go to storage.
    pub miss_ratio: Vec<(f64, f64)>,
}

impl RequestClass {
    /// Share of the class's bytes that an LRU cache of `cache_bytes` misses, between the sizes known by linear interpolation.
    pub fn missed(&self, cache_bytes: f64) -> f64 {
        let after = self.miss_ratio.partition_point(|(size, _)| *size <= cache_bytes);
        match (after.checked_sub(1).map(|i| self.miss_ratio[i]), self.miss_ratio.get(after)) {
            (Some((from, high)), Some((to, low))) => {
                high + (low - high) * (cache_bytes - from) / (to - from)
            }
            (Some((_, last)), None) => last,
            (None, _) => 1.0,
        }
    }

    /// Mean size in bytes.
    pub fn size_mean(&self) -> f64 {
        self.bytes as f64 / self.requests.max(1) as f64
    }
}

/// An application's requests as a storage system serves them: by class, each with its own locality.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccessPattern {
    /// The classes, reads first, smaller requests first.
    pub classes: Vec<RequestClass>,
    /// Distinct bytes read or written, in whole pages of 4 KiB.
    pub unique_bytes: u64,
    /// Those that were written.
    pub unique_write_bytes: u64,
    /// Mean number of processes at work at once.
    pub process_num: u32,
    /// Mean time that a process spends between two requests.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub think_time_ns: f64,
    /// Seconds spent in `fsync` and the like, all processes together.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub sync_s: f64,
    /// Seconds in which no process was at its I/O: starting, ending, computing for long.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub elsewhere_s: f64,
    /// Most memory that one process had, in bytes: it is not there for the file cache. Absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

impl AccessPattern {
    /// Number of requests.
    pub fn requests(&self) -> u64 {
        self.classes.iter().map(|class| class.requests).sum()
    }

    /// Bytes moved.
    pub fn bytes(&self) -> u64 {
        self.classes.iter().map(|class| class.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_are_interpolated_and_all_miss_where_there_is_no_cache() {
        let miss_ratio = vec![(100.0, 0.8), (200.0, 0.4)];
        let class = RequestClass { miss_ratio, requests: 2, bytes: 10, ..Default::default() };
        let at = [50.0, 100.0, 150.0, 200.0, 1e9].map(|size| class.missed(size));
        for (found, known) in at.into_iter().zip([1.0, 0.8, 0.6, 0.4, 0.4]) {
            assert!((found - known).abs() < 1e-12, "{at:?}");
        }
        assert_eq!(class.size_mean(), 5.0);
    }
}
