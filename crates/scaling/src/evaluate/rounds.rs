//! Repeated rounds: of points in doubt at once, and of all cheap ones with what is left of the budget.

use super::probe::Probe;
use super::session::{Need, ROUNDS_MOST, ROUNDS_WANTED, Session};
use crate::judge::points::PointId;
use crate::statistics::median;
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
    session: &mut Session<'_, P>,
    ids: &[PointId],
    need: Need,
) -> Result<bool, P::Error> {
    let mut repaired = false;
    for round in 1..ROUNDS_MOST {
        let in_doubt = |session: &Session<'_, P>| -> Vec<PointId> {
            let store = &session.state.evidence.points;
            let can = |&id: &PointId| store.round_count(id) <= round && store.verdict(id).doubtful;
            ids.iter().copied().filter(can).collect()
        };
        if in_doubt(session).is_empty() {
            continue;
        }
        session.reference()?;
        if session.state.evidence.points.is_off_now() && need == Need::Ordinary {
            return Ok(repaired);
        }
        for id in in_doubt(session) {
            if !session.again(id, need)? {
                return Ok(repaired);
            }
            repaired = true;
        }
        session.reference()?;
    }
    Ok(repaired)
}

/// Repeats what is still in doubt, then the points with wide intervals and the cheap ones, in random order,
/// while the budget lasts.
///
/// A random order within each round keeps slow changes of the machine from looking like a parameter's effect.
pub(crate) fn finish<P: Probe>(session: &mut Session<'_, P>) -> Result<(), P::Error> {
    session.reference()?;
    let ids = session.state.evidence.result_points();
    repair(session, &ids, Need::Essential)?;
    let costs: Vec<f64> = ids.iter().map(|&id| session.cost_s(id)).collect();
    let limit_s = CHEAP * median(&costs);
    let mut random = Pcg32::seed_from_u64(session.options.seed);
    for round in 1..ROUNDS_WANTED {
        let store = &session.state.evidence.points;
        let unsure = |id: PointId| store.kept(id).relative_error() > UNSURE;
        let worth_it = |id: PointId| unsure(id) || session.cost_s(id) <= limit_s;
        let due = |&id: &PointId| store.round_count(id) <= round && worth_it(id);
        let mut due: Vec<PointId> = ids.iter().copied().filter(due).collect();
        due.shuffle(&mut random);
        due.sort_by_key(|&id| !unsure(id));
        for id in due {
            if !session.again(id, Need::Essential)? {
                return Ok(());
            }
        }
        session.reference()?;
    }
    repair(session, &ids, Need::Essential).map(|_| ())
}
