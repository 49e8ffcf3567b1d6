//! Chooses the side of a lasting change that an evaluation's result rests on.

use super::lasting::{self, Lasting};
use ioscape_schema::{
    BorderOperation, CurveKey, Evaluation, Parameter, Point, Probe, Purpose, Workload,
};
use std::collections::BTreeSet;

/// The later side of a change, which shows what storage is like now, counts from one in this many
/// points that wait for storage on, or from as many as the earlier one has.
const LATER: usize = 3;

/// The runs that are judged together: all of them or, if storage changed for good, those from the
/// side of the change that counts. A curve over both sides would fall where no level ends.
pub(crate) struct Alike<'a> {
    pub(crate) probes: Vec<&'a Probe>,
    /// The change, and the side of it that counts, in a word.
    change: Option<(Lasting, &'static str)>,
}

/// Returns the points that these runs belong to.
fn points<'a>(probes: impl Iterator<Item = &'a Probe>) -> Vec<&'a Workload> {
    let mut found: Vec<&Workload> = Vec::new();
    for probe in probes.filter(|probe| lasting::is_of_point(probe)) {
        if !found.contains(&&probe.measurement.workload) {
            found.push(&probe.measurement.workload);
        }
    }
    found
}

impl<'a> Alike<'a> {
    /// Returns them by the log alone, so that the side stays the same when the result has lost the
    /// other's points.
    pub(crate) fn of(evaluation: &'a Evaluation) -> Self {
        let all = || evaluation.probes.iter();
        let Some(change) = lasting::found(&evaluation.probes) else {
            return Self { probes: all().collect(), change: None };
        };
        let [before, after] = change.sides(&evaluation.probes);
        let waits = |probe: &&Probe| !probe.measurement.computes();
        let waiting = |side: &[&'a Probe]| points(side.iter().copied().filter(waits)).len();
        let (earlier, later) = (waiting(&before), waiting(&after));
        let is_after = later >= earlier || later * LATER >= points(all().filter(waits)).len();
        let (name, probes) = if is_after { ("after", after) } else { ("before", before) };
        Self { probes, change: Some((change, name)) }
    }

    /// Returns the curves that have no point since none was measured on the side of a lasting change
    /// that counts, each with the words that say so.
    pub(super) fn lost(&self, evaluation: &Evaluation) -> Vec<(String, String)> {
        let Some((_, name)) = &self.change else { return Vec::new() };
        let key = |probe: &Probe| match probe.purpose.first() {
            Purpose::Curve(key @ (CurveKey::UniqueBytes(_) | CurveKey::Region { .. })) => {
                Some(*key)
            }
            _ => None,
        };
        let kept: BTreeSet<CurveKey> = self.probes.iter().filter_map(|probe| key(probe)).collect();
        let all: BTreeSet<CurveKey> = evaluation.probes.iter().filter_map(key).collect();
        let why = format!("not measured {name} storage changed for good; evaluate again");
        all.difference(&kept).map(|key| (key.to_string(), why.clone())).collect()
    }
}

/// What changed for good, in words, and which runs count; `None` if nothing did or no points
/// measured again tell.
pub(crate) fn told(evaluation: &Evaluation) -> Option<String> {
    let Alike { probes, change } = Alike::of(evaluation);
    let (change, name) = change?;
    let (kept, all) = (points(probes.iter().copied()), points(evaluation.probes.iter()));
    let on_curves = curves(evaluation).into_iter().flat_map(|(_, curve)| curve);
    let mut result = on_curves.chain(&evaluation.extra);
    // Results of older versions rest on both sides.
    let which = match result.all(|point| kept.contains(&&point.measurement.workload)) {
        true => format!(
            ", so only runs from {name} it count, and any that hardly wait for storage ({} of {} in all, with {} of {} points)",
            probes.len(),
            evaluation.probes.len(),
            kept.len(),
            all.len()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::{Access, Measurement};

    const MIXED: CurveKey = CurveKey::UniqueBytes(BorderOperation::Mixed);
    const READ: CurveKey = CurveKey::UniqueBytes(BorderOperation::Read);
    const SIZES: CurveKey = CurveKey::Region { region: 0, parameter: Parameter::SizeMean };

    /// Reads of so many sets and three sets of the mix at 200 MB/s and then, at 5 MB/s, the latter
    /// again and `later` requests of other sizes.
    fn fallen(reads: u64, later: u64) -> Evaluation {
        let run = |key: CurveKey, mib: u64, size_mean: u64, speed: f64| {
            let read_frac = if key == READ { 1.0 } else { 0.5 };
            let workload = Workload {
                unique_bytes: mib << 20,
                size_mean,
                read_frac,
                access: Access::Direct,
                ..Workload::default()
            };
            let run = measurement(&workload, speed, 1.0, speed);
            let measurement = Measurement { cpu_system_s: 0.1, ..run };
            Probe { purpose: key.into(), measurement }
        };
        let sets =
            |key, count, speed| (0..count).map(move |set| run(key, 100 + 10 * set, 4096, speed));
        let sizes = (1..=later).map(|size| run(SIZES, 100, size << 16, 5.0));
        let before = sets(READ, reads, 200.0).chain(sets(MIXED, 3, 200.0));
        let probes = before.chain(sets(MIXED, 3, 5.0)).chain(sizes).collect();
        Evaluation { probes, ..Evaluation::default() }
    }

    /// Guards against results and predictions at a speed that is gone, which did not even say that
    /// curves had been measured since.
    #[test]
    fn the_later_side_counts_from_a_third_of_the_points_on() {
        let said = |reads, later| {
            let evaluation = fallen(reads, later);
            let told = told(&evaluation).unwrap();
            let which = told.split("only runs from ").nth(1).unwrap();
            let counts = which.split(" points").next().unwrap().split("in all, with ").nth(1);
            let side = which.split(' ').next().unwrap().to_owned();
            let names = |(key, why): (String, String)| format!("{key}: {why}");
            let lost: Vec<String> =
                Alike::of(&evaluation).lost(&evaluation).into_iter().map(names).collect();
            (side, counts.unwrap().to_owned(), lost.join(", "))
        };
        let later = said(4, 3);
        let lost = "unique_bytes read: not measured after storage changed for good; evaluate again";
        assert_eq!(later, ("after".to_owned(), "6 of 10".to_owned(), lost.to_owned()));
        let earlier = said(9, 1);
        let lost =
            "region 1 size_mean: not measured before storage changed for good; evaluate again";
        assert_eq!(earlier, ("before".to_owned(), "12 of 13".to_owned(), lost.to_owned()));
    }
}
