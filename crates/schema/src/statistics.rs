//! Means, medians, variances and intervals of plain numbers, used by every crate.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Returns the arithmetic mean; 0 for an empty slice.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Returns the geometric mean of positive values; `None` for an empty slice or if it is not finite.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logs = values.iter().map(|value| value.ln()).sum::<f64>();
    (!values.is_empty()).then(|| (logs / values.len() as f64).exp()).filter(|mean| mean.is_finite())
}

/// Returns the sample variance; 0 for fewer than two values.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let m = mean(values);
    values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Returns the median of the finite values, midway between the middle two for an even number; 0 if
/// there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n => f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]),
    }
}

/// Returns the least number of values of which one lies at or beyond the percentile, given in
/// thousandths: 10 for 900, 100 for 990, 1,000 for 999. Of fewer, it is the longest and tells
/// nothing of its own. A median needs one.
pub const fn least_for(thousandths: u64) -> u64 {
    match thousandths {
        0..=500 => 1,
        501..=999 => 1000_u64.div_ceil(1000 - thousandths),
        _ => u64::MAX,
    }
}

/// Returns order statistics that enclose the median of any distribution with at least 95 %
/// confidence.
///
/// Of n sorted values, they are the k-th from either end, for the largest k with `P(Binomial(n,
/// 1/2) < k) <= 2.5 %` (David and Nagaraja, Order Statistics, section 7.1). `None` with fewer than
/// six values.
pub fn median_interval(values: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    let mut probability = 0.5f64.powi(n.min(1000) as i32);
    let (mut below, mut k) = (0.0, 0);
    while k < n / 2 && below + probability <= 0.025 {
        below += probability;
        probability *= (n - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    (k > 0).then(|| [sorted[k - 1], sorted[n - k]])
}

/// Returns the 95 % interval of the median of the distribution that `values` are drawn from.
///
/// That is their [`median_interval`]. With fewer than six values it is Student's t on their
/// logarithms, widened to include all of them. `None` with fewer than two values, or with a few if
/// one of them is not positive.
pub fn interval(values: &[f64]) -> Option<[f64; 2]> {
    median_interval(values).or_else(|| interval_of_few(values))
}

fn interval_of_few(values: &[f64]) -> Option<[f64; 2]> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let t = student(logs.len() as f64 - 1.0, 0.025);
    let half = t * (variance(&logs) / logs.len() as f64).sqrt();
    // Far beyond any real value, yet finite.
    let end = |log: f64| log.clamp(-100.0, 100.0).exp();
    let (low, high) = (end(mean(&logs) - half), end(mean(&logs) + half));
    let ends = |(low, high): (f64, f64), &value: &f64| (low.min(value), high.max(value));
    let (low, high) = values.iter().fold((low, high), ends);
    (logs.len() > 1 && logs.iter().all(|log| log.is_finite())).then_some([low, high])
}

/// Returns the value that Student's t with `freedom` degrees of freedom exceeds with probability
/// `above`; infinite without any degree of freedom.
pub fn student(freedom: f64, above: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - above))
}

/// Returns the interval of the ratio of `above` to `below`, two positive values with their own
/// intervals and independent errors: the half widths are added in squares on the log scale.
pub fn ratio_interval(above: (f64, [f64; 2]), below: (f64, [f64; 2])) -> [f64; 2] {
    let ((value, [least, most]), (other, [low, high])) = (above, below);
    let down = (value / least).ln().hypot((high / other).ln());
    let up = (most / value).ln().hypot((other / low).ln());
    [value / other * (-down).exp(), value / other * up.exp()]
}

/// Sorts by a number, ascending and stable. `number` is called once per item.
///
/// ```
/// let mut points = [(3.0, 'c'), (-1.0, 'a'), (2.0, 'b')];
/// ioscape_schema::statistics::sort_by_number(&mut points, |point| point.0);
/// assert_eq!(points.map(|point| point.1), ['a', 'b', 'c']);
/// ```
pub fn sort_by_number<T>(items: &mut [T], number: impl FnMut(&T) -> f64) {
    let order = order_of(&items.iter().map(number).collect::<Vec<f64>>());
    for at in 0..order.len() {
        // The item from this position may have been moved on by an earlier swap.
        let mut from = order[at];
        while from < at {
            from = order[from];
        }
        items.swap(at, from);
    }
}

