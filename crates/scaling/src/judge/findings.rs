//! The findings that the papers' authors read off their curves, as numbers with error bounds.

use super::absence::is_absence_told;
use super::any_file::of_any_file;
use super::curve::{PERFORMS_WELL, Repeatability, best, inverse};
use super::flush::flush_slowdown;
use super::reached::{falls_by, reached};
use super::rivals::told_border;
use super::{policy, queue_depth, sentences};
use ioscape_schema::{
    Border, BorderOperation, Bounded, Evaluation, Findings, Region, RegionFinding,
};

/// Returns the findings of an evaluation, complete or partial, without those that the measured
/// points do not show.
pub fn findings(evaluation: &Evaluation) -> Findings {
    let noise = Repeatability::of(evaluation);
    let per_region =
        |find: &dyn Fn(Repeatability, &Region) -> Option<Bounded>| -> Vec<RegionFinding> {
            let named = |region: &Region| {
                let Bounded { value, low, high } = find(noise, region)?;
                Some(RegionFinding { region: region.name.clone(), value, low, high })
            };
            evaluation.regions.iter().filter_map(named).collect()
        };
    let mut findings = Findings {
        read_cache_bytes: cache(evaluation, BorderOperation::Read),
        write_cache_bytes: cache(evaluation, BorderOperation::Write),
        no_border_of: [BorderOperation::Read, BorderOperation::Write]
            .into_iter()
            .filter(|operation| has_no_border(evaluation, *operation))
            .collect(),
        write_policy: policy::write_policy(evaluation).and_then(Result::ok),
        flush_slowdown: flush_slowdown(evaluation),
        size_for_75_percent_bytes: per_region(&|noise, r| {
            size_for_75_percent(noise, r, largest_tried(evaluation, r))
        }),
        sequential_gain: per_region(&|noise, r| {
            noise.ends_ratio(&r.curves.seq_frac).map(|found| of_any_file(r, found))
        }),
        concurrency_gain: per_region(&|noise, r| {
            noise.several_ratio(&r.curves.process_num).map(|found| of_any_file(r, found))
        }),
        queue_depth_for_90_percent: per_region(&queue_depth::saturation),
        queue_depth_gain: per_region(&queue_depth::gain),
        write_to_read_ratio: per_region(&|noise, r| {
            let found = noise.ends_ratio(&r.curves.read_frac).map(inverse)?;
            Some(of_any_file(r, found))
        }),
        ..Findings::default()
    };
    findings.sentences = sentences::sentences(evaluation, &findings);
    findings
}

/// Returns the first border of storage for one kind of request: the effective size of the file
/// cache.
///
/// `None` if another place is too probable, if the file cache takes no part, or if the drive's own
/// cache may be what ends.
fn cache(evaluation: &Evaluation, operation: BorderOperation) -> Option<Bounded> {
    told_border(evaluation, operation).filter(|_| policy::is_of_file_cache(evaluation, operation))
}

fn has_no_border(evaluation: &Evaluation, operation: BorderOperation) -> bool {
    let is_own = |border: &Border| border.operation == operation && !border.in_memory;
    !evaluation.borders.iter().any(is_own) && is_absence_told(evaluation, operation)
}

/// Returns the largest request size, in bytes, that was tried in sets of a region or smaller ones
/// and that the region's focal set allows as well.
fn largest_tried(evaluation: &Evaluation, region: &Region) -> f64 {
    let ([_, end], most) = (region.unique_bytes, region.focal.unique_bytes / 4);
    let asked = evaluation.probes.iter().map(|probe| &probe.measurement.workload);
    let could_be = asked.filter(|w| w.unique_bytes as f64 <= end && w.size_mean <= most);
    could_be.map(|workload| workload.size_mean as f64).fold(0.0, f64::max)
}

