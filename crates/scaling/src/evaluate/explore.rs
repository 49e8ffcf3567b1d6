//! The evaluation itself: phase after phase, from the pilot to repeated rounds.

use super::exploration::{Exploration, Need};
use super::options::EvaluationOptions;
use super::probe::{Interrupted, Probe, TimeLimits};
use super::pure_mixes::pure_mixes;
use super::storage_reads::storage_reads;
use super::{all_parameters, pilot, region_curves, rounds, set_sizes};
use crate::judge::borders::SetBorder;
use crate::judge::document::found_late;
use crate::model::next_points;
use crate::phase::Phase;
use ioscape_schema::units::Nanos;
use ioscape_schema::{Access, BorderOperation, Engine, Evaluation, Purpose, Workload};

/// The largest set for a flush, in bytes: it shows the cost of a flush on any disk that is slower
/// than memory.
const FLUSH_SET_MOST: f64 = 256.0 * 1_048_576.0;

/// Evaluates whatever is behind `probe` (self-scaling paper, sections 6 to 8).
///
/// The course depends on the options and the probe's answers alone, and time is the sum of their
/// `cost_s` and `deciding_s`. So an interrupted evaluation continues with
/// [`RecordedProbe`](crate::evaluate::RecordedProbe). At most `budget_s` and one point are spent.
/// The caller fills in `target` and `settings` of the result.
///
/// # Errors
/// The probe's error, with everything that was measured before it.
pub fn explore<P: Probe>(
    options: &EvaluationOptions,
    probe: &mut P,
) -> Result<Evaluation, Interrupted<P::Error>> {
    let mut exploration = Exploration::new(options, probe);
    match phases(&mut exploration) {
        Ok(()) => Ok(exploration.into_evaluation()),
        Err(error) => {
            // The partial result is judged as at the end: between two curves, the state still holds
            // the borders of the quick rules.
            set_sizes::settle_early(&mut exploration);
            Err(Interrupted { error, partial: Box::new(exploration.into_evaluation()) })
        }
    }
}

fn phases<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    pilot::pilot(exploration)?;
    let focal = pilot::focal(exploration)?;
    set_sizes::set_sizes(exploration, &focal)?;
    // What no curve shows comes first: the curves can do with fewer points.
    extras(exploration)?;
    let (reads, name) = (storage_reads(exploration), "pure reads of storage");
    exploration.off_curves(name, reads, Need::Essential)?;
    let (pure, name) = (pure_mixes(exploration), "pure reads and pure writes by other processes");
    exploration.off_curves(name, pure, Need::Essential)?;
    region_curves::region_curves(exploration)?;
    if exploration.options.all_parameters {
        all_parameters::all_parameters(exploration, &focal)?;
    }
    interactions(exploration)?;
    exploration.begin(Phase::Rounds);
    let ids = exploration.state.evidence.result_points();
    rounds::repair(exploration, &ids, Need::Essential)?;
    set_sizes::decide_again(exploration)?;
    // A region found only now has no curves yet.
    if region_curves::missing(exploration) > 0 {
        region_curves::region_curves(exploration)?;
    }
    exploration.begin(Phase::Rounds);
    rounds::finish(exploration)?;
    // Other regions without curves were known before; the reason was noted where they were left
    // out.
    let late = set_sizes::settle_again(exploration);
    if late > 0 {
        exploration.shorten(Phase::Rounds, found_late(late));
    }
    Ok(())
}

/// Measures points off the curves, once the curves have their share of points, where the model that
/// will predict from this evaluation is least sure (self-scaling paper, future work: "feeding back
/// information from predicted performance into which focal points are chosen").
fn interactions<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    exploration.begin(Phase::Interactions);
    let (bounds, seed) = (exploration.options.bounds, exploration.options.seed);
    let count = exploration.allotment.points(Phase::Interactions);
    if count > 0 {
        region_curves::complete(exploration)?;
        // The number of regions matters more than points off their curves, unless the number of
        // points is limited: then each has its share.
        if exploration.options.points_max.is_none() {
            set_sizes::decide_again(exploration)?;
        }
    }
    let count = count.saturating_sub(exploration.state.evidence.extra.len());
    let workloads = next_points(exploration.so_far(), &bounds, count, seed);
    exploration.off_curves(Phase::Interactions.name(), workloads, Need::Ordinary)
}

