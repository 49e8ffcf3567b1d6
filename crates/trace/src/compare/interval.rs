//! How far off a ratio of two sums over windows may be, and the distance of two distributions with
//! its range.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Figures within a tenth of each other are alike; so are distributions that differ in at most a
/// tenth of their values.
pub(super) const MARGIN: f64 = 0.1;
/// How often chance may be taken for a change, over everything compared.
pub(super) const ALPHA: f64 = 0.05;

/// With fewer windows with requests, nothing can be told.
pub(super) const LEAST_WINDOWS: usize = 16;

/// Windows that count as one, so that effects lasting longer than a window do not look like chance.
const TOGETHER: [usize; 3] = [1, 2, 4];

/// For each window, its part of a sum, and of the sum by which that is divided.
pub(super) type Parts = Vec<[f64; 2]>;

/// One of the sums.
pub(super) fn sum(parts: &Parts, at: usize) -> f64 {
    parts.iter().map(|part| part[at]).sum()
}

/// Number of groups of windows with a nonzero divisor: only these show how the ratio scatters.
fn active(parts: &Parts, together: usize) -> usize {
    parts.chunks(together).filter(|windows| windows.iter().any(|part| part[1] > 0.0)).count()
}

/// Whether enough windows of both traces have a nonzero divisor.
pub(super) fn is_told(parts: &[Parts; 2]) -> bool {
    parts.iter().all(|parts| active(parts, 1) >= LEAST_WINDOWS)
}

/// Half the interval of the ratio of the two sums, outside of which it lies with probability
/// `alpha` at most.
pub(super) fn half_width(parts: &Parts, alpha: f64) -> f64 {
    if active(parts, 1) < 2 {
        return f64::MAX.sqrt();
    }
    let [above, below] = [0, 1].map(|at| sum(parts, at));
    let ratio = above / below;
    let off =
        |windows: &[[f64; 2]]| windows.iter().map(|part| part[0] - ratio * part[1]).sum::<f64>();
    let half = |together: usize| {
        let squares: f64 = parts.chunks(together).map(|windows| off(windows).powi(2)).sum();
        let freedom = active(parts, together) as f64 - 1.0;
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
        let error = (squares * (freedom + 1.0) / freedom).sqrt() / below;
        Some(student.inverse_cdf(1.0 - alpha / 2.0) * error)
    };
    TOGETHER.into_iter().filter_map(half).fold(0.0, f64::max)
}

/// Shares of both traces that lie at or below some thresholds.
pub(super) struct Shares {
    /// By threshold, for each trace.
    pub parts: Vec<[Parts; 2]>,
    /// `None` for a share of the requests.
    pub thresholds: Vec<Option<u64>>,
}

/// The largest difference of two shares at one threshold.
pub(super) struct Distance {
    pub value: f64,
    pub range: [f64; 2],
    /// The index of the threshold.
    pub at: usize,
    /// The shares there.
    pub shares: [f64; 2],
}

impl Shares {
    /// The distance of the distributions; each difference lies outside its interval with
    /// probability `alpha` at most.
    pub fn distance(&self, alpha: f64) -> Distance {
        let mut found = Distance { value: 0.0, range: [0.0; 2], at: 0, shares: [0.0; 2] };
        for (at, parts) in self.parts.iter().enumerate() {
            let shares = [0, 1].map(|side: usize| {
                sum(&parts[side], 0) / sum(&parts[side], 1).max(f64::MIN_POSITIVE)
            });
            let half = half_width(&parts[0], alpha).hypot(half_width(&parts[1], alpha));
            let value = (shares[1] - shares[0]).abs();
            found.range[0] = found.range[0].max(value - half);
            found.range[1] = found.range[1].max((value + half).min(1.0));
            if value > found.value || at == 0 {
                (found.value, found.at, found.shares) = (value, at, shares);
            }
        }
        found
    }
}
