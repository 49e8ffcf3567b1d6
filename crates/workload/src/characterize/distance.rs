//! How far the observed requests are from those of the model: distances between cumulative
//! distributions.

use crate::sizes::{Grid, probabilities};
use ioscape_schema::{SizeDistribution, Workload};
use std::collections::BTreeMap;

/// Significant bits kept of a counted value: precise to one percent, with at most a few thousand
/// classes.
const BITS: u32 = 7;

/// Chance alone exceeds this distance, divided by the root of the number of values, once in 20
/// times.
const CRITICAL: f64 = 1.36;

/// Returns the representative of the class of `value`: the value without its lower bits.
fn class(value: u64) -> u64 {
    let excess = (64 - value.leading_zeros()).saturating_sub(BITS);
    value >> excess << excess
}

/// Counts of values in classes of one percent; uses constant memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram(BTreeMap<u64, u64>);

impl Histogram {
    pub(super) fn add(&mut self, value: u64) {
        *self.0.entry(class(value)).or_default() += 1;
    }

    /// Returns the largest difference between the cumulative distributions of the observed values
    /// and of `values` with their probabilities (Kolmogorov and Smirnov), minus what chance
    /// explains 19 times out of 20 for that few values; 0 without observations.
    fn distance(&self, values: impl Iterator<Item = (u64, f64)>) -> f64 {
        let total: u64 = self.0.values().sum();
        if total == 0 {
            return 0.0;
        }
        let mut steps: BTreeMap<u64, f64> = BTreeMap::new();
        for (value, probability) in values {
            *steps.entry(class(value)).or_default() -= probability;
        }
        for (&value, &count) in &self.0 {
            *steps.entry(value).or_default() += count as f64 / total as f64;
        }
        let (mut apart, mut largest) = (0.0f64, 0.0f64);
        for step in steps.values() {
            apart += step;
            largest = largest.max(apart.abs());
        }
        (largest - CRITICAL / (total as f64).sqrt()).clamp(0.0, 1.0)
    }

    /// Returns a histogram of values with their counts; values are precise to one percent.
    pub(super) fn of(counted: &[(u64, u64)]) -> Self {
        let mut seen = Self::default();
        counted
            .iter()
            .for_each(|&(value, count)| *seen.0.entry(class(value)).or_default() += count);
        seen
    }

    /// Returns the values with their counts.
    pub(super) fn counted(&self) -> Vec<(u64, u64)> {
        self.0.iter().map(|(&value, &count)| (value, count)).collect()
    }

    /// Returns the size distribution nearest to the observed sizes, given the other parameters of
    /// `workload`, and its distance.
    pub(super) fn nearest(&self, workload: &Workload) -> (SizeDistribution, f64) {
        use SizeDistribution::{Bernoulli, Exponential, Fixed, Normal};
        let distance = |kind: SizeDistribution| {
            let grid = Grid::new(workload);
            let sizes = probabilities(kind, &grid);
            self.distance(sizes.into_iter().map(|(size, p)| (u64::from(size) * grid.align, p)))
        };
        if self.0.len() <= 1 {
            return (Fixed, distance(Fixed));
        }
        [Bernoulli, Exponential, Fixed].into_iter().fold(
            (Normal, distance(Normal)),
            |best, kind| {
                let apart = distance(kind);
                if apart < best.1 { (kind, apart) } else { best }
            },
        )
    }

    /// Returns the distance of run lengths from those of a model in which every request is
    /// sequential with probability `seq_frac`.
    pub(super) fn run_distance(&self, seq_frac: f64) -> f64 {
        let longest = self.0.keys().next_back().copied().unwrap_or(0);
        // The model's probability of a class is that of all its lengths.
        let mut steps = Vec::new();
        let (mut from, mut left) = (1u64, 1.0);
        while from <= longest {
            let excess = (64 - from.leading_zeros()).saturating_sub(BITS);
            let next = from.saturating_add(1 << excess);
            let beyond = seq_frac.powf((next - 1) as f64);
            steps.push((from, left - beyond));
            (from, left) = (next, beyond);
        }
        steps.push((longest.saturating_mul(2).max(1), left));
        self.distance(steps.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_within_a_percent_and_exact_for_small_and_round_values() {
        for value in [0, 1, 127, 4096, 65536, 1 << 40] {
            assert_eq!(class(value), value);
        }
        for value in [129, 1000, 4097, u64::MAX] {
            assert!(class(value) <= value && class(value) as f64 >= value as f64 * 0.98);
        }
    }

    #[test]
    fn fixed_sizes_are_fixed_and_two_sizes_are_not() {
        let workload = Workload { size_mean: 8192, ..Workload::default() };
        let mut sizes = Histogram::default();
        (0..100).for_each(|_| sizes.add(8192));
        assert_eq!(sizes.nearest(&workload), (SizeDistribution::Fixed, 0.0));
        let workload = Workload { size_mean: 40_960, ..Workload::default() };
        let mut sizes = Histogram::default();
        (0..100).for_each(|i| sizes.add(if i < 55 { 4096 } else { 21 * 4096 }));
        assert_eq!(sizes.nearest(&workload).0, SizeDistribution::Bernoulli);
    }

    fn one_run(length: u64) -> Histogram {
        let mut runs = Histogram::default();
        runs.add(length);
        runs
    }

    #[test]
    fn runs_of_one_length_are_not_geometric() {
        let mut runs = Histogram::default();
        (0..1000).for_each(|_| runs.add(10));
        assert!(runs.run_distance(0.9) > 0.5);
        assert_eq!(one_run(1000).run_distance(0.999), 0.0, "one run tells nothing");
        let mut runs = Histogram::default();
        (0..10).for_each(|length| (0..1 << (10 - length)).for_each(|_| runs.add(length + 1)));
        assert!(runs.run_distance(0.5) < 0.01, "{}", runs.run_distance(0.5));
        assert_eq!(Histogram::default().run_distance(0.5), 0.0);
        assert!(one_run(u64::MAX).run_distance(0.999_999) <= 1.0);
    }
}
