//! The confidence interval of a throughput by batch means, whether a rate is steady, and how bursty
//! it is.
//!
//! A run is cut into time slices. Neighbouring slices are not independent, since a stall spans
//! several. They are joined into batches until neighbouring batch means are no longer correlated;
//! Student's t then gives the interval. See A. Law, *Simulation Modeling and Analysis*, chapter
//! 9.5.

use crate::statistics::{mean, variance};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Smallest number of batches for an interval.
const BATCHES_MIN: usize = 10;

/// Largest number of batches: more gain little precision and hide slow changes.
const BATCHES_MAX: usize = 40;

/// Correlation of neighbouring batches up to which they count as independent.
const CORRELATION_MAX: f64 = 0.25;

/// Negative correlation, in magnitude, above which neighbouring batches alternate between fast and
/// slow. Two of them then form one period, and single batches would seem far less certain than the
/// mean is.
const ALTERNATION_MAX: f64 = 0.5;

/// Smallest number of degrees of freedom left after correcting for correlation.
const FREEDOM_MIN: f64 = 3.0;

/// A 95 % confidence interval of a mean rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Mean of the slices.
    pub mean: f64,
    /// Half the width of the interval.
    pub half: f64,
    /// Number of batches used.
    pub batches: usize,
}

impl Interval {
    /// Returns half the width over the mean; infinite for a mean of 0.
    pub fn relative(&self) -> f64 {
        if self.mean > 0.0 { self.half / self.mean } else { f64::INFINITY }
    }

    /// Returns the interval widened for `ios` whole requests: see [`interval_of_requests`].
    pub(super) fn of_requests(self, ios: f64) -> Self {
        Self { half: self.half.max(self.mean / ios), ..self }
    }
}

/// Returns the 95 % confidence interval of a `throughput`, as wide in proportion as that `found` for
/// its slices but never below 0; from 0 to twice the throughput if none was found.
pub fn ends_of(throughput: f64, found: Option<Interval>) -> [f64; 2] {
    let relative = found.map(|found| found.relative()).filter(|relative| relative.is_finite());
    let half = throughput * relative.unwrap_or(1.0);
    [(throughput - half).max(0.0), throughput + half]
}

/// Returns the interval of the mean of `rates`, one per slice of equal length, from `ios` requests.
///
/// It extends at least one request to each side: a few requests of nearly the same length put the
/// same number into every slice. `None` with fewer than ten slices.
pub fn interval_of_requests(rates: &[f64], ios: f64) -> Option<Interval> {
    interval(rates).map(|found| found.of_requests(ios))
}

/// Returns the interval of the mean of `rates`, one per slice of equal length; `None` with fewer
/// than ten.
pub fn interval(rates: &[f64]) -> Option<Interval> {
    let mut per_batch = rates.len().div_ceil(BATCHES_MAX).max(1);
    if rates.len() < BATCHES_MIN {
        return None;
    }
    loop {
        let batches = batch_means(rates, per_batch);
        let next = longer(per_batch);
        let last = rates.len() / next < BATCHES_MIN;
        let correlation = lag1_correlation(&batches);
        let alternating = correlation < -ALTERNATION_MAX;
        if (correlation <= CORRELATION_MAX && !alternating) || last {
            return Some(from_batches(mean(rates), &batches));
        }
        per_batch = next;
    }
}

/// Returns the next batch length to try: one slice more, or a fraction more for long batches, so
/// that a day of slices is evaluated in a moment.
fn longer(per_batch: usize) -> usize {
    per_batch + per_batch.div_ceil(64)
}

/// Returns Student's interval, allowing for the remaining correlation of the batches.
fn from_batches(mean_all: f64, batches: &[f64]) -> Interval {
    let (error, freedom) = standard_error(batches, correlation(batches));
    let t = StudentsT::new(0.0, 1.0, freedom).map_or(2.0, |d| d.inverse_cdf(0.975));
    Interval { mean: mean_all, half: t * error, batches: batches.len() }
}

/// Returns the standard error of the mean of `values` and its degrees of freedom.
///
/// The values are taken as a first-order autoregressive process with this `correlation`: correlated
/// values say less about their variance than as many independent ones. A negative correlation
/// counts as 0, one above 0.95 as 0.95.
pub fn standard_error(values: &[f64], correlation: f64) -> (f64, f64) {
    let n = values.len() as f64;
    let correlation = correlation.clamp(0.0, 0.95);
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    let error = (variance(values) / n * inflation).max(0.0).sqrt();
    (error, ((n - 1.0) / inflation).max(FREEDOM_MIN))
}

/// Returns the correlation of each of `values` with the next, corrected for the bias of short
/// series; 0 apart from that correction if all are equal.
pub fn correlation(values: &[f64]) -> f64 {
    unbiased(lag1_correlation(values), values.len() as f64)
}

