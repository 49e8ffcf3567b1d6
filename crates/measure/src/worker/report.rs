//! What one stream found out, and how it passes from a worker to the conductor through shared words.

use crate::engine::{Action, Fault};
use hdrhistogram::Histogram;
use std::sync::atomic::{AtomicU64, Ordering};

/// Longest response time told apart, in nanoseconds: an hour.
pub(crate) const LONGEST_NS: u64 = 3_600_000_000_000;

/// Most distinct response times a histogram of three digits up to an hour can hold, rounded up.
const DISTINCT_MAX: usize = 34 * 1024;

/// Words before the histograms.
const FIXED_WORDS: usize = 32;

/// Most words a report takes.
pub(crate) const REPORT_WORDS: usize = FIXED_WORDS + 2 * (4 + 2 * DISTINCT_MAX);

/// Requests of one direction: how many, how large, how long.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    /// Completed requests.
    pub(crate) ios: u64,
    /// Bytes they moved.
    pub(crate) bytes: u64,
    /// Sum of their response times in nanoseconds.
    pub(crate) sum_ns: u64,
    /// Their response times in nanoseconds, to three digits; it grows with the longest one, so short ones stay small.
    pub(crate) times: Histogram<u64>,
}

impl Tally {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        let mut times = Histogram::new(3).expect("three digits are allowed");
        times.auto(true);
        Self { ios: 0, bytes: 0, sum_ns: 0, times }
    }

    /// One more request.
    #[inline]
    pub(crate) fn add(&mut self, bytes: u64, ns: u64) {
        self.ios += 1;
        self.bytes += bytes;
        self.sum_ns = self.sum_ns.wrapping_add(ns);
        // Cannot fail: the histogram grows by itself up to the longest time.
        let _ = self.times.record(ns.min(LONGEST_NS));
    }

    /// Back to nothing, keeping the memory.
    pub(crate) fn clear(&mut self) {
        (self.ios, self.bytes, self.sum_ns) = (0, 0, 0);
        self.times.reset();
    }

    /// All of `other` as well.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        // Cannot fail: both grow by themselves.
        let _ = self.times.add(&other.times);
    }
}

/// What the measured part cost a worker process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// User time of all its threads in nanoseconds.
    pub(crate) user_ns: u64,
    /// System time of the same, kernel helper threads of `io_uring` included.
    pub(crate) system_ns: u64,
    /// Bytes that the storage layer read for it; 0 where the kernel does not count.
    pub(crate) storage_read_bytes: u64,
    /// Whether the kernel counts such bytes.
    pub(crate) storage_counted: bool,
}

/// What one stream reports when it leaves.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// Whether its measured part began.
    pub(crate) started: bool,
    /// Length of its measured part in nanoseconds.
    pub(crate) elapsed_ns: u64,
    /// Reads and writes of the measured part.
    pub(crate) tallies: [Tally; 2],
    /// Cost of its process; zero but in the report of the process's last stream.
    pub(crate) cost: Cost,
    /// Whether `io_uring` had to do without registered buffers.
    pub(crate) unregistered: bool,
    /// Its failure.
    pub(crate) fault: Option<Fault>,
}

impl Report {
    /// A report of nothing.
    pub(crate) fn new() -> Self {
        Self {
            started: false,
            elapsed_ns: 0,
            tallies: [Tally::new(), Tally::new()],
            cost: Cost::default(),
            unregistered: false,
            fault: None,
        }
    }

    /// Writes the report; `words` must hold `REPORT_WORDS`.
    pub(crate) fn store(&self, words: &[AtomicU64]) {
        let fault = self.fault.unwrap_or(Fault { action: Action::Open, offset: 0, errno: 0 });
        let fixed = [
            u64::from(self.started),
            self.elapsed_ns,
            self.cost.user_ns,
            self.cost.system_ns,
            self.cost.storage_read_bytes,
            u64::from(self.cost.storage_counted),
            u64::from(self.unregistered),
            self.fault.map_or(0, |f| f.action as u64),
            fault.offset,
            fault.errno as u64,
        ];
        let tallies = self.tallies.iter().flat_map(|t| {
            let pairs =
                t.times.iter_recorded().flat_map(|v| [v.value_iterated_to(), v.count_at_value()]);
            let distinct = t.times.iter_recorded().count() as u64;
            [t.ios, t.bytes, t.sum_ns, distinct].into_iter().chain(pairs)
        });
        for (word, value) in words[1..].iter().zip(fixed.into_iter().chain(tallies)) {
            word.store(value, Ordering::Relaxed);
        }
        words[0].store(1, Ordering::Release);
    }

    /// Reads a report; `None` when none was written.
    pub(crate) fn load(words: &[AtomicU64]) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        if first.load(Ordering::Acquire) != 1 {
            return None;
        }
        let mut rest = rest.iter().map(|w| w.load(Ordering::Relaxed));
        let mut next = || rest.next().unwrap_or(0);
        let mut report = Self::new();
        report.started = next() != 0;
        report.elapsed_ns = next();
        report.cost = Cost {
            user_ns: next(),
            system_ns: next(),
            storage_read_bytes: next(),
            storage_counted: next() != 0,
        };
        report.unregistered = next() != 0;
        let (action, offset, errno) = (next(), next(), next() as i32);
        report.fault = Action::from_number(action).map(|action| Fault { action, offset, errno });
        for tally in &mut report.tallies {
            (tally.ios, tally.bytes, tally.sum_ns) = (next(), next(), next());
            for _ in 0..next().min(DISTINCT_MAX as u64) {
                let (value, count) = (next(), next());
                // Cannot fail: the histogram grows by itself.
                let _ = tally.times.record_n(value.min(LONGEST_NS), count);
            }
        }
        Some(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reports_survive_the_passage(times in proptest::collection::vec(0..2 * LONGEST_NS, 0..500)) {
            let mut report = Report::new();
            for (i, ns) in times.iter().enumerate() {
                report.tallies[i % 2].add(4096, *ns);
            }
            report.started = true;
            report.cost.user_ns = 5;
            report.fault = Some(Fault::at(Action::Write, 77, libc::EIO));
            let words: Vec<_> = (0..REPORT_WORDS).map(|_| AtomicU64::new(0)).collect();
            prop_assert!(Report::load(&words).is_none());
            report.store(&words);
            let read = Report::load(&words).unwrap();
            prop_assert_eq!((read.started, read.cost, read.fault), (true, report.cost, report.fault));
            for (a, b) in read.tallies.iter().zip(&report.tallies) {
                prop_assert_eq!((a.ios, a.bytes, a.sum_ns), (b.ios, b.bytes, b.sum_ns));
                prop_assert_eq!(a.times.len(), b.times.len());
                for q in [0.0, 0.5, 0.9, 0.99, 1.0] {
                    prop_assert_eq!(a.times.value_at_quantile(q), b.times.value_at_quantile(q));
                }
            }
        }
    }

    #[test]
    fn the_report_area_holds_every_histogram() {
        let full = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3).unwrap();
        assert!(full.distinct_values() <= DISTINCT_MAX);
    }
}
