//! How similarly the end of a level slows down reads, writes and their mix: usually one device
//! serves all of them beyond it.
//!
//! Every curve has its own law, so each would pay for a slowdown of any size from 1.3 to 10 000.
//! But a level that is mild for one kind of request is mild for the others, so a hypothesis should
//! pay for that once, not three times.

use super::added::Added;
use super::law::Slowdown;

/// Probability that all requests slow down alike beyond an end; otherwise each has its own factor.
const ALIKE: f64 = 0.7;
/// Standard deviation of the added time of one kind of request around that of all, over the time
/// before, in logarithms.
const APART: f64 = 0.4;

/// Returns the logarithm of the factor by which an end with these slowdowns, one from each curve,
/// is more probable than if they were independent.
///
/// Each added time is normal around a common one, which is uniform within [`Added::OWN`]; each
/// curve by itself took its own as uniform within its range. The result is the integral over both,
/// since what each curve says is normal, too.
pub(crate) fn alike(slowdowns: &[Slowdown]) -> f64 {
    if slowdowns.len() < 2 {
        return 0.0;
    }
    let weight = |s: &Slowdown| (s.variance + APART * APART).recip();
    let sum: f64 = slowdowns.iter().map(weight).sum();
    let common = slowdowns.iter().map(|s| weight(s) * s.mean).sum::<f64>() / sum;
    let term = |s: &Slowdown| {
        s.range.width().ln() + 0.5 * (weight(s) / std::f64::consts::TAU).ln()
            - 0.5 * weight(s) * (s.mean - common).powi(2)
    };
    let joint = slowdowns.iter().map(term).sum::<f64>() - Added::OWN.width().ln()
        + 0.5 * (std::f64::consts::TAU / sum).ln();
    (1.0 - ALIKE + ALIKE * joint.exp()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slowdowns(means: [f64; 3], variance: f64) -> Vec<Slowdown> {
        means.map(|mean| Slowdown { mean, variance, range: Added::OWN }).to_vec()
    }

    #[test]
    fn slowdowns_that_agree_speak_for_an_end_and_others_hardly_against_it() {
        let agree = alike(&slowdowns([-0.7, -0.6, -0.8], 0.1));
        let differ = alike(&slowdowns([0.0, 4.0, 2.0], 0.1));
        assert!(agree > 2.0, "{agree}");
        assert!(differ < 0.0 && differ > -1.5, "{differ}");
    }

    #[test]
    fn what_no_curve_says_changes_nothing() {
        let silent = alike(&slowdowns([4.0; 3], 9.0));
        assert!(silent.abs() < 0.7, "{silent}");
        assert_eq!(alike(&slowdowns([1.0; 3], 0.1)[..1]), 0.0);
    }
}