/// Returns the positions of the numbers in ascending order. Sorting positions compiles the sort
/// only once, whatever is sorted, which keeps the program small.
fn order_of(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_one_value_at_or_beyond_it() {
        let least = [0, 500, 800, 900, 950, 990, 999, 1000].map(least_for);
        assert_eq!(least, [1, 1, 5, 10, 20, 100, 1000, u64::MAX]);
    }

    #[test]
    fn the_interval_of_a_median_takes_the_known_order_statistics() {
        let values = |n: u32| (1..=n).map(f64::from).collect::<Vec<_>>();
        assert_eq!(median_interval(&values(5)), None);
        // Tabulated ranks (Conover, Practical Nonparametric Statistics).
        for (n, ranks) in [
            (6, [1.0, 6.0]),
            (10, [2.0, 9.0]),
            (12, [3.0, 10.0]),
            (20, [6.0, 15.0]),
            (50, [18.0, 33.0]),
        ] {
            assert_eq!(median_interval(&values(n)), Some(ranks), "of {n}");
        }
    }

    #[test]
    fn the_interval_holds_the_median_as_often_as_it_says() {
        // A skewed distribution whose median is ln 2, drawn by a fixed generator.
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            -(((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64).ln()
        };
        let trials = 4000;
        let held = (0..trials)
            .filter(|_| {
                let values: Vec<f64> = (0..12).map(|_| draw()).collect();
                let [low, high] = median_interval(&values).unwrap();
                low <= std::f64::consts::LN_2 && std::f64::consts::LN_2 <= high
            })
            .count();
        let share = held as f64 / f64::from(trials);
        assert!((0.95..0.975).contains(&share), "{share}");
    }

    #[test]
    fn few_values_have_students_interval_and_lie_in_it() {
        for none in [&[][..], &[5.0], &[5.0, 0.0], &[f64::NAN, 1.0]] {
            assert_eq!(interval(none), None, "{none:?}");
        }
        assert_eq!(interval(&[5.0, 5.0]).map(|ends| ends.map(f64::round)), Some([5.0, 5.0]));
        // The standard error of the mean of the four is 0.41, and the 97.5 % point of Student's t
        // with three degrees of freedom is 3.18.
        let [low, high] = interval(&[100.0, 101.0, 99.0, 100.0]).unwrap();
        assert!((low - 98.7).abs() < 0.05 && (high - 101.3).abs() < 0.05, "{low} to {high}");
        let [low, high] = interval(&[100.0, 100.0, 150.0]).unwrap();
        assert!(low < 70.0 && high > 180.0, "three that differ say little: {low} to {high}");
        // With one outlier, Student's interval alone would end below it.
        let [low, high] = interval(&[1.0, 1.0, 1.0, 1.0, 100.0]).unwrap();
        assert!(low <= 1.0 && high >= 100.0, "{low} to {high}");
        assert_eq!(interval(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Some([0.0, 5.0]), "by order alone");
    }

    /// Six of ten rounds were served by the cache. Student's t on the logarithms held the median of
    /// 20 rounds only half of the time, since it gives the interval of their mean.
    #[test]
    fn the_median_of_two_levels_is_held() {
        let mut state = 7u64;
        let mut level = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if (state >> 33) % 10 < 6 { 100.0 } else { 50.0 }
        };
        for (rounds, least) in [(3, 870), (5, 900), (9, 950), (20, 950), (30, 950)] {
            let held = (0..1000)
                .map(|_| interval(&(0..rounds).map(|_| level()).collect::<Vec<f64>>()).unwrap())
                .filter(|[low, high]| *low <= 100.0 && *high >= 100.0)
                .count();
            assert!(held >= least, "{rounds} rounds: {held} of 1000");
        }
    }

    #[test]
    fn the_interval_of_a_ratio_is_no_wider_than_errors_are_together() {
        let [low, high] = ratio_interval((300.0, [270.0, 330.0]), (100.0, [100.0, 100.0]));
        assert!((low - 2.7).abs() < 1e-9 && (high - 3.3).abs() < 1e-9, "{low} to {high}");
        let [low, high] = ratio_interval((2.0, [1.0, 4.0]), (1.0, [0.5, 2.0]));
        let half = std::f64::consts::SQRT_2 * 2f64.ln();
        assert!((high.ln() - 2f64.ln() - half).abs() < 1e-9, "{high}");
        assert!((2f64.ln() - low.ln() - half).abs() < 1e-9, "{low}");
    }

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert_eq!(median(&[4.0, 1.0, f64::NAN, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn geometric_means() {
        assert_eq!(geometric_mean(&[]), None);
        assert!((geometric_mean(&[2.0, 8.0]).unwrap() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_single_value_has_no_variance() {
        assert_eq!((variance(&[3.0]), variance(&[1.0, 3.0])), (0.0, 2.0));
        assert_eq!((mean(&[]), mean(&[1.0, 3.0])), (0.0, 2.0));
    }

    #[test]
    fn what_is_sorted_by_a_number_is_as_a_stable_sort_leaves_it() {
        let mut state = 7_u64;
        for count in 0..60_usize {
            let mut some: Vec<(f64, usize)> = (0..count)
                .map(|at| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    ((state >> 61) as f64 - 3.0, at)
                })
                .collect();
            let mut wanted = some.clone();
            wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
            sort_by_number(&mut some, |one| one.0);
            assert_eq!(some, wanted);
        }
    }
}
