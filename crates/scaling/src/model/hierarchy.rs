//! The default model: levels of the hierarchy, corrected where measurements say so, with calibrated intervals.

use super::Estimate;
use super::place::{Place, observations};
use super::residual::Posterior;
use super::structure::structure;
use ioscape_schema::Evaluation;

/// Fewest observations that say anything about structure.
const OBSERVATIONS_MIN: usize = 8;
/// Most standard deviations that count: beyond a factor of 20 either way an interval says nothing.
const HALF_WIDTH_MAX: f64 = 3.0;
/// Standard deviations of a normal distribution that hold 90 %.
const NORMAL90: f64 = 1.645;

/// The default model. It needs no more points than the evaluation, but uses those off the curves where there are any.
#[derive(Clone, Debug)]
pub struct HierarchyModel {
    posterior: Posterior,
    /// Standard deviation of a single run around what is expected of it.
    noise: f64,
    /// Standard deviations that held 90 % of the observations, each predicted from the others.
    calibration: f64,
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
        let calibration = calibration(&posterior);
        Some(Self { posterior, noise, calibration })
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
        let half_width = (self.calibration * sd).hypot(self.posterior.step(place));
        Estimate { log_throughput, half_width: half_width.min(HALF_WIDTH_MAX) }
    }
}

/// Split of conformal prediction (Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005): the
/// quantile of normalized leave-one-out errors that makes nine of ten intervals hold.
fn calibration(posterior: &Posterior) -> f64 {
    let mut scores: Vec<f64> =
        posterior.left_out().iter().map(|left_out| (left_out.error / left_out.sd).abs()).collect();
    scores.sort_by(f64::total_cmp);
    let rank = ((scores.len() + 1) as f64 * 0.9).ceil() as usize;
    let quantile = scores[rank.clamp(1, scores.len()) - 1];
    if quantile.is_finite() { quantile.clamp(NORMAL90 * 0.7, NORMAL90 * 3.0) } else { NORMAL90 }
}
