//! Active sampling: which further workloads would reduce the default model's uncertainty most.

use super::input::ModelInput;
use super::predict::Predict as _;
use super::random::random_workloads;
use super::system_model::Model;
use crate::bounds::Bounds;
use ioscape_schema::{Evaluation, Workload};

/// The number of workloads among which the next points are chosen, and over which the uncertainty
/// is summed.
const CANDIDATES: usize = 400;
/// The cap of a variance: without it the edge of a cliff would win every point.
const VARIANCE_MAX: f64 = 0.25;

/// Up to `count` workloads within `bounds`, best first, whose measurement would most lower the
/// default model's uncertainty over the whole space (Cohn, "Neural network exploration using
/// optimal experiment design", 1996). They are to be stored in [`Evaluation::extra`]. Empty for an
/// evaluation that yields no default model.
pub fn next_points(
    evaluation: &Evaluation,
    bounds: &Bounds,
    count: usize,
    seed: u64,
) -> Vec<Workload> {
    if count == 0 {
        return Vec::new();
    }
    let Ok(model) = Model::levels(evaluation) else { return Vec::new() };
    let Some(hierarchy) = model.hierarchy() else { return Vec::new() };
    let workloads = random_workloads(bounds, model.base(), CANDIDATES, seed);
    let workloads: Vec<Workload> =
        workloads.into_iter().filter(|w| model.throughput(w).is_finite()).collect();
    let places: Vec<ModelInput> = workloads.iter().map(ModelInput::of).collect();
    let mut covariance = hierarchy.posterior().covariances(&places);
    let noise = hierarchy.noise().max(0.02).powi(2);
    let weights: Vec<f64> =
        (0..places.len()).map(|i| 1.0 / covariance[(i, i)].max(VARIANCE_MAX)).collect();
    let mut chosen = Vec::new();
    while chosen.len() < count.min(places.len()) {
        let gain = |j: usize| {
            let column = covariance.column(j);
            let lowered: f64 = column.iter().zip(&weights).map(|(c, w)| c * c * w).sum();
            lowered / (covariance[(j, j)].max(0.0) + noise)
        };
        let open = (0..places.len()).filter(|j| !chosen.contains(j));
        let Some(best) = open.max_by(|a, b| gain(*a).total_cmp(&gain(*b))) else { break };
        let column = covariance.column(best).clone_owned();
        let variance = covariance[(best, best)].max(0.0) + noise;
        covariance.ger(-1.0 / variance, &column, &column, 1.0);
        chosen.push(best);
    }
    chosen.into_iter().map(|i| workloads[i].clone()).collect()
}
