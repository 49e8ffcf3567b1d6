//! The curves of the other parameters around the focal vector of every region.

use super::axis::Axis;
use super::exploration::{Exploration, Need};
use super::probe::Probe;
use super::rounds;
use super::sweep::{Refine, Sweep};
use crate::judge::evidence::Evidence;
use crate::judge::points::PointId;
use crate::phase::Phase;
use ioscape_schema::{CurveKey, Parameter};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The cost of points with the references between them, relative to that of the points alone.
const WITH_REFERENCES: f64 = 1.1;

/// Measures all curves of all regions.
///
/// The points that findings compare come first, in every region: those of the first region, then
/// those of the last, which tell memory and storage apart, then those between. What is left of the
/// phase's time is shared by the regions in equal parts for finer curves.
pub(crate) fn region_curves<P: Probe>(
    exploration: &mut Exploration<'_, P>,
) -> Result<(), P::Error> {
    exploration.begin(Phase::Curves);
    let mut steady = Vec::new();
    for index in outermost_first(exploration.state.levels.regions.len()) {
        if first_points(exploration, index)? {
            steady.push(index);
        }
    }
    steady.sort_unstable();
    for (at, &index) in steady.iter().enumerate() {
        exploration.begin_part(steady.len() - at);
        finer(exploration, &sweeps(exploration, index))?;
    }
    Ok(())
}

/// The order in which regions have their first points.
fn outermost_first(count: usize) -> Vec<usize> {
    let last = count.saturating_sub(1);
    (0..count.min(1)).chain((last > 0).then_some(last)).chain(1..last.max(1)).collect()
}

/// Measures the ends and focal points of a region's curves; returns whether its set was steady.
fn first_points<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    index: usize,
) -> Result<bool, P::Error> {
    let mut sweeps = sweeps(exploration, index);
    if is_filling(exploration, &sweeps)? {
        let what = format!("the other parameters in region {}", index + 1);
        let reason = "the file cache was still filling while its set was measured, so comparisons would show only that; give a longer --budget";
        exploration.leave_out(&what, reason);
        return Ok(false);
    }
    // The most processes may take the longest by far, as each of them waits for storage: they come
    // even after writes.
    sweeps.sort_by_key(|sweep| match sweep.axis.parameter {
        Parameter::SeqFrac => 0,
        Parameter::ProcessNum => 2,
        _ => 1,
    });
    for sweep in &sweeps {
        exploration.sweep_grid(sweep, &grid(sweep))?;
        beside_first(exploration, sweep)?;
        if sweep.axis.parameter == Parameter::SeqFrac && index > 0 {
            by_others(exploration, &sweeps)?;
        }
    }
    Ok(true)
}

/// Measures two processes, or two requests at a time, where the more there are the slower they seem:
/// the best number may be one that the grid left out.
fn beside_first<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    sweep: &Sweep,
) -> Result<(), P::Error> {
    if !matches!(sweep.axis.parameter, Parameter::ProcessNum | Parameter::QueueDepth) {
        return Ok(());
    }
    let points = exploration.state.evidence.throughputs(sweep.key);
    let Some((first, others)) = points.split_first().filter(|(_, others)| !others.is_empty())
    else {
        return Ok(());
    };
    let beside = sweep.axis.round(first.0 + 1.0);
    let falls = others.iter().all(|other| other.0 > beside && other.1 < first.1);
    if falls { exploration.sweep_grid(sweep, &[beside]) } else { Ok(()) }
}

/// Resolves the bends of a region's curves, measures what findings compare a second time, and fills
/// the curves.
fn finer<P: Probe>(exploration: &mut Exploration<'_, P>, sweeps: &[Sweep]) -> Result<(), P::Error> {
    sweeps.iter().try_for_each(|sweep| exploration.sweep_refine(sweep))?;
    // The search over all parameters was asked for and needs the time; the curves are completed
    // after it.
    if exploration.options.all_parameters {
        return Ok(());
    }
    // Repeating doubtful points comes before new ones.
    let ids = exploration.state.evidence.result_points();
    rounds::repair(exploration, &ids, Need::Ordinary)?;
    ends_again(exploration, sweeps)?;
    sweeps.iter().try_for_each(|sweep| exploration.sweep_fill(sweep))
}

