//! The three `unique_bytes` curves, their borders, and the regions between these.

use super::allotment::{END_SHARE, WHOLE_GRID};
use super::axis::Axis;
use super::exploration::{Exploration, Need};
use super::probe::Probe;
use super::sweep::{Refine, Sweep, next_even};
use super::{confirm, fills, region_curves, rounds};
use crate::judge::levels::{
    Judged, Levels, RegionState, Telling, judged, reconsider, settle as settle_levels,
};
use crate::judge::regions::focal_unique_bytes;
use crate::phase::Phase;
use ioscape_schema::{
    Advice, BorderOperation, CurveKey, Evaluation, LevelCount, Parameter, Workload,
};

/// The curves in the order they are measured, unless time is short.
const CURVES: [(Phase, BorderOperation); 3] = [
    (Phase::Mixed, BorderOperation::Mixed),
    (Phase::Read, BorderOperation::Read),
    (Phase::Write, BorderOperation::Write),
];
/// The same where the pilot slowed down in its largest set: no other measurement shows as much.
const SLOWED_END_SHARE: f64 = 0.15;
/// The pilot slowed down if its largest set is this factor slower than the one before.
const SLOWED: f64 = 2.0;
/// Change of log throughput between neighbours of the pilot below which it was flat.
const FLAT: f64 = 0.1;
/// How often in a row, at most, the number of levels is judged and a few measurements are made to
/// decide it; and how often before the regions' curves where it is already decided and could only
/// become surer, because the curves are then more urgent.
const DECISIONS_MOST: usize = 12;
const SURER_MOST: usize = 4;
/// Share of the budget left after the regions' curves that deciding the number of levels may take.
const DECISIONS_SHARE: f64 = 0.6;

/// Measures all three curves with the focal mix and finds borders and regions.
pub(crate) fn set_sizes<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    focal: &Workload,
) -> Result<(), P::Error> {
    if exploration.allotment.is_short() {
        // Only pure reads and pure writes tell levels apart; the pilot shows their mix coarsely.
        CURVES[1..].iter().try_for_each(|&of| curve(exploration, focal, of))?;
        complete(exploration, focal)?;
        curve(exploration, focal, CURVES[0])?;
    } else {
        CURVES.iter().try_for_each(|&of| curve(exploration, focal, of))?;
        complete(exploration, focal)?;
    }
    fills::settle(exploration)?;
    if fills::take_long(exploration) {
        // The decisive sets are among those that take long to come in, each as long as it took
        // once.
        let end_s = exploration.spent_s() + fills::left_s(exploration);
        settle(exploration, focal);
        decide(exploration, Need::Essential, SURER_MOST, end_s)?;
    }
    // Measuring a region that a passing disturbance made would be wasted: part of the time for the
    // regions' curves is well spent on confirming the regions themselves.
    exploration.begin(Phase::Curves);
    exploration.begin_part(exploration.allotment.region_parts);
    let ids = exploration.state.evidence.result_points();
    // The disturbance that used up all rounds of a curve may be over.
    rounds::repair_late(exploration, &ids, Need::Ordinary, 1)?;
    settle(exploration, focal);
    let judged = decide(exploration, Need::Ordinary, SURER_MOST, f64::INFINITY)?;
    settle_at(exploration, focal, judged);
    rounds::show_borders(exploration, Need::Ordinary)
}

/// Measures one curve with the focal mix, and finds its borders.
fn curve<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    focal: &Workload,
    (phase, operation): (Phase, BorderOperation),
) -> Result<(), P::Error> {
    exploration.begin(phase);
    let key = CurveKey::UniqueBytes(operation);
    let axis = Axis::new(&exploration.options, Parameter::UniqueBytes, 0)
        .from(4.0 * focal.size_mean as f64);
    let sweep = Sweep {
        key,
        axis,
        template: template(focal, operation),
        refine: Refine::Cliffs,
        points: exploration.allotment.points(phase),
        grid_need: Need::Ordinary,
    };
    let grid = grid(exploration, &axis, operation, sweep.points);
    let is_pure = operation != BorderOperation::Mixed;
    if is_pure {
        let largest = sweep.template.clone().with(Parameter::UniqueBytes, axis.high);
        fills::end(exploration, key, &largest)?;
    }
    let is_last = exploration.allotment.is_short() && !is_pure;
    let is_slowed = is_slowed_at_last(&exploration.state.evidence.throughputs(CurveKey::Pilot));
    if is_pure || (is_slowed && !is_last) {
        // However long the previous curve took, this one needs its ends: without them it says
        // nothing about the largest sets.
        let share = if is_slowed { SLOWED_END_SHARE } else { END_SHARE };
        let most_s = share * exploration.options.budget_s;
        let cost_s = |set| {
            let workload = sweep.template.clone().with(Parameter::UniqueBytes, set);
            exploration.similar_cost_s(&workload)
        };
        let is_end = |&set: &f64| (set == axis.low || set == axis.high) && cost_s(set) <= most_s;
        let ends: Vec<f64> = grid.iter().copied().filter(is_end).collect();
        exploration.sweep_grid(&Sweep { grid_need: Need::Essential, ..sweep.clone() }, &ends)?;
    }
    exploration.sweep(&sweep, &grid)?;
    if !is_last {
        confirm::borders(exploration, &sweep, operation)?;
    }
    settle(exploration, focal);
    region_curves::keep_time(exploration);
    Ok(())
}

