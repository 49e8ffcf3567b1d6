//! Measures points of storage again now and then, which shows whether its speed changes for good.
//!
//! The reference workload alone does not: through the file cache it runs in memory, and without it
//! the drive's own cache may hold it.

use super::costs::run_cost_s;
use super::exploration::{Exploration, Need};
use super::probe::Probe;
use crate::judge::lasting::{are_apart, is_of_storage};
use crate::judge::points::PointId;
use ioscape_schema::Engine;
use ioscape_schema::statistics::sort_by_number;

/// Least number of references between two checks.
pub(crate) const EVERY: usize = 4;
/// Only so many points are asked, those measured first: what a change followed is not told by
/// points measured after it.
const EARLIEST: usize = 8;
/// Points asked where one is far slower or faster than at first, itself included.
const WITNESSES: usize = 3;

/// Measures an early point of storage again, unless fewer than `every` references were measured
/// since; where it is far slower or faster than at first, two others as well.
pub(crate) fn check<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    every: usize,
) -> Result<(), P::Error> {
    let witnesses = witnesses(exploration);
    let Some((&first, others)) = witnesses.split_first() else { return Ok(()) };
    let is_due = exploration.state.evidence.points.references_since(first) >= every;
    if is_due && exploration.again(first, Need::Essential)? && has_changed(exploration, first) {
        for &id in others {
            exploration.again(id, Need::Essential)?;
        }
    }
    Ok(())
}

/// The cheapest of the points of storage that were measured first. A simulated system does not
/// change.
fn witnesses<P: Probe>(exploration: &Exploration<'_, P>) -> Vec<PointId> {
    let store = &exploration.state.evidence.points;
    if exploration.options.base.engine == Engine::Sim {
        return Vec::new();
    }
    let ids = 0..store.len();
    let largest = ids.clone().map(|id| store.workload(id).unique_bytes).max().unwrap_or(0);
    let first = |id: PointId| store.rounds(id).next();
    let is_one = |&id: &PointId| first(id).is_some_and(|m| is_of_storage(m, largest));
    let mut all: Vec<PointId> = ids.filter(is_one).take(EARLIEST).collect();
    sort_by_number(&mut all, |&id| first(id).map_or(f64::INFINITY, run_cost_s));
    all.truncate(WITNESSES);
    all
}

/// Whether the latest round of a point is far slower or faster than its first.
fn has_changed<P: Probe>(exploration: &Exploration<'_, P>, id: PointId) -> bool {
    let rounds = exploration.state.evidence.points.rounds(id);
    let speeds: Vec<f64> = rounds.map(|round| round.throughput_bytes_per_s).collect();
    speeds.first().zip(speeds.last()).is_some_and(|(first, last)| are_apart(*first, *last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Bounds;
    use crate::evaluate::explore::explore;
    use crate::evaluate::options::EvaluationOptions;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::probe::ProbeRequest;
    use crate::judge::judge;
    use crate::judge::lasting::found;
    use crate::judge::sides::told;
    use crate::testing::measurement;
    use ioscape_schema::{Access, Border, Evaluation, Measurement, Workload};
    use std::convert::Infallible;

    /// Bytes per second of memory, and of storage at first.
    const SPEEDS: [f64; 2] = [5e9, 2e8];
    /// The bytes that the file cache holds.
    const CACHE: f64 = 67_108_864.0;

    /// Storage behind a file cache that becomes 40 times slower after this many runs.
    struct Credit(usize);

    impl Probe for Credit {
        type Error = Infallible;

        fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Infallible> {
            let slower = if self.0 == 0 { 40.0 } else { 1.0 };
            self.0 = self.0.saturating_sub(1);
            let workload = &request.workload;
            let cached = match workload.access {
                Access::Direct => 0.0,
                _ => (CACHE / workload.unique_bytes as f64).min(1.0),
            };
            let [computing, waiting] = SPEEDS.map(f64::recip);
            let s = computing + (1.0 - cached) * waiting * slower;
            let mut m = measurement(workload, 1.0 / s, 0.7, 1e-4 / s);
            m.cpu_system_s = computing / s * f64::from(workload.process_num);
            m.witness.run_delay_s = Some(0.0);
            m.witness.resident_frac = Some([cached; 2]);
            Ok(m)
        }
    }

    fn evaluated(access: Access, falls_after: usize) -> Evaluation {
        let options = EvaluationOptions {
            base: Workload { access, ..Workload::default() },
            bounds: Bounds { unique_bytes: [1 << 20, 400 << 20], ..ten_minutes().bounds },
            budget_s: 90.0,
            interactions: 0,
            level_counts: false,
            ..ten_minutes()
        };
        explore(&options, &mut Credit(falls_after)).unwrap()
    }

    fn said(access: Access, falls_after: usize) -> String {
        evaluated(access, falls_after).findings.sentences.join("\n")
    }

    /// Guards against silence: the reference stays in the file cache, and once the storage has
    /// fallen only new points were measured.
    #[test]
    fn storage_that_becomes_slower_for_good_is_told_however_it_is_accessed() {
        for access in [Access::Buffered, Access::Direct] {
            for falls_after in [40, 60] {
                let fallen = said(access, falls_after);
                assert!(fallen.contains("Storage became 3"), "{access:?} {falls_after} {fallen}");
                assert!(fallen.contains(" times slower between "), "{fallen}");
            }
            let steady = said(access, usize::MAX);
            assert!(!steady.contains("became"), "{steady}");
        }
    }

    /// Guards against two defects: where only small sets were measured again the fall was not told
    /// at all, and all runs between two checks of a large one were left out.
    #[test]
    fn references_without_a_cache_tell_that_storage_fell_and_when() {
        for falls_after in [56, 65, 76, 90, 110] {
            let fallen = evaluated(Access::Direct, falls_after);
            let told = told(&fallen).unwrap();
            let side = if falls_after < 100 { "after" } else { "before" };
            let which = format!("so only runs from {side} it count");
            assert!(told.contains(&which), "{falls_after}: {told}");
            let sides = found(&fallen.probes).unwrap().sides(&fallen.probes);
            let [before, after] = sides.map(|side| side.len());
            assert!((falls_after - 10..=falls_after).contains(&before), "{falls_after}: {before}");
            assert!(before + after + 10 > fallen.probes.len(), "{falls_after}: {after} after");
        }
    }

    /// Guards against a false border: some sets were measured before the storage fell and some
    /// after.
    #[test]
    fn storage_that_becomes_slower_for_good_has_no_border_by_that() {
        for (access, falls_after) in [
            (Access::Direct, 40),
            (Access::Direct, 56),
            (Access::Direct, 65),
            (Access::Buffered, 25),
            (Access::Buffered, 45),
            (Access::Buffered, 70),
        ] {
            let fallen = evaluated(access, falls_after);
            assert!(told(&fallen).is_some(), "{access:?} {falls_after}");
            let is_of_cache = |b: &Border| access == Access::Buffered && b.low <= CACHE;
            let borders = &fallen.borders;
            assert!(borders.iter().all(is_of_cache), "{access:?} {falls_after}: {borders:?}");
            assert_eq!(judge(&fallen), fallen, "{access:?} {falls_after}");
        }
    }
}