/// Keeps time for the first points of the curves of all regions known so far, which no set may
/// take, however much it matters.
pub(crate) fn keep_time<P: Probe>(exploration: &mut Exploration<'_, P>) {
    let of = |index: usize| -> f64 {
        let sweeps = sweeps(exploration, index);
        let Some(first) = sweeps.first() else { return 0.0 };
        let others: usize = sweeps.iter().map(|sweep| grid(sweep).len() - 1).sum();
        WITH_REFERENCES * (1 + others) as f64 * exploration.similar_cost_s(&first.template)
    };
    let needed_s: Vec<f64> = (0..exploration.state.levels.regions.len()).map(of).collect();
    let budget_s = exploration.options.budget_s;
    exploration.allotment.keep_for_curves(&needed_s, budget_s);
}

/// Measures one point with another number of processes. Memory does not tell how many requests
/// storage serves at once, least of all how many writes, and the time may end before the ends of
/// this curve.
fn by_others<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    sweeps: &[Sweep],
) -> Result<(), P::Error> {
    let by_others = sweeps.iter().find(|sweep| sweep.axis.parameter == Parameter::ProcessNum);
    let Some(sweep) = by_others else { return Ok(()) };
    let Axis { low, high, .. } = sweep.axis;
    let several = sweep.axis.between(low, high).unwrap_or(high);
    let is_one = f64::from(sweep.template.process_num) == low;
    exploration.sweep_grid(sweep, &[if is_one { several } else { low }])
}

/// Measures the focal point of a region, which is on all its curves, and returns whether its set
/// was still coming into the file cache.
fn is_filling<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    sweeps: &[Sweep],
) -> Result<bool, P::Error> {
    let Some(first) = sweeps.first() else { return Ok(false) };
    let focal = &first.template;
    let point = exploration.point(&first.key.into(), focal, Need::Essential)?;
    let Some(id) = point.filter(|&id| exploration.is_filling(id)) else { return Ok(false) };
    for sweep in sweeps {
        exploration.state.evidence.put(sweep.key, focal.get(sweep.axis.parameter), id);
    }
    Ok(true)
}

/// The points that findings compare and that were measured only once, so that they may have been
/// disturbed: the ends of the curves, and the best of several processes and of a deeper queue.
/// Those of the later regions come first: runs on storage scatter more than those in memory, so a
/// second one tells more there.
fn measured_once(evidence: &Evidence, sweeps: &[Sweep]) -> Vec<PointId> {
    let mut ids: Vec<PointId> = Vec::new();
    let mut sweeps: Vec<&Sweep> = sweeps.iter().collect();
    sweeps.sort_by_key(|sweep| Reverse(sweep.template.unique_bytes));
    for sweep in sweeps {
        let curve = evidence.ids(sweep.key);
        let best = match sweep.axis.parameter {
            Parameter::ProcessNum | Parameter::QueueDepth => {
                rounds::fastest_of_several(evidence, &curve)
            }
            _ => None,
        };
        ids.extend([curve.first().copied(), curve.last().copied(), best].into_iter().flatten());
    }
    let mut seen = BTreeSet::new();
    ids.retain(|&id| evidence.points.round_count(id) == 1 && seen.insert(id));
    ids
}

/// Measures a second time the points that findings compare.
fn ends_again<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    sweeps: &[Sweep],
) -> Result<(), P::Error> {
    for id in measured_once(&exploration.state.evidence, sweeps) {
        // Where one does not fit into the time, others may.
        exploration.again(id, Need::Ordinary)?;
    }
    Ok(())
}