/// Corrects the bias of short series, which lowers correlation by about `(1 + 4 rho) / n` (Kendall
/// 1954).
fn unbiased(correlation: f64, n: f64) -> f64 {
    correlation + (1.0 + 4.0 * correlation) / n
}

/// Returns the means of groups of `per_batch` neighbours. A remainder at the beginning, nearest to
/// the warm-up, is left out.
fn batch_means(rates: &[f64], per_batch: usize) -> Vec<f64> {
    let (_, whole) = rates.split_at(rates.len() % per_batch);
    whole.chunks_exact(per_batch).map(mean).collect()
}

/// Returns the correlation of each value with the next; 0 if all are equal.
fn lag1_correlation(values: &[f64]) -> f64 {
    let m = mean(values);
    let total: f64 = values.iter().map(|v| (v - m).powi(2)).sum();
    let joint: f64 = values.windows(2).map(|w| (w[0] - m) * (w[1] - m)).sum();
    if total > 0.0 { joint / total } else { 0.0 }
}

/// Relative difference up to which two thirds of a warm-up still count as steady.
pub const STEADY_TOLERANCE: f64 = 0.05;

/// Returns whether the last third of `rates` agrees with the middle third within `tolerance` or
/// twice the standard error.
///
/// False with fewer than nine slices.
pub fn is_steady(rates: &[f64], tolerance: f64) -> bool {
    if rates.len() < 9 {
        return false;
    }
    let third = rates.len() / 3;
    let (middle, last) = (&rates[third..2 * third], &rates[rates.len() - third..]);
    let (before, after) = (mean(middle), mean(last));
    let error = ((variance(middle) + variance(last)) / third as f64).sqrt();
    after > 0.0 && (after - before).abs() <= (tolerance * after).max(2.0 * error)
}

