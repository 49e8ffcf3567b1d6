//! Repeated rounds: of doubtful points at once, and of all cheap points with the rest of the
//! budget.

use super::exploration::{Exploration, Need, ROUNDS_MOST, ROUNDS_WANTED};
use super::probe::Probe;
use super::storage_speed;
use crate::judge::any_file::rounds_would_tell;
use crate::judge::evidence::Evidence;
use crate::judge::findings;
use crate::judge::points::PointId;
use crate::judge::slowdown::unsure;
use ioscape_schema::statistics::{median, sort_by_number};
use ioscape_schema::{BorderOperation, CurveKey, Difference, Parameter};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg32;
use std::collections::BTreeSet;

/// A point is cheap if it costs at most this multiple of the median.
const CHEAP: f64 = 1.5;

/// If this many points are all still in doubt after a repetition each, the disturbance lasts: later
/// rounds have a better chance.
const HOPELESS: usize = 3;

/// Rounds that the last phase adds to points still in doubt, however many they have.
const ROUNDS_LATE: usize = 2;

/// Most rounds of a point on which an undecided comparison rests.
const ROUNDS_TELLING: usize = 6;

/// Rounds up to which the sets on both sides of a border are repeated while it is uncertain how
/// much slower the larger one is.
const ROUNDS_BESIDE: usize = 3;

/// Half the confidence interval over the throughput above which a point needs another round.
const UNSURE: f64 = 0.1;

/// Repeats those points among `ids` whose every round is in doubt, interleaved; returns whether
/// that cured one.
///
/// While the machine is off its usual speed, or load on it lasts, only essential points are
/// repeated: repeating would not help now, and later phases return to these points.
pub(crate) fn repair<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    ids: &[PointId],
    need: Need,
) -> Result<bool, P::Error> {
    repair_late(exploration, ids, need, 0)
}

/// Like [`repair`], with at least `more` further rounds for each point, however many it has.
pub(crate) fn repair_late<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    ids: &[PointId],
    need: Need,
    more: usize,
) -> Result<bool, P::Error> {
    let most = rounds_each(exploration, ids, more);
    repair_up_to(exploration, &most, need, need == Need::Ordinary)
}

/// Like [`repair`], for points to which no later phase returns, so that it does not give up.
pub(crate) fn repair_for_good<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    ids: &[PointId],
    need: Need,
) -> Result<bool, P::Error> {
    let most = rounds_each(exploration, ids, 0);
    repair_up_to(exploration, &most, need, false)
}

/// How many rounds each of these points may have: at least `more` beyond those it has.
fn rounds_each<P: Probe>(
    exploration: &Exploration<'_, P>,
    ids: &[PointId],
    more: usize,
) -> Vec<(PointId, usize)> {
    let store = &exploration.state.evidence.points;
    ids.iter().map(|&id| (id, ROUNDS_MOST.max(store.round_count(id) + more))).collect()
}

/// Like [`repair`], for points that may have the given numbers of rounds; if it `gives_up`, only
/// until load turns out to last.
fn repair_up_to<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    most: &[(PointId, usize)],
    need: Need,
    gives_up: bool,
) -> Result<bool, P::Error> {
    let mut has_cured = false;
    if gives_up && load_lasts(exploration)? {
        return Ok(false);
    }
    for round in 1..most.iter().map(|one| one.1).max().unwrap_or(0) {
        if in_doubt(exploration, most, round).is_empty() {
            continue;
        }
        exploration.reference()?;
        if exploration.state.evidence.points.is_off_now() && need == Need::Ordinary {
            break;
        }
        let due = in_doubt(exploration, most, round);
        let is_over = !repeat(exploration, &due, need)?;
        let store = &exploration.state.evidence.points;
        let still = due.iter().filter(|&&id| store.verdict(id).doubtful).count();
        has_cured |= still < due.len();
        exploration.state.load_lasts = !is_over && still == due.len() && still >= HOPELESS;
        if is_over || (gives_up && exploration.state.load_lasts) {
            break;
        }
    }
    Ok(has_cured)
}

