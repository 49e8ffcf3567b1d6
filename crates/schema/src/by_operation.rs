//! Reads and writes that differ in size and order, which the five parameters only summarize.

use crate::Op;
use crate::range::fraction;
use serde::{Deserialize, Serialize};

/// A size with a smaller fraction of the requests of its kind counts as rare.
const RARE: f64 = 0.05;

/// How an application's reads and writes differ, and how long a process keeps to one of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByOperation {
    /// Its reads.
    pub read: OperationTraits,
    /// Its writes.
    pub write: OperationTraits,
    /// Fraction of requests of the other kind than the same process's previous request, 0 to 1. At
    /// 2 `read_frac` (1 - `read_frac`) reads and writes are in random order; below that they come
    /// in runs.
    #[serde(deserialize_with = "fraction")]
    pub change_frac: f64,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationTraits {
    /// Sizes in bytes, each with its fraction of the requests.
    pub sizes: Vec<(u64, f64)>,
    /// Probability that a request starts where the same process's previous request of this kind ended, 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub seq_frac: f64,
}

impl ByOperation {
    /// Returns the traits of one kind of request.
    pub fn of(&self, op: Op) -> &OperationTraits {
        match op {
            Op::Read => &self.read,
            Op::Write => &self.write,
        }
    }

    /// Returns the smallest size that is not rare, in bytes; it determines the alignment of
    /// offsets.
    pub fn least_size(&self) -> Option<u64> {
        self.sizes().filter(|(_, share)| *share >= RARE).map(|(size, _)| size).min()
    }

    /// Returns the largest size, in bytes; `None` if there are no sizes.
    pub fn largest_size(&self) -> Option<u64> {
        self.sizes().map(|(size, _)| size).max()
    }

    fn sizes(&self) -> impl Iterator<Item = (u64, f64)> {
        [&self.read, &self.write].into_iter().flat_map(|one| one.sizes.iter().copied())
    }

    /// Returns the probability that the request after a read, and the one after a write, is a read,
    /// if `read_frac` of all requests are reads.
    pub fn read_after(&self, read_frac: f64) -> [f64; 2] {
        let half = self.change_frac / 2.0;
        let share = |of: f64| if of > 0.0 { (half / of).min(1.0) } else { 1.0 };
        [1.0 - share(read_frac), share(1.0 - read_frac)]
    }

    /// Checks that requests of at most `most` bytes each can be drawn.
    pub fn validate(&self, most: u64) -> Result<(), &'static str> {
        let each = [&self.read, &self.write];
        let shares = |one: &OperationTraits| one.sizes.iter().map(|(_, share)| *share).sum::<f64>();
        if each.iter().any(|one| one.sizes.is_empty() || (shares(one) - 1.0).abs() > 1e-6) {
            return Err("the shares of the sizes must add up to 1");
        }
        if self.sizes().any(|(_, share)| !(0.0..=1.0).contains(&share)) {
            return Err("a share of a size must be from 0 to 1");
        }
        if self.sizes().any(|(size, _)| size == 0 || size > most) {
            return Err("a size must be at least 1 byte, and within the set and 64 MiB");
        }
        let fractions = [self.change_frac, self.read.seq_frac, self.write.seq_frac];
        if fractions.iter().any(|one| !(0.0..=1.0).contains(one)) {
            return Err("change_frac and seq_frac must be from 0 to 1");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traits(size: u64) -> OperationTraits {
        OperationTraits { sizes: vec![(size, 1.0)], seq_frac: 0.5 }
    }

    #[test]
    fn reads_stay_as_frequent_however_long_their_runs() {
        for (read_frac, change_frac) in [(0.5, 0.5), (0.2, 0.01), (0.8, 0.32), (0.9, 0.2)] {
            let one = ByOperation { change_frac, ..ByOperation::default() };
            let [after_read, after_write] = one.read_after(read_frac);
            let reads = read_frac * after_read + (1.0 - read_frac) * after_write;
            assert!((reads - read_frac).abs() < 1e-12, "{read_frac} {change_frac}: {reads}");
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let good = ByOperation { read: traits(4096), write: traits(65_536), change_frac: 0.1 };
        assert_eq!(good.validate(1 << 20), Ok(()));
        assert_eq!((good.least_size(), good.largest_size()), (Some(4096), Some(65_536)));
        assert!(good.validate(4096).is_err());
        for bad in [
            ByOperation { read: OperationTraits::default(), ..good.clone() },
            ByOperation { write: traits(0), ..good.clone() },
            ByOperation { change_frac: 1.5, ..good.clone() },
        ] {
            assert!(bad.validate(1 << 20).is_err(), "{bad:?}");
        }
    }
}
