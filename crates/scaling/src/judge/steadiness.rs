//! What disturbed the evaluation, and how many points it left in doubt.

use super::words::factor;
use super::{drift, sides};
use ioscape_schema::statistics::median;
use ioscape_schema::units::counted;
use ioscape_schema::{Drift, Evaluation, Measurement, Warning, WarningKind};

/// Share of the references that must be at half or twice their usual speed to bear out that others
/// used the processors.
const BEARS_OUT: f64 = 0.2;

/// A run is named if others kept its workers from the processors for this share of the time.
const LOST: f64 = 0.1;

const LOAD: &str = "other load, stolen processor time or a pause disturbed";

/// How many points, and the verb that goes with them.
fn points_that(count: u32, one: &str, many: &str) -> String {
    format!("{} {}", counted(count.into(), "point"), if count == 1 { one } else { many })
}

/// How far the references lie from their median, in words: as a factor from half or twice its speed
/// on, otherwise in percent. A single run may have met no more than a stall, and says so.
fn apart(drift: &Drift) -> String {
    let of_median = |speed: &f64| (speed / drift.median).max(drift.median / speed);
    let mut all = drift.throughputs.clone();
    all.sort_by(|a, b| of_median(b).total_cmp(&of_median(a)));
    let is_one = drift::off(&drift.throughputs).iter().filter(|off| **off).count() == 1;
    let speed = all[usize::from(!is_one)];
    let by = of_median(&speed);
    let by = match by.is_finite() && by >= 2.0 {
        true => format!("{} times", factor(by)),
        false => format!("{:.0} %", (speed / drift.median - 1.0).abs() * 100.0),
    };
    match is_one {
        true => format!("in one of {} runs (by {by})", all.len()),
        false => format!("during the evaluation (by {by} and more)"),
    }
}

fn changed(drift: &Drift) -> String {
    format!("the reference workload changed its speed {}", apart(drift))
}

/// What disturbed most runs although no point is in doubt, as where they wait for storage. Load that
/// may be that of a program which serves the storage counts only if the references bear it out.
fn most_runs(evaluation: &Evaluation) -> Option<String> {
    let Evaluation { probes, drift, .. } = evaluation;
    let is_beside = |one: &Warning| one.kind == WarningKind::LoadByOthers;
    let runs = || probes.iter().map(|probe| &probe.measurement);
    let disturbed = runs().filter(|m| m.disturbed).count();
    let beside = runs().filter(|m| m.warnings.iter().any(is_beside)).count();
    let is_far = |speed: &&f64| (*speed / drift.median).ln().abs() >= drift::FAR;
    let far = drift.throughputs.iter().filter(is_far).count();
    let is_borne_out = far as f64 > BEARS_OUT * drift.throughputs.len() as f64;
    if 2 * disturbed > probes.len() {
        return Some(format!("{LOAD} {disturbed} of {} runs", probes.len()));
    }
    (2 * beside > probes.len() && is_borne_out).then(|| {
        let changed = changed(drift);
        format!(
            "{changed}, and other programs, perhaps those that serve the storage, were busy in {beside} of {} runs",
            probes.len()
        )
    })
}

/// What disturbed the evaluation, and how many points it left in doubt, without the capital and the
/// full stop.
pub(super) fn told(evaluation: &Evaluation) -> Option<String> {
    let drift = &evaluation.drift;
    let again = (drift.remeasured > 0)
        .then(|| points_that(drift.remeasured, "was measured again", "were measured again"));
    let open = (drift.unresolved > 0)
        .then(|| points_that(drift.unresolved, "remains in doubt", "remain in doubt"));
    let points: Vec<String> = [again, open].into_iter().flatten().collect();
    if points.is_empty() {
        let untold = "whether that changed the figures cannot be told from this run; one on a quiet machine would tell";
        return most_runs(evaluation).map(|why| format!("{why}: {untold}"));
    }
    // Whether references are off by the pace of the machine or by the state of its file cache or
    // drive cannot be told; a disturbed run names its disturbance itself.
    let is_off = drift::off(&drift.throughputs).contains(&true);
    let is_disturbed = evaluation.probes.iter().any(|probe| probe.measurement.disturbed);
    let cause = match (is_off, is_disturbed) {
        (true, true) => format!("{}, and {LOAD} some runs", changed(drift)),
        (true, false) => changed(drift),
        (false, _) => format!("{LOAD} some runs"),
    };
    Some(format!("{cause}: {}", points.join(", and ")))
}