/// Returns the mean of the busiest tenth of `rates` over the mean of all; `None` with fewer than
/// ten or without throughput.
pub fn burst_ratio(rates: &[f64]) -> Option<f64> {
    let all = mean(rates);
    if rates.len() < 10 || all <= 0.0 {
        return None;
    }
    let mut sorted = rates.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    sorted.truncate(rates.len().div_ceil(10));
    Some(mean(&sorted) / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator of uniform numbers for synthetic slices.
    struct Noise(u64);

    impl Noise {
        fn uniform(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }
        /// Independent log-normal rates of mean 100.
        fn skewed(&mut self, n: usize) -> Vec<f64> {
            let sigma: f64 = 0.5;
            let mut one = || 100.0 * (sigma * self.normal() - sigma * sigma / 2.0).exp();
            (0..n).map(|_| one()).collect()
        }
        /// Rates of mean 100 on a processor that a neighbour slows in stretches of about five
        /// slices.
        fn two_speeds(&mut self, n: usize) -> Vec<f64> {
            let mut works = self.uniform() < 0.5;
            let mut one = || {
                works ^= self.uniform() < 0.2;
                let rate = if works { 80.0 } else { 120.0 };
                rate + 4.0 * self.normal()
            };
            (0..n).map(|_| one()).collect()
        }
        /// First-order autoregressive series of mean 100, standard deviation 10 and correlation `rho`.
        fn series(&mut self, n: usize, rho: f64) -> Vec<f64> {
            let mut x = self.normal();
            (0..n)
                .map(|_| {
                    x = rho * x + (1.0 - rho * rho).sqrt() * self.normal();
                    100.0 + 10.0 * x
                })
                .collect()
        }
        /// Fraction of 1000 intervals that hold the true mean of their series, 100.
        fn coverage(&mut self, make: impl Fn(&mut Self) -> Vec<f64>) -> f64 {
            let holds = |rates: &[f64]| {
                let i = interval(rates).unwrap();
                (i.mean - 100.0).abs() <= i.half
            };
            (0..1000).filter(|_| holds(&make(self))).count() as f64 / 1000.0
        }
    }

    fn noise(seed: u64) -> Noise {
        let mut noise = Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..20 {
            noise.uniform();
        }
        noise
    }

    #[test]
    fn too_few_slices_say_nothing() {
        assert_eq!(interval(&[5.0; 9]), None);
        let flat = interval(&[5.0; 10]).unwrap();
        assert_eq!((flat.mean, flat.half, flat.batches), (5.0, 0.0, 10));
    }

    /// Guards against taking half an hour over a day of slices.
    #[test]
    fn many_slices_are_joined_in_few_steps() {
        for slices in [640, 180_000, 4_320_000] {
            let lengths = std::iter::successors(Some(slices / BATCHES_MAX), |&n| Some(longer(n)));
            let tried = lengths.take_while(|&n| slices / n >= BATCHES_MIN).count();
            assert!((40..100).contains(&tried), "{slices} slices: {tried}");
        }
        assert!((1..=64).all(|per_batch| longer(per_batch) == per_batch + 1));
        let drifting: Vec<f64> = (0..20_000u32).map(f64::from).collect();
        assert_eq!(interval(&drifting).unwrap().batches, BATCHES_MIN);
    }

    #[test]
    fn intervals_hold_the_truth_nineteen_times_in_twenty() {
        for n in [10, 17, 40, 100, 250] {
            let covered = noise(1).coverage(|noise| noise.series(n, 0.0));
            assert!((0.925..=0.985).contains(&covered), "{n} slices: {covered}");
            let covered = noise(1).coverage(|noise| noise.skewed(n));
            assert!((0.905..=0.985).contains(&covered), "{n} skewed slices: {covered}");
        }
    }

    /// Coverage falls with correlation and with few slices, which cannot show it. These are the
    /// values to keep.
    #[test]
    fn correlated_slices_do_not_fool_it() {
        for (n, rho, least) in [
            (10, 0.3, 0.90),
            (50, 0.3, 0.925),
            (17, 0.6, 0.875),
            (50, 0.6, 0.905),
            (200, 0.6, 0.93),
            (10, 0.9, 0.69),
            (25, 0.9, 0.845),
            (50, 0.9, 0.88),
            (200, 0.9, 0.925),
        ] {
            let covered = noise(2).coverage(|noise| noise.series(n, rho));
            assert!(covered > least, "{n} slices, correlation {rho}: {covered}");
        }
    }

    #[test]
    fn two_speeds_do_not_fool_it() {
        for (n, least) in [(25, 0.84), (50, 0.89), (200, 0.925)] {
            let covered = noise(5).coverage(|noise| noise.two_speeds(n));
            assert!(covered > least, "{n} slices: {covered}");
        }
    }

    /// Sequential requests of mean length 1 that vary by the fraction `spread`: how many end in
    /// each of `slices` slices of length `each`, and their rate.
    fn served(noise: &mut Noise, slices: usize, each: f64, spread: f64) -> (Vec<f64>, f64) {
        let mut ended = vec![0.0; slices];
        let (mut now, mut last) = (0.0, 0.0);
        loop {
            now += (spread * noise.normal() - spread * spread / 2.0).exp();
            match ended.get_mut((now / each) as usize) {
                Some(slice) => *slice += 1.0,
                None => return (ended.clone(), ended.iter().sum::<f64>() / last),
            }
            last = now;
        }
    }

    /// Without the extra width of one request, 81 to 90 % of the intervals hold the mean.
    #[test]
    fn few_requests_do_not_fool_it() {
        for (slices, each, spread) in
            [(10, 2.5, 0.03), (20, 0.5, 0.1), (40, 2.5, 0.03), (100, 1.0, 0.03)]
        {
            let mut noise = noise(7);
            let mut holds = || {
                let (ended, rate) = served(&mut noise, slices, each, spread);
                let found = interval_of_requests(&ended, ended.iter().sum()).unwrap();
                (rate - 1.0).abs() <= found.relative() * rate
            };
            let covered = (0..400).filter(|_| holds()).count() as f64 / 400.0;
            assert!(covered > 0.95, "{slices} slices of {each}, spread {spread}: {covered}");
        }
    }

    #[test]
    fn independent_noise_converges_and_slow_waves_do_not() {
        let calm = interval(&noise(3).series(100, 0.0)).unwrap();
        assert!(calm.relative() < 0.03, "{calm:?}");
        let wavy: Vec<_> = (0..100).map(|i| 100.0 + 20.0 * (f64::from(i) / 16.0).sin()).collect();
        let wavy = interval(&wavy).unwrap();
        assert!(wavy.relative() > 0.1, "{wavy:?}");
    }

    #[test]
    fn steadiness_wants_the_last_third_like_the_middle() {
        assert!(is_steady(&noise(4).series(30, 0.0), 0.05));
        let falling: Vec<_> = (0..30).map(|i| 100.0 - f64::from(i)).collect();
        assert!(!is_steady(&falling, 0.05));
        let start: Vec<_> = (0..30).map(|i| if i < 10 { 5.0 } else { 100.0 }).collect();
        assert!(is_steady(&start, 0.05));
        assert!(!is_steady(&[0.0; 30], 0.05));
        assert!(!is_steady(&[1.0; 8], 0.05));
    }

    #[test]
    fn bursts_stand_out() {
        assert_eq!(burst_ratio(&[3.0; 20]), Some(1.0));
        let stalled: Vec<_> = (0..20).map(|i| if i < 2 { 10.0 } else { 0.0 }).collect();
        assert_eq!(burst_ratio(&stalled), Some(10.0));
        assert_eq!(burst_ratio(&[0.0; 20]), None);
    }
}
