//! The default model: levels of the hierarchy, corrected where measurements require it, with
//! calibrated intervals.

use super::input::{ModelInput, Observation, observations, runs};
use super::predict::Estimate;
use super::residual::{LeftOut, Posterior};
use super::scatter::Scatter;
use super::search::structures;
use ioscape_schema::statistics::{median, sort_by_number};
use ioscape_schema::{Evaluation, Parameter};

/// The fewest observations from which structure can be inferred.
const OBSERVATIONS_MIN: usize = 8;
/// The widest half interval in ln(throughput): beyond a factor of 20 either way an interval is
/// useless.
const HALF_WIDTH_MAX: f64 = 3.0;
/// Distance in ln(`unique_bytes`) over which errors are correlated.
const NEARBY: f64 = 0.7;
/// The weight of all other observations together, in nearby observations.
const EVERYWHERE: f64 = 8.0;
/// The weight of an observation off the curves relative to one with neighbours on its curve: unseen
/// workloads lie off them.
const OFF_CURVES: f64 = 4.0;
/// The fewest references from which the steadiness of the machine is estimated.
const REFERENCES_MIN: usize = 8;
/// How much of a speed change of the reference a workload in memory shares. Measured slopes of
/// logarithms are 0.5 on sets of 30 to 500 MiB and 0.8 to 1.1 on smaller ones, within one
/// evaluation; part of that is already in the noise.
const SHARED: f64 = 0.5;
/// The half width of the interval that holds 90 % of a normal distribution, in standard deviations.
const NORMAL90: f64 = 1.645;

/// The default model. It needs no points beyond the evaluation's curves, but uses those off the
/// curves if there are any.
#[derive(Clone, Debug)]
pub struct HierarchyModel {
    /// The best structure, and then those nearly as probable.
    members: Vec<Member>,
    /// Every observation predicted from the others.
    left_out: Vec<LeftOut>,
    /// Standard deviation of a single run around its expectation, over the whole evaluation.
    noise: f64,
    /// The same by where the workload lies.
    scatter: Scatter,
    /// The error of each observation when predicted from the others, the smallest first.
    scores: Vec<Score>,
    /// How unsteady the machine was during the evaluation: standard deviation of ln(throughput) in
    /// memory.
    unsteady: f64,
}

/// A structure with its correction.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) posterior: Posterior,
    /// Its share of the prediction; all shares together are 1.
    pub(super) weight: f64,
}

/// The error of an observation when predicted from the others.
#[derive(Clone, Copy, Debug)]
struct Score {
    /// The error in standard deviations.
    missed: f64,
    /// Its ln(`unique_bytes`).
    set: f64,
    /// Its weight.
    weight: f64,
}

impl HierarchyModel {
    /// The model of `evaluation`, with the starts of its fit drawn by `start_seed`; 0 for the usual
    /// ones. How far two such models differ shows how firmly the observations determine it. `None`
    /// with too few observations, or when they cannot be fitted.
    pub fn started(evaluation: &Evaluation, start_seed: u64) -> Option<Self> {
        let observations = observations(evaluation);
        if observations.len() < OBSERVATIONS_MIN {
            return None;
        }
        let found = structures(evaluation, &observations, start_seed);
        let member =
            |(one, weight)| Some(Member { posterior: Posterior::new(one, &observations)?, weight });
        let mut members: Vec<Member> = found.into_iter().filter_map(member).collect();
        let total: f64 = members.iter().map(|one| one.weight).sum();
        members.iter_mut().for_each(|one| one.weight /= total);
        let left_out = left_out(&members)?;
        let mut own: Vec<f64> = observations.iter().map(|o| o.sd).collect();
        own.sort_by(f64::total_cmp);
        let noise = own[own.len() / 2].hypot(mean(&members, |one| one.amplitudes().noise));
        let errors = left_out.iter().map(|one| one.error);
        let scatter = Scatter::new(&observations, &runs(evaluation), noise);
        let scores = scores(&left_out, &scatter, &observations, errors);
        let unsteady = unsteady(evaluation);
        Some(Self { members, left_out, noise, scatter, scores, unsteady })
    }

