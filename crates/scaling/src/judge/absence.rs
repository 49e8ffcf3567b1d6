//! Why no cache was found for one kind of request, as far as the witnesses tell, and the sentence
//! that says so.

use super::curve::{Repeatability, best, worst};
use super::residency;
use super::rivals::{filling, rivals};
use super::set_size::word;
use super::words::{bounded, open_times, size_within};
use ioscape_schema::units::Bytes;
use ioscape_schema::{BorderOperation, Bounded, CountDoubt, Evaluation, Point};

/// Why a curve has no border of storage.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Absence {
    /// Every set stayed in memory, by the kernel's counters; writes did not wait for anything else
    /// either.
    Resident,
    /// Throughput is the same at all sizes, to within a factor of [`Evaluation::SLOWER`].
    Level,
    /// Memory holds less than the largest set, and the level beyond is this many times slower.
    Beyond { held: Bounded, slower: Option<Bounded> },
    /// Memory holds this much, less than the largest set of other requests; these requests were
    /// measured in no set that large.
    Short(Bounded),
    /// Every set stayed in memory, but writes to some sets are this many times slower than to
    /// others.
    Slows(Bounded),
    /// The largest sets were still being read into the file cache; holds the reason in words.
    Filling(String),
    /// Neither witness tells.
    Unknown,
}

/// Returns why the curve of these requests has no border, as far as the witnesses tell.
pub(super) fn absence(evaluation: &Evaluation, operation: BorderOperation) -> Absence {
    let curve = evaluation.set_size_curve(operation);
    let noise = Repeatability::of(evaluation);
    let is_cached = evaluation.has_file_cache(operation);
    let Some(largest) = curve.last() else { return Absence::Unknown };
    if let Some(why) = filling(evaluation, operation) {
        return Absence::Filling(why);
    }
    let held = residency::held_in_all(evaluation).filter(|_| is_cached);
    if let Some(held) = held.filter(|held| held.high < largest.value) {
        let slower = residency::slowdown(&noise.samples(curve), held);
        return Absence::Beyond { held, slower };
    }
    let sets = evaluation.probes.iter().map(|p| p.measurement.workload.unique_bytes as f64);
    let largest_of_all = sets.fold(largest.value, f64::max);
    if let Some(held) = held.filter(|held| held.high < largest_of_all) {
        return Absence::Short(held);
    }
    let is_resident = is_cached && residency::fits(&largest.measurement) == Some(true);
    // Residency shows where reads come from. Writes count as absorbed only if the processes merely
    // computed.
    let is_absorbed = || curve.iter().all(|p| p.measurement.is_from_memory());
    if is_resident && (operation == BorderOperation::Read || is_absorbed()) {
        return Absence::Resident;
    }
    let (Some(fastest), Some(slowest)) = (best(curve), worst(curve)) else {
        return Absence::Unknown;
    };
    let change = noise.ratio(fastest, slowest);
    match change {
        Some(change) if curve.len() > 3 && change.high < Evaluation::SLOWER => Absence::Level,
        Some(change) if is_resident && change.low > 1.0 => Absence::Slows(change),
        _ => Absence::Unknown,
    }
}

/// Returns the sentence on a curve without a border of storage.
pub(super) fn no_cache(
    evaluation: &Evaluation,
    operation: BorderOperation,
    largest: &Point,
) -> String {
    let word = word(operation);
    let most = Bytes(largest.value);
    match absence(evaluation, operation) {
        Absence::Resident => format!(
            "No cache border was reached for {word}: according to the kernel's counters, sets of up to {most} stay in memory."
        ),
        Absence::Level => format!(
            "Throughput of {word} is the same for all sets up to {most}, within a factor of {}.",
            Evaluation::SLOWER
        ),
        Absence::Beyond { held, slower: Some(slower) } if slower.high < Evaluation::SLOWER => {
            format!(
                "Memory holds {} of a set; beyond it {word} are not slower by a factor of {} or more: {} times.",
                size_within(held),
                Evaluation::SLOWER,
                bounded(slower)
            )
        }
        Absence::Beyond { held, slower: Some(slower) } if slower.low >= Evaluation::SLOWER => {
            format!(
                "Memory holds {} of a set. Beyond that, {word} seem to be {} times slower, but too much is in doubt to call it a border; more rounds would tell.",
                size_within(held),
                bounded(slower)
            )
        }
        Absence::Beyond { held, slower } => {
            let by = slower.map(open_times).unwrap_or_default();
            format!(
                "Memory holds {} of a set; whether {word} are slower beyond it cannot be told from this run{by}; more rounds of sets well beyond it would tell.",
                size_within(held)
            )
        }
        Absence::Short(held) => format!(
            "Memory holds {} of a set, but {word} were measured only in sets of up to {most}: whether they are slower beyond that cannot be told from this run; a longer --budget would tell.",
            size_within(held)
        ),
        Absence::Slows(by) => format!(
            "According to the kernel's counters, sets of up to {most} stay in memory, but {word} to the slowest are {} times slower than to the fastest; whether a cache for {word} ends among them cannot be told from this run; more rounds would tell.",
            bounded(by)
        ),
        Absence::Filling(why) => untold_end(evaluation, operation, &why),
        Absence::Unknown if !evaluation.has_file_cache(operation) => format!(
            "No cache of a device shows for {word} in sets up to {most}; whether one ends there cannot be told from this run; larger sets or a longer budget would tell."
        ),
        Absence::Unknown => format!(
            "No cache border shows for {word} in sets up to {most}, by throughput alone; whether one lies there cannot be told from this run; larger sets, a longer budget or the kernel's residency counters would tell."
        ),
    }
}

