//! Counts of integers in bins of equal relative width, in constant memory.

use ioscape_schema::Distribution;
use serde::{Deserialize, Serialize};

/// A histogram whose bins are `2^-BITS` of their value wide; values below `2^(BITS + 1)` have a bin
/// of their own.
///
/// The idea is that of HDR histograms. It is implemented here because only merging, growing and
/// reading bins is needed, and finding a bin takes a handful of instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHistogram<const BITS: u32 = 5> {
    bins: Vec<u64>,
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
}

/// For queue lengths, run lengths and sectors: exact up to 512.
pub type FineHistogram = LogHistogram<8>;

impl<const BITS: u32> LogHistogram<BITS> {
    #[inline]
    fn index(value: u64) -> usize {
        // No branch on the value, which cannot be predicted.
        let shift = 63 - BITS - (value | 1 << BITS).leading_zeros();
        ((shift as usize) << BITS) + (value >> shift) as usize
    }

    /// The largest value that falls into a bin.
    fn upper(index: usize) -> u64 {
        let (octave, within) = (index >> BITS, (index & ((1 << BITS) - 1)) as u64);
        if octave == 0 {
            return within;
        }
        let shift = octave as u32 - 1;
        (((1 << BITS) | within) << shift) | ((1u64 << shift) - 1)
    }

    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    /// Counts a value `times` times.
    #[inline]
    pub fn add_many(&mut self, value: u64, times: u64) {
        let index = Self::index(value);
        if index >= self.bins.len() {
            self.bins.resize(index + 1, 0);
        }
        self.bins[index] += times;
        if self.count == 0 {
            self.least = value;
        }
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// Counts values.
    #[inline]
    pub fn add_all(&mut self, values: impl Iterator<Item = u64>) {
        // Counted separately, so that the sums stay in the processor's registers.
        let (mut count, mut sum, mut least, mut most) = (0, 0, u64::MAX, 0);
        for value in values {
            let index = Self::index(value);
            if index >= self.bins.len() {
                self.bins.resize(index + 1, 0);
            }
            self.bins[index] += 1;
            count += 1;
            sum += u128::from(value);
            least = least.min(value);
            most = most.max(value);
        }
        if count > 0 {
            self.least = if self.count == 0 { least } else { self.least.min(least) };
            self.most = self.most.max(most);
            self.count += count;
            self.sum += sum;
        }
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        self.bins.iter_mut().zip(&other.bins).for_each(|(mine, theirs)| *mine += theirs);
        self.least = if self.count == 0 { other.least } else { self.least.min(other.least) };
        self.most = self.most.max(other.most);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.bins.capacity() * size_of::<u64>()
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Largest value, 0 without values.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Mean, 0 without values.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Number of values in the bins that end at or below `value`.
    pub fn count_to(&self, value: u64) -> u64 {
        self.bins
            .iter()
            .enumerate()
            .take_while(|(i, _)| Self::upper(*i) <= value)
            .map(|b| b.1)
            .sum()
    }

    /// Fraction of the values that are at most `value`, exact at the ends of bins; 0 without values.
    pub fn fraction_to(&self, value: u64) -> f64 {
        if self.count == 0 { 0.0 } else { self.count_to(value) as f64 / self.count as f64 }
    }

    /// The smallest value at or below which `share` of all values lie, as the upper bound of its
    /// bin; 0 without values.
    ///
    /// The rank is that of `ioscape_schema::tally` and of the HDR histogram: the product rounded
    /// up, at least 1.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut below = 0;
        for (index, count) in self.bins.iter().enumerate() {
            below += count;
            if below >= rank {
                return Self::upper(index).min(self.most);
            }
        }
        self.most
    }

    /// Non-empty bins: largest value of the bin, count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.bins.iter().enumerate().filter(|b| *b.1 > 0).map(|(i, &n)| (Self::upper(i), n))
    }

    /// The distribution as results store it.
    pub fn distribution(&self) -> Distribution {
        let at = |share| self.quantile(share) as f64;
        Distribution {
            count: self.count,
            mean: self.mean(),
            min: self.least as f64,
            max: self.most as f64,
            p50: at(0.5),
            p80: at(0.8),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            bins: self.bins().map(|(to, count)| (to as f64, count)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_values_are_exact_and_large_ones_near() {
        let mut seen = LogHistogram::<5>::default();
        (0..=63u64).for_each(|v| seen.add(v));
        assert_eq!(seen.bins().collect::<Vec<_>>(), (0..64).map(|v| (v, 1)).collect::<Vec<_>>());
        assert_eq!((seen.quantile(0.5), seen.mean(), seen.count_to(9)), (31, 31.5, 10));
        let mut seen = LogHistogram::<5>::default();
        seen.add(u64::MAX);
        assert_eq!(seen.quantile(0.9), u64::MAX);
    }

    proptest! {
        #[test]
        fn a_bin_holds_its_value_within_the_width(value in any::<u64>()) {
            type H = LogHistogram<5>;
            let upper = H::upper(H::index(value));
            prop_assert!(upper >= value && (upper - value) as f64 <= value as f64 / 32.0 + 1.0);
            prop_assert_eq!(H::index(upper), H::index(value));
            if upper < u64::MAX {
                prop_assert_eq!(H::index(upper + 1), H::index(value) + 1);
            }
        }

        #[test]
        fn together_counts_as_one_by_one(values in prop::collection::vec((any::<u64>(), 0u32..64), 0..50), cut in 0usize..50) {
            let values: Vec<u64> = values.into_iter().map(|(value, shift)| value >> shift).collect();
            let (mut single, mut together) = (LogHistogram::<5>::default(), LogHistogram::default());
            values.iter().for_each(|&value| single.add(value));
            let (early, late) = values.split_at(cut.min(values.len()));
            [early, late].into_iter().for_each(|part| together.add_all(part.iter().copied()));
            prop_assert_eq!(together, single);
        }

        #[test]
        fn parts_merge_to_the_whole(values in prop::collection::vec(any::<u64>(), 0..50), cut in 0usize..50) {
            let of = |part: &[u64]| {
                let mut seen = LogHistogram::<5>::default();
                part.iter().for_each(|&v| seen.add(v));
                seen
            };
            let (early, late) = values.split_at(cut.min(values.len()));
            let mut merged = of(early);
            merged.merge(&of(late));
            prop_assert_eq!(merged, of(&values));
        }
    }
}