/// Returns the least request size from which on all have 75 % of the best throughput.
///
/// `None` if the largest surely have less, or if the best is the last point of a curve that ends
/// before the `largest` size allowed: a larger one may be better.
fn size_for_75_percent(noise: Repeatability, region: &Region, largest: f64) -> Option<Bounded> {
    let curve = region.curves.size_mean.as_slice();
    let is_steady = curve.iter().all(|point| !point.measurement.was_filling());
    let (best, last) = best(curve).zip(curve.last()).filter(|_| is_steady)?;
    let may_rise = best.value == last.value && last.value < largest;
    let falls = falls_by(noise, curve, PERFORMS_WELL).is_some();
    (!may_rise && !falls).then(|| reached(noise, curve, PERFORMS_WELL)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{measurement, point, region};
    use ioscape_schema::{CurveKey, Difference, Parameter, Point, Probe, RegionCurves, Workload};

    /// Returns the findings of a region that has these curves.
    fn found(curves: RegionCurves) -> Findings {
        findings(&Evaluation { regions: vec![region(curves)], ..Evaluation::default() })
    }

    /// A curve of these speeds, each measured in two rounds.
    fn curve(parameter: Parameter, points: &[(f64, f64)]) -> Vec<Point> {
        points.iter().map(|&(value, speed)| point((parameter, value), speed, 2)).collect()
    }

    #[test]
    fn a_curve_that_stopped_while_it_rose_does_not_tell_which_size_is_enough() {
        // A region of sets up to 2 GiB; requests of 1 MiB were tried in a set of `tried_in_mib`.
        let is_told = |sizes: &[(f64, f64)], tried_in_mib: u64| {
            let focal = Workload { unique_bytes: 1 << 30, ..Workload::default() };
            let size_mean = curve(Parameter::SizeMean, sizes);
            let curves = RegionCurves { size_mean, ..RegionCurves::default() };
            let unique_bytes = [1.0, f64::from(1u32 << 31)];
            let tried = Workload { unique_bytes: tried_in_mib << 20, ..focal.clone() };
            let tried = tried.with(Parameter::SizeMean, 1048576.0);
            let evaluation = Evaluation {
                regions: vec![Region { unique_bytes, focal, ..region(curves) }],
                probes: vec![Probe {
                    purpose: CurveKey::Pilot.into(),
                    measurement: measurement(&tried, 1.0, 1.0, 1.0),
                }],
                ..Evaluation::default()
            };
            !findings(&evaluation).size_for_75_percent_bytes.is_empty()
        };
        let whole = [(4096.0, 100.0), (32768.0, 300.0), (1048576.0, 310.0)];
        assert!(is_told(&whole, 64));
        assert!(!is_told(&whole[..2], 64));
        assert!(is_told(&whole[..2], 4096), "larger sets say nothing of smaller ones");
    }

    #[test]
    fn no_size_is_large_enough_where_larger_requests_are_too_slow() {
        let sizes = [(4.0, 90.0), (8.0, 100.0), (128.0, 36.0), (1024.0, 36.0)];
        let size_mean =
            curve(Parameter::SizeMean, &sizes.map(|(kib, speed)| (1024.0 * kib, speed)));
        let found = found(RegionCurves { size_mean, ..RegionCurves::default() });
        assert!(found.size_for_75_percent_bytes.is_empty(), "{found:?}");
        let said = found.sentences.join(" ");
        let words = "In region 1, the throughput of requests of 1 MiB is 2.8 times lower (2.7 to 2.9) than that of requests of 8 KiB, the best.";
        assert!(said.contains(words), "{said}");
    }

    #[test]
    fn several_processes_that_are_all_slower_than_one_are_slower() {
        let process_num = curve(Parameter::ProcessNum, &[(1.0, 100.0), (2.0, 25.0), (4.0, 20.0)]);
        let found = found(RegionCurves { process_num, ..RegionCurves::default() });
        let [gain] = &found.concurrency_gain[..] else { panic!("{found:?}") };
        assert_eq!((gain.value, gain.difference()), (0.25, Difference::Less));
        let said = found.sentences.join(" ");
        let words = "2 processes, the best of several (tried: 2 and 4), are 4.0 times slower (3.4";
        assert!(said.contains(words), "{said}");
    }

    #[test]
    fn what_sequential_requests_and_several_processes_gain_holds_for_the_next_file() {
        let [a, b] = [1.3, 1.5].map(|gain| {
            let seq_frac = curve(Parameter::SeqFrac, &[(0.0, 100.0), (1.0, 100.0 * gain)]);
            let process_num = curve(Parameter::ProcessNum, &[(1.0, 100.0), (4.0, 100.0 * gain)]);
            found(RegionCurves { seq_frac, process_num, ..RegionCurves::default() })
        });
        let overlap = |a: &[RegionFinding], b: &[RegionFinding]| a[0].high > b[0].low;
        assert!(overlap(&a.sequential_gain, &b.sequential_gain), "{a:?} {b:?}");
        assert!(overlap(&a.concurrency_gain, &b.concurrency_gain), "{a:?} {b:?}");
    }

    #[test]
    fn what_one_file_cannot_tell_however_often_it_is_measured_no_other_one_tells_alone() {
        let said = |gain: f64| {
            let process_num = curve(Parameter::ProcessNum, &[(1.0, 100.0), (4.0, 100.0 * gain)]);
            let found = found(RegionCurves { process_num, ..RegionCurves::default() });
            assert_eq!(found.concurrency_gain[0].difference(), Difference::Unknown, "{found:?}");
            found.sentences.join(" ")
        };
        for gain in [0.9, 1.1, 1.2] {
            let never = said(gain);
            assert!(never.contains("; the mean of several evaluations would tell."), "{never}");
        }
        let words = "cannot be told from this run (1.10 (0.94 to 1.29) times); the mean of";
        assert!(said(1.1).contains(words));
        let yet = said(1.23);
        assert!(yet.contains("; more rounds would tell."), "{yet}");
    }
}
