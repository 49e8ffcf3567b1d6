//! Means, medians and variances of plain numbers, which every crate takes alike.

/// Arithmetic mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Geometric mean of positive values; `None` of nothing, or where it is not finite.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logs = values.iter().map(|value| value.ln()).sum::<f64>();
    (!values.is_empty()).then(|| (logs / values.len() as f64).exp()).filter(|mean| mean.is_finite())
}

/// Sample variance; 0 of fewer than two.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let m = mean(values);
    values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Median of the finite ones of `values`, between the middle two when their number is even; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n => f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]),
    }
}

/// Order statistics that enclose the median of the distribution at least 95 times of 100, whatever the distribution is
/// (David and Nagaraja, Order Statistics, section 7.1): of n values sorted, the k-th from either end, for the largest k
/// with `P(Binomial(n, 1/2) < k) <= 2.5 %`. `None` with fewer than six values.
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

/// Sorts by a number of each, the least first; equal ones stay in their order. The number is asked for once each.
///
/// ```
/// let mut points = [(3.0, 'c'), (-1.0, 'a'), (2.0, 'b')];
/// ioscape_schema::statistics::sort_by_number(&mut points, |point| point.0);
/// assert_eq!(points.map(|point| point.1), ['a', 'b', 'c']);
/// ```
pub fn sort_by_number<T>(items: &mut [T], number: impl FnMut(&T) -> f64) {
    let order = order_of(&items.iter().map(number).collect::<Vec<f64>>());
    for at in 0..order.len() {
        // What lay here may have been moved on.
        let mut from = order[at];
        while from < at {
            from = order[from];
        }
        items.swap(at, from);
    }
}

/// The positions of numbers in their order: a sort is much code, and this way there is one of it, whatever is sorted.
fn order_of(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

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
