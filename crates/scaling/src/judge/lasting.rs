//! Tells whether storage became slower or faster during the evaluation and stayed so, as after a
//! burst credit has ended: by points of storage that were measured before and again afterwards.

use super::drift::FAR;
use super::moved::WITNESSES;
use super::words::factor;
use ioscape_schema::statistics::{median, sort_by_number};
use ioscape_schema::{Evaluation, Measurement, Probe, Purpose, Workload};

/// The largest cached share of a set: without it, a run is at most twice as slow, as [`FAR`] allows.
const CACHED_MOST: f64 = 0.5;
/// Sets count from this share of the largest one on: a smaller one may be in the drive's cache at
/// some times and not at others.
const LARGE: f64 = 0.25;

/// A run of storage, with its number among the probes.
type Run<'a> = (usize, &'a Measurement);

/// A lasting change.
#[derive(Debug, PartialEq)]
pub(crate) struct Lasting {
    /// The change of log throughput of each point that was measured on both sides, the smallest
    /// first; negative if slower.
    changes: Vec<f64>,
    /// The last probe before it and the first one after it, of the points that moved far.
    between: [usize; 2],
}

/// Whether a run shows the speed of storage, where the largest set has `largest` bytes.
pub(crate) fn is_of_storage(m: &Measurement, largest: u64) -> bool {
    m.workload.unique_bytes as f64 >= LARGE * largest as f64 && leaves_memory(m)
}

/// Whether a run waits for what is below the file cache, be it the drive's own cache.
fn leaves_memory(m: &Measurement) -> bool {
    let Workload { read_frac, access, .. } = m.workload;
    // Through the file cache, writes are fast until too much is dirty.
    let is_past_cache = !access.reads_cached()
        || (read_frac > 0.0
            && m.witness.resident_frac.is_some_and(|[a, b]| a.max(b) <= CACHED_MOST));
    is_past_cache && m.waits() && !m.was_filling() && !m.was_delayed()
}

/// Whether a run belongs to a point, and not to a reference or a finding.
pub(super) fn is_of_point(probe: &Probe) -> bool {
    !matches!(
        probe.purpose.first(),
        Purpose::Reference | Purpose::SynchronousWrites | Purpose::Flush
    )
}

/// Whether these two throughputs are far apart.
pub(crate) fn are_apart(a: f64, b: f64) -> bool {
    (a / b).ln().abs() > FAR
}

/// The change of log throughput from an earlier run to a later one.
fn change([earlier, later]: [&Measurement; 2]) -> f64 {
    (later.throughput_bytes_per_s / earlier.throughput_bytes_per_s).ln()
}

/// Whether two runs are far apart, perhaps only because others read more than twice as much from
/// the device during the slower one.
fn may_be_by_reads([a, b]: [&Measurement; 2]) -> bool {
    let [slower, other] = if change([a, b]) < 0.0 { [b, a] } else { [a, b] };
    let [more, less] = [slower, other].map(Measurement::read_beside_per_s);
    let is_more = more.zip(less).is_some_and(|(more, less)| less < more / 2.0);
    change([a, b]).abs() > FAR && is_more && slower.read_by_others().is_some()
}

/// Returns the runs of storage, those of one workload together and in order.
fn runs(probes: &[Probe]) -> Vec<Vec<Run<'_>>> {
    let largest = probes.iter().map(|p| p.measurement.workload.unique_bytes).max().unwrap_or(0);
    let mut all: Vec<(&Workload, Vec<Run<'_>>)> = Vec::new();
    for (at, probe) in probes.iter().enumerate() {
        let m = &probe.measurement;
        if is_of_point(probe) && m.throughput_bytes_per_s > 0.0 && is_of_storage(m, largest) {
            match all.iter_mut().find(|one| *one.0 == m.workload) {
                Some((_, runs)) => runs.push((at, m)),
                None => all.push((&m.workload, vec![(at, m)])),
            }
        }
    }
    all.into_iter().map(|one| one.1).filter(|runs| runs.len() > 1).collect()
}

/// Returns the references that leave memory, in order, each as the median of itself and its
/// neighbours: a single stall is no return to another speed.
fn references<'a>(probes: &'a [Probe]) -> Vec<Run<'a>> {
    let all = probes.iter().enumerate().filter(|(_, Probe { purpose, measurement: m })| {
        *purpose.first() == Purpose::Reference && m.throughput_bytes_per_s > 0.0 && leaves_memory(m)
    });
    let all: Vec<Run<'_>> = all.map(|(at, probe)| (at, &probe.measurement)).collect();
    let middle = |three: &[Run<'a>]| {
        let mut sorted = three.to_vec();
        sort_by_number(&mut sorted, |run| run.1.throughput_bytes_per_s);
        (three[1].0, sorted[1].1)
    };
    all.windows(3).map(middle).collect()
}

