//! How many bytes waited to be written back while sets were rewritten that are larger than that: the
//! second witness of a border of writes.

use super::residency;
use super::words::size_within;
use ioscape_schema::statistics::median;
use ioscape_schema::units::Bytes;
use ioscape_schema::{
    Access, BorderOperation, Bounded, CurveKey, Evaluation, Measurement, Purpose,
};

/// Dirty bytes stand still if they change by no more than this share of them during a run.
const STILL: f64 = 0.1;
/// A run shows that if it wrote this many times the dirty bytes.
const WRITTEN: f64 = 2.0;
/// Dirty bytes of at most this share of a set are fewer than the set.
const FEWER: f64 = 0.9;
/// Writers begin to be held up at a set between these multiples of the dirty bytes that stand still:
/// the kernel holds them up from half-way between its background limit and its limit on, and keeps
/// dirty bytes between there and the limit (`balance_dirty_pages`), below which write-back takes them
/// in batches.
const HELD_UP: [f64; 2] = [0.5, 4.0 / 3.0];

/// The dirty bytes after the run; `None` unless they stood still below the size of its set. Where
/// every write waits for storage, or none does, as in memory, they may be those of others.
fn still(m: &Measurement) -> Option<f64> {
    if m.workload.access != Access::Buffered || m.computes() {
        return None;
    }
    let [before, after] = m.witness.dirty_bytes?.map(|bytes| bytes as f64);
    let written = m.write?.bytes as f64;
    let is_still = (after - before).abs() <= STILL * after && written >= WRITTEN * after;
    (is_still && after > 0.0 && after <= FEWER * m.workload.unique_bytes as f64).then_some(after)
}

/// Whether so many dirty bytes are those of the sets: runs over sets of at most half as much, of
/// which there must be one, all left fewer. Those of others do not depend on the set.
fn are_own(runs: &[&Measurement], dirty: f64) -> bool {
    let small = runs.iter().filter(|m| 2.0 * m.workload.unique_bytes as f64 <= dirty);
    let left = small.filter_map(|m| Some(m.witness.dirty_bytes?[1] as f64));
    left.max_by(f64::total_cmp).is_some_and(|most| most <= FEWER * dirty)
}

/// Returns the dirty bytes that stood still during these runs, and the sizes of their sets; `None`
/// where fewer than two runs show it, they differ, or they may be those of others.
fn stood_still<'a>(runs: impl Iterator<Item = &'a Measurement>) -> Option<(Bounded, Vec<u64>)> {
    let runs: Vec<&Measurement> = runs.collect();
    let shown = runs.iter().filter_map(|m| Some((m.workload.unique_bytes, still(m)?)));
    let (sets, waiting): (Vec<u64>, Vec<f64>) = shown.unzip();
    let smallest = *sets.iter().min()? as f64;
    let value = median(&waiting);
    let low = waiting.iter().copied().fold(f64::INFINITY, f64::min);
    let high = waiting.iter().copied().fold(0.0, f64::max);
    let is_one = waiting.len() > 1 && high - low <= STILL * value && high <= FEWER * smallest;
    (is_one && are_own(&runs, low)).then_some((Bounded { value, low, high }, sets))
}

/// Returns between which sets, in bytes, writers begin to be held up, by the dirty bytes of these
/// runs. Sets that outgrew memory do not count, since their writers also wait for memory.
pub(super) fn limit<'a>(runs: impl Iterator<Item = &'a Measurement>) -> Option<[f64; 2]> {
    let (waiting, _) = stood_still(runs.filter(|m| residency::fits(m) == Some(true)))?;
    let [from, to] = HELD_UP;
    Some([from * waiting.low, to * waiting.high])
}

/// The runs of the curve of writes over the set sizes.
fn of_writes(evaluation: &Evaluation) -> impl Iterator<Item = &Measurement> {
    let writes = Purpose::Curve(CurveKey::UniqueBytes(BorderOperation::Write));
    let runs = evaluation.probes.iter().filter(move |probe| *probe.purpose.first() == writes);
    runs.map(|probe| &probe.measurement)
}

/// Whether dirty bytes show a border of writes, too.
pub(super) fn show(evaluation: &Evaluation, border: Bounded) -> bool {
    limit(of_writes(evaluation)).is_some_and(|[low, high]| (low..=high).contains(&border.value))
}