    /// The same model with intervals calibrated for predictions that missed the observations by
    /// `errors`, after each was moved from this model's own.
    pub(super) fn calibrated_on(self, observations: &[Observation], errors: &[f64]) -> Self {
        let moved = |(one, error): (&LeftOut, &f64)| LeftOut {
            unknown: one.unknown.hypot(error - one.error),
            ..*one
        };
        let moved: Vec<LeftOut> = self.left_out.iter().zip(errors).map(moved).collect();
        let scores = scores(&moved, &self.scatter, observations, errors.iter().copied());
        Self { scores, ..self }
    }

    /// The `estimate` for `place`, moved `by` this much in ln(throughput) on the word of another
    /// model. How far the two lie apart is uncertainty, as between structures.
    pub(super) fn moved(&self, estimate: Estimate, by: f64, place: &ModelInput) -> Estimate {
        moved(estimate, by, self.calibration(place))
    }

    /// The same model with these structures.
    #[cfg(test)]
    pub(super) fn with_members(self, members: Vec<Member>) -> Self {
        Self { members, ..self }
    }

    /// Its structures, the most probable first; at least one.
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The most probable structure.
    pub(super) fn posterior(&self) -> &Posterior {
        &self.members[0].posterior
    }

    /// The error of each observation when predicted from the others, in the observations' order.
    pub(super) fn errors(&self) -> impl Iterator<Item = f64> {
        self.left_out.iter().map(|left_out| left_out.error)
    }

    /// The weight of each observation's error, in the same order.
    pub(super) fn weights(&self) -> impl Iterator<Item = f64> {
        self.left_out.iter().map(weight)
    }

    pub(super) fn noise(&self) -> f64 {
        self.noise
    }

    pub(super) fn estimate(&self, place: &ModelInput) -> Estimate {
        let each = |one: &Member| (one.weight, self.estimate_of(&one.posterior, place));
        let all: Vec<(f64, Estimate)> = self.members.iter().map(each).collect();
        self.mixed(&all, place)
    }

    /// The prediction of one of its structures, with its uncertainty.
    pub(super) fn estimate_of(&self, one: &Posterior, place: &ModelInput) -> Estimate {
        self.estimate_with(one, one.structure().1, place, place)
    }

    /// The same with the parameters `theta`, such as those of caches of other sizes; runs at
    /// `place` scatter like those at `alike`.
    pub(super) fn estimate_with(
        &self,
        one: &Posterior,
        theta: &[f64],
        place: &ModelInput,
        alike: &ModelInput,
    ) -> Estimate {
        let (log_throughput, variance) = one.at(theta, place);
        let sd = variance.sqrt().hypot(self.scatter.at(alike));
        let later = NORMAL90 * self.unsteady * one.near_share(theta, place);
        let step = one.step(theta, place);
        let half_width = (self.calibration(alike) * sd).hypot(step).hypot(later);
        Estimate { log_throughput, half_width }
    }

    /// The prediction of all structures together at `place`, or at a place served like it, from
    /// each estimate and its weight.
    pub(super) fn mixed(&self, all: &[(f64, Estimate)], place: &ModelInput) -> Estimate {
        mixture(all, self.calibration(place))
    }

    fn calibration(&self, place: &ModelInput) -> f64 {
        calibration(&self.scores, place.scaled(Parameter::UniqueBytes))
    }
}