/// Whether load that no repetition escaped still disturbs the reference.
fn load_lasts<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<bool, P::Error> {
    if exploration.state.load_lasts {
        exploration.reference()?;
    }
    Ok(exploration.state.load_lasts)
}

/// Those of the points that are in doubt after this many rounds, but may have more.
fn in_doubt<P: Probe>(
    exploration: &Exploration<'_, P>,
    most: &[(PointId, usize)],
    round: usize,
) -> Vec<PointId> {
    let store = &exploration.state.evidence.points;
    let can = |&(id, most): &(PointId, usize)| {
        round < most && store.round_count(id) <= round && store.verdict(id).doubtful
    };
    most.iter().copied().filter(can).map(|one| one.0).collect()
}

/// Measures each of these points again; `false` once there is no time for one of them.
fn repeat<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    ids: &[PointId],
    need: Need,
) -> Result<bool, P::Error> {
    for &id in ids {
        if !exploration.again(id, need)? {
            return Ok(false);
        }
    }
    exploration.reference()?;
    Ok(true)
}

/// Repeats the sets before and beyond the borders of reads and of writes that are undecided because
/// it is uncertain how much slower the larger sets are. A set that was measured once may have been
/// disturbed.
pub(crate) fn show_borders<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    need: Need,
) -> Result<(), P::Error> {
    for round in 2..=ROUNDS_BESIDE {
        for operation in [BorderOperation::Read, BorderOperation::Write] {
            let sets = unsure(exploration.so_far(), operation);
            let curve = exploration.state.evidence.on(CurveKey::UniqueBytes(operation));
            let id_of = |set: f64| curve.iter().find(|p| p.0 == set).map(|p| p.1);
            let ids: Vec<PointId> = sets.into_iter().filter_map(id_of).collect();
            for id in ids {
                let is_due = exploration.state.evidence.points.round_count(id) < round;
                if is_due && !exploration.again(id, need)? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// The ends of the regions' curves, which findings compare.
fn ends_of_curves<P: Probe>(exploration: &Exploration<'_, P>) -> Vec<PointId> {
    let curves = exploration.state.evidence.curves.iter();
    let of_regions = curves.filter(|(key, _)| matches!(key, CurveKey::Region { .. }));
    let ends = of_regions.flat_map(|(_, curve)| [curve.first(), curve.last()]);
    ends.flatten().map(|point| point.1).collect()
}

/// The point with the best throughput of several processes, or of a deeper queue: the best of such
/// a curve without its first point.
pub(crate) fn fastest_of_several(evidence: &Evidence, ids: &[PointId]) -> Option<PointId> {
    let speed = |id: &PointId| evidence.points.throughput(*id);
    ids.get(1..)?.iter().copied().max_by(|a, b| speed(a).total_cmp(&speed(b)))
}

/// The points of comparisons that only more rounds can decide, those nearest to a verdict first.
/// They are one process or request at a time and the best of several, otherwise both ends of the
/// curve.
fn undecided<P: Probe>(exploration: &mut Exploration<'_, P>) -> Vec<PointId> {
    let evaluation = exploration.so_far();
    let findings = findings(evaluation);
    let lists = [
        (Parameter::SeqFrac, findings.sequential_gain),
        (Parameter::ReadFrac, findings.write_to_read_ratio),
        (Parameter::ProcessNum, findings.concurrency_gain),
        (Parameter::QueueDepth, findings.queue_depth_gain),
    ];
    let mut open: Vec<(f64, CurveKey)> = Vec::new();
    for (parameter, list) in lists {
        for found in list.into_iter().filter(|f| f.difference() == Difference::Unknown) {
            let mut regions = evaluation.regions.iter();
            let Some(region) = regions.position(|region| region.name == found.region) else {
                continue;
            };
            // The verdict on a deeper queue is about the one file.
            let is_of_file = parameter != Parameter::QueueDepth;
            if is_of_file && !rounds_would_tell(&evaluation.regions[region], &found) {
                continue;
            }
            let nearness = found.value.ln().abs() / (found.high / found.low).ln().max(1e-9);
            open.push((nearness, CurveKey::Region { region, parameter }));
        }
    }
    sort_by_number(&mut open, |one| -one.0);
    let evidence = &exploration.state.evidence;
    let compared = |(_, key): (f64, CurveKey)| {
        let ids = evidence.ids(key);
        let other = match key {
            CurveKey::Region { parameter: Parameter::SeqFrac | Parameter::ReadFrac, .. } => {
                ids.last().copied()
            }
            _ => fastest_of_several(evidence, &ids),
        };
        [ids.first().copied(), other].into_iter().flatten()
    };
    let all: Vec<PointId> = open.into_iter().flat_map(compared).collect();
    // A point that was measured while its cache filled would be so again, and the longer the run,
    // the faster it looks.
    all.into_iter().filter(|&id| !exploration.is_filling(id)).collect()
}

/// Repeats the points on which undecided comparisons rest, round by round.
fn tell<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    for round in 2..=ROUNDS_TELLING {
        let mut seen = BTreeSet::new();
        let due: Vec<PointId> =
            undecided(exploration).into_iter().filter(|&id| seen.insert(id)).collect();
        for id in due {
            let is_due = exploration.state.evidence.points.round_count(id) < round;
            // Where one does not fit into the time, others may.
            if is_due && !exploration.again(id, Need::Essential)? && exploration.left_s() <= 0.0 {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Repeats points in order of need while the budget lasts: those still in doubt, those of undecided
/// comparisons, the ends of the regions' curves, and then those with wide intervals and the cheap
/// ones.
///
/// A random order within each round keeps slow changes of the machine from looking like a
/// parameter's effect.
pub(crate) fn finish<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    exploration.reference()?;
    storage_speed::check(exploration, 1)?;
    let ids = exploration.state.evidence.result_points();
    repair(exploration, &ids, Need::Essential)?;
    show_borders(exploration, Need::Essential)?;
    tell(exploration)?;
    let costs: Vec<f64> = ids.iter().map(|&id| exploration.cost_s(id)).collect();
    let limit_s = CHEAP * median(&costs);
    let ends = ends_of_curves(exploration);
    let mut random = Pcg32::seed_from_u64(exploration.options.seed);
    for round in 1..ROUNDS_WANTED {
        let store = &exploration.state.evidence.points;
        let unsure = |id: PointId| store.kept(id).relative_error() > UNSURE;
        let worth_it = |id: PointId| unsure(id) || exploration.cost_s(id) <= limit_s;
        let due = |&id: &PointId| {
            store.round_count(id) <= round
                && !exploration.is_filling(id)
                && (worth_it(id) || (round == 1 && ends.contains(&id)))
        };
        let mut due: Vec<PointId> = ids.iter().copied().filter(due).collect();
        due.shuffle(&mut random);
        due.sort_by_key(|&id| (!ends.contains(&id), !unsure(id)));
        for id in due {
            if !exploration.again(id, Need::Essential)? && exploration.left_s() <= 0.0 {
                return Ok(());
            }
        }
        exploration.reference()?;
    }
    repair_late(exploration, &ids, Need::Essential, ROUNDS_LATE).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::testing::{Busy, Scripted};
    use crate::judge::levels::RegionState;
    use crate::phase::Phase;
    use crate::testing::measurement;
    use ioscape_schema::{Purpose, Workload};

    /// How many points are to be measured again in a region whose two exact rounds say that
    /// sequential requests are `gain` times as fast.
    fn undecided_by(gain: f64) -> usize {
        let (options, mut probe) = (ten_minutes(), Scripted { cost_s: 1.0, fill_s: 0.0 });
        let mut exploration = Exploration::new(&options, &mut probe);
        let range = options.bounds.unique_bytes.map(|bytes| bytes as f64);
        let focal = options.nominal(64 << 20);
        let evidence = &mut exploration.state.evidence;
        for (seq_frac, speed) in [(0.0, 1e8), (1.0, gain * 1e8)] {
            let workload = focal.clone().with(Parameter::SeqFrac, seq_frac);
            let key = CurveKey::Region { region: 0, parameter: Parameter::SeqFrac };
            let run = measurement(&workload, speed, 1.0, speed);
            let id = evidence.points.add(workload, key.into(), run.clone());
            evidence.points.add_round(id, run);
            evidence.put(key, seq_frac, id);
        }
        exploration.state.levels.regions = vec![RegionState { range, focal }];
        undecided(&mut exploration).len()
    }

    /// An evaluation with `points` points, each measured once.
    fn begun(probe: &mut Busy, points: u32) -> (Exploration<'_, Busy>, Vec<PointId>) {
        let options = ten_minutes();
        let mut exploration = Exploration::new(&options, probe);
        exploration.begin(Phase::Curves);
        let purpose: Purpose = CurveKey::Pilot.into();
        let measured = |at: u32| {
            let workload = options.nominal(1 << (20 + at));
            exploration.point(&purpose, &workload, Need::Essential).unwrap()
        };
        let ids: Vec<PointId> = (0..points).filter_map(measured).collect();
        (exploration, ids)
    }

    fn rounds(exploration: &Exploration<'_, Busy>, ids: &[PointId]) -> Vec<usize> {
        ids.iter().map(|&id| exploration.state.evidence.points.round_count(id)).collect()
    }

    /// Guards against spending all rounds of a curve at once during a load of a minute, so that
    /// none were left when it was over, and two fifths of an evaluation on points that stayed in
    /// doubt.
    #[test]
    fn a_disturbance_that_lasts_leaves_rounds_and_time_for_later() {
        let mut probe = Busy(usize::MAX);
        let (mut exploration, ids) = begun(&mut probe, 5);
        for _ in 0..3 {
            assert_eq!(repair(&mut exploration, &ids, Need::Ordinary), Ok(false));
            assert_eq!(rounds(&exploration, &ids), [2; 5]);
        }
        assert_eq!(repair(&mut exploration, &ids, Need::Essential), Ok(false));
        assert_eq!(rounds(&exploration, &ids), [4; 5]);
        let mut probe = Busy(15);
        let (mut exploration, ids) = begun(&mut probe, 5);
        assert_eq!(repair(&mut exploration, &ids, Need::Ordinary), Ok(false));
        assert!(exploration.state.load_lasts);
        for _ in 0..3 {
            exploration.again(ids[0], Need::Ordinary).unwrap();
        }
        assert_eq!(repair(&mut exploration, &ids, Need::Ordinary), Ok(true));
    }

    #[test]
    fn what_passes_and_a_few_points_are_repeated_at_once() {
        let mut passes = Busy(10);
        let (mut exploration, ids) = begun(&mut passes, 5);
        assert_eq!(repair(&mut exploration, &ids, Need::Ordinary), Ok(true));
        let store = &exploration.state.evidence.points;
        assert!(ids.iter().all(|&id| !store.verdict(id).doubtful));
        let mut lasts = Busy(usize::MAX);
        let (mut exploration, ids) = begun(&mut lasts, 2);
        assert_eq!(repair(&mut exploration, &ids, Need::Ordinary), Ok(false));
        assert_eq!(rounds(&exploration, &ids), [4; 2]);
    }

    #[test]
    fn what_no_later_phase_repeats_has_all_its_rounds_at_once() {
        let mut probe = Busy(usize::MAX);
        let (mut exploration, ids) = begun(&mut probe, 5);
        exploration.state.load_lasts = true;
        assert_eq!(repair_for_good(&mut exploration, &ids, Need::Ordinary), Ok(false));
        assert_eq!(rounds(&exploration, &ids), [4; 5]);
    }

    #[test]
    fn what_more_rounds_of_one_file_cannot_tell_gets_none() {
        assert_eq!([1.1, 1.23].map(undecided_by), [0, 2]);
    }

    #[test]
    fn one_process_is_not_the_fastest_of_several() {
        let mut evidence = Evidence::default();
        for (processes, speed) in [(1.0, 100.0), (2.0, 25.0), (4.0, 20.0)] {
            let workload = Workload::default().with(Parameter::ProcessNum, processes);
            let run = measurement(&workload, speed, 1.0, speed);
            evidence.points.add(workload, Purpose::Interaction, run);
        }
        assert_eq!(fastest_of_several(&evidence, &[0, 1, 2]), Some(1));
        assert_eq!(fastest_of_several(&evidence, &[0]), None);
    }
}
