//! A part of a course: its rate, the rate's uncertainty, and whether it is stable.

use super::segments::{LEAST, segments};
use ioscape_schema::Bounded;
use ioscape_schema::statistics::{mean, variance};
use ioscape_schema::tally::interval;
use std::ops::Range;

/// Rates that differ by less than this share count as the same.
const DISTINCT: f64 = 0.10;
/// Longest disturbance, as a share of the course: a part between two similar ones.
pub const DISTURBANCE: f64 = 0.15;
/// From this many disturbances on, they count as part of the rate.
const RECURRING: usize = 3;
/// A part counts as changing if its halves surely differ, and by more than this share.
const CHANGING: f64 = 0.05;
/// Standard errors by which halves surely differ, even if neighbouring steps are correlated.
const SURE: f64 = 6.0;
/// If the halves of a part may differ by more than this share, its stability is open.
const STILL: f64 = 0.15;
/// Least relative half-width of an interval: requests that end just after a step count for the next
/// one.
const WIDTH_LEAST: f64 = 0.002;
/// Fewest values for an interval from batch means.
const BATCHES: usize = 10;
/// Fewest steps of a part for its border steps to be left out.
const EDGED: usize = 6;
/// Student's t at 97.5 % with 2 and more degrees of freedom, up to those of [`BATCHES`].
const STUDENT: [f64; 7] = [4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306];

/// A mean rate and half its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The mean, in bytes per second.
    pub mean: f64,
    /// Half of the interval.
    pub half: f64,
}

/// A part of a course.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its steps.
    pub steps: Range<usize>,
    /// The steps disturbed by something else.
    pub disturbed: Vec<Range<usize>>,
    /// Its rate, without the disturbed steps.
    pub level: Level,
}

/// Whether a part is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stillness {
    /// Its halves are alike.
    Still,
    /// Its halves differ.
    Changing,
    /// Its steps are too noisy to tell.
    Open,
}

impl Level {
    /// The level of neighbouring steps.
    pub fn of(values: &[f64]) -> Self {
        let mean = mean(values);
        Self { mean, half: half(values).max(WIDTH_LEAST * mean) }
    }

    /// Whether this level surely differs from another, and by enough to matter.
    fn is_other(self, other: Self) -> bool {
        let apart = (self.mean - other.mean).abs();
        apart > DISTINCT * self.mean.max(other.mean) && apart > self.half + other.half
    }

    /// The mean with its bounds.
    pub fn bounded(self) -> Bounded {
        let low = (self.mean - self.half).max(0.0);
        Bounded { value: self.mean, low, high: (self.mean + self.half).min(f64::MAX) }
    }
}

impl Phase {
    fn new(rates: &[f64], steps: Range<usize>, disturbed: Vec<Range<usize>>) -> Self {
        let level = Level::of(&undisturbed(rates, &steps, &disturbed));
        Self { steps, disturbed, level }
    }

    /// Joins this part and the next.
    fn joined(&self, rates: &[f64], next: &Self) -> Self {
        let disturbed = self.disturbed.iter().chain(&next.disturbed).cloned().collect();
        Self::new(rates, self.steps.start..next.steps.end, disturbed)
    }

    /// Returns the part; recurring disturbances count as part of its rate.
    fn with_what_recurs(self, rates: &[f64]) -> Self {
        if self.disturbed.len() < RECURRING {
            return self;
        }
        Self::new(rates, self.steps, Vec::new())
    }

    /// Half the 95 % interval of its rate, without a lower bound.
    pub fn half(&self, rates: &[f64]) -> f64 {
        half(&undisturbed(rates, &self.steps, &self.disturbed))
    }

    /// The change of its rate from the first half to the second.
    pub fn drift(&self, rates: &[f64]) -> Level {
        let values = undisturbed(rates, &self.steps, &self.disturbed);
        let (first, second) = values.split_at(values.len() / 2);
        let [first, second] = [Level::of(first), Level::of(second)];
        Level { mean: second.mean - first.mean, half: first.half.hypot(second.half) }
    }

    /// The standard error of the mean of one half, estimated from differences of neighbours.
    fn jitter(&self, rates: &[f64]) -> f64 {
        let values = undisturbed(rates, &self.steps, &self.disturbed);
        let differences: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        (variance(&differences) / values.len().max(1) as f64).sqrt()
    }

    /// Whether it is stable.
    pub fn stillness(&self, rates: &[f64]) -> Stillness {
        let drift = self.drift(rates);
        let [by, open] = [drift.mean.abs(), drift.half].map(|d| d / self.level.mean);
        // A slope widens the intervals of the halves, but not the differences of neighbours.
        let jitter = SURE * self.jitter(rates) / self.level.mean;
        if by > CHANGING && by > open.min(jitter) {
            Stillness::Changing
        } else if by + open > STILL {
            Stillness::Open
        } else {
            Stillness::Still
        }
    }
}

