//! Counters of requests: their number, bytes and response times.

use crate::{Distribution, ResponseTime, SimulatedTimes};
use hdrhistogram::Histogram;

/// Longest response time distinguished, in nanoseconds: thirteen days, as in a queue that only
/// grows.
pub const LONGEST_NS: u64 = 1 << 50;

/// Upper bound of the distinct response times that [`Counters`] can hold: three digits up to
/// [`LONGEST_NS`].
pub const DISTINCT_MAX: usize = 42 * 1024;

/// Least response time of a request that stalled, in nanoseconds.
const STALL_NS: u64 = 50_000_000;

/// Requests of one kind: their number, bytes, and response times to three significant digits.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Completed requests.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of the response times in nanoseconds.
    pub sum_ns: u128,
    /// Shortest response time in nanoseconds; [`u64::MAX`] without requests.
    pub least_ns: u64,
    /// Longest response time in nanoseconds, exactly; `times` resolves only a thousandth of it.
    pub longest_ns: u64,
    /// Histogram; it grows with the longest time, so that short ones stay small.
    times: Histogram<u64>,
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}

impl Counters {
    /// Returns empty counters.
    pub fn new() -> Self {
        let mut times = Histogram::new(3).expect("three digits are allowed");
        times.auto(true);
        Self { ios: 0, bytes: 0, sum_ns: 0, least_ns: u64::MAX, longest_ns: 0, times }
    }

    /// Returns counters from counts made elsewhere: requests, bytes, the sum, minimum and maximum
    /// of the response times in nanoseconds, and each response time with its number of requests.
    pub fn from_parts(
        [ios, bytes, sum_ns, least_ns, longest_ns]: [u64; 5],
        times: impl Iterator<Item = (u64, u64)>,
    ) -> Self {
        let sum_ns = sum_ns.into();
        let mut all = Self { ios, bytes, sum_ns, least_ns, longest_ns, ..Self::new() };
        for (ns, count) in times {
            // Cannot fail: the histogram grows by itself up to the longest time.
            let _ = all.times.record_n(ns.min(LONGEST_NS), count);
        }
        all
    }