/// The mean of several predictions. How far they lie apart is uncertainty too, and counts as
/// `calibration` standard deviations.
fn mixture(all: &[(f64, Estimate)], calibration: f64) -> Estimate {
    let total: f64 = all.iter().map(|(weight, _)| weight).sum();
    let mean = |of: &dyn Fn(&Estimate) -> f64| {
        all.iter().map(|(weight, one)| weight / total * of(one)).sum::<f64>()
    };
    let log_throughput = mean(&|one| one.log_throughput);
    let apart = mean(&|one| (one.log_throughput - log_throughput).powi(2)).sqrt();
    let half_width = mean(&|one| one.half_width.powi(2)).sqrt();
    let half_width = half_width.hypot(calibration * apart).min(HALF_WIDTH_MAX);
    Estimate { log_throughput, half_width }
}

fn moved(estimate: Estimate, by: f64, calibration: f64) -> Estimate {
    Estimate {
        log_throughput: estimate.log_throughput + by,
        half_width: estimate.half_width.hypot(calibration * by).min(HALF_WIDTH_MAX),
    }
}

fn mean(members: &[Member], of: impl Fn(&Posterior) -> f64) -> f64 {
    members.iter().map(|one| one.weight * of(&one.posterior)).sum()
}

/// Every observation predicted from the others by all structures together; `None` without any.
fn left_out(members: &[Member]) -> Option<Vec<LeftOut>> {
    let first = members.first()?;
    let each = |(i, one): (usize, &LeftOut)| {
        let of = |member: &Member| member.posterior.left_out()[i];
        let mean = |f: &dyn Fn(LeftOut) -> f64| {
            members.iter().map(|member| member.weight * f(of(member))).sum::<f64>()
        };
        let error = mean(&|one| one.error);
        let unknown = mean(&|one| one.unknown.powi(2) + (one.error - error).powi(2)).sqrt();
        LeftOut { error, unknown, ..*one }
    };
    Some(first.posterior.left_out().iter().enumerate().map(each).collect())
}

/// How far the machine's speed in memory at another time may be from that during the evaluation:
/// the deviation of its references, times the share of it that other workloads in memory have.
fn unsteady(evaluation: &Evaluation) -> f64 {
    let references = &evaluation.drift.throughputs;
    if references.len() < REFERENCES_MIN {
        return 0.0;
    }
    let logs: Vec<f64> = references.iter().map(|t| t.ln()).collect();
    let middle = median(&logs);
    let off: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    // The median absolute deviation of a normal distribution is 0.6745 of its standard deviation.
    let deviation = SHARED * median(&off) / 0.6745;
    if deviation.is_finite() { deviation.min(1.0) } else { 0.0 }
}

fn weight(left_out: &LeftOut) -> f64 {
    if left_out.extra { OFF_CURVES } else { 1.0 }
}

fn scores(
    left_out: &[LeftOut],
    scatter: &Scatter,
    observations: &[Observation],
    errors: impl Iterator<Item = f64>,
) -> Vec<Score> {
    let score = |((left_out, o), error): ((&LeftOut, &Observation), f64)| Score {
        missed: (error / left_out.unknown.hypot(scatter.at(&o.place))).abs(),
        set: o.place.scaled(Parameter::UniqueBytes),
        weight: weight(left_out),
    };
    let each = left_out.iter().zip(observations).zip(errors);
    let mut scores: Vec<Score> = each.map(score).collect();
    sort_by_number(&mut scores, |one| one.missed);
    scores
}

