//! The condition under which a comparison fails: `throughput < 0.95`.

use super::figures::Judged;
use ioscape_schema::{Metric, RatioLimit};
use std::str::FromStr;

/// Fails a comparison if a metric's ratio is beyond a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition as it was given.
    pub text: String,
    /// The metric it applies to.
    pub metric: Metric,
    /// Whether it fails below the limit, rather than above it.
    pub below: bool,
    /// The limit of the ratio.
    pub limit: f64,
}

/// A text that is not a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no condition: give throughput, rate or time, < or >, and a ratio above 0, such as 'throughput < 0.95'"
)]
pub struct ConditionError(String);

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let wrong = || ConditionError(text.to_owned());
        let RatioLimit { metric, below, ratio: limit } =
            RatioLimit::read(text).ok_or_else(wrong)?;
        let all = [Metric::Throughput, Metric::Rate, Metric::Time];
        let metric = all.into_iter().find(|one| one.word() == metric).ok_or_else(wrong)?;
        Ok(Self { text: text.trim().to_owned(), metric, below, limit })
    }
}

impl Condition {
    /// Whether a ratio within these ends meets the condition; `None` if part of the range does and
    /// part does not.
    pub(crate) fn is_met(&self, [low, high]: [f64; 2]) -> Option<bool> {
        let is_beyond = |end: f64| if self.below { end < self.limit } else { end > self.limit };
        (is_beyond(low) == is_beyond(high)).then_some(is_beyond(low))
    }

    /// The probability of seeing such a ratio if the true one is at the limit.
    pub(super) fn chance(&self, judged: &Judged) -> f64 {
        let limit = self.limit.ln();
        if self.below { judged.chance_below(limit) } else { judged.chance_above(limit) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NamedDocument, compare_all_measured, compare_measured};
    use super::*;
    use ioscape_schema::{Document, Measurement, Stop, Workload};

    #[test]
    fn many_systems_against_one_base_meet_a_condition_no_more_often_than_one() {
        let [base, slow, equal] = [1e8, 0.7e8, 1.01e8].map(|rate| {
            let one = Measurement {
                throughput_bytes_per_s: rate,
                throughput_ci95: [0.99 * rate, 1.01 * rate],
                ..Measurement::empty(Workload::default(), Stop::Confident)
            };
            Document { outcome: Some(vec![one].into()), ..Document::default() }
        });
        let [base, slow, equal] =
            [&base, &slow, &equal].map(|document| NamedDocument { name: "x", document });
        let condition: Condition = "throughput < 1".parse().unwrap();
        let alone = compare_measured(base, slow, Some(&condition)).unwrap();
        assert_eq!(alone.condition.unwrap().met_by, [0]);
        let both = compare_all_measured(base, &[slow, equal], &condition).unwrap();
        let met = both.iter().filter_map(|one| one.condition.as_ref()).map(|one| one.met_by.len());
        assert_eq!(met.collect::<Vec<_>>(), [0, 0]);
    }

    #[test]
    fn conditions_are_read_and_others_refused() {
        let read = |text: &str| text.parse::<Condition>();
        let found = read("throughput<0.95").unwrap();
        assert_eq!((found.metric, found.below, found.limit), (Metric::Throughput, true, 0.95));
        assert!(!read(" time > 1.05 ").unwrap().below);
        for bad in ["", "< 0.9", "speed < 1", "time > 0"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
