//! How far two models err alike: errors that they share cancel in the ratio of their predictions.

use super::input::ModelInput;

/// The fewest workloads measured by both evaluations from which the correlation is estimated.
const SHARED_MIN: usize = 8;
/// How far below the estimate the bound lies, in standard deviations: one-sided 95 %.
const CAUTION: f64 = 1.645;

/// The error of a model at one place, as ln(throughput).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ModelMiss {
    /// The place.
    pub(super) place: ModelInput,
    /// The measured ln(throughput).
    pub(super) measured: f64,
    /// Measured minus predicted from all other observations.
    pub(super) error: f64,
}

/// A lower bound, at 95 %, of the correlation of two models' errors, 0 to 1, from the errors of
/// both at the workloads that both evaluations measured (Fisher's transformation). With too few
/// shared workloads it is 0; for an evaluation and itself, 1.
pub(super) fn correlation(first: &[ModelMiss], second: &[ModelMiss]) -> f64 {
    if is_one(first, second) {
        return 1.0;
    }
    let alike = |one: &ModelMiss| {
        let found = second.iter().find(|other| other.place.same(&one.place));
        found.map(|other| (one.error, other.error))
    };
    let pairs: Vec<(f64, f64)> = first.iter().filter_map(alike).collect();
    if pairs.len() < SHARED_MIN {
        return 0.0;
    }
    bound(&pairs)
}

/// Whether both are of one evaluation: the same values at the same places, with the same errors.
fn is_one(first: &[ModelMiss], second: &[ModelMiss]) -> bool {
    let figures = |miss: &ModelMiss| [miss.measured, miss.error].map(f64::to_bits);
    let is_same = |(one, other): (&ModelMiss, &ModelMiss)| {
        one.place.same(&other.place) && figures(one) == figures(other)
    };
    !first.is_empty() && first.len() == second.len() && first.iter().zip(second).all(is_same)
}

fn bound(pairs: &[(f64, f64)]) -> f64 {
    let sum = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let (both, a, b) = (sum(|(a, b)| a * b), sum(|(a, _)| a * a), sum(|(_, b)| b * b));
    let raw = both / (a * b).sqrt();
    let low =
        raw.clamp(-0.999_999, 0.999_999).atanh() - CAUTION / (pairs.len() as f64 - 3.0).sqrt();
    let low = low.tanh();
    if low.is_finite() { low.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Workload;

    #[test]
    fn errors_that_are_nearly_equal_go_together_and_unlike_ones_do_not() {
        let errors: Vec<f64> = (0..40).map(|i| (f64::from(i) * 1.7).sin()).collect();
        let with = |f: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
            errors.iter().enumerate().map(|(i, e)| (*e, f(i))).collect()
        };
        assert_eq!(bound(&with(&|i| -errors[i])), 0.0);
        assert!(bound(&with(&|i| (i as f64 * 4.9).cos())) < 0.2);
        let close = bound(&with(&|i| errors[i] + 0.1 * (i as f64 * 4.9).cos()));
        assert!((0.9..1.0).contains(&close), "{close}");
        assert_eq!(bound(&with(&|_| 0.0)), 0.0);
        assert_eq!(bound(&[(0.0, 0.0); 40]), 0.0, "two models without errors share none");
    }

    #[test]
    fn one_evaluation_errs_like_itself_however_few_its_points() {
        let misses = |speed: f64, errors: &[f64]| -> Vec<ModelMiss> {
            let place = |i: usize| {
                ModelInput::of(&Workload { unique_bytes: 4096 << i, ..Workload::default() })
            };
            let miss = |(i, error): (usize, &f64)| ModelMiss {
                place: place(i),
                measured: speed,
                error: *error,
            };
            errors.iter().enumerate().map(miss).collect()
        };
        for errors in [&[0.0; 3][..], &[0.1, f64::NAN], &[0.2; 40]] {
            let one = misses(20.0, errors);
            assert_eq!(correlation(&one, &one), 1.0, "{errors:?}");
            assert!(correlation(&one, &misses(21.0, errors)) < 1.0, "{errors:?}: another system");
        }
        assert_eq!(correlation(&[], &[]), 0.0);
    }
}