/// The factor on standard deviations by which nine of ten intervals hold: the quantile of
/// normalized leave-one-out errors.
///
/// This is split conformal prediction (Vovk, Gammerman and Shafer, "Algorithmic Learning in a
/// Random World", 2005), localized (Guan, "Localized conformal prediction", Biometrika 110, 2023):
/// errors at sets of a similar size count more, since a processor's cache is less steady than
/// memory, and a border less than a disk.
fn calibration(scores: &[Score], at: f64) -> f64 {
    let total: f64 = scores.iter().map(|score| score.weight).sum();
    let near = |set: f64| (-0.5 * ((set - at) / NEARBY).powi(2)).exp();
    let weight = |score: &Score| score.weight * (near(score.set) + EVERYWHERE / total);
    // One more, with the greatest weight, for the place itself.
    let wanted = 0.9 * (scores.iter().map(weight).sum::<f64>() + 1.0);
    let mut held = 0.0;
    let reached = scores.iter().find(|score| {
        held += weight(score);
        held >= wanted
    });
    let quantile = reached.or(scores.last()).map_or(f64::NAN, |score| score.missed);
    if quantile.is_finite() { quantile.clamp(NORMAL90 * 0.7, NORMAL90 * 3.0) } else { NORMAL90 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Drift;

    #[test]
    fn intervals_are_as_wide_as_the_errors_nearby() {
        let scores: Vec<Score> = (0..60)
            .map(|i| {
                let missed = f64::from(i % 30 + 1) / 30.0;
                let (set, missed) = if i < 30 { (16.0, missed) } else { (24.0, 4.0 * missed) };
                Score { missed, set, weight: 1.0 }
            })
            .collect();
        let mut sorted = scores;
        sort_by_number(&mut sorted, |one| one.missed);
        let [steady, between, wild] = [16.0, 20.0, 24.0].map(|at| calibration(&sorted, at));
        assert!(steady < 0.7 * wild && wild > 3.0, "{steady} {wild}");
        assert!(between > 3.0, "where nothing was seen nearby, caution: {between}");
        assert_eq!(calibration(&[], 20.0), NORMAL90);
    }

    #[test]
    fn structures_that_differ_widen_the_interval_of_their_mean() {
        let says = |log_throughput: f64| Estimate { log_throughput, half_width: 0.1 };
        let alike = mixture(&[(0.5, says(20.0)), (0.5, says(20.0))], 2.0);
        assert_eq!((alike.log_throughput, alike.half_width), (20.0, 0.1));
        // When one of three has no estimate, the other two keep their relative shares.
        let apart = mixture(&[(0.2, says(19.7)), (0.4, says(20.3))], 2.0);
        assert!((apart.log_throughput - 20.1).abs() < 1e-9);
        let sd = (0.4f64.powi(2) / 3.0 + 2.0 * 0.2f64.powi(2) / 3.0).sqrt();
        assert!((apart.half_width - 0.1f64.hypot(2.0 * sd)).abs() < 1e-9, "{apart:?}");
        assert!(mixture(&[(0.5, says(1.0)), (0.5, says(9.0))], 2.0).half_width <= HALF_WIDTH_MAX);
    }

    /// Guards against a defect: centres 8 % off had intervals of 1 %.
    #[test]
    fn an_estimate_that_another_model_moves_keeps_its_own_within_its_interval() {
        let own = Estimate { log_throughput: 20.0, half_width: 0.005 };
        assert_eq!(moved(own, 0.0, 2.0), own);
        for by in [-0.08, 0.08] {
            let other = moved(own, by, calibration(&[], 20.0));
            assert_eq!(other.log_throughput, 20.0 + by);
            assert!(other.half_width > 0.08, "{other:?}");
        }
    }

    #[test]
    fn an_unsteady_machine_is_one_whose_references_scatter() {
        let evaluation = |throughputs: Vec<f64>| Evaluation {
            drift: Drift { throughputs, ..Drift::default() },
            ..Evaluation::default()
        };
        assert_eq!(unsteady(&evaluation(vec![1e9; 20])), 0.0);
        assert_eq!(unsteady(&evaluation(vec![1e9, 2e9, 3e9])), 0.0, "too few to tell");
        let two_speeds = (0..20).map(|i| if i % 2 == 0 { 1e9 } else { 1e9 * 1.2f64 }).collect();
        let expected = SHARED * 1.2f64.ln() / 2.0 / 0.6745;
        assert!((unsteady(&evaluation(two_speeds)) / expected - 1.0).abs() < 1e-9);
        assert!(unsteady(&evaluation(vec![f64::NAN; 20])).is_finite());
    }
}
