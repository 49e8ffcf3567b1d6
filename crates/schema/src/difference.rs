//! What an interval says about a ratio (more, less, no difference or unknown), and whether a value
//! is known at all.

use crate::RegionFinding;

/// A ratio whose bounds lie within this factor counts as no difference.
const ALIKE: f64 = 1.2;
/// Smallest factor worth reporting; the whole interval must lie beyond it.
const LEAST: f64 = 1.05;
/// Ratios of two systems within this distance of 1 count as no difference.
pub const MARGIN: f64 = 0.05;
/// Bounds further apart than this factor say nothing about the value between them.
const UNCERTAIN: f64 = 8.0;

/// Returns whether the bounds of a positive value are more than a factor of 8 apart. They then say
/// nothing and are not printed.
pub fn is_uncertain(low: f64, high: f64) -> bool {
    high > UNCERTAIN * low
}

/// Returns whether a ratio with this interval shows no difference: all of it lies within `margin`
/// of 1. The inverse ratio gives the same answer.
pub fn is_near_one([low, high]: [f64; 2], margin: f64) -> bool {
    let most = 1.0 + margin;
    low >= most.recip() && high <= most
}

/// The verdict on a ratio of two throughputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Surely above 1.05.
    More,
    /// Surely below 1 / 1.05.
    Less,
    /// Surely within a factor of 1.2 of 1, and not surely more than a factor of 1.05 off.
    Alike,
    /// The interval allows more than one of these.
    Unknown,
}

impl RegionFinding {
    /// Returns what the bounds of a ratio say; meaningless for sizes.
    pub fn difference(&self) -> Difference {
        let Self { low, high, .. } = *self;
        // A small but certain effect comes first: its interval rules out no effect.
        if low >= LEAST {
            Difference::More
        } else if high <= 1.0 / LEAST {
            Difference::Less
        } else if low > 1.0 / ALIKE && high < ALIKE {
            Difference::Alike
        } else {
            Difference::Unknown
        }
    }

    /// Returns whether the bounds of a ratio include 1 and rule out any effect worth reporting.
    pub fn is_nil(&self) -> bool {
        let Self { low, high, .. } = *self;
        (low..=high).contains(&1.0) && low > 1.0 / LEAST && high < LEAST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_follows_from_the_whole_interval() {
        let verdict = |[low, value, high]: [f64; 3]| {
            RegionFinding { region: String::new(), value, low, high }.difference()
        };
        assert_eq!(verdict([1.3, 1.5, 1.8]), Difference::More);
        assert_eq!(verdict([0.3, 0.5, 0.9]), Difference::Less);
        assert_eq!(verdict([0.9, 1.0, 1.1]), Difference::Alike);
        assert_eq!(verdict([0.9, 1.4, 1.9]), Difference::Unknown);
        assert_eq!(
            verdict([1.01, 1.5, 2.3]),
            Difference::Unknown,
            "surely, but perhaps hardly more"
        );
    }

    #[test]
    fn a_small_effect_that_is_sure_is_no_absence_of_one() {
        let found = |low, high| RegionFinding { region: String::new(), value: 1.0, low, high };
        assert_eq!(found(1.06, 1.19).difference(), Difference::More);
        assert_eq!(found(0.84, 0.95).difference(), Difference::Less);
        let slight = found(1.01, 1.15);
        assert!(slight.difference() == Difference::Alike && !slight.is_nil());
        assert!(found(0.97, 1.04).is_nil() && !found(0.9, 1.1).is_nil());
        assert!(!found(1.01, 1.04).is_nil(), "the interval refutes it");
    }

    #[test]
    fn no_difference_is_none_the_other_way_round_either() {
        let ends = [0.94, 0.951, 0.953, 0.99, 1.0, 1.01, 1.049, 1.051, 1.06];
        for low in ends {
            for high in ends.into_iter().filter(|high| *high >= low) {
                let turned = [1.0 / high, 1.0 / low];
                let both = [[low, high], turned].map(|ends| is_near_one(ends, 0.05));
                assert_eq!(both[0], both[1], "{low} to {high}");
            }
        }
        assert!(is_near_one([0.953, 1.049], 0.05) && !is_near_one([0.951, 1.0], 0.05));
    }

    #[test]
    fn bounds_say_nothing_beyond_a_factor() {
        assert!(!is_uncertain(1.0, 8.0) && is_uncertain(1.0, 8.1));
        assert!(is_uncertain(0.0, 1e-9), "anything down to nothing");
    }
}
