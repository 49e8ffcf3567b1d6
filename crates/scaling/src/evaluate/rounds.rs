//! Repeated rounds: of points in doubt at once, and of all cheap ones with what is left of the budget.

use super::exploration::{Exploration, Need, ROUNDS_MOST, ROUNDS_WANTED};
use super::probe::Probe;
use crate::judge::points::PointId;
use crate::statistics::median;
use ioscape_schema::CurveKey;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg32;

/// A point is cheap up to this multiple of the median cost.
const CHEAP: f64 = 1.5;

/// Half the confidence interval over the throughput above which a point needs another round.
const UNSURE: f64 = 0.1;

/// Repeats the points among `ids` whose every round is in doubt, interleaved; returns whether anything was repeated.
///
/// While the machine is off its usual speed nothing is repeated: that would not help now, and the last phase returns
/// to these points.
pub(crate) fn repair<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    ids: &[PointId],
    need: Need,
) -> Result<bool, P::Error> {
    let mut repaired = false;
    for round in 1..ROUNDS_MOST {
        let in_doubt = |exploration: &Exploration<'_, P>| -> Vec<PointId> {
            let store = &exploration.state.evidence.points;
            let can = |&id: &PointId| store.round_count(id) <= round && store.verdict(id).doubtful;
            ids.iter().copied().filter(can).collect()
        };
        if in_doubt(exploration).is_empty() {
            continue;
        }
        exploration.reference()?;
        if exploration.state.evidence.points.is_off_now() && need == Need::Ordinary {
            return Ok(repaired);
        }
        for id in in_doubt(exploration) {
            if !exploration.again(id, need)? {
                return Ok(repaired);
            }
            repaired = true;
        }
        exploration.reference()?;
    }
    Ok(repaired)
}

/// The ends of the regions' curves, which findings compare.
fn ends_of_curves<P: Probe>(exploration: &Exploration<'_, P>) -> Vec<PointId> {
    let curves = exploration.state.evidence.curves.iter();
    let of_regions = curves.filter(|(key, _)| matches!(key, CurveKey::Region { .. }));
    let ends = of_regions.flat_map(|(_, curve)| [curve.first(), curve.last()]);
    ends.flatten().map(|point| point.1).collect()
}

/// Repeats what is still in doubt, then the ends of the regions' curves, then the points with wide intervals and the cheap ones, in random order,
/// while the budget lasts.
///
/// A random order within each round keeps slow changes of the machine from looking like a parameter's effect.
pub(crate) fn finish<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    exploration.reference()?;
    let ids = exploration.state.evidence.result_points();
    repair(exploration, &ids, Need::Essential)?;
    let costs: Vec<f64> = ids.iter().map(|&id| exploration.cost_s(id)).collect();
    let limit_s = CHEAP * median(&costs);
    let ends = ends_of_curves(exploration);
    let mut random = Pcg32::seed_from_u64(exploration.options.seed);
    for round in 1..ROUNDS_WANTED {
        let store = &exploration.state.evidence.points;
        let unsure = |id: PointId| store.kept(id).relative_error() > UNSURE;
        let worth_it = |id: PointId| unsure(id) || exploration.cost_s(id) <= limit_s;
        let due = |&id: &PointId| {
            store.round_count(id) <= round && (worth_it(id) || (round == 1 && ends.contains(&id)))
        };
        let mut due: Vec<PointId> = ids.iter().copied().filter(due).collect();
        due.shuffle(&mut random);
        due.sort_by_key(|&id| (!ends.contains(&id), !unsure(id)));
        for id in due {
            if !exploration.again(id, Need::Essential)? {
                return Ok(());
            }
        }
        exploration.reference()?;
    }
    repair(exploration, &ids, Need::Essential).map(|_| ())
}
