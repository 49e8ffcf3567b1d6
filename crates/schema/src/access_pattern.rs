//! An application's demands on a file system beyond five parameters: its requests by kind and size,
//! and their locality in a cache of any size.

use crate::range::{Fraction, NotNegative, not_negative};
use crate::workload::SIZE_MEAN_MAX;
use crate::{ByOperation, Op, OperationTraits};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Requests of one kind and of similar size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestClass {
    /// Read or write.
    pub op: Op,
    /// Whether each request begins where the same process's previous request of this kind to the
    /// same file ended.
    pub sequential: bool,
    /// Number of requests.
    pub requests: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Mean length, over their bytes, of the sequential run that a byte belongs to: what write-back
    /// can gather.
    #[serde(default, deserialize_with = "not_negative")]
    pub run_bytes: f64,
    /// Mean response time on the traced system.
    #[serde(deserialize_with = "not_negative")]
    pub response_time_ns: f64,
    /// Miss ratios of an initially empty LRU cache: cache size in bytes, fraction of the class's
    /// bytes that miss. For reads these are bytes not found; for writes, bytes that are new or were
    /// evicted since their last write, and so go to storage.
    #[serde(deserialize_with = "miss_ratio")]
    pub miss_ratio: Vec<(f64, f64)>,
    /// Half width of the 90 % interval of each miss ratio, from how much parts of the trace differ;
    /// empty in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "not_negative")]
    pub miss_ratio_half90: Vec<f64>,
}

/// Reads miss ratios by strictly ascending cache size.
fn miss_ratio<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(f64, f64)>, D::Error> {
    let points = Vec::<(NotNegative, Fraction)>::deserialize(deserializer)?;
    let points = points.into_iter().map(|(size, share)| (size.into(), share.into()));
    let points: Vec<(f64, f64)> = points.collect();
    match points.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        Some(pair) => Err(D::Error::custom(format!(
            "a cache of {} bytes stands after one of {}: each must be larger than the one before",
            pair[1].0, pair[0].0
        ))),
        None => Ok(points),
    }
}

impl RequestClass {
    /// Returns the fraction of the class's bytes that an LRU cache of `cache_bytes` misses, by
    /// linear interpolation between known sizes.
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

    /// Returns the class with every miss ratio moved to an end of its interval: -1 for the low end,
    /// 1 for the high end.
    pub fn at_end(&self, end: f64) -> Self {
        let mut most = 1.0f64;
        let moved = self.miss_ratio.iter().enumerate().map(|(i, (size, share))| {
            let half = self.miss_ratio_half90.get(i).copied().unwrap_or(0.0);
            // A larger cache misses no more.
            most = most.min((share + end * half).clamp(0.0, 1.0));
            (*size, most)
        });
        Self { miss_ratio: moved.collect(), ..self.clone() }
    }

    /// Returns the mean size in bytes.
    pub fn size_mean(&self) -> f64 {
        self.bytes as f64 / self.requests.max(1) as f64
    }
}

/// An application's requests as seen by a storage system: by class, each with its own locality.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccessPattern {
    /// The classes, reads first, smaller requests first.
    pub classes: Vec<RequestClass>,
    /// Size of the pages in which distinct bytes and cache sizes are counted; absent in older
    /// results: 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_bytes: Option<u64>,
    /// Distinct bytes read or written, in whole pages.
    pub unique_bytes: u64,
    /// Distinct bytes written.
    pub unique_write_bytes: u64,
    /// Mean number of processes active at the same time.
    pub process_num: u32,
    /// Mean think time of a process between two requests.
    #[serde(deserialize_with = "not_negative")]
    pub think_time_ns: f64,
    /// Total seconds that all processes spent in `fsync` and the like. A wait that holds up several
    /// of the `process_num` processes counts for each of them.
    #[serde(deserialize_with = "not_negative")]
    pub sync_s: f64,
    /// Waits for storage, by synchronous writes and by `fsync` and the like, beyond one for each
    /// write: most often for directories. 0 in older results.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub further_waits: u64,
    /// Seconds in which no process was doing I/O or waiting for it: start-up, exit, long
    /// computation.
    #[serde(deserialize_with = "not_negative")]
    pub elsewhere_s: f64,
    /// Private memory of the processes, in bytes: a lower bound, since pages that may belong to
    /// mapped files are not counted, and processes are added up only when one of them ends. It is
    /// not available to the file cache. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