/// For how long other programs kept workers from the processors, and of how many runs the speeds leave
/// that out.
pub(super) fn left_out(evaluation: &Evaluation) -> Option<String> {
    let left_out = |m: &Measurement| 1.0 - m.throughput_bytes_per_s / m.judged_bytes_per_s();
    let (mut lost, mut known) = (Vec::new(), 0);
    for m in evaluation.probes.iter().map(|probe| &probe.measurement) {
        let open = m.lost_frac().filter(|_| m.undisturbed_bytes_per_s().is_none());
        let is_known = left_out(m) > LOST;
        known += usize::from(is_known);
        lost.extend(is_known.then(|| left_out(m)).or(open));
    }
    let intervals = "and the intervals reach up to the speed of the remaining time";
    let speeds = match known {
        all if all == lost.len() => "the speeds leave that time out".to_owned(),
        0 => format!("what that cost is unknown, {intervals}"),
        _ => format!(
            "in {known} of these the speeds leave that time out; in the others what it cost is unknown, {intervals}"
        ),
    };
    let up_to = if known < lost.len() { "up to " } else { "" };
    (!lost.is_empty()).then(|| {
        format!(
            "in {} of {} runs, other programs kept the workers from the processors, for {up_to}{:.0} % of the time in the median; {speeds}",
            lost.len(),
            evaluation.probes.len(),
            100.0 * median(&lost)
        )
    })
}

/// What makes predictions from an evaluation doubtful since the machine changed during it.
pub(crate) fn doubts(evaluation: &Evaluation) -> Vec<String> {
    let mixed = |told| format!("{told}; predictions may mix several speeds: evaluate again");
    let open = told(evaluation).filter(|_| evaluation.drift.unresolved > 0).map(mixed);
    open.into_iter().chain(sides::told(evaluation)).chain(of_memory(evaluation)).collect()
}

/// How the memory of the machine changed, as the last run that noticed says.
pub(super) fn of_memory(evaluation: &Evaluation) -> Option<String> {
    let told = evaluation.probes.iter().rev().flat_map(|probe| &probe.measurement.warnings);
    told.filter(|one| one.kind == WarningKind::Drift).map(|one| one.message.clone()).next()
}

#[cfg(test)]
mod tests {
    use super::super::words::sentence;
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::{Probe, Purpose, Workload};

    /// An evaluation with these references and two runs, of which one may be disturbed.
    fn evaluated(
        references: &[f64],
        disturbed: bool,
        remeasured: u32,
        unresolved: u32,
    ) -> Evaluation {
        let workload = Workload::default();
        let run = Measurement { disturbed, ..measurement(&workload, 1.0, 1.0, 1.0) };
        let quiet = Measurement { disturbed: false, ..run.clone() };
        let probe = |measurement| Probe { purpose: Purpose::Interaction, measurement };
        let probes = [run, quiet].map(probe).to_vec();
        let throughputs = references.to_vec();
        let (largest, median) = (0.03, 1.0);
        let drift =
            Drift { throughputs, largest, remeasured, unresolved, median, ..Drift::default() };
        Evaluation { probes, drift, ..Evaluation::default() }
    }

    /// The sentence on its drift.
    fn said(references: &[f64], disturbed: bool, remeasured: u32, unresolved: u32) -> String {
        let evaluation = evaluated(references, disturbed, remeasured, unresolved);
        told(&evaluation).map(sentence).unwrap_or_default()
    }

    #[test]
    fn predictions_are_doubted_where_points_remain_in_doubt() {
        let off = [1.0, 1.0, 0.5, 1.0, 1.0];
        assert!(doubts(&evaluated(&off, false, 2, 0)).is_empty(), "they were measured again");
        let doubt = doubts(&evaluated(&off, false, 0, 3)).concat();
        let words = "3 points remain in doubt; predictions may mix several speeds: evaluate again";
        assert!(doubt.starts_with("the reference workload") && doubt.ends_with(words), "{doubt}");
    }

    /// Guards against a defect: the cache of a machine whose memory a balloon had halved was taken
    /// for that of all of its memory.
    #[test]
    fn predictions_are_doubted_where_the_memory_changed() {
        let mut evaluation = evaluated(&[1.0; 5], false, 0, 0);
        assert_eq!(doubts(&evaluation), Vec::<String>::new());
        let changed = Warning::new(WarningKind::Drift, "the memory of this machine changed");
        evaluation.probes[0].measurement.warnings.push(changed);
        assert_eq!(doubts(&evaluation), ["the memory of this machine changed"]);
    }

