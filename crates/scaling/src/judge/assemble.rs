//! Builds the result from what is known at any point of the evaluation.

use super::evidence::Evidence;
use super::findings;
use super::levels::{Levels, RegionState};
use super::points::PointId;
use super::slowdown;
use ioscape_schema::{
    BorderOperation, CurveKey, Evaluation, Parameter, Point, Region, RegionCurves, SlopePoint,
};

/// Brings everything but the findings up to date.
pub(crate) fn update(evaluation: &mut Evaluation, evidence: &Evidence, levels: &Levels) {
    let unique = |operation| evidence.curve(CurveKey::UniqueBytes(operation));
    evaluation.unique_bytes_curve = unique(BorderOperation::Mixed);
    if evaluation.unique_bytes_curve.is_empty() {
        evaluation.unique_bytes_curve = evidence.curve(CurveKey::Pilot);
    }
    evaluation.unique_bytes_read_curve = unique(BorderOperation::Read);
    evaluation.unique_bytes_write_curve = unique(BorderOperation::Write);
    evaluation.unique_bytes_slope = slope(&evaluation.unique_bytes_curve);
    evaluation.borders = levels.borders.iter().map(|b| b.border).collect();
    evaluation.level_counts = levels.counts.clone();
    evaluation.regions =
        levels.regions.iter().enumerate().map(|(i, r)| region(evidence, i, r)).collect();
    let extra =
        |&id: &PointId| evidence.points.point(id, evidence.points.workload(id).unique_bytes as f64);
    evaluation.extra = evidence.extra.iter().map(extra).collect();
    evaluation.drift = evidence.points.drift(&evidence.result_points());
    evaluation.points_measured = evidence.points.len() as u32;
}

/// Brings everything up to date.
pub(crate) fn finish(evaluation: &mut Evaluation, evidence: &Evidence, levels: &Levels) {
    update(evaluation, evidence, levels);
    slowdown::measure(evaluation);
    evaluation.findings = findings::findings(evaluation);
}

fn region(evidence: &Evidence, index: usize, region: &RegionState) -> Region {
    let mut curves = RegionCurves::default();
    for parameter in Parameter::WITH_DEPTH {
        if let Some(curve) = curves.get_mut(parameter) {
            *curve = evidence.curve(CurveKey::Region { region: index, parameter });
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
