//! Judges a stored document again, with the evidence read back from its log.

use super::assemble;
use super::borders::SetBorder;
use super::evidence::Evidence;
use super::levels::{Levels, RegionState, reconsider};
use super::points::Points;
use super::sides::{Alike, curves};
use crate::phase::Phase;
use ioscape_schema::{Border, Evaluation, Probe, Purpose, Region};
use std::collections::BTreeMap;

/// Judges an evaluation again, from its log alone: borders, regions, medians of the rounds, drift, findings and sentences.
///
/// What the evaluation decided to measure stays: which points are on which curve, the focal vectors
/// of the regions, the result of the search in all parameters, and what was left out. An evaluation
/// that ran to its end and was judged by the same rules does not change. A region that the
/// evaluation itself did not see has no curves of the other parameters; `shortened` says so as long
/// as there is such a region.
///
/// Measurements that are not in the log (how writers scale) are kept.
pub fn judge(evaluation: &Evaluation) -> Evaluation {
    let alike = Alike::of(evaluation);
    let mut evidence = evidence(evaluation, &alike);
    let mut levels = levels(evaluation);
    let mut judged = evaluation.clone();
    if let Some((first, last)) = levels.regions.first().zip(levels.regions.last()) {
        let range = [first.range[0], last.range[1]];
        let new = reconsider(&mut evidence, &mut levels, range, true);
        let missing = evidence.without_curves(levels.regions.len());
        note_late(&mut judged.shortened, new, missing);
    }
    judged.shortened.extend(alike.lost(evaluation));
    let single_writer = std::mem::take(&mut judged.findings.single_writer);
    assemble::finish(&mut judged, &evidence, &levels);
    judged.findings.single_writer = single_writer;
    judged.points_measured = evaluation.points_measured;
    judged
}

/// Follows the number of regions in the note on those found too late to measure their curves.
const FOUND_LATE: &str = " of the regions turned up when all rounds were judged together; the other parameters were not measured there; evaluate again";

/// Returns the note on regions found too late to measure their curves.
pub(crate) fn found_late(regions: usize) -> String {
    format!("{regions}{FOUND_LATE}")
}

/// Updates the note on regions found too late to measure their curves: `new` ones now, plus those
/// that the document already notes. `missing` is how many lack curves now, for whatever reason.
fn note_late(shortened: &mut BTreeMap<String, String>, new: usize, missing: usize) {
    let phase = Phase::Rounds.name();
    let count = |note: &String| note.strip_suffix(FOUND_LATE)?.parse::<usize>().ok();
    let noted = shortened.get(phase).and_then(count);
    if noted.is_some() {
        shortened.remove(phase);
    }
    let late = missing.min(noted.unwrap_or(0) + new);
    if late > 0 {
        shortened.entry(phase.to_owned()).or_insert_with(|| found_late(late));
    }
}

/// Returns the borders and regions of the document. It does not hold the gaps, so the bounds stand
/// in for them.
fn levels(evaluation: &Evaluation) -> Levels {
    let border = |&border: &Border| SetBorder { border, gap: [border.low, border.high] };
    let region =
        |region: &Region| RegionState { range: region.unique_bytes, focal: region.focal.clone() };
    Levels {
        borders: evaluation.borders.iter().map(border).collect(),
        regions: evaluation.regions.iter().map(region).collect(),
        counts: evaluation.level_counts.clone(),
    }
}

/// Returns every point with its rounds, in the order measured, on the curves where the document has
/// it.
fn evidence(evaluation: &Evaluation, alike: &Alike<'_>) -> Evidence {
    let mut evidence = Evidence { points: points(&alike.probes), ..Evidence::default() };
    for (key, curve) in curves(evaluation) {
        for point in curve {
            if let Some(id) = evidence.points.find(&point.measurement.workload) {
                evidence.put(key, point.value, id);
            }
        }
    }
    let extra = evaluation.extra.iter();
    evidence.extra = extra.filter_map(|p| evidence.points.find(&p.measurement.workload)).collect();
    evidence
}

fn points(probes: &[&Probe]) -> Points {
    let mut points = Points::default();
    for probe in probes {
        let measurement = &probe.measurement;
        match probe.purpose.first() {
            Purpose::Reference => points.add_reference(measurement),
            Purpose::SynchronousWrites | Purpose::Flush => {}
            purpose => points.record(purpose, measurement.clone()),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_without_curves_are_noted_as_long_as_there_are_any() {
        let noted = |before: Option<&str>, new, missing| {
            let phase = Phase::Rounds.name().to_owned();
            let note = before.map(|note| (phase.clone(), note.to_owned()));
            let mut shortened = note.into_iter().collect();
            note_late(&mut shortened, new, missing);
            shortened.remove(&phase)
        };
        let [one, two] = [1, 2].map(found_late);
        assert_eq!(noted(Some(&one), 0, 0), None, "the region turned out to be none");
        assert_eq!(noted(Some(&one), 0, 1).as_ref(), Some(&one));
        assert_eq!(noted(Some(&one), 0, 2).as_ref(), Some(&one), "another one lacks time");
        assert_eq!(noted(Some(&one), 1, 2).as_ref(), Some(&two));
        assert_eq!(noted(None, 1, 1).as_ref(), Some(&one));
        assert_eq!(noted(None, 0, 1), None, "left out for another reason");
        let other = "the budget was spent";
        assert_eq!(noted(Some(other), 1, 1).as_deref(), Some(other));
    }
}
