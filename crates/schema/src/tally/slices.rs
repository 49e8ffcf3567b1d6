//! Time slices of a run whose rows arrive one at a time. Their width doubles as the run grows, so
//! that their number stays small.
//!
//! If the system does something periodically, such as flushing its cache every 30 s, slices that
//! cut the period differ by chance. From ten periods on, whole periods are used as slices.

use crate::statistics::mean;

/// Largest number of slices; there are at least half as many once the run is 20 ms long.
const SLICES_MAX: usize = 400;

/// Initial width of a slice: 0.1 ms.
const WIDTH_NS: u64 = 100_000;

/// How often a known period is halved, so that the first slices are about as wide as `WIDTH_NS`.
const HALVINGS: u32 = 18;

/// Number of whole periods that suffice as slices.
const PERIODS_LEAST: usize = 10;

/// Bytes completed in each slice of a run.
#[derive(Clone, Debug)]
pub struct Slices {
    begun_ns: u64,
    width_ns: u64,
    bytes: Vec<u64>,
    period_ns: Option<u64>,
}

impl Slices {
    /// Returns the slices of a run that begins at `begun_ns`.
    pub fn new(begun_ns: u64) -> Self {
        Self { begun_ns, width_ns: WIDTH_NS, bytes: Vec::new(), period_ns: None }
    }

    /// Returns the slices for a system with a period of `period_ns`, which is 0.3 ms or more.
    pub fn with_period(begun_ns: u64, period_ns: u64) -> Self {
        let width_ns = (period_ns >> HALVINGS).max(1);
        let period_ns = Some(width_ns << HALVINGS);
        Self { width_ns, period_ns, ..Self::new(begun_ns) }
    }

    /// Adds bytes completed at `at_ns`, in any order.
    pub fn add(&mut self, at_ns: u64, bytes: u64) {
        // A completion in the last nanosecond of a slice belongs to that slice.
        let after_ns = at_ns.saturating_sub(self.begun_ns).saturating_sub(1);
        while after_ns / self.width_ns >= SLICES_MAX as u64 {
            self.width_ns = self.width_ns.saturating_mul(2);
            self.bytes = self.bytes.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        let slice = (after_ns / self.width_ns) as usize;
        if slice >= self.bytes.len() {
            self.bytes.resize(slice + 1, 0);
        }
        self.bytes[slice] += bytes;
    }

    /// Returns the bytes per second of each whole period up to `now_ns`, or of each slice if there
    /// are too few periods or none is known.
    pub fn batches(&self, now_ns: u64) -> Vec<f64> {
        let rates = self.rates(now_ns);
        let in_period = |period: u64| (period / self.width_ns).max(1) as usize;
        match self.period_ns.map(in_period) {
            Some(each) if rates.len() / each >= PERIODS_LEAST => {
                rates.chunks_exact(each).map(mean).collect()
            }
            _ => rates,
        }
    }

    /// Returns the bytes per second of each slice that ends by `now_ns`.
    pub fn rates(&self, now_ns: u64) -> Vec<f64> {
        let whole = now_ns.saturating_sub(self.begun_ns) / self.width_ns;
        let per_s = 1e9 / self.width_ns as f64;
        let none = std::iter::repeat(&0);
        self.bytes.iter().chain(none).take(whole as usize).map(|&b| b as f64 * per_s).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slices_double_and_keep_their_bytes() {
        let mut slices = Slices::new(1000);
        slices.add(1000 + WIDTH_NS, 7);
        slices.add(1001 + WIDTH_NS, 9);
        let per_s = 1e9 / WIDTH_NS as f64;
        assert_eq!(slices.rates(1000 + 3 * WIDTH_NS), [7.0 * per_s, 9.0 * per_s, 0.0]);
        assert_eq!(slices.rates(999 + 2 * WIDTH_NS).len(), 1, "an unfinished one tells nothing");
        slices.add(1001 + 400 * WIDTH_NS, 1);
        assert_eq!(slices.rates(1000 + 4 * WIDTH_NS), [8.0 * per_s, 0.0]);
    }

    #[test]
    fn whole_periods_are_alike_where_their_parts_are_not() {
        let second = 1_000_000_000;
        let mut slices = Slices::with_period(0, 30 * second);
        (0..360).filter(|s| s % 30 < 20).for_each(|s| slices.add(s * second + 1, 1000));
        assert!(slices.batches(200 * second).len() > 100, "too few periods");
        let batches = slices.batches(330 * second);
        assert_eq!(batches.len(), 11);
        assert!(batches.iter().all(|rate| (rate / (20_000.0 / 30.0) - 1.0).abs() < 1e-3));
        assert!(slices.rates(330 * second).contains(&0.0), "bursts are still seen");
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_and_slices_stay_few(times in proptest::collection::vec(0u64..1 << 44, 1..200)) {
            let mut slices = Slices::new(0);
            times.iter().for_each(|&at| slices.add(at, 3));
            let last = times.iter().max().unwrap() + slices.width_ns;
            let rates = slices.rates(last);
            prop_assert!(rates.len() <= SLICES_MAX + 1);
            let bytes = rates.iter().sum::<f64>() * slices.width_ns as f64 / 1e9;
            prop_assert!((bytes - 3.0 * times.len() as f64).abs() < 1e-3);
        }
    }
}
