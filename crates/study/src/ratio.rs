//! Ratios of paired samples with their intervals: what stands in a campaign's ratio columns.

use ioscape_schema::statistics;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A ratio and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// Geometric mean of the pairs' ratios.
    pub mean: f64,
    /// Ends of the 95 % interval.
    pub ci95: [f64; 2],
}

/// The ratio of `above` to `below`, whose samples belong together in order: Student's t on the logarithms.
///
/// `None` with fewer than two pairs of positive numbers.
pub fn paired_ratio(above: &[f64], below: &[f64]) -> Option<PairedRatio> {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    let pairs = above.iter().zip(below).filter(|(a, b)| positive(**a) && positive(**b));
    of_logs(&pairs.map(|(a, b)| (a / b).ln()).collect::<Vec<f64>>())
}

/// The 95 % interval of what `samples` scatter around: Student's t on their logarithms, widened to hold their median.
///
/// `None` with fewer than two samples, or with one that is not positive, whose logarithm says nothing.
pub fn interval(samples: &[f64]) -> Option<[f64; 2]> {
    if !samples.iter().all(|v| v.is_finite() && *v > 0.0) {
        return None;
    }
    let [low, high] = of_logs(&samples.iter().map(|v| v.ln()).collect::<Vec<f64>>())?.ci95;
    let middle = statistics::median(samples);
    Some([low.min(middle), high.max(middle)])
}

/// Geometric mean and interval of what has these logarithms; `None` with fewer than two.
fn of_logs(logs: &[f64]) -> Option<PairedRatio> {
    if logs.len() < 2 {
        return None;
    }
    let count = logs.len() as f64;
    let (mean, variance) = (statistics::mean(logs), statistics::variance(logs));
    let t = StudentsT::new(0.0, 1.0, count - 1.0).ok()?.inverse_cdf(0.975);
    let half = t * (variance / count).sqrt();
    // Far beyond any real ratio, and still a finite number.
    let end = |log: f64| log.clamp(-100.0, 100.0).exp();
    Some(PairedRatio { mean: end(mean), ci95: [end(mean - half), end(mean + half)] })
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
    fn intervals_hold_the_median_and_need_two_positive_samples() {
        assert_eq!(interval(&[5.0]), None);
        assert_eq!(interval(&[5.0, 0.0]), None);
        assert_eq!(interval(&[5.0, 5.0]).map(|ends| ends.map(f64::round)), Some([5.0, 5.0]));
        // Standard error of the logarithms .5 ln 10, t(0.975, 3) = 3.182: the mean's interval begins above 1 and holds it.
        let [low, high] = interval(&[1.0, 1.0, 1.0, 100.0]).unwrap();
        assert!(low <= 1.0 && high > 100.0, "{low} {high}");
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
