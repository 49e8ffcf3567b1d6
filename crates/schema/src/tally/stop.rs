//! Decides when a measured part is long enough, by one rule for real and simulated runs.

use super::interval::{Interval, interval_of_requests};
use crate::Stop;

/// Limits on the length of a measured part, and the certainty it should reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    /// Minimum length, in seconds.
    pub min_s: f64,
    /// Maximum length, in seconds; `min_s` if that is longer.
    pub cap_s: f64,
    /// The part ends when half the 95 % confidence interval over the throughput is at most this.
    pub confidence: f64,
}

/// Looks at a run at intervals, each an eighth later than the one before. A run ends early only if
/// the result would have been the same an eighth earlier, so that it does not end on a lucky
/// streak.
///
/// A run that ends early may have met no long stall. If the system is known to stall at intervals,
/// `min_s` must be as long as these.
#[derive(Clone, Debug)]
pub struct Looks {
    rule: StopRule,
    next_s: f64,
}

impl Looks {
    /// Starts before the first look.
    pub fn new(rule: StopRule) -> Self {
        Self { rule, next_s: rule.min_s }
    }

    /// Returns whether a look at a run of `elapsed_s` is due.
    pub fn is_due(&self, elapsed_s: f64) -> bool {
        elapsed_s >= self.next_s || self.is_capped(elapsed_s)
    }

    /// Returns whether a run of `elapsed_s` has reached its maximum length.
    pub fn is_capped(&self, elapsed_s: f64) -> bool {
        elapsed_s >= self.rule.cap_s.max(self.rule.min_s)
    }

    /// Looks at a run of `elapsed_s` whose slices had these `rates`, in bytes per second, from
    /// `ios` requests. Returns `None` while it goes on.
    pub fn look(&mut self, rates: &[f64], ios: f64, elapsed_s: f64) -> Option<Stop> {
        if !self.is_due(elapsed_s) {
            return None;
        }
        let found = interval_of_requests(rates, ios);
        if found.is_some() {
            self.next_s = elapsed_s + elapsed_s / 8.0;
        }
        let verdict = self.judge(found, elapsed_s);
        let ends = verdict == Stop::Confident && self.was_narrow(rates, ios, found);
        (ends || self.is_capped(elapsed_s)).then_some(verdict)
    }

    /// Returns whether a look an eighth earlier would have agreed with `found`.
    fn was_narrow(&self, rates: &[f64], ios: f64, found: Option<Interval>) -> bool {
        let earlier = interval_of_requests(&rates[..rates.len() * 8 / 9], ios);
        found.zip(earlier).is_some_and(|(now, then)| {
            let apart = (now.mean - then.mean).abs();
            self.is_narrow(then) && apart <= now.half.max(then.half)
        })
    }

    fn is_narrow(&self, found: Interval) -> bool {
        found.relative() <= self.rule.confidence
    }

    /// Returns how a run of `elapsed_s` ends if it cannot go on: confident only if it is as long
    /// and as certain as the rule demands.
    pub fn verdict(&self, rates: &[f64], ios: f64, elapsed_s: f64) -> Stop {
        self.judge(interval_of_requests(rates, ios), elapsed_s)
    }

