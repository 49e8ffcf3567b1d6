//! A phase of a run: its time, how fast the processors of its processes were, and the words in which a run tells of both.

use crate::estimate::Batch;
use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

/// One of the five phases, done.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Phase {
    /// Nanoseconds that it took.
    pub(super) ns: u64,
    /// Nanoseconds that the fixed computation took on the processors of some of its processes.
    pub(super) paces: Vec<u64>,
}

impl Phase {
    /// Its time in equal pieces, one for each process that tried the fixed computation.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Batch> {
        let ns = self.ns / (self.paces.len() as u64).max(1);
        self.paces.iter().map(move |&pace_ns| Batch { ns, ops: 1, delay_ns: None, pace_ns })
    }
}

/// The words that tell of the phases, and of the bytes of the program that their processes ended in.
pub(super) fn words(phases: &[Phase; 5], bytes: u64) -> Vec<u64> {
    let sums = phases.iter().flat_map(|phase| [phase.ns, phase.paces.len() as u64]);
    let paces = phases.iter().flat_map(|phase| phase.paces.iter().copied());
    sums.chain([bytes]).chain(paces).collect()
}

/// What such words tell of.
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
