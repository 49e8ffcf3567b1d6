//! Cuts a `unique_bytes` curve into levels of the storage hierarchy, each following the hit-ratio law.
//!
//! For uniformly random requests over caches of sizes C1 < C2 < ..., the time per byte is
//! s(U) = sum over levels of s_k (min(C_k, U) - min(C_(k-1), U)) / U. Within one level that is s(U) = a + b / U, and
//! U s(U) is piecewise linear with kinks exactly at the cache sizes. A machine that thrashes (a sequential scan through
//! an LRU cache) has pure steps, the case b = 0.

/// One point of the curve, as the fit sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Size of the set, in bytes.
    pub unique_bytes: f64,
    /// Time per byte, in seconds.
    pub s: f64,
    /// Standard deviation of the logarithm of `s`.
    pub sigma: f64,
    /// `sigma` as measured, without the allowance for points in doubt: the noise of the machine.
    pub noise: f64,
}

/// The law of one level: s(U) = a + b / U.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fit {
    pub a: f64,
    pub b: f64,
}

impl Fit {
    pub(crate) fn at(&self, unique_bytes: f64) -> f64 {
        self.a + self.b / unique_bytes
    }

    /// Change of log s per change of log U.
    pub(crate) fn slope_at(&self, unique_bytes: f64) -> f64 {
        -(self.b / unique_bytes) / self.at(unique_bytes)
    }
}

/// A run of samples that follow one law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Segment {
    /// Index of its first sample.
    pub first: usize,
    /// Index behind its last sample.
    pub end: usize,
    pub fit: Fit,
}

/// Residuals beyond this many deviations count linearly, so that one outlier does not make a level.
const HUBER: f64 = 2.5;
/// A fitted law may not fall below this share of the fastest sample anywhere within its segment.
const FLOOR: f64 = 0.3;

fn misfit(samples: &[Sample], fit: Fit) -> f64 {
    let loss = |sample: &Sample| {
        let z = ((fit.at(sample.unique_bytes) / sample.s).ln() / sample.sigma).abs();
        if z <= HUBER { z * z } else { HUBER * (2.0 * z - HUBER) }
    };
    samples.iter().map(loss).sum()
}

/// The constant law: the weighted mean of log s.
fn fit_step(samples: &[Sample]) -> Fit {
    let weight = |sample: &Sample| sample.sigma.powi(-2);
    let total: f64 = samples.iter().map(weight).sum();
    let mean = samples.iter().map(|p| weight(p) * p.s.ln()).sum::<f64>() / total;
    Fit { a: mean.exp(), b: 0.0 }
}

/// Least squares of a + b / U on relative errors; `None` when the samples do not determine a positive law.
fn fit_hit_ratio(samples: &[Sample]) -> Option<Fit> {
    let (first, last) = (samples.first()?, samples.last()?);
    if samples.len() < 3 {
        return None;
    }
    let scale = first.unique_bytes;
    let (mut m11, mut m12, mut m22, mut r1, mut r2) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for sample in samples {
        let weight = sample.sigma.powi(-2);
        let x1 = 1.0 / sample.s;
        let x2 = scale / sample.unique_bytes / sample.s;
        m11 += weight * x1 * x1;
        m12 += weight * x1 * x2;
        m22 += weight * x2 * x2;
        r1 += weight * x1;
        r2 += weight * x2;
    }
    let determinant = m11 * m22 - m12 * m12;
    if determinant <= 1e-9 * m11 * m22 {
        return None;
    }
    let a = (r1 * m22 - r2 * m12) / determinant;
    let b = scale * (r2 * m11 - r1 * m12) / determinant;
    let fit = Fit { a, b };
    let least = FLOOR * samples.iter().map(|p| p.s).fold(f64::INFINITY, f64::min);
    let positive = [first, last].iter().all(|p| fit.at(p.unique_bytes) >= least);
    positive.then_some(fit)
}

