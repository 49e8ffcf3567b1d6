//! When a measured part is long enough, by one rule for real and for simulated runs.

use super::interval::{Interval, interval_of_requests};
use crate::Stop;

/// How long a measured part may last, and how certain it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    /// Least length, in seconds.
    pub min_s: f64,
    /// Greatest length, in seconds; `min_s` where that is longer.
    pub cap_s: f64,
    /// It ends when half the 95 % confidence interval over the throughput is at most this.
    pub confidence: f64,
}

/// Looks at a run from time to time. To look after every slice would stop at the first lucky streak; looks that grow
/// rarer, each an eighth later than the one before, do not.
#[derive(Clone, Debug)]
pub struct Looks {
    rule: StopRule,
    next_s: f64,
}

impl Looks {
    /// Before the first look.
    pub fn new(rule: StopRule) -> Self {
        Self { rule, next_s: rule.min_s }
    }

    /// Whether a run of `elapsed_s` is to be looked at.
    pub fn is_due(&self, elapsed_s: f64) -> bool {
        elapsed_s >= self.next_s || self.is_capped(elapsed_s)
    }

    /// Whether a run of `elapsed_s` is as long as it may be.
    pub fn is_capped(&self, elapsed_s: f64) -> bool {
        elapsed_s >= self.rule.cap_s.max(self.rule.min_s)
    }

    /// Looks at a run of `elapsed_s` whose slices had these `rates`, bytes per second, from `ios` requests; `None` while it goes on.
    pub fn look(&mut self, rates: &[f64], ios: f64, elapsed_s: f64) -> Option<Stop> {
        if !self.is_due(elapsed_s) {
            return None;
        }
        let found = interval_of_requests(rates, ios);
        if found.is_some() {
            self.next_s = elapsed_s + elapsed_s / 8.0;
        }
        let verdict = self.judge(found, elapsed_s);
        (verdict == Stop::Confident || self.is_capped(elapsed_s)).then_some(verdict)
    }

    /// How a run of `elapsed_s` ends that cannot go on: confident only if it is as long and as sure as the rule demands.
    pub fn verdict(&self, rates: &[f64], ios: f64, elapsed_s: f64) -> Stop {
        self.judge(interval_of_requests(rates, ios), elapsed_s)
    }

    fn judge(&self, found: Option<Interval>, elapsed_s: f64) -> Stop {
        let narrow = |i: Interval| i.relative() <= self.rule.confidence;
        match found.is_some_and(narrow) && elapsed_s >= self.rule.min_s {
            true => Stop::Confident,
            false => Stop::TimeCap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: StopRule = StopRule { min_s: 2.0, cap_s: 10.0, confidence: 0.03 };
    /// So many requests that single ones do not matter.
    const MANY: f64 = 1e6;

    /// Rates without a period: those of a regular pattern are all alike in batches as long as it.
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
}
