//! Ratios of paired samples with their intervals, as in the ratio columns of a campaign.

use ioscape_schema::statistics;

/// A ratio and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// Geometric mean of the pairs' ratios.
    pub mean: f64,
    /// Ends of the 95 % interval.
    pub ci95: [f64; 2],
}

/// Returns the ratio of `above` to `below`, whose samples are paired in order, by Student's t on
/// the logarithms.
///
/// `None` with fewer than two pairs of positive numbers.
pub fn paired_ratio(above: &[f64], below: &[f64]) -> Option<PairedRatio> {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    let pairs = above.iter().zip(below).filter(|(a, b)| positive(**a) && positive(**b));
    let logs: Vec<f64> = pairs.map(|(a, b)| (a / b).ln()).collect();
    let count = logs.len() as f64;
    let (mean, variance) = (statistics::mean(&logs), statistics::variance(&logs));
    let half = statistics::student(count - 1.0, 0.025) * (variance / count).sqrt();
    // Far beyond any real ratio, but still finite.
    let end = |log: f64| log.clamp(-100.0, 100.0).exp();
    let ratio = PairedRatio { mean: end(mean), ci95: [end(mean - half), end(mean + half)] };
    (logs.len() > 1).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_that_never_varies_is_certain() {
        let ratio = paired_ratio(&[2.0, 20.0, 200.0], &[1.0, 10.0, 100.0]).unwrap();
        assert!((ratio.mean - 2.0).abs() < 1e-9);
        assert!((ratio.ci95[1] - ratio.ci95[0]).abs() < 1e-9);
    }

    #[test]
    fn two_pairs_have_a_wide_interval_and_one_has_none() {
        assert_eq!(paired_ratio(&[1.0], &[1.0]), None);
        assert_eq!(paired_ratio(&[1.0, 0.0], &[1.0, 1.0]), None);
        // Logarithms 0 and ln 4: mean ln 2, standard error ln 2, t(0.975, 1) = 12.706.
        let ratio = paired_ratio(&[1.0, 4.0], &[1.0, 1.0]).unwrap();
        assert!((ratio.mean - 2.0).abs() < 1e-9);
        assert!((ratio.ci95[1].ln() / 2f64.ln() - 13.706).abs() < 0.001, "{ratio:?}");
    }
}
