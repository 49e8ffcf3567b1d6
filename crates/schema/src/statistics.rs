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

#[cfg(test)]
mod tests {
    use super::*;

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
}