    /// Iterates over the distinct response times in nanoseconds, ascending, each with its number of
    /// requests; at most [`DISTINCT_MAX`].
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        self.times.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value()))
    }

    /// Adds a request: the bytes it moved and its response time.
    #[inline]
    pub fn add(&mut self, bytes: u64, ns: u64) {
        self.ios += 1;
        self.bytes += bytes;
        self.sum_ns += u128::from(ns);
        self.least_ns = self.least_ns.min(ns);
        self.longest_ns = self.longest_ns.max(ns);
        // Cannot fail: the histogram grows by itself up to the longest time.
        let _ = self.times.record(ns.min(LONGEST_NS));
    }

    /// Resets the counters and keeps their memory.
    pub fn clear(&mut self) {
        (self.ios, self.bytes, self.sum_ns) = (0, 0, 0);
        (self.least_ns, self.longest_ns) = (u64::MAX, 0);
        self.times.reset();
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.least_ns = self.least_ns.min(other.least_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        // Cannot fail: both grow by themselves.
        let _ = self.times.add(&other.times);
    }

    /// Returns the mean response time in nanoseconds; 0 without requests.
    fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.ios.max(1) as f64
    }

    /// Returns a quantile of the response times, to three digits and never above the longest.
    fn at(&self, quantile: f64) -> u64 {
        self.times.value_at_quantile(quantile).min(self.longest_ns)
    }

    /// Returns mean, quantiles and maximum of the response times.
    pub fn response_time(&self) -> ResponseTime {
        if self.ios == 0 {
            return ResponseTime::default();
        }
        ResponseTime {
            mean: self.mean_ns(),
            p50: self.at(0.5),
            p90: self.at(0.9),
            p99: self.at(0.99),
            p999: self.at(0.999),
            max: self.longest_ns,
        }
    }

    /// Returns the sum of the response times that stalled, in seconds: at least 50 ms, and 100 times
    /// the median.
    pub fn stalled_s(&self) -> f64 {
        let least_ns = STALL_NS.max(self.at(0.5).saturating_mul(100));
        if self.longest_ns < least_ns {
            return 0.0;
        }
        let stalled = self.recorded().filter(|(ns, _)| *ns >= least_ns);
        stalled.map(|(ns, count)| ns.min(self.longest_ns) as f64 * count as f64).sum::<f64>() / 1e9
    }

    /// Returns the same in the form used by simulations.
    pub fn simulated_times(&self) -> SimulatedTimes {
        let times = self.response_time();
        SimulatedTimes {
            requests: self.ios,
            mean_ns: times.mean,
            p50_ns: times.p50,
            p90_ns: times.p90,
            p99_ns: times.p99,
            max_ns: times.max,
        }
    }

    /// Returns the response times in nanoseconds as a distribution, in bins that double in width
    /// from a microsecond.
    pub fn distribution(&self) -> Distribution {
        if self.ios == 0 {
            return Distribution::default();
        }
        let at = |quantile| self.at(quantile) as f64;
        let steps = self.times.iter_log(1000, 2.0);
        let bins =
            steps.map(|step| (step.value_iterated_to() as f64, step.count_since_last_iteration()));
        Distribution {
            count: self.ios,
            mean: self.mean_ns(),
            min: self.least_ns as f64,
            max: self.longest_ns as f64,
            p50: at(0.5),
            p80: at(0.8),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            bins: bins.filter(|bin| bin.1 > 0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_histogram_fits_what_it_may_hold() {
        let full = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3).unwrap();
        assert!(full.distinct_values() <= DISTINCT_MAX);
    }

    #[test]
    fn times_are_summed_up_by_quantiles() {
        let mut all = Counters::new();
        (1..=1000).for_each(|ns| all.add(512, ns));
        let found = all.response_time();
        assert_eq!(
            (found.p50, found.p90, found.p99, found.p999, found.max),
            (500, 900, 990, 999, 1000)
        );
        assert_eq!((found.mean, all.bytes), (500.5, 512_000));
        assert_eq!(all.simulated_times().requests, 1000);
        assert_eq!(Counters::new().response_time(), ResponseTime::default());
        all.clear();
        assert_eq!((all.ios, all.response_time()), (0, ResponseTime::default()));
    }

    #[test]
    fn the_longest_time_is_told_as_it_was_and_no_quantile_is_above_it() {
        let mut all = Counters::new();
        [1_000_001, 123_456_789].into_iter().for_each(|ns| all.add(512, ns));
        let found = all.response_time();
        assert_eq!((found.p99, found.p999, found.max), (123_456_789, 123_456_789, 123_456_789));
        assert_eq!(all.distribution().max, 123_456_789.0);
        all.add(512, 2 * LONGEST_NS);
        assert_eq!(all.response_time().max, 2 * LONGEST_NS, "beyond what is told apart");
        all.clear();
        all.add(512, 7);
        assert_eq!(all.response_time().max, 7);
    }

    #[test]
    fn requests_stall_if_they_take_long_and_much_longer_than_the_others() {
        let stalled = |usual_ns, long_ns: &[u64]| {
            let mut all = Counters::new();
            (0..100).for_each(|_| all.add(512, usual_ns));
            long_ns.iter().for_each(|ns| all.add(512, *ns));
            all.stalled_s()
        };
        assert!((stalled(10_000, &[800_000_000, 1_700_000_000, 40_000_000]) - 2.5).abs() < 0.005);
        assert_eq!(stalled(10_000_000, &[800_000_000]), 0.0, "a slow disk's requests");
        assert_eq!(Counters::new().stalled_s(), 0.0);
    }

    /// Guards against a minimum of one request below its mean.
    #[test]
    fn the_least_time_is_told_as_it_was() {
        let mut all = Counters::new();
        all.add(512, 123_456_789);
        let found = all.distribution();
        assert_eq!((found.min, found.mean), (123_456_789.0, 123_456_789.0));
        all.clear();
        all.add(512, 2 * LONGEST_NS);
        assert_eq!(all.distribution().min, 2.0 * LONGEST_NS as f64);
    }

    proptest! {
        #[test]
        fn parts_make_the_whole_again(times in proptest::collection::vec(0..2 * LONGEST_NS, 1..300)) {
            let [mut whole, mut left, mut right] = [(); 3].map(|()| Counters::new());
            for (at, &ns) in times.iter().enumerate() {
                whole.add(4096, ns);
                if at % 3 == 0 { left.add(4096, ns) } else { right.add(4096, ns) }
            }
            left.merge(&right);
            let sums = [left.ios, left.bytes, left.sum_ns as u64, left.least_ns, left.longest_ns];
            let again = Counters::from_parts(sums, left.recorded());
            prop_assert_eq!(times.iter().copied().max(), Some(whole.response_time().max));
            prop_assert_eq!(whole.response_time(), left.response_time());
            prop_assert_eq!(whole.response_time(), again.response_time());
            prop_assert_eq!(whole.distribution(), again.distribution());
        }
    }
}