/// Whether the pilot's last point is much slower than the one before it.
fn is_slowed_at_last(pilot: &[(f64, f64)]) -> bool {
    matches!(pilot, [.., before, last] if before.1 > SLOWED * last.1)
}

/// Measures the points that the curves of reads and of writes lack before the number of regions can
/// be stated, unless they cost too much.
fn complete<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    focal: &Workload,
) -> Result<(), P::Error> {
    let axis = Axis::new(&exploration.options, Parameter::UniqueBytes, 0)
        .from(4.0 * focal.size_mean as f64);
    let most_s = END_SHARE * exploration.options.budget_s;
    for (phase, operation) in CURVES.into_iter().filter(|c| c.1 != BorderOperation::Mixed) {
        exploration.begin(phase);
        let key = CurveKey::UniqueBytes(operation);
        while exploration.state.evidence.ids(key).len() < Evaluation::CURVE_LEAST {
            let points = exploration.state.evidence.throughputs(key);
            let Some(value) = next_even(&axis, &points) else { break };
            let workload = template(focal, operation).with(Parameter::UniqueBytes, value);
            let usual_s = exploration.similar_cost_s(&workload);
            if usual_s > most_s {
                break;
            }
            let fill_s = fills::needed_s(exploration, value);
            let fill_s = if usual_s + fill_s > most_s { 0.0 } else { fill_s };
            let point =
                exploration.point_filled(&key.into(), &workload, Need::Essential, fill_s)?;
            let Some(id) = point else { break };
            exploration.state.evidence.put(key, value, id);
        }
    }
    Ok(())
}

/// Measures the points that would decide the number of levels, as long as it is in doubt and until
/// `end_s` seconds are spent; `surer_most` times in a row where it is already decided.
fn decide<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    need: Need,
    surer_most: usize,
    end_s: f64,
) -> Result<Judged, P::Error> {
    let (range, asks) = (exploration.unique_bytes_range(), exploration.options.level_counts);
    for time in 0..DECISIONS_MOST {
        let found = judged(&exploration.state.evidence, range, asks);
        let is_told = found.counts.first().is_some_and(|c| c.probability >= LevelCount::SURE);
        if is_told && time >= surer_most {
            return Ok(found);
        }
        let before = exploration.spent_s();
        for &measurement in &found.telling {
            if exploration.spent_s() >= end_s || !tell(exploration, measurement, need)? {
                break;
            }
        }
        if exploration.spent_s() == before {
            return Ok(found);
        }
    }
    Ok(judged(&exploration.state.evidence, range, asks))
}

/// Measures once more the points that would decide the number of levels, and updates the regions.
pub(crate) fn decide_again<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    let end_s = exploration.spent_s() + DECISIONS_SHARE * exploration.left_s();
    let judged = decide(exploration, Need::Essential, DECISIONS_MOST, end_s)?;
    settle_levels(&mut exploration.state.evidence, &mut exploration.state.levels, judged);
    Ok(())
}

/// Makes one such measurement; `false` when there is no time for it.
fn tell<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    next: Telling,
    need: Need,
) -> Result<bool, P::Error> {
    let Telling { operation, unique_bytes } = next;
    let key = CurveKey::UniqueBytes(operation);
    let curve = exploration.state.evidence.throughputs(key);
    let near = |&(value, _): &(f64, f64)| (value / unique_bytes - 1.0).abs() < 1e-6;
    if let Some(at) = curve.iter().position(near) {
        let id = exploration.state.evidence.ids(key)[at];
        return match exploration.is_filling(id) {
            true => exploration.again_filled(id, need, fills::needed_s(exploration, unique_bytes)),
            false => exploration.again(id, need),
        };
    }
    let Some(first) = exploration.state.levels.regions.first() else { return Ok(false) };
    let axis = Axis::new(&exploration.options, Parameter::UniqueBytes, 0);
    let value = axis.round(unique_bytes);
    let workload = template(&first.focal, operation).with(Parameter::UniqueBytes, value);
    let fill_s = fills::needed_s(exploration, value);
    let point = exploration.point_filled(&key.into(), &workload, need, fill_s)?;
    let Some(id) = point else { return Ok(false) };
    exploration.state.evidence.put(key, value, id);
    Ok(true)
}