    fn judge(&self, found: Option<Interval>, elapsed_s: f64) -> Stop {
        match found.is_some_and(|i| self.is_narrow(i)) && elapsed_s >= self.rule.min_s {
            true => Stop::Confident,
            false => Stop::TimeCap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interval;
    use super::*;

    const RULE: StopRule = StopRule { min_s: 2.0, cap_s: 10.0, confidence: 0.03 };
    /// Enough requests that single ones do not matter.
    const MANY: f64 = 1e6;

    /// Rates without a period; batches as long as a regular pattern would all be alike.
    fn wild(count: u32) -> Vec<f64> {
        (0..count).map(|i| f64::from(i * i % 31)).collect()
    }

    #[test]
    fn a_flat_rate_ends_at_the_least_length_and_a_wild_one_at_the_cap() {
        let mut looks = Looks::new(RULE);
        assert_eq!(looks.look(&[5.0; 20], MANY, 1.9), None);
        assert_eq!(looks.look(&[5.0; 20], 20.0, 2.0), None, "20 requests are known to 5 %");
        let mut looks = Looks::new(RULE);
        assert_eq!(looks.look(&[5.0; 20], MANY, 2.0), Some(Stop::Confident));
        let wild = wild(30);
        let mut looks = Looks::new(RULE);
        assert_eq!(
            [3.0, 9.9, 10.0].map(|s| looks.look(&wild, MANY, s)),
            [None, None, Some(Stop::TimeCap)]
        );
    }

    #[test]
    fn looks_grow_rarer_and_too_few_slices_say_nothing() {
        let mut looks = Looks::new(RULE);
        assert_eq!(looks.look(&[5.0; 9], MANY, 8.0), None);
        assert!(looks.is_due(8.0), "nothing was seen");
        assert_eq!(looks.look(&wild(20), MANY, 8.0), None);
        assert!(!looks.is_due(8.9) && looks.is_due(9.0));
        assert_eq!(Looks::new(RULE).look(&[5.0; 9], MANY, 10.0), Some(Stop::TimeCap));
    }

    #[test]
    fn an_interval_that_was_wider_at_the_look_before_ends_no_run() {
        let mut rates = [16.0; 36];
        rates[5] = 20.0;
        let [then, now] = [32, 36].map(|count| interval(&rates[..count]).unwrap().relative());
        assert!(then > now);
        let ends = |confidence, elapsed_s| {
            Looks::new(StopRule { confidence, ..RULE }).look(&rates, MANY, elapsed_s)
        };
        assert_eq!([now, then].map(|known| ends(known, 5.0)), [None, Some(Stop::Confident)]);
        assert_eq!(ends(now, 10.0), Some(Stop::Confident), "it is as long as it may be");
    }

    /// A generator of synthetic slices.
    struct Noise(u64);

    impl Noise {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }
    }

    /// Fraction of 200 runs of `min_s` to 10 s that end by the rule and whose interval holds the
    /// long-term mean, 1. `speed` returns the speed of a 20 ms slice from its start time.
    fn coverage(min_s: f64, mut speed: impl FnMut(&mut Noise, f64) -> f64) -> f64 {
        let mut noise = Noise(1);
        let mut holds = || {
            let begun_s = 10.0 * noise.uniform();
            let (mut looks, mut rates) = (Looks::new(StopRule { min_s, ..RULE }), Vec::new());
            loop {
                let elapsed_s = 0.02 * rates.len() as f64;
                if looks.look(&rates, MANY, elapsed_s).is_some() {
                    break;
                }
                rates.push(speed(&mut noise, begun_s + elapsed_s));
            }
            let found = interval(&rates).unwrap();
            (found.mean - 1.0).abs() <= found.half
        };
        (0..200).filter(|_| holds()).count() as f64 / 200.0
    }

    /// Speed of a system that is five times slower for `stalled_s` of every `every_s`.
    fn stalls(every_s: f64, stalled_s: f64) -> impl FnMut(&mut Noise, f64) -> f64 {
        let mean = 1.0 - 0.8 * stalled_s / every_s;
        move |noise, at_s| {
            let speed = if at_s % every_s < stalled_s { 0.2 } else { 1.0 };
            speed * (1.0 + 0.02 * noise.normal()) / mean
        }
    }

    #[test]
    fn stalls_are_covered_by_a_least_length_of_their_interval_and_missed_by_less() {
        for (every_s, stalled_s) in [(5.0, 0.3), (2.0, 0.1)] {
            let covered = [every_s, 0.2 * every_s].map(|s| coverage(s, stalls(every_s, stalled_s)));
            assert!(covered[0] > 0.95 && covered[1] < 0.5, "every {every_s} s: {covered:?}");
        }
    }

    #[test]
    fn stalls_at_random_are_covered_the_better_the_longer_a_run_lasts() {
        let covered = [1.0, 2.0, 5.0].map(|min_s| {
            coverage(min_s, |noise, _| {
                let speed = if noise.uniform() < 0.02 { 0.2 } else { 1.0 };
                speed * (1.0 + 0.02 * noise.normal()) / 0.984
            })
        });
        assert!(covered.is_sorted() && covered[2] > 0.85, "{covered:?}");
    }

    /// Without the second look it is 85 %.
    #[test]
    fn slow_changes_fool_two_looks_less_often_than_one() {
        let mut drift = 0.0;
        let covered = coverage(1.0, |noise, _| {
            drift = 0.95 * drift + 0.1 * (1.0f64 - 0.95 * 0.95).sqrt() * noise.normal();
            1.0 + drift
        });
        assert!(covered > 0.88, "{covered}");
    }
}
