//! A phase of a run: its time, the pace of its processes' processors, and the words that report
//! both.

use crate::estimate::Batch;
use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

/// The result of one of the five phases.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Phase {
    /// Nanoseconds that it took.
    pub(super) ns: u64,
    /// Nanoseconds of the fixed computation on the processors of some of its processes.
    pub(super) paces: Vec<u64>,
}

impl Phase {
    /// Divides its time into equal pieces, one for each process that ran the fixed computation.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Batch> {
        let ns = self.ns / (self.paces.len() as u64).max(1);
        self.paces.iter().map(move |&pace_ns| Batch { ns, ops: 1, delay_ns: None, pace_ns })
    }
}

/// Returns the words that report the phases, and the size of the program that their processes ended
/// in.
pub(super) fn words(phases: &[Phase; 5], bytes: u64) -> Vec<u64> {
    let sums = phases.iter().flat_map(|phase| [phase.ns, phase.paces.len() as u64]);
    let paces = phases.iter().flat_map(|phase| phase.paces.iter().copied());
    sums.chain([bytes]).chain(paces).collect()
}

/// Parses such words.
pub(super) fn read(words: &[AtomicU64]) -> ([Phase; 5], u64) {
    let mut left = words.iter().map(|word| word.load(Ordering::Acquire));
    let mut next = || left.next().unwrap_or(0);
    let sums: [[u64; 2]; 5] = array::from_fn(|_| [next(), next()]);
    let bytes = next();
    let phases = sums.map(|[ns, tried]| {
        let tried = usize::try_from(tried).unwrap_or(usize::MAX);
        Phase { ns, paces: left.by_ref().take(tried).collect() }
    });
    (phases, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_tells_of_its_phases_arrives() {
        let paces: [&[u64]; 5] = [&[], &[7], &[8, 9], &[], &[5]];
        let phases = paces.map(|paces| Phase { ns: 30, paces: paces.to_vec() });
        let report = words(&phases, 129).into_iter().chain([0, 0]).map(AtomicU64::new);
        let report: Vec<AtomicU64> = report.collect();
        assert_eq!(read(&report), (phases.clone(), 129));
        let pieces: Vec<(u64, u64)> = phases[2].pieces().map(|one| (one.ns, one.pace_ns)).collect();
        assert_eq!(pieces, [(15, 8), (15, 9)]);
        assert_eq!(phases[0].pieces().count(), 0);
    }
}