/// What the writes of the set-size curve left waiting for storage, as the kernel counts it.
pub(super) fn sentence(evaluation: &Evaluation) -> Option<String> {
    let (waiting, sets) = stood_still(of_writes(evaluation))?;
    let smallest = sets.iter().min().copied().unwrap_or_default();
    Some(format!(
        "Dirty bytes stood still at {} during {} runs that wrote to sets of {} and more: so much waited for storage.",
        size_within(waiting),
        sets.len(),
        Bytes(smallest as f64)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::measurement::Direction;
    use ioscape_schema::{Probe, Workload};

    const MIB: u64 = 1 << 20;

    /// What is said of a run over 16 MiB and these: MiB of the set, dirty before and after, written.
    fn told(runs: &[(u64, [u64; 2], u64)]) -> Option<String> {
        told_by(Access::Buffered, runs)
    }

    fn told_by(access: Access, runs: &[(u64, [u64; 2], u64)]) -> Option<String> {
        let probe = |&(set, dirty, written): &(u64, [u64; 2], u64)| {
            let unique_bytes = set * MIB;
            let workload = Workload { unique_bytes, read_frac: 0.0, access, ..Workload::default() };
            let mut measurement = measurement(&workload, 1e6, 1.0, 1e6);
            measurement.write = Some(Direction { bytes: written * MIB, ..Direction::default() });
            measurement.witness.dirty_bytes = Some(dirty.map(|mib| mib * MIB));
            let key = CurveKey::UniqueBytes(BorderOperation::Write);
            Probe { purpose: key.into(), measurement }
        };
        let probes = [(16, [8, 16], 900)].iter().chain(runs).map(probe).collect();
        sentence(&Evaluation { probes, ..Evaluation::default() })
    }

    #[test]
    fn dirty_bytes_that_stand_still_below_the_set_are_told() {
        let larger = [(71, [41, 40], 200), (71, [40, 40], 180), (71, [40, 39], 190)];
        let said = told(&larger).unwrap();
        let words = "stood still at 40 MiB (39 MiB to 40 MiB) during 3 runs that wrote to sets of 71 MiB and more";
        assert!(said.contains(words), "{said}");
        assert_eq!(told_by(Access::Direct, &larger), None, "those of others");
        assert_eq!(told(&larger[..1]), None, "one run");
        assert_eq!(told(&[(71, [20, 40], 200), (71, [20, 40], 200)]), None, "they grew");
        assert_eq!(told(&[(71, [40, 40], 50), (71, [40, 40], 50)]), None, "little was written");
        assert_eq!(told(&[(71, [70, 70], 200), (71, [70, 70], 200)]), None, "all of the set");
        assert_eq!(told(&[(71, [40, 40], 200), (600, [60, 60], 200)]), None, "they differ");
        let smaller = [&[(1, [39, 40], 900)], &larger[..]].concat();
        assert_eq!(told(&smaller), None, "as many with a small set: those of others");
    }

    /// Writers to a set of 71 MiB of which this share is in memory, with 40 MiB dirty, and one to a
    /// MiB.
    #[test]
    fn dirty_bytes_of_sets_in_memory_tell_from_which_set_on_writers_are_held_up() {
        let limit = |resident: f64, runs| {
            let workload =
                Workload { unique_bytes: 71 * MIB, read_frac: 0.0, ..Workload::default() };
            let mut m = measurement(&workload, 1e6, 1.0, 1e6);
            m.write = Some(Direction { bytes: 200 * MIB, ..Direction::default() });
            m.witness.dirty_bytes = Some([40 * MIB; 2]);
            m.witness.resident_frac = Some([resident; 2]);
            let mut small = m.clone();
            (small.workload.unique_bytes, small.witness.dirty_bytes) = (MIB, Some([MIB; 2]));
            small.witness.resident_frac = Some([1.0; 2]);
            let all = [vec![m; runs], vec![small]].concat();
            limit(all.iter()).map(|limit| limit.map(|bytes| bytes as u64 / MIB))
        };
        assert_eq!(limit(1.0, 2), Some([20, 53]));
        assert_eq!(limit(1.0, 1), None, "one run");
        assert_eq!(limit(0.8, 2), None, "they may wait for memory");
    }
}