/// Returns the sentence that the end of these requests' cache cannot be told, since the largest
/// sets were still being read into it.
pub(super) fn untold_end(evaluation: &Evaluation, operation: BorderOperation, why: &str) -> String {
    let whose = match evaluation.has_file_cache(operation) {
        true => "the effective file cache",
        false => "a cache behind the file cache, such as the drive's own,",
    };
    let word = word(operation);
    format!(
        "Where {whose} for {word} ends cannot be told from this run: {why}; longer runs of them would tell."
    )
}

/// Whether the evaluation is sure that no set of `operation` outgrows a cache. It is not if so few
/// or so small sets were measured that a level may end between or beyond them.
pub(super) fn is_absence_told(evaluation: &Evaluation, operation: BorderOperation) -> bool {
    let is_even = match absence(evaluation, operation) {
        Absence::Resident | Absence::Level => true,
        Absence::Beyond { slower, .. } => slower.is_some_and(|s| s.high < Evaluation::SLOWER),
        Absence::Short(_) | Absence::Slows(_) | Absence::Filling(_) | Absence::Unknown => false,
    };
    let doubt = evaluation.count_doubt();
    let is_seen = !matches!(doubt, Some(CountDoubt::SlowerBeyond | CountDoubt::FewSets));
    let is_asked = !evaluation.level_counts.is_empty();
    is_even && is_seen && is_asked && rivals(evaluation, operation, None).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use ioscape_schema::{CurveKey, LevelCount, Parameter, Probe};

    const MIB: f64 = 1048576.0;

    /// An evaluation with 124 MiB of memory, which the mixed sets outgrow; reads were measured in
    /// sets of `reads_mib`.
    fn outgrown(reads_mib: &[f64]) -> Evaluation {
        let mut evaluation = Evaluation::default();
        let point = |mib: f64, read_frac: f64| {
            let rate = if mib > 124.0 { 2e7 } else { 9e9 };
            let mut point = testing::point((Parameter::UniqueBytes, mib * MIB), rate, 3);
            let (m, share) = (&mut point.measurement, (124.0 / mib).min(1.0));
            (m.resident_frac, m.witness.resident_frac) = (Some(share), Some([share; 2]));
            (m.workload.read_frac, m.cpu_system_s) = (read_frac, m.elapsed_s);
            point
        };
        evaluation.unique_bytes_curve = [1.0, 90.0, 200.0, 235.0].map(|mib| point(mib, 0.5)).into();
        evaluation.unique_bytes_read_curve = reads_mib.iter().map(|mib| point(*mib, 1.0)).collect();
        let log = |p: &Point| Probe {
            purpose: CurveKey::UniqueBytes(BorderOperation::Mixed).into(),
            measurement: p.measurement.clone(),
        };
        evaluation.probes = evaluation.unique_bytes_curve.iter().map(log).collect();
        evaluation
    }

    /// Guards against "no border" of one set of a MiB where the pilot's largest was far slower.
    #[test]
    fn no_border_is_told_of_sets_so_few_or_small_that_a_level_may_end_beyond() {
        let is_told = |sets: usize, pilot: f64| {
            let mut evaluation = Evaluation::default();
            let point = |at: usize, read_frac: f64| {
                let set = (Parameter::UniqueBytes, (1 + at) as f64 * MIB);
                let mut point = testing::point(set, 9e9, 3);
                let m = &mut point.measurement;
                (m.workload.read_frac, m.resident_frac) = (read_frac, Some(1.0));
                (m.witness.resident_frac, m.cpu_system_s) = (Some([1.0; 2]), m.elapsed_s);
                point
            };
            let curve = |read_frac| (0..sets).map(|at| point(at, read_frac)).collect();
            evaluation.unique_bytes_read_curve = curve(1.0);
            evaluation.unique_bytes_write_curve = curve(0.0);
            evaluation.level_counts = vec![LevelCount {
                regions: 1,
                probability: 1.0,
                read_borders: Vec::new(),
                write_borders: Vec::new(),
            }];
            for (mib, rate) in [(1.0, 9e9), (256.0, pilot)] {
                let set = (Parameter::UniqueBytes, mib * MIB);
                let measurement = testing::point(set, rate, 1).measurement;
                evaluation.probes.push(Probe { purpose: CurveKey::Pilot.into(), measurement });
            }
            is_absence_told(&evaluation, BorderOperation::Read)
        };
        assert!(is_told(6, 9e9));
        assert!(!is_told(1, 9e9), "a level may end for so few unseen");
        assert!(!is_told(6, 1e9), "larger ones are slower");
    }

    #[test]
    fn sets_that_others_outgrow_memory_with_are_missed_where_these_requests_lack_them() {
        let short = outgrown(&[1.0, 6.0]);
        let said = no_cache(&short, BorderOperation::Read, &short.unique_bytes_read_curve[1]);
        assert!(said.contains("measured only in sets of up to 6 MiB"), "{said}");
        assert!(!is_absence_told(&short, BorderOperation::Read));
        // Only the pilot goes beyond memory, with its own request size.
        let mut pilot = short.clone();
        pilot.unique_bytes_curve.truncate(2);
        pilot.probes.iter_mut().for_each(|p| p.purpose = CurveKey::Pilot.into());
        assert!(matches!(absence(&pilot, BorderOperation::Read), Absence::Short(_)));
        let whole = outgrown(&[1.0, 6.0, 90.0, 235.0]);
        assert!(matches!(absence(&whole, BorderOperation::Read), Absence::Beyond { .. }));
    }
}