/// Returns how far the points moved that have runs on both sides of probe `cut`: by the two runs
/// that differ least, since what passed is no lasting change, and without pairs that reads by others
/// may have set apart. The references count as one more point where they moved far; where they did
/// not, the drive's own cache may hold them.
fn moved_at(points: &[Vec<Run<'_>>], references: &Vec<Run<'_>>, cut: usize) -> Option<Lasting> {
    let mut between = [0, usize::MAX];
    let mut changes = Vec::new();
    let all = points.iter().map(|runs| (runs, false)).chain([(references, true)]);
    for (runs, are_references) in all {
        let (before, after) = runs.split_at(runs.partition_point(|run| run.0 < cut));
        let ([.., last_before], [first_after, ..]) = (before, after) else { continue };
        let pairs = after.iter().flat_map(|a| before.iter().map(move |b| [b.1, a.1]));
        let told = pairs.filter(|pair| !may_be_by_reads(*pair)).map(change);
        let Some(moved) = told.min_by(|a, b| a.abs().total_cmp(&b.abs())) else { continue };
        if moved.abs() > FAR {
            between = [between[0].max(last_before.0), between[1].min(first_after.0)];
        } else if are_references {
            continue;
        }
        changes.push(moved);
    }
    changes.sort_by(f64::total_cmp);
    (changes.len() >= WITNESSES).then_some(Lasting { changes, between })
}

impl Lasting {
    /// How far three of four points moved at least, all in one direction; 0 if in none.
    fn least(&self) -> f64 {
        let quarter = self.changes.len() / 4;
        let slower = -self.changes[self.changes.len() - 1 - quarter];
        slower.max(self.changes[quarter]).max(0.0)
    }

    /// Returns the probes before the change and those after it, each with the runs that storage
    /// hardly slows. Runs between the last before and the first after may belong to either and are
    /// left out.
    pub(crate) fn sides<'a>(&self, probes: &'a [Probe]) -> [Vec<&'a Probe>; 2] {
        let [last, first] = self.between;
        let side = |is_in: &dyn Fn(usize) -> bool| {
            let all = probes.iter().enumerate();
            let on_side = all.filter(|(at, one)| is_in(*at) || one.measurement.computes());
            on_side.map(|one| one.1).collect()
        };
        [side(&|at| at <= last), side(&|at| at >= first)]
    }

    /// The change in words.
    pub(super) fn told(&self, evaluation: &Evaluation) -> String {
        let is_slower = median(&self.changes) < 0.0;
        let times = |change: &f64| if is_slower { (-change).exp() } else { change.exp() };
        let mut times: Vec<f64> = self.changes.iter().map(times).collect();
        times.sort_by(f64::total_cmp);
        let [least, middle, most] = [times[0], median(&times), times[times.len() - 1]].map(factor);
        let spent_s = |probe: &Probe| probe.measurement.spent_s();
        let after_s = |at: usize| evaluation.probes[..=at].iter().map(spent_s).sum::<f64>();
        let [from_s, to_s] = self.between.map(after_s);
        let (way, why) = match is_slower {
            true => ("slower", ", as when burst credit has run out or a fast cache is full"),
            false => ("faster", ""),
        };
        format!(
            "storage became {middle} times {way} between {from_s:.0} and {to_s:.0} s of {:.0} s and stayed so{why} ({} points measured again: {least} to {most} times)",
            evaluation.elapsed_s,
            times.len()
        )
    }
}

