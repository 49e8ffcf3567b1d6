//! How many bytes waited to be written back while sets were rewritten that are larger than that.

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

/// What the writes of the set-size curve left waiting for storage, as the kernel counts it; `None`
/// where fewer than two runs show it or they differ.
pub(super) fn sentence(evaluation: &Evaluation) -> Option<String> {
    let writes = Purpose::Curve(CurveKey::UniqueBytes(BorderOperation::Write));
    let runs = evaluation.probes.iter().filter(|probe| *probe.purpose.first() == writes);
    let runs = runs.map(|probe| &probe.measurement);
    let (sets, waiting): (Vec<u64>, Vec<f64>) =
        runs.filter_map(|m| Some((m.workload.unique_bytes, still(m)?))).unzip();
    let smallest = *sets.iter().min()? as f64;
    let value = median(&waiting);
    let low = waiting.iter().copied().fold(f64::INFINITY, f64::min);
    let high = waiting.iter().copied().fold(0.0, f64::max);
    let is_one = waiting.len() > 1 && high - low <= STILL * value && high <= FEWER * smallest;
    is_one.then(|| {
        let waiting = size_within(Bounded { value, low, high });
        format!(
            "Dirty bytes stood still at {waiting} during {} runs that wrote to sets of {} and more: so much waited for storage.",
            sets.len(),
            Bytes(smallest)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::measurement::Direction;
    use ioscape_schema::{Probe, Workload};

    const MIB: u64 = 1 << 20;

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
        let probes = runs.iter().map(probe).collect();
        sentence(&Evaluation { probes, ..Evaluation::default() })
    }

    #[test]
    fn dirty_bytes_that_stand_still_below_the_set_are_told() {
        let larger = [(71, [41, 40], 200), (71, [40, 40], 180), (71, [40, 39], 190)];
        let said = told(&[&[(24, [12, 24], 900)], &larger[..]].concat()).unwrap();
        let words = "stood still at 40 MiB (39 MiB to 40 MiB) during 3 runs that wrote to sets of 71 MiB and more";
        assert!(said.contains(words), "{said}");
        assert_eq!(told_by(Access::Direct, &larger), None, "those of others");
        assert_eq!(told(&larger[..1]), None, "one run");
        assert_eq!(told(&[(71, [20, 40], 200), (71, [20, 40], 200)]), None, "they grew");
        assert_eq!(told(&[(71, [40, 40], 50), (71, [40, 40], 50)]), None, "little was written");
        assert_eq!(told(&[(71, [70, 70], 200), (71, [70, 70], 200)]), None, "all of the set");
        assert_eq!(told(&[(71, [40, 40], 200), (600, [60, 60], 200)]), None, "they differ");
    }
}