/// Half the 95 % interval of the mean of neighbouring steps.
fn half(values: &[f64]) -> f64 {
    match values.len() {
        n if n >= BATCHES => interval(values).map_or(f64::INFINITY, |found| found.half),
        n if n >= LEAST => STUDENT[n - LEAST] * (variance(values) / n as f64).sqrt(),
        _ => f64::INFINITY,
    }
}

/// The rates of a part's undisturbed steps; if there are enough, without the border steps in which
/// the rate changed.
fn undisturbed(rates: &[f64], steps: &Range<usize>, disturbed: &[Range<usize>]) -> Vec<f64> {
    let kept = |at: &usize| !disturbed.iter().any(|part| part.contains(at));
    let edge = |at: usize| usize::from(steps.len() >= EDGED && at > 0 && at < rates.len());
    let inner = steps.start + edge(steps.start)..steps.end - edge(steps.end);
    inner.filter(kept).map(|at| rates[at]).collect()
}

/// The parts of a course whose rates surely differ from those of their neighbours; a disturbance
/// belongs to the part that it disturbs.
pub fn phases(rates: &[f64]) -> Vec<Phase> {
    let parts = segments(rates).into_iter().map(|steps| Phase::new(rates, steps, Vec::new()));
    let mut parts: Vec<Phase> = parts.collect();
    while join_alike(rates, &mut parts) || join_disturbed(rates, &mut parts) {}
    parts.into_iter().map(|part| part.with_what_recurs(rates)).collect()
}

/// Joins the two most similar neighbours that count as alike; returns whether there were any.
fn join_alike(rates: &[f64], parts: &mut Vec<Phase>) -> bool {
    let ratio = |at: &usize| {
        let [a, b] = [at, &(at + 1)].map(|&at| parts[at].level.mean.max(f64::MIN_POSITIVE));
        (a / b).ln().abs()
    };
    let alike = |at: &usize| !parts[*at].level.is_other(parts[at + 1].level);
    let found = (0..parts.len().saturating_sub(1)).filter(alike);
    let Some(at) = found.min_by(|a, b| ratio(a).total_cmp(&ratio(b))) else { return false };
    parts[at] = parts[at].joined(rates, &parts[at + 1]);
    parts.remove(at + 1);
    true
}

/// Joins the shortest disturbance between two similar parts with both; returns whether there was
/// one.
fn join_disturbed(rates: &[f64], parts: &mut Vec<Phase>) -> bool {
    let most = (DISTURBANCE * rates.len() as f64) as usize;
    let is_disturbance = |at: &usize| {
        parts[*at].steps.len() <= most && !parts[at - 1].level.is_other(parts[at + 1].level)
    };
    let found = (1..parts.len().saturating_sub(1)).filter(is_disturbance);
    let Some(at) = found.min_by_key(|&at| parts[at].steps.len()) else { return false };
    let steps = parts[at].steps.clone();
    parts[at].disturbed = vec![steps];
    let joined = parts[at - 1].joined(rates, &parts[at]).joined(rates, &parts[at + 1]);
    parts.splice(at - 1..=at + 1, [joined]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dip_is_a_disturbance_and_a_step_is_a_part() {
        let rates: Vec<f64> = (0..100)
            .map(|i| match i {
                20..26 => 3.0,
                0..60 => 10.0,
                _ => 2.0,
            })
            .collect();
        let found = phases(&rates);
        assert_eq!(found.iter().map(|p| p.steps.clone()).collect::<Vec<_>>(), [0..60, 60..100]);
        assert_eq!((found[0].disturbed.len(), found[0].disturbed[0].clone()), (1, 20..26));
        assert!((found[0].level.mean - 10.0).abs() < 1e-9, "{:?}", found[0].level);
    }

    #[test]
    fn what_slopes_is_no_level() {
        let slope: Vec<f64> = (0..100).map(|i| 100.0 - 0.04 * f64::from(i)).collect();
        let part = |rates: &[f64]| Phase::new(rates, 0..rates.len(), Vec::new());
        assert_eq!(
            part(&slope).stillness(&slope),
            Stillness::Still,
            "a fiftieth from half to half"
        );
        let steeper: Vec<f64> = slope.iter().map(|rate| rate - 90.0).collect();
        assert_eq!(part(&steeper).stillness(&steeper), Stillness::Changing);
        let wild: Vec<f64> = (0..100u64).map(|i| (i * i * 7919 % 97) as f64).collect();
        assert_eq!(part(&wild).stillness(&wild), Stillness::Open);
    }
}
