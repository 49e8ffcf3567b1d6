//! Chooses the side of a lasting change that an evaluation's result rests on.

use super::lasting::{self, Lasting};
use ioscape_schema::{BorderOperation, CurveKey, Evaluation, Parameter, Point, Probe};

/// The side of a change that counts.
struct Side<'a> {
    is_after: bool,
    probes: Vec<&'a Probe>,
    /// Whether every point of the result has runs on it, as in results judged by sides.
    holds_all: bool,
}

/// Returns the side with more points of the result, of two with equally many the later one.
fn chosen<'a>(evaluation: &'a Evaluation, change: &Lasting) -> Side<'a> {
    let on_curves = curves(evaluation).into_iter().flat_map(|(_, curve)| curve);
    let result: Vec<&Point> = on_curves.chain(&evaluation.extra).collect();
    let held = |side: &[&Probe]| {
        let is_held = |point: &&&Point| {
            let workload = &point.measurement.workload;
            side.iter().any(|probe| probe.measurement.workload == *workload)
        };
        result.iter().filter(is_held).count()
    };
    let [before, after] = change.sides(&evaluation.probes);
    let [held_before, held_after] = [held(&before), held(&after)];
    let is_after = held_after >= held_before;
    let probes = if is_after { after } else { before };
    Side { is_after, probes, holds_all: held_before.max(held_after) == result.len() }
}

/// Returns the probes that are judged together: all of them or, if storage changed for good, those
/// from the side of the change with more points of the result. A curve over both sides would fall
/// where no level ends.
pub(crate) fn alike(evaluation: &Evaluation) -> Vec<&Probe> {
    match lasting::found(&evaluation.probes) {
        None => evaluation.probes.iter().collect(),
        Some(change) => chosen(evaluation, &change).probes,
    }
}

/// What changed for good, in words, and which runs count; `None` if nothing did or no points
/// measured again tell.
pub(crate) fn told(evaluation: &Evaluation) -> Option<String> {
    let change = lasting::found(&evaluation.probes)?;
    let Side { is_after, probes, holds_all } = chosen(evaluation, &change);
    let side = if is_after { "after" } else { "before" };
    let which = match holds_all {
        true => format!(
            ", so only runs from {side} it count, and any that hardly wait for storage ({} of {} in all)",
            probes.len(),
            evaluation.probes.len()
        ),
        false => String::new(),
    };
    let change = change.told(evaluation);
    Some(format!(
        "{change}: figures from before and after do not belong together{which}; evaluate again"
    ))
}

/// Returns every curve of the document with its key.
pub(super) fn curves(evaluation: &Evaluation) -> Vec<(CurveKey, &[Point])> {
    let mixed = evaluation.set_size_curve(BorderOperation::Mixed);
    // Until the focal mix has a point of its own, a document shows the pilot's curve.
    let focal = evaluation.regions.first().map(|r| &r.focal);
    let is_focal = |p: &Point| {
        let workload = &p.measurement.workload;
        focal.is_some_and(|f| f.clone().with(Parameter::UniqueBytes, p.value) == *workload)
    };
    let key = if mixed.iter().all(is_focal) {
        CurveKey::UniqueBytes(BorderOperation::Mixed)
    } else {
        CurveKey::Pilot
    };
    let mut curves = vec![(key, mixed)];
    let pure = [BorderOperation::Read, BorderOperation::Write];
    curves.extend(pure.map(|of| (CurveKey::UniqueBytes(of), evaluation.set_size_curve(of))));
    for (region, state) in evaluation.regions.iter().enumerate() {
        for parameter in Parameter::WITH_DEPTH {
            let curve = state.curves.get(parameter).into_iter().map(Vec::as_slice);
            curves.extend(curve.map(|curve| (CurveKey::Region { region, parameter }, curve)));
        }
    }
    curves
}
