//! How well a median of few values is known.

use std::f64::consts::FRAC_PI_2;

/// Standard deviation of the median of this many independent values with normal noise, relative to
/// that of one value.
///
/// The mean of as many values would be known better; the median suits noise that is not always
/// normal. Its variance approaches half pi over the number of values. For few values the result is
/// right within two hundredths.
pub(crate) fn median_error(values: usize) -> f64 {
    let values = values.max(1);
    let more = if values.is_multiple_of(2) { 1.27 } else { FRAC_PI_2 - 1.0 };
    (FRAC_PI_2 / (values as f64 + more)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the variances of medians of normal samples; that of three is 1 less the root
    /// of 3 over pi.
    #[test]
    fn medians_of_few_scatter_more_than_means() {
        assert_eq!(median_error(0), median_error(1));
        let variances = [1.0, 0.5, 0.4487, 0.2982, 0.2868, 0.2147, 0.2104];
        for (i, variance) in variances.into_iter().enumerate() {
            let error = median_error(i + 1);
            assert!((error - f64::sqrt(variance)).abs() < 0.015, "{}: {error}", i + 1);
        }
    }
}
