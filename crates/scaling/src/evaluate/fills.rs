//! Sets that were still coming into the file cache while they were measured: the few that decide are measured again, with time to come in.
//!
//! Where every run begins with an empty cache and storage is slow, an ordinary measurement is over before the cache is full, and what lies
//! beyond the last set that was steady is not seen. To fill the cache takes as long for all sets that outgrow it, so that only few are worth it.

use super::exploration::{Exploration, Need};
use super::probe::Probe;
use crate::judge::points::PointId;
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{BorderOperation, CurveKey};

/// Share of the budget that bringing one set into the cache may take.
pub(super) const ONE: f64 = 0.08;
/// Share of the budget that all of them together may take.
pub(super) const ALL: f64 = 0.3;
/// Sets of each kind of requests that are measured so.
const SETS: usize = 4;
/// What shortens an evaluation whose sets do not come in.
const NAME: &str = "sets that come into the file cache slowly";

/// The kinds of requests whose sets decide how many levels there are.
const OPERATIONS: [BorderOperation; 2] = [BorderOperation::Read, BorderOperation::Write];

/// Measures the sets again that decide, while that helps and there is time.
pub(crate) fn settle<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    let budget_s = exploration.options.budget_s;
    let end_s = exploration.spent_s() + ALL * budget_s;
    let mut due = OPERATIONS.to_vec();
    due.retain(|&operation| largest(exploration, operation).is_some());
    for _ in 0..SETS {
        for operation in std::mem::take(&mut due) {
            let Some((value, id)) = next(exploration, operation) else { continue };
            let fill_s = (ONE * budget_s).min(end_s - exploration.spent_s());
            if fill_s <= 0.0 || !exploration.again_filled(id, Need::Essential, fill_s)? {
                continue;
            }
            if is_filling(exploration, id) {
                let reason = format!(
                    "a set of {} was still coming into it after {}; give a longer budget",
                    Bytes(value),
                    Seconds(fill_s)
                );
                exploration.leave_out(NAME, reason);
            } else {
                due.push(operation);
            }
        }
    }
    Ok(())
}

fn is_filling<P: Probe>(exploration: &Exploration<'_, P>, id: PointId) -> bool {
    exploration.state.evidence.points.kept(id).was_filling()
}

fn curve<'e, P: Probe>(
    exploration: &'e Exploration<'_, P>,
    operation: BorderOperation,
) -> &'e [(f64, PointId)] {
    let curves = &exploration.state.evidence.curves;
    curves.get(&CurveKey::UniqueBytes(operation)).map_or(&[], Vec::as_slice)
}

/// The largest set of such requests, where it was filling: then nothing is known of what lies beyond the last that was not.
fn largest<P: Probe>(
    exploration: &Exploration<'_, P>,
    operation: BorderOperation,
) -> Option<(f64, PointId)> {
    let last = curve(exploration, operation).last().copied()?;
    is_filling(exploration, last.1).then_some(last)
}

/// The next set to be measured with a full cache: the largest, then the one furthest from any that was.
fn next<P: Probe>(
    exploration: &Exploration<'_, P>,
    operation: BorderOperation,
) -> Option<(f64, PointId)> {
    if let Some(last) = largest(exploration, operation) {
        return Some(last);
    }
    let (filling, steady): (Vec<_>, Vec<_>) =
        curve(exploration, operation).iter().partition(|(_, id)| is_filling(exploration, *id));
    let distance = |&(value, _): &(f64, PointId)| {
        steady.iter().map(|(other, _)| (value / other).ln().abs()).fold(f64::INFINITY, f64::min)
    };
    filling.into_iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))
}
