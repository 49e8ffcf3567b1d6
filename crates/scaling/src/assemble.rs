//! Builds the result from what is known, at any time of the evaluation.

use crate::findings;
use crate::session::{CurveKey, RegionState, State};
use crate::store::PointId;
use ioscape_schema::{
    BorderOperation, Evaluation, Parameter, Point, Region, RegionCurves, SlopePoint,
};

/// The curve under `key` as it goes into the result; empty when nothing was measured for it.
fn points(state: &State, key: CurveKey) -> Vec<Point> {
    state.curves.get(&key).map(|c| state.store.curve(c)).unwrap_or_default()
}

/// Brings everything but the findings up to date.
pub(crate) fn update(evaluation: &mut Evaluation, state: &State) {
    let unique = |operation| points(state, CurveKey::Unique(operation));
    evaluation.unique_bytes_curve = unique(BorderOperation::Mixed);
    if evaluation.unique_bytes_curve.is_empty() {
        evaluation.unique_bytes_curve = points(state, CurveKey::Pilot);
    }
    evaluation.unique_bytes_read_curve = unique(BorderOperation::Read);
    evaluation.unique_bytes_write_curve = unique(BorderOperation::Write);
    evaluation.unique_bytes_slope = slope(&evaluation.unique_bytes_curve);
    evaluation.borders = state.borders.iter().map(|b| b.border).collect();
    evaluation.regions =
        state.regions.iter().enumerate().map(|(i, r)| region(state, i, r)).collect();
    let extra = |&id: &PointId| state.store.point(id, state.store.workload(id).unique_bytes as f64);
    evaluation.extra = state.extra.iter().map(extra).collect();
    evaluation.all_parameters.clone_from(&state.all_parameters);
    evaluation.drift = state.store.drift(&state.result_points());
    evaluation.points_measured = state.store.len() as u32;
    evaluation.shortened.clone_from(&state.shortened);
}

/// Brings everything up to date.
pub(crate) fn finish(evaluation: &mut Evaluation, state: &State) {
    update(evaluation, state);
    evaluation.findings = findings::findings(evaluation);
}

fn region(state: &State, index: usize, region: &RegionState) -> Region {
    let mut curves = RegionCurves::default();
    for parameter in Parameter::ALL {
        if let Some(curve) = curves.get_mut(parameter) {
            *curve = points(state, CurveKey::Region(index, parameter));
        }
    }
    Region {
        name: format!("region {}", index + 1),
        unique_bytes: region.range,
        focal: region.focal.clone(),
        curves,
    }
}

/// Slope between neighbouring points, both axes logarithmic (self-scaling paper, figure 6).
fn slope(curve: &[Point]) -> Vec<SlopePoint> {
    curve
        .windows(2)
        .filter(|w| w[0].value > 0.0 && w[1].value > w[0].value)
        .map(|w| SlopePoint {
            unique_bytes: (w[0].value * w[1].value).sqrt(),
            slope: (w[1].throughput().max(1e-3) / w[0].throughput().max(1e-3)).ln()
                / (w[1].value / w[0].value).ln(),
        })
        .collect()
}