/// The plainest lasting change: that of most points, and of those the farthest; `None` if nothing
/// changed for good or no points measured again tell.
pub(crate) fn found(probes: &[Probe]) -> Option<Lasting> {
    let points = runs(probes);
    let references = references(probes);
    let cuts = points.iter().flatten().chain(&references).map(|run| run.0);
    let all = cuts.filter_map(|cut| moved_at(&points, &references, cut));
    let far = all.filter(|change| change.least() > FAR);
    far.max_by(|a, b| a.changes.len().cmp(&b.changes.len()).then(a.least().total_cmp(&b.least())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{measurement, reading};
    use ioscape_schema::{Access, CurveKey};

    /// What is said of direct reads of these sets in MiB at these speeds, in the order measured.
    fn said(runs: &[(u64, f64)]) -> Option<String> {
        let probe = |&(mib, speed): &(u64, f64)| {
            let access = Access::Direct;
            let workload = Workload { unique_bytes: mib << 20, access, ..Workload::default() };
            let run = measurement(&workload, speed, 1.0, speed);
            let measurement = Measurement { cpu_system_s: 0.1, ..run };
            Probe { purpose: CurveKey::Pilot.into(), measurement }
        };
        let probes: Vec<Probe> = runs.iter().map(probe).collect();
        let evaluation =
            Evaluation { elapsed_s: probes.len() as f64, probes, ..Evaluation::default() };
        found(&evaluation.probes).map(|change| change.told(&evaluation))
    }

    #[test]
    fn storage_that_became_slower_for_good_is_told_by_points_measured_again() {
        let before = [(100, 240.0), (200, 200.0), (300, 180.0), (100, 230.0), (400, 170.0)];
        let fallen = [&before[..], &[(150, 5.0), (100, 5.8), (200, 5.0), (300, 4.5)]].concat();
        let told = said(&fallen).unwrap();
        let words = "storage became 40 times slower between 4 and 7 s of 9 s and stayed so, as";
        assert!(told.starts_with(words), "{told}");
        assert!(told.contains("(3 points measured again: 40 to 40 times)"), "{told}");
        assert_eq!(said(&fallen[..8]), None, "two points do not tell");
        assert_eq!(said(&[&fallen[..], &[(100, 230.0)]].concat()), None, "it passed");
        let as_before = [&before[..], &[(150, 5.0), (100, 240.0), (200, 210.0), (300, 170.0)]];
        assert_eq!(said(&as_before.concat()), None, "only the new point is slow");
    }

    /// Guards against a false border: before the change a set of 320 MiB was as fast as any, and
    /// after it one of 40 MiB as slow.
    #[test]
    fn runs_from_before_and_after_the_change_are_not_judged_together() {
        let all = [100, 200, 300, 400, 150, 100, 200, 300];
        let speed = |at: usize| if at < 4 { 200.0 } else { 5.0 };
        let probe = |(at, &mib): (usize, &u64)| {
            let workload =
                Workload { unique_bytes: mib << 20, access: Access::Direct, ..Workload::default() };
            let measurement = measurement(&workload, speed(at), 1.0, speed(at));
            let cpu_system_s = if mib == 400 { 1.0 } else { 0.1 };
            let measurement = Measurement { cpu_system_s, ..measurement };
            Probe { purpose: CurveKey::Pilot.into(), measurement }
        };
        let probes: Vec<Probe> = all.iter().enumerate().map(probe).collect();
        let sets = |side: &Vec<&Probe>| -> Vec<u64> {
            side.iter().map(|one| one.measurement.workload.unique_bytes >> 20).collect()
        };
        let told = found(&probes).unwrap().sides(&probes).each_ref().map(sets);
        assert_eq!(told, [vec![100, 200, 300, 400], vec![400, 100, 200, 300]]);
        assert_eq!(found(&probes[..5]), None);
    }

    /// Guards against figures and predictions at the speed beside a backup that began late.
    #[test]
    fn what_reads_by_others_may_explain_is_no_lasting_change() {
        let is_found = |first: (f64, u64), then: (f64, u64)| {
            let run = |mib: u64, (speed, others): (f64, u64)| {
                let mut measurement = reading(mib << 20, speed, others);
                measurement.workload.access = Access::Direct;
                Probe { purpose: CurveKey::Pilot.into(), measurement }
            };
            let all = [first, then].map(|speed| [100, 200, 300].map(|mib| run(mib, speed)));
            found(&all.concat()).is_some()
        };
        let [quiet, busy] = [0, 80_000_000];
        assert!(is_found((2e7, quiet), (8e6, quiet)));
        assert!(!is_found((2e7, quiet), (8e6, busy)), "a backup began");
        assert!(!is_found((8e6, busy), (2e7, quiet)), "a backup ended");
        assert!(is_found((2e7, busy), (8e6, busy)), "they read all day");
        assert!(is_found((2e7, busy), (8e6, quiet)), "slower without them");
    }

    #[test]
    fn small_sets_that_a_drive_keeps_at_some_times_do_not_tell() {
        let kept = [(8, 130.0), (16, 130.0), (32, 130.0), (400, 6.0)];
        assert_eq!(said(&[&kept[..], &[(8, 6.0), (16, 6.0), (32, 6.0)]].concat()), None);
    }
}