/// Measures the points that findings compare once more, in all regions, and then fills the curves
/// that are short of points.
///
/// It takes the time of the current phase. Where that ends too soon for the points off the curves
/// to come after all of this, it takes as much as it needs of the budget that is left.
pub(crate) fn complete<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    let mut steady: Vec<Sweep> = Vec::new();
    for index in 0..exploration.state.levels.regions.len() {
        let mut begun = sweeps(exploration, index);
        begun.retain(|sweep| !exploration.state.evidence.ids(sweep.key).is_empty());
        if !is_filling(exploration, &begun)? {
            steady.extend(begun);
        }
    }
    let [again_s, fill_s] = needed_s(exploration, &steady);
    let left_s = exploration.left_s();
    // A longer evaluation has time for repeated rounds in the end as well.
    let is_short = exploration.allotment.is_short();
    let takes_s = if is_short { again_s + fill_s } else { fill_s };
    let has_time = fill_s > 0.0 && takes_s <= left_s;
    if has_time {
        exploration.end_part_before(fill_s);
    }
    ends_again(exploration, &steady)?;
    if has_time {
        exploration.end_part_before(0.0);
    }
    steady.iter().try_for_each(|sweep| exploration.sweep_fill(sweep))?;
    exploration.begin_part(1);
    Ok(())
}

/// The seconds expected for measuring once more the points that findings compare, and for filling
/// the curves.
fn needed_s<P: Probe>(exploration: &Exploration<'_, P>, sweeps: &[Sweep]) -> [f64; 2] {
    let once = measured_once(&exploration.state.evidence, sweeps);
    let again_s: f64 = once.into_iter().map(|id| exploration.cost_s(id)).sum();
    let fill_s = |sweep: &Sweep| {
        let each_s = exploration.similar_cost_s(&sweep.template);
        exploration.short_of(sweep) as f64 * each_s
    };
    let fill_s: f64 = sweeps.iter().map(fill_s).sum();
    [again_s, fill_s].map(|points_s| WITH_REFERENCES * points_s)
}

/// Number of regions whose curves were not begun.
pub(crate) fn missing<P: Probe>(exploration: &Exploration<'_, P>) -> usize {
    let state = &exploration.state;
    state.evidence.without_curves(state.levels.regions.len())
}

fn sweeps<P: Probe>(exploration: &Exploration<'_, P>, index: usize) -> Vec<Sweep> {
    let focal = &exploration.state.levels.regions[index].focal;
    let sweep = |parameter| Sweep {
        key: CurveKey::Region { region: index, parameter },
        axis: Axis::new(&exploration.options, parameter, focal.unique_bytes),
        template: focal.clone(),
        refine: Refine::Bends,
        points: exploration.allotment.curve_points,
        grid_need: Need::Essential,
    };
    let mut order = exploration.options.region_parameters();
    // Writes come last: they change the state of the file cache.
    order.sort_by_key(|parameter| *parameter == Parameter::ReadFrac);
    order.into_iter().map(sweep).collect()
}