/// Probes that a finding needs but no curve: synchronous writes, and writes that go on until a
/// flush.
fn extras<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    exploration.begin(Phase::Findings);
    let Some(first) = exploration.state.levels.regions.first() else { return Ok(()) };
    let writes = Workload { read_frac: 0.0, ..first.focal.clone() };
    if writes.access != Access::Buffered {
        return Ok(());
    }
    if writes.engine != Engine::Mmap {
        let access = Access::Dsync;
        let synchronous = Workload { access, direct_above_bytes: None, ..writes.clone() };
        let limits = exploration.allotment.limits;
        if !exploration.extra(&Purpose::SynchronousWrites, &synchronous, limits)? {
            exploration.skip(Phase::Findings);
        }
    }
    flush(exploration, &writes)
}

/// The set that is written while waiting for a flush, in bytes: half of what the cache holds for
/// writes, but no more than shows the flush. The more there is to write, the more a flush disturbs
/// (Unix I/O paper, section 4.2).
fn flush_set<P: Probe>(exploration: &Exploration<'_, P>, focal: u64) -> u64 {
    let end = exploration.state.levels.regions.first().map_or(0.0, |r| r.range[1]);
    let of_writes = |b: &&SetBorder| b.border.operation == BorderOperation::Write;
    let first =
        exploration.state.levels.borders.iter().find(of_writes).map(|b| b.border.unique_bytes);
    let half = (end.min(first.unwrap_or(end)) / 2.0).min(FLUSH_SET_MOST);
    // Whole MiB, whatever the alignment.
    focal.max((half as u64) >> 20 << 20)
}

fn flush<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    writes: &Workload,
) -> Result<(), P::Error> {
    let Some(limits) = exploration.allotment.flush else {
        if let Some(interval_s) = exploration.options.flush_interval_s {
            let reason = format!(
                "flushing was not observed, because it shows only after {interval_s:.0} s; give a longer --budget"
            );
            exploration.shorten(Phase::Findings, reason);
        }
        return Ok(());
    };
    let TimeLimits { min_s, .. } = limits;
    let writes =
        Workload { unique_bytes: flush_set(exploration, writes.unique_bytes), ..writes.clone() };
    if !exploration.extra(&Purpose::Flush, &writes, limits)? {
        let reason = format!("flushing was not observed: no {min_s:.0} s were left for it");
        exploration.shorten(Phase::Findings, reason);
        return Ok(());
    }
    let run = exploration.so_far().last(&Purpose::Flush);
    let took_s = run.map_or(0.0, |run| run.warm_up_s + run.elapsed_s);
    if let Some(interval_s) = exploration.options.flush_interval_s.filter(|s| took_s < *s) {
        let reason = format!(
            "flushing was not observed: the run ended after {}, before the first flush at {interval_s:.0} s",
            Nanos(1e9 * took_s)
        );
        exploration.shorten(Phase::Findings, reason);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::probe::ProbeRequest;
    use crate::evaluate::testing::Scripted;
    use ioscape_schema::Measurement;
    use std::convert::Infallible;

    /// A slow processor, on which every decision takes as long as a run.
    struct Slow(Scripted);

    impl Probe for Slow {
        type Error = Infallible;

        fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Infallible> {
            Ok(Measurement { deciding_s: Some(0.5), ..self.0.measure(request)? })
        }
    }

    /// Guards against a defect: only the runs counted, and an evaluation of 30 s took 34.
    #[test]
    fn deciding_takes_its_part_of_the_budget() {
        let mut probe = Slow(Scripted { cost_s: 0.5, fill_s: 0.0 });
        let options = EvaluationOptions { budget_s: 60.0, level_counts: false, ..ten_minutes() };
        let found = explore(&options, &mut probe).unwrap();
        assert_eq!(found.elapsed_s, found.probes.len() as f64);
        assert!((40.0..=61.0).contains(&found.elapsed_s), "{} s", found.elapsed_s);
    }
}
