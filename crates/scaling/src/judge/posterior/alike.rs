//! How alike the end of a level slows down reads, writes and their mix: mostly one device serves them all behind it.
//!
//! Every curve has a law of its own, so that each would pay for a slowdown of any size between 1.3 and 10 000. A level that is mild for one kind of
//! requests is mild for the others, and to see that three times costs its hypothesis no more than once.

use super::added::Added;
use super::law::Slowdown;

/// Probability that all requests slow down alike behind an end; else each by a factor of its own.
const ALIKE: f64 = 0.7;
/// Standard deviation of the added time of one kind of requests around that of all, over the time before, in logarithms.
const APART: f64 = 0.4;

/// Logarithm of the factor by which an end with these slowdowns, one from each curve, is more probable than if each of them were independent of the
/// others.
///
/// The added time of each is normal around a common one that is anything within [`Added::OWN`], where each curve by itself took it for
/// anything within its own range: the integral over both, with what each curve says being normal too.
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
