//! Cuts a course into parts of one level each, ignoring single outliers.
//!
//! The parts minimize the sum of the distances from their medians plus a price per part (optimal
//! partitioning: Jackson et al. 2005). The price is what a cut would gain in pure noise, which the
//! differences of neighbours show.

use ioscape_schema::statistics::median;
use std::ops::Range;

/// Fewest steps of a part.
pub const LEAST: usize = 3;
/// Price of a part, in standard deviations of the noise times the logarithm of the step count.
const PRICE: f64 = 1.5;
/// Least relative noise assumed: smaller differences do not count.
const NOISE_LEAST: f64 = 0.01;
/// Rates below this share of the median are raised to it, since zero has no logarithm.
const SLOWEST: f64 = 0.02;
/// Ratio of the median absolute difference of neighbours to the standard deviation, for independent
/// normal noise.
const OF_DIFFERENCES: f64 = 0.6745 * std::f64::consts::SQRT_2;

/// The parts of a course of `rates`, in order and without gaps.
pub fn segments(rates: &[f64]) -> Vec<Range<usize>> {
    let floor = (SLOWEST * median(rates)).max(f64::MIN_POSITIVE);
    let logs: Vec<f64> = rates.iter().map(|rate| rate.max(floor).ln()).collect();
    let price = PRICE * noise(&logs) * (logs.len().max(2) as f64).ln();
    partition(&logs, price)
}

/// Estimates the standard deviation of the noise.
fn noise(logs: &[f64]) -> f64 {
    let differences: Vec<f64> = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    (median(&differences) / OF_DIFFERENCES).max(NOISE_LEAST)
}

fn partition(values: &[f64], price: f64) -> Vec<Range<usize>> {
    let count = values.len();
    let mut best = vec![(f64::INFINITY, 0); count + 1];
    best[0].0 = 0.0;
    for from in 0..count {
        let begun = best[from].0 + price;
        if begun.is_finite() {
            let mut part = Part::default();
            for (until, &value) in (from + 1..).zip(&values[from..]) {
                part.add(value);
                let cost = begun + part.cost;
                if until - from >= LEAST && cost < best[until].0 {
                    best[until] = (cost, from);
                }
            }
        }
    }
    if !best[count].0.is_finite() {
        return std::iter::once(0..count).filter(|all| !all.is_empty()).collect();
    }
    let mut parts = Vec::new();
    let mut until = count;
    while until > 0 {
        parts.push(best[until].1..until);
        until = best[until].1;
    }
    parts.reverse();
    parts
}

/// A growing part, and the sum of the distances from its median.
#[derive(Default)]
struct Part {
    sorted: Vec<f64>,
    cost: f64,
}

impl Part {
    /// Adds a value; the cost grows by its distance from the range of possible medians.
    fn add(&mut self, value: f64) {
        let count = self.sorted.len();
        if count > 0 {
            let [low, high] = [self.sorted[(count - 1) / 2], self.sorted[count / 2]];
            self.cost += (value - value.clamp(low, high)).abs();
        }
        let at = self.sorted.partition_point(|&known| known < value);
        self.sorted.insert(at, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ends(rates: &[f64]) -> Vec<[usize; 2]> {
        segments(rates).into_iter().map(|part| [part.start, part.end]).collect()
    }

    #[test]
    fn a_step_is_cut_where_it_is_and_a_level_is_not_cut() {
        let step: Vec<f64> = (0..60).map(|i| if i < 17 { 9.0 } else { 2.0 }).collect();
        assert_eq!(ends(&step), [[0, 17], [17, 60]]);
        assert_eq!(ends(&[5.0; 40]), [[0, 40]]);
        let outliers: Vec<f64> = (0..60).map(|i| if i % 20 == 7 { 0.0 } else { 2.0 }).collect();
        assert_eq!(ends(&outliers), [[0, 60]], "single steps are no level");
        assert_eq!(ends(&[1.0, 9.0]), [[0, 2]]);
        assert!(segments(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn the_cost_of_a_part_is_the_distance_from_its_median(values in proptest::collection::vec(-9.0f64..9.0, 1..40)) {
            let mut part = Part::default();
            values.iter().for_each(|&value| part.add(value));
            let middle = median(&values);
            let truth: f64 = values.iter().map(|value| (value - middle).abs()).sum();
            prop_assert!((part.cost - truth).abs() < 1e-9);
        }

        #[test]
        fn parts_cover_the_course(rates in proptest::collection::vec(0.0f64..9.0, 1..90)) {
            let parts = segments(&rates);
            prop_assert_eq!(parts.first().map(|p| p.start), Some(0));
            prop_assert_eq!(parts.last().map(|p| p.end), Some(rates.len()));
            prop_assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }
}