impl AccessPattern {
    /// Returns the size of the pages in which distinct bytes and cache sizes are counted.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes.unwrap_or(4096)
    }

    /// Number of requests.
    pub fn requests(&self) -> u64 {
        self.classes.iter().fold(0, |sum, class| sum.saturating_add(class.requests))
    }

    /// Returns the requests as they are if no cache holds any of their bytes.
    pub fn uncached(mut self) -> Self {
        for class in &mut self.classes {
            class.miss_ratio.clear();
            class.miss_ratio_half90.clear();
        }
        self
    }

    /// Returns the requests together with those of `other`, which are cached apart from them.
    /// Bytes that both use count twice.
    pub fn and(mut self, other: Self) -> Self {
        self.classes.extend(other.classes);
        self.classes.sort_by_key(|class| (class.op == Op::Write, class.sequential));
        self.unique_bytes = self.unique_bytes.saturating_add(other.unique_bytes);
        self.unique_write_bytes = self.unique_write_bytes.saturating_add(other.unique_write_bytes);
        self
    }

    /// Returns the requests with all miss ratios at an end of their intervals; `None` if these are
    /// unknown.
    pub fn at_end(&self, end: f64) -> Option<Self> {
        let known = |class: &RequestClass| class.miss_ratio.len() == class.miss_ratio_half90.len();
        let classes = self.classes.iter().map(|class| class.at_end(end)).collect();
        self.classes.iter().all(known).then(|| Self { classes, ..self.clone() })
    }

    /// Returns how reads and writes differ in size and order, if a fraction `change_frac` of the
    /// requests follows one of the other kind; `None` if there is only one kind.
    pub fn by_operation(&self, change_frac: f64) -> Option<ByOperation> {
        let [read, write] = [Op::Read, Op::Write].map(|op| self.traits(op));
        Some(ByOperation { read: read?, write: write?, change_frac })
    }

    /// Returns the sizes and order of one kind, from its classes.
    fn traits(&self, op: Op) -> Option<OperationTraits> {
        let classes = || self.classes.iter().filter(|class| class.op == op && class.requests > 0);
        let count = |class: &RequestClass| class.requests as f64;
        let all: f64 = classes().map(count).sum();
        let size =
            |class: &RequestClass| (class.size_mean().round() as u64).clamp(1, SIZE_MEAN_MAX);
        let mut sizes: BTreeMap<u64, f64> = BTreeMap::new();
        classes().for_each(|class| *sizes.entry(size(class)).or_default() += count(class) / all);
        let sizes = sizes.into_iter().collect();
        let sequential: f64 = classes().filter(|class| class.sequential).map(count).sum();
        (all > 0.0).then(|| OperationTraits { sizes, seq_frac: sequential / all })
    }

    /// Reuse among non-sequential requests of one kind: of their bytes on pages used before, the
    /// fraction that an LRU cache holds, by cache size in bytes.
    pub fn again(&self, op: Op) -> Vec<[f64; 2]> {
        let classes = || self.classes.iter().filter(|class| class.op == op && !class.sequential);
        let mut sizes: Vec<f64> =
            classes().flat_map(|c| c.miss_ratio.iter().map(|p| p.0)).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let held = |size: f64| {
            classes().map(|class| class.bytes as f64 * (1.0 - class.missed(size))).sum::<f64>()
        };
        let all = held(f64::INFINITY);
        let point = |size: f64| [size, (held(size) / all).clamp(0.0, 1.0)];
        if all > 0.0 { sizes.into_iter().map(point).collect() } else { Vec::new() }
    }

    /// Returns the bytes moved.
    pub fn bytes(&self) -> u64 {
        self.classes.iter().fold(0, |sum, class| sum.saturating_add(class.bytes))
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

    #[test]
    fn a_curve_of_misses_is_checked_when_it_is_read() {
        let read = |points: &str| {
            let class = r#"{"op":"read","sequential":false,"requests":1,"bytes":1,"response_time_ns":1,"miss_ratio":"#;
            serde_json::from_str::<RequestClass>(&format!("{class}{points}}}"))
        };
        assert_eq!(read("[[4096,1],[8192,0]]").unwrap().miss_ratio, [(4096.0, 1.0), (8192.0, 0.0)]);
        for (points, told) in [
            ("[[4096,1.5]]", "1.5 is not a fraction"),
            ("[[4096,-0.1]]", "-0.1 is not a fraction"),
            ("[[-1,0.5]]", "-1 cannot be negative"),
            ("[[4096,0.5],[4096,0.4]]", "a cache of 4096 bytes stands after one of 4096"),
            ("[[8192,0.5],[4096,0.6]]", "a cache of 4096 bytes stands after one of 8192"),
            ("[[4096,null]]", "invalid type"),
        ] {
            let error = read(points).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }

    /// As with direct compaction beside cached reads.
    #[test]
    fn requests_that_no_cache_holds_miss_in_all() {
        let cached = RequestClass { miss_ratio: vec![(4096.0, 0.0)], ..Default::default() };
        let pattern = AccessPattern {
            classes: vec![RequestClass { op: Op::Write, ..cached.clone() }, cached],
            unique_bytes: 4096,
            ..AccessPattern::default()
        };
        let both = pattern.clone().and(pattern.uncached());
        let missed: Vec<(Op, f64)> =
            both.classes.iter().map(|class| (class.op, class.missed(8192.0))).collect();
        let known = [(Op::Read, 0.0), (Op::Read, 1.0), (Op::Write, 0.0), (Op::Write, 1.0)];
        assert_eq!((missed.as_slice(), both.unique_bytes), (known.as_slice(), 8192));
    }

    #[test]
    fn the_ends_of_an_interval_never_miss_more_with_a_larger_cache() {
        let class = RequestClass {
            miss_ratio: vec![(100.0, 0.8), (200.0, 0.75)],
            miss_ratio_half90: vec![0.1, 0.3],
            ..Default::default()
        };
        let shares = |end: f64| class.at_end(end).miss_ratio.iter().map(|one| one.1).collect();
        let ends: [Vec<f64>; 2] = [shares(-1.0), shares(1.0)];
        let known = [[0.7, 0.45], [0.9, 0.9]];
        assert!(
            ends.iter().flatten().zip(known.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-12)
        );
        let older = RequestClass { miss_ratio_half90: Vec::new(), ..class };
        let pattern = AccessPattern { classes: vec![older], ..AccessPattern::default() };
        assert_eq!(pattern.at_end(1.0), None);
    }

    #[test]
    fn sizes_and_order_of_reads_and_writes_are_kept_apart() {
        let class = |op, sequential, requests: u64, size: u64| RequestClass {
            op,
            sequential,
            requests,
            bytes: requests * size,
            ..Default::default()
        };
        let classes = vec![
            class(Op::Read, false, 10, 4096),
            class(Op::Read, true, 30, 40_960),
            class(Op::Write, true, 60, 4096),
        ];
        let mut pattern = AccessPattern { classes, ..Default::default() };
        let found = pattern.by_operation(0.1).unwrap();
        assert_eq!(found.read.sizes, [(4096, 0.25), (40_960, 0.75)]);
        assert_eq!((found.read.seq_frac, found.write.seq_frac), (0.75, 1.0));
        assert_eq!(found.validate(1 << 20), Ok(()));
        pattern.classes.pop();
        assert_eq!(pattern.by_operation(0.1), None);
    }
}