/// Focal point and both ends.
fn grid(sweep: &Sweep) -> Vec<f64> {
    let axis = &sweep.axis;
    let mut grid = vec![sweep.template.get(axis.parameter), axis.low, axis.high];
    if axis.parameter == Parameter::QueueDepth {
        // Throughput rises with the depth until it saturates: the bend may be anywhere between.
        grid.extend(axis.steps(4.0));
    }
    if sweep.template.process_num == 1 && axis.parameter == Parameter::ProcessNum {
        // The focal point is an end here, and a curve needs a middle.
        grid.extend(axis.between(axis.low, axis.high));
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::EvaluationOptions;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::probe::ProbeRequest;
    use crate::evaluate::testing::Scripted;
    use crate::judge::levels::RegionState;
    use crate::testing::measurement;
    use ioscape_schema::{Measurement, Purpose, Workload};
    use std::convert::Infallible;

    /// A machine of one speed, on which a point costs as many seconds as the function returns.
    struct Priced(fn(&ProbeRequest) -> f64);

    impl Probe for Priced {
        type Error = Infallible;

        fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Infallible> {
            Ok(measurement(&request.workload, 1e8, (self.0)(request), 1e8))
        }
    }

    /// An evaluation before the curves of its only region are begun.
    fn with_region<P: Probe>(budget_s: f64, probe: &mut P) -> Exploration<'_, P> {
        let options = EvaluationOptions { budget_s, ..ten_minutes() };
        let mut exploration = Exploration::new(&options, probe);
        let range = options.bounds.unique_bytes.map(|bytes| bytes as f64);
        let focal = options.nominal(64 << 20);
        exploration.state.levels.regions = vec![RegionState { range, focal }];
        exploration
    }

    /// The same once the curves have their first points.
    fn begun<P: Probe<Error = Infallible>>(budget_s: f64, probe: &mut P) -> Exploration<'_, P> {
        let mut exploration = with_region(budget_s, probe);
        exploration.begin(Phase::Curves);
        for sweep in sweeps(&exploration, 0) {
            exploration.sweep_grid(&sweep, &grid(&sweep)).unwrap();
        }
        exploration
    }

    /// Measures a point again until at most `left_s` seconds are left.
    fn spend<P: Probe<Error = Infallible>>(
        exploration: &mut Exploration<'_, P>,
        id: PointId,
        left_s: f64,
    ) {
        exploration.begin(Phase::Rounds);
        while exploration.left_s() > left_s {
            assert!(exploration.again(id, Need::Essential).unwrap());
        }
    }

    /// The number of points on each curve of the region.
    fn lengths<P: Probe>(exploration: &Exploration<'_, P>) -> Vec<usize> {
        let all = sweeps(exploration, 0);
        all.iter().map(|sweep| exploration.state.evidence.ids(sweep.key).len()).collect()
    }

    /// Guards against findings that rest on single rounds because the time went into points that no
    /// finding uses.
    #[test]
    fn what_findings_compare_has_a_second_round_before_curves_are_filled() {
        let mut probe = Scripted { cost_s: 0.5, fill_s: 0.0 };
        let mut exploration = begun(55.0, &mut probe);
        exploration.begin(Phase::Interactions);
        let before = exploration.so_far().probes.len();
        complete(&mut exploration).unwrap();
        let asked = exploration.so_far().probes[before..].iter();
        let points = asked.filter(|probe| matches!(probe.purpose.first(), Purpose::Curve(_)));
        let rounds: Vec<usize> = points.map(|probe| probe.purpose.round()).collect();
        // Two ends of each curve, and the best of several processes; the focal point is one of
        // these ends.
        let (again, filled) = rounds.split_at(9);
        assert!(again.iter().all(|round| *round == 2), "{rounds:?}");
        assert!(filled.len() > 4 && filled.iter().all(|round| *round == 1), "{rounds:?}");
    }

    /// Guards against the phase's share, 13 of 16 s, ending before the last curve had its points.
    #[test]
    fn second_rounds_leave_no_curve_short_of_points_where_there_is_time_for_both() {
        let mut probe = Scripted { cost_s: 0.5, fill_s: 0.0 };
        let mut exploration = begun(55.0, &mut probe);
        let all = sweeps(&exploration, 0);
        let first = exploration.state.evidence.ids(all[0].key)[0];
        spend(&mut exploration, first, 16.2);
        exploration.begin(Phase::Interactions);
        complete(&mut exploration).unwrap();
        assert!(measured_once(&exploration.state.evidence, &all).is_empty());
        assert_eq!(lengths(&exploration), [7; 4]);
    }

    #[test]
    fn a_longer_evaluation_fills_its_curves_before_all_is_measured_again() {
        let mut probe = Priced(|request| match request.purpose {
            Purpose::Reference => 0.01,
            _ => 0.5,
        });
        let mut exploration = begun(150.0, &mut probe);
        let all = sweeps(&exploration, 0);
        let first = exploration.state.evidence.ids(all[0].key)[0];
        spend(&mut exploration, first, 12.2);
        exploration.begin(Phase::Interactions);
        let before = measured_once(&exploration.state.evidence, &all).len();
        complete(&mut exploration).unwrap();
        assert_eq!(lengths(&exploration), [7; 4]);
        let once = measured_once(&exploration.state.evidence, &all).len();
        assert!(0 < once && once < before, "{once} of {before}");
    }

    #[test]
    fn where_one_end_does_not_fit_into_the_time_others_are_measured_again() {
        let mut probe = Priced(|request| match request.workload.size_mean {
            1_048_576 => 20.0,
            _ => 0.5,
        });
        let mut exploration = begun(55.0, &mut probe);
        let all = sweeps(&exploration, 0);
        let of_sizes = exploration.state.evidence.ids(all[0].key);
        let [_, focal, dear] = of_sizes[..] else { panic!("{of_sizes:?}") };
        spend(&mut exploration, focal, 20.0);
        exploration.begin(Phase::Interactions);
        ends_again(&mut exploration, &all).unwrap();
        assert_eq!(measured_once(&exploration.state.evidence, &all), [dear]);
    }

    /// Guards against calling one process the fastest where two are, which were not measured.
    #[test]
    fn where_more_processes_seem_slower_two_are_measured_before_the_curves_are_finer() {
        /// Throughput by the number of processes.
        struct Peak(fn(u32) -> f64);
        impl Probe for Peak {
            type Error = Infallible;

            fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Infallible> {
                let speed = (self.0)(request.workload.process_num);
                Ok(measurement(&request.workload, speed, 0.5, speed))
            }
        }
        let counts = |speed: fn(u32) -> f64| {
            let mut probe = Peak(speed);
            let mut exploration = with_region(55.0, &mut probe);
            exploration.begin(Phase::Curves);
            first_points(&mut exploration, 0).unwrap();
            let all = sweeps(&exploration, 0);
            let is_by = |sweep: &&Sweep| sweep.axis.parameter == Parameter::ProcessNum;
            let key = all.iter().find(is_by).unwrap().key;
            let points = exploration.state.evidence.throughputs(key);
            points.into_iter().map(|point| point.0).collect::<Vec<f64>>()
        };
        let peak = |count| if count == 2 { 1.66e8 } else { 1e8 / f64::from(count).sqrt() };
        assert_eq!(counts(peak), [1.0, 2.0, 4.0, 16.0]);
        assert_eq!(counts(|count| 1e8 * f64::from(count)), [1.0, 4.0, 16.0]);
    }

    /// Guards against saying nothing of sequential requests on storage, and taking the speed of many
    /// writers there from those in memory, where the time ends before the last region's curves.
    #[test]
    fn the_last_region_has_its_first_points_before_those_between() {
        let mut probe = Scripted { cost_s: 0.5, fill_s: 0.0 };
        let mut exploration = with_region(55.0, &mut probe);
        let [first, between, last] = [64, 256, 512].map(|mib| {
            let focal = exploration.options.nominal(mib << 20);
            RegionState { focal, ..exploration.state.levels.regions[0].clone() }
        });
        exploration.state.levels.regions = vec![first, between, last];
        region_curves(&mut exploration).unwrap();
        let asked = &exploration.so_far().probes;
        let first_with = |mib: u64, is_it: fn(&Workload) -> bool| {
            let is_it = |one: &Workload| one.unique_bytes == mib << 20 && is_it(one);
            asked.iter().position(|probe| is_it(&probe.measurement.workload)).expect("measured")
        };
        let first = first_with(64, |one| one.read_frac == 0.0);
        let sequential = first_with(512, |one| one.seq_frac == 1.0);
        let by_several = first_with(512, |one| one.process_num > 1);
        let between = first_with(256, |_| true);
        let order = [first, sequential, by_several, between];
        assert!(order.is_sorted(), "{order:?}");
    }

    /// Guards against measuring its focal point and one among mostly reads, which then stood alone.
    #[test]
    fn a_region_without_curves_gets_no_stray_points() {
        let mut probe = Scripted { cost_s: 0.5, fill_s: 0.0 };
        let mut exploration = with_region(55.0, &mut probe);
        exploration.begin(Phase::Interactions);
        complete(&mut exploration).unwrap();
        assert!(exploration.so_far().probes.is_empty());
    }
}