/// The best law for the samples and its score: misfit plus a penalty for its parameters and its border.
fn price(samples: &[Sample], per_parameter: f64) -> (f64, Fit) {
    let step = fit_step(samples);
    let simple = (misfit(samples, step) + 2.0 * per_parameter, step);
    match fit_hit_ratio(samples) {
        Some(fit) => {
            let full = misfit(samples, fit) + 3.0 * per_parameter;
            if full < simple.0 { (full, fit) } else { simple }
        }
        None => simple,
    }
}

/// The segmentation of least misfit plus penalty (Bayesian information criterion), by dynamic programming.
///
/// `samples` are in order of `unique_bytes`; a border where another curve has one, in `known`, costs one parameter less.
pub(crate) fn segments(samples: &[Sample], known: &[f64]) -> Vec<Segment> {
    let per_parameter = (samples.len().max(2) as f64).ln();
    let is_known = |first: usize| {
        let gap = |&at: &f64| {
            first > 0 && at >= samples[first - 1].unique_bytes && at <= samples[first].unique_bytes
        };
        known.iter().any(gap)
    };
    // best[end] holds the least price of the first `end` samples and the last segment it takes.
    let mut best: Vec<(f64, Option<Segment>)> = vec![(0.0, None)];
    for end in 1..=samples.len() {
        let mut least = (f64::INFINITY, None);
        for first in 0..end {
            let (price, fit) = price(&samples[first..end], per_parameter);
            let discount = if is_known(first) { per_parameter } else { 0.0 };
            let total = best[first].0 + price - discount;
            if total < least.0 {
                least = (total, Some(Segment { first, end, fit }));
            }
        }
        best.push(least);
    }
    let mut found = Vec::new();
    let mut end = samples.len();
    while let Some(segment) = best[end].1 {
        found.push(segment);
        end = segment.first;
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(unique_bytes: f64, throughput: f64) -> Sample {
        Sample { unique_bytes, s: 1.0 / throughput, sigma: 0.05, noise: 0.05 }
    }

    #[test]
    fn a_hierarchy_is_cut_at_its_cache_sizes() {
        // Levels of 100, 10 and 1 with caches of 32 and 96.
        let time = |u: f64| {
            (32f64.min(u) / 100.0 + (96f64.min(u) - 32f64.min(u)) / 10.0 + (u - 96f64).max(0.0)) / u
        };
        let sizes = [4.0, 8.0, 16.0, 30.0, 34.0, 48.0, 64.0, 80.0, 94.0, 99.0, 128.0, 192.0, 256.0];
        let samples: Vec<Sample> = sizes.iter().map(|&u| sample(u, 1.0 / time(u))).collect();
        let found = segments(&samples, &[]);
        assert_eq!(found.iter().map(|s| s.first).collect::<Vec<_>>(), [0, 4, 9]);
        let [first, second] = [found[0].fit, found[1].fit];
        let kink = (second.b - first.b) / (first.a - second.a);
        assert!((kink - 32.0).abs() < 0.5, "{kink}");
    }

    #[test]
    fn one_outlier_makes_no_level() {
        let mut samples: Vec<Sample> = (0..12).map(|i| sample(f64::from(1 << i), 100.0)).collect();
        samples[6].s *= 1.15;
        assert_eq!(segments(&samples, &[]).len(), 1);
    }

    proptest! {
        #[test]
        fn segments_cover_all_samples_in_order(
            throughputs in proptest::collection::vec(1e-3..1e12f64, 0..25),
        ) {
            let samples: Vec<Sample> = throughputs
                .iter()
                .enumerate()
                .map(|(i, &t)| sample(1e6 * 1.7f64.powi(i as i32), t))
                .collect();
            let found = segments(&samples, &[]);
            let mut at = 0;
            for segment in &found {
                prop_assert_eq!(segment.first, at);
                at = segment.end;
                for point in &samples[segment.first..segment.end] {
                    prop_assert!(segment.fit.at(point.unique_bytes) > 0.0);
                }
            }
            prop_assert_eq!(at, samples.len());
        }
    }
}
