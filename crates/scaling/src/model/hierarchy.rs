//! The default model: levels of the hierarchy, corrected where measurements say so, with calibrated intervals.

use super::Estimate;
use super::place::{Observation, Place, observations};
use super::residual::{LeftOut, Posterior};
use super::structure::structure;
use ioscape_schema::{Evaluation, Parameter};

/// Fewest observations that say anything about structure.
const OBSERVATIONS_MIN: usize = 8;
/// Most standard deviations that count: beyond a factor of 20 either way an interval says nothing.
const HALF_WIDTH_MAX: f64 = 3.0;
/// Distance in ln(`unique_bytes`) over which errors tell of each other.
const NEARBY: f64 = 0.7;
/// How many observations nearby all the others together count for.
const EVERYWHERE: f64 = 8.0;
/// Standard deviations of a normal distribution that hold 90 %.
const NORMAL90: f64 = 1.645;

/// The default model. It needs no more points than the evaluation, but uses those off the curves where there are any.
#[derive(Clone, Debug)]
pub struct HierarchyModel {
    posterior: Posterior,
    /// Standard deviation of a single run around what is expected of it.
    noise: f64,
    /// Standard deviations by which each observation, predicted from the others, was missed, with its ln(`unique_bytes`); the
    /// smallest first.
    scores: Vec<(f64, f64)>,
}

impl HierarchyModel {
    /// The model of `evaluation`; `None` with too few observations, or when they cannot be fitted.
    pub fn new(evaluation: &Evaluation) -> Option<Self> {
        let observations = observations(evaluation);
        if observations.len() < OBSERVATIONS_MIN {
            return None;
        }
        let structure = structure(evaluation, &observations)?;
        let posterior = Posterior::new(structure, &observations)?;
        let mut own: Vec<f64> = observations.iter().map(|o| o.sd).collect();
        own.sort_by(f64::total_cmp);
        let noise = own[own.len() / 2].hypot(posterior.amplitudes().noise);
        let scores = scores(&posterior, &observations);
        Some(Self { posterior, noise, scores })
    }

    pub(super) fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    pub(super) fn noise(&self) -> f64 {
        self.noise
    }

    pub(super) fn estimate(&self, place: &Place) -> Estimate {
        let (log_throughput, variance) = self.posterior.at(place);
        let sd = (variance + self.noise * self.noise).sqrt();
        let calibration = calibration(&self.scores, place.scaled(Parameter::UniqueBytes));
        let half_width = (calibration * sd).hypot(self.posterior.step(place));
        Estimate { log_throughput, half_width: half_width.min(HALF_WIDTH_MAX) }
    }
}

fn scores(posterior: &Posterior, observations: &[Observation]) -> Vec<(f64, f64)> {
    let score = |(left_out, o): (&LeftOut, &Observation)| {
        ((left_out.error / left_out.sd).abs(), o.place.scaled(Parameter::UniqueBytes))
    };
    let mut scores: Vec<(f64, f64)> =
        posterior.left_out().iter().zip(observations).map(score).collect();
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    scores
}

/// Split conformal prediction (Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005), localized (Guan,
/// "Localized conformal prediction", Biometrika 110, 2023): the quantile of normalized leave-one-out errors that makes nine of ten intervals
/// hold, in which those of sets of a like size count more, since a processor's cache is not as steady as memory, and a
/// border not as a disk.
fn calibration(scores: &[(f64, f64)], at: f64) -> f64 {
    let near = |set: f64| (-0.5 * ((set - at) / NEARBY).powi(2)).exp();
    let everywhere = EVERYWHERE / scores.len() as f64;
    let weights: Vec<f64> = scores.iter().map(|(_, set)| near(*set) + everywhere).collect();
    // One more, as heavy as any, for the place itself.
    let wanted = 0.9 * (weights.iter().sum::<f64>() + 1.0 + everywhere);
    let mut held = 0.0;
    let reached = scores.iter().zip(&weights).find(|(_, weight)| {
        held += **weight;
        held >= wanted
    });
    let quantile = reached.or(scores.last().zip(weights.last())).map_or(f64::NAN, |(s, _)| s.0);
    if quantile.is_finite() { quantile.clamp(NORMAL90 * 0.7, NORMAL90 * 3.0) } else { NORMAL90 }
}