/// The workload of a curve. Read-ahead would only confuse the search for a cache size, since it
/// fills the cache with pages that were not requested. So the requests are random, and the kernel
/// is advised so.
fn template(focal: &Workload, operation: BorderOperation) -> Workload {
    let pure =
        |read_frac| Workload { read_frac, seq_frac: 0.0, advice: Advice::Random, ..focal.clone() };
    match operation {
        BorderOperation::Mixed => Workload { read_frac: 0.5, ..focal.clone() },
        BorderOperation::Read => pure(1.0),
        BorderOperation::Write => pure(0.0),
    }
}

/// The first values of a curve: the pilot's points for the mixed curve; both ends and the borders
/// known so far for the others.
fn grid<P: Probe>(
    exploration: &Exploration<'_, P>,
    axis: &Axis,
    operation: BorderOperation,
    points: usize,
) -> Vec<f64> {
    let mut values = if operation == BorderOperation::Mixed {
        let pilot = exploration.state.evidence.throughputs(CurveKey::Pilot);
        let changes = |a: usize, b: usize| (pilot[a].1 / pilot[b].1).ln().abs() > FLAT;
        let tells = |&i: &usize| {
            points >= WHOLE_GRID
                || (i > 0 && changes(i - 1, i))
                || (i + 1 < pilot.len() && changes(i, i + 1))
        };
        (0..pilot.len()).filter(tells).map(|i| pilot[i].0).collect()
    } else {
        let known = exploration.state.levels.borders.iter().flat_map(|b| b.gap);
        let coarse = axis.grid(points / 4);
        known.chain(coarse).collect::<Vec<f64>>()
    };
    values.extend([axis.low, axis.high]);
    values.retain(|v| (axis.low..=axis.high).contains(v));
    values.sort_by(f64::total_cmp);
    values.dedup();
    // A coarse point right next to a known border adds nothing.
    let mut kept: Vec<f64> = Vec::new();
    for value in values {
        let is_end = value == axis.high;
        match kept.last() {
            Some(&last) if value < last * 1.01 && !is_end => {}
            _ => kept.push(value),
        }
    }
    // The ends come first: where time is short, a curve without its far end shows least.
    if let Some((_, rest)) = kept.split_first_mut().filter(|(_, rest)| !rest.is_empty()) {
        rest.rotate_right(1);
    }
    kept
}

fn settle<P: Probe>(exploration: &mut Exploration<'_, P>, focal: &Workload) {
    let by_rules = judged(&exploration.state.evidence, exploration.unique_bytes_range(), false);
    settle_at(exploration, focal, by_rules);
}

fn settle_at<P: Probe>(exploration: &mut Exploration<'_, P>, focal: &Workload, judged: Judged) {
    let Judged { borders, ranges, counts, .. } = judged;
    let axis = Axis::new(&exploration.options, Parameter::UniqueBytes, 0)
        .from(4.0 * focal.size_mean as f64);
    let state = |index: usize| {
        let unique_bytes = axis.round(focal_unique_bytes(&ranges, index)) as u64;
        RegionState { range: ranges[index], focal: Workload { unique_bytes, ..focal.clone() } }
    };
    let regions = (0..ranges.len()).map(state).collect();
    exploration.state.levels = Levels { borders, regions, counts };
}

/// Updates the borders; the regions keep their focal vectors. Returns the number of regions that
/// turned up only now.
pub(crate) fn settle_again<P: Probe>(exploration: &mut Exploration<'_, P>) -> usize {
    let (range, asks) = (exploration.unique_bytes_range(), exploration.options.level_counts);
    reconsider(&mut exploration.state.evidence, &mut exploration.state.levels, range, asks)
}

/// The same when an evaluation ends early; does nothing before the first set-size curve, from which
/// regions come.
pub(crate) fn settle_early<P: Probe>(exploration: &mut Exploration<'_, P>) {
    if !exploration.state.levels.regions.is_empty() {
        settle_again(exploration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::explore;
    use crate::evaluate::options::EvaluationOptions;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::testing::Scripted;

    /// Guards against evaluations of one minute on a slow disk that told no cache: the mix of reads
    /// and writes and its repetitions took the time of the pure curves.
    #[test]
    fn pure_reads_and_writes_come_before_their_mix_where_time_is_short() {
        let order = |budget_s| {
            let options = EvaluationOptions { budget_s, ..ten_minutes() };
            let evaluation = explore(&options, &mut Scripted { cost_s: 1.0, fill_s: 0.0 });
            let probes = evaluation.unwrap().probes;
            let first = |of| {
                let purpose = CurveKey::UniqueBytes(of).into();
                probes.iter().position(|probe| probe.purpose == purpose).unwrap_or(usize::MAX)
            };
            CURVES.map(|(_, operation)| first(operation))
        };
        let [mixed, read, write] = order(60.0);
        assert!(read < write && write < mixed, "{read} {write} {mixed}");
        let [mixed, read, write] = order(600.0);
        assert!(mixed < read && read < write, "{mixed} {read} {write}");
    }
}