    /// Guards against silence where 64 of 64 runs were disturbed and the figures up to 22 times
    /// wrong, since all of them waited for storage.
    #[test]
    fn load_beside_most_runs_is_told_although_no_point_is_in_doubt() {
        let told_of = |references: &[f64], disturbed, warns: bool| {
            let mut evaluation = evaluated(references, disturbed, 0, 0);
            evaluation.probes.remove(1);
            let warning = warns.then(|| Warning::new(WarningKind::LoadByOthers, "perhaps ours"));
            evaluation.probes[0].measurement.warnings.extend(warning);
            told(&evaluation)
        };
        let (steady, far) = ([1.0; 5], [1.0, 0.05, 1.0, 1.9, 0.4]);
        let all = told_of(&steady, true, false).unwrap();
        assert!(all.contains("disturbed 1 of 1 runs: whether that changed the figures"), "{all}");
        let served = told_of(&far, false, true).unwrap();
        assert!(served.contains("perhaps those that serve the storage, were busy"), "{served}");
        assert_eq!(told_of(&steady, false, true), None, "it may be what serves the storage");
        assert_eq!(told_of(&far, false, false), None, "a drive's cache may hold their set");
    }

    #[test]
    fn time_that_is_left_out_of_the_speeds_is_told() {
        let told_of = |undisturbed_bytes_per_s| {
            let mut evaluation = evaluated(&[1.0; 5], true, 0, 0);
            let m = &mut evaluation.probes[0].measurement;
            (m.cpu_system_s, m.witness.undisturbed_bytes_per_s) = (0.9, undisturbed_bytes_per_s);
            left_out(&evaluation)
        };
        let told = told_of(Some(2.0)).unwrap();
        let words = "in 1 of 2 runs, other programs kept the workers from the processors, for 50 %";
        assert!(told.starts_with(words), "{told}");
        assert!(told.ends_with("in the median; the speeds leave that time out"), "{told}");
        assert_eq!([told_of(Some(1.05)), told_of(None)], [None, None]);
    }

    /// Once, only the runs were counted whose speeds leave that time out: 53 of 111.
    #[test]
    fn time_that_speeds_may_not_leave_out_is_told() {
        let mut evaluation = evaluated(&[1.0; 5], true, 0, 0);
        for probe in &mut evaluation.probes {
            (probe.measurement.cpu_system_s, probe.measurement.witness.lost_frac) =
                (0.9, Some(0.5));
        }
        let told = left_out(&evaluation).unwrap();
        assert!(told.contains("in 2 of 2 runs") && told.contains("for up to 50 %"), "{told}");
        assert!(told.contains("median; what that cost is unknown, and the intervals"), "{told}");
        evaluation.probes[0].measurement.witness.undisturbed_bytes_per_s = Some(2.0);
        let told = left_out(&evaluation).unwrap();
        assert!(
            told.contains("in 1 of these the speeds leave that time out; in the others"),
            "{told}"
        );
        evaluation.probes[0].measurement.cpu_system_s = 0.1;
        assert!(left_out(&evaluation).unwrap().contains("what that cost is"), "it waits");
    }

    #[test]
    fn what_disturbed_points_is_named_by_its_cause() {
        let (steady, off) = ([1.0, 1.03, 0.98, 1.0, 1.01], [1.0, 1.0, 0.5, 1.0, 1.0]);
        let load = said(&steady, true, 1, 0);
        assert!(load.ends_with("disturbed some runs: 1 point was measured again."), "{load}");
        assert!(!load.contains("reference workload changed its speed"), "{load}");
        let changed = said(&off, false, 2, 1);
        assert!(changed.starts_with("The reference workload changed its speed"), "{changed}");
        assert!(changed.ends_with("2 points were measured again, and 1 point remains in doubt."));
        assert!(said(&off, true, 0, 3).ends_with("disturbed some runs: 3 points remain in doubt."));
        assert_eq!(said(&steady, true, 0, 0), "");
        assert!(changed.contains("(by 2.0 times)"), "{changed}");
        assert!(changed.contains("in one of 5 runs"), "{changed}");
        let fast = said(&[1.0, 0.5, 16.54, 1.0, 1.0], false, 1, 0);
        assert!(
            fast.contains("during the evaluation (by 2.0 times and more)"),
            "one was 17: {fast}"
        );
        let slight = said(&[1.0, 1.0, 0.55, 1.0, 1.0], false, 1, 0);
        assert!(slight.contains("(by 45 %)"), "{slight}");
        let both = said(&[1.0, 0.55, 16.54, 1.0, 1.0], false, 1, 0);
        assert!(both.contains("during the evaluation (by 45 % and more)"), "one was 17: {both}");
    }
}
