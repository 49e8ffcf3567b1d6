//! Sets that were still coming into the file cache while they were measured: the few that decide
//! are measured again, with time to come in.
//!
//! Where every run begins with an empty cache and storage is slow, an ordinary measurement ends
//! before the cache is full, and shows nothing beyond the last steady set. Filling the cache takes
//! equally long for all sets that outgrow it, so only few are worth it.

use super::exploration::{Exploration, Need};
use super::probe::Probe;
use crate::judge::points::PointId;
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{BorderOperation, CurveKey, Workload};

/// Share of the budget for bringing one set into the cache: the largest set of reads and that of
/// writes decide most.
pub(super) const ONE: f64 = ALL / 2.0;
/// Share of the budget for bringing in all of them together.
pub(super) const ALL: f64 = 0.4;
/// Sets of each kind of requests that are measured this way before the model of levels is asked
/// which further sets would be decisive.
const SETS: usize = 2;
/// What an evaluation names as left out when its sets do not come in.
const NAME: &str = "sets that come into the file cache slowly";

/// The kinds of requests whose sets decide how many levels there are.
const OPERATIONS: [BorderOperation; 2] = [BorderOperation::Read, BorderOperation::Write];

/// Measures the decisive sets again, while that helps and there is time.
pub(crate) fn settle<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    let mut due = OPERATIONS.to_vec();
    due.retain(|&operation| largest(exploration, operation).is_some());
    for _ in 0..SETS {
        for operation in std::mem::take(&mut due) {
            let Some((value, id)) = next(exploration, operation) else { continue };
            let fill_s = most_s(exploration);
            if fill_s > left_s(exploration) {
                continue;
            }
            // A time that was not enough before, perhaps for a set of the other kind, is not tried
            // again.
            if exploration.costs().in_vain_s() < fill_s
                && !exploration.again_filled(id, Need::Essential, fill_s)?
            {
                continue;
            }
            if exploration.is_filling(id) {
                let reason = format!(
                    "a set of {} does not come in within {}; give a longer budget",
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

/// Measures the largest set of a curve, with time to come in, where such sets do not come in by
/// themselves.
pub(super) fn end<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    key: CurveKey,
    workload: &Workload,
) -> Result<(), P::Error> {
    let set = workload.unique_bytes as f64;
    let is_late = exploration.state.evidence.fills_from().is_some_and(|from| set >= from);
    let fill_s = most_s(exploration);
    let is_hopeless = fill_s > left_s(exploration) || exploration.costs().in_vain_s() >= fill_s;
    if is_late && !is_hopeless {
        let purpose = key.into();
        if let Some(id) = exploration.point_filled(&purpose, workload, Need::Essential, fill_s)? {
            exploration.state.evidence.put(key, set, id);
        }
    }
    Ok(())
}

/// The time left for bringing sets into the cache, in seconds.
pub(super) fn left_s<P: Probe>(exploration: &Exploration<'_, P>) -> f64 {
    ALL * exploration.options.budget_s - exploration.costs().filled_s()
}

/// Whether the sets that come in slowly take longer to come in than to be measured: what they show
/// is then worth its own part of the budget.
pub(super) fn take_long<P: Probe>(exploration: &Exploration<'_, P>) -> bool {
    exploration.costs().longest_fill_s() > exploration.allotment.limits.cap_s
}

/// How long one set may take to come in, in seconds: as long as another set took, if one did.
fn most_s<P: Probe>(exploration: &Exploration<'_, P>) -> f64 {
    let known_s = exploration.costs().longest_fill_s();
    if known_s > 0.0 { known_s } else { ONE * exploration.options.budget_s }
}

/// How long a new set may take to come in where sets like it do not come in by themselves, in
/// seconds: as long as other sets took; 0 where none came in, or where less time than that is left.
pub(super) fn needed_s<P: Probe>(exploration: &Exploration<'_, P>, unique_bytes: f64) -> f64 {
    let from = exploration.state.evidence.fills_from();
    let needed_s = exploration.costs().longest_fill_s();
    let is_late = from.is_some_and(|from| unique_bytes >= from);
    if is_late && needed_s <= left_s(exploration) { needed_s } else { 0.0 }
}

/// The largest set of such requests, if it was filling: then nothing is known beyond the last set
/// that was not.
fn largest<P: Probe>(
    exploration: &Exploration<'_, P>,
    operation: BorderOperation,
) -> Option<(f64, PointId)> {
    let curve = exploration.state.evidence.on(CurveKey::UniqueBytes(operation));
    let last = curve.last().copied()?;
    exploration.is_filling(last.1).then_some(last)
}

/// The next set to measure with a full cache: the largest, then the one furthest from any measured
/// so.
fn next<P: Probe>(
    exploration: &Exploration<'_, P>,
    operation: BorderOperation,
) -> Option<(f64, PointId)> {
    if let Some(last) = largest(exploration, operation) {
        return Some(last);
    }
    let curve = exploration.state.evidence.on(CurveKey::UniqueBytes(operation)).iter();
    let (filling, steady): (Vec<_>, Vec<_>) =
        curve.partition(|(_, id)| exploration.is_filling(*id));
    let distance = |&(value, _): &(f64, PointId)| {
        steady.iter().map(|(other, _)| (value / other).ln().abs()).fold(f64::INFINITY, f64::min)
    };
    filling.into_iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::EvaluationOptions;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::testing::Scripted;

    /// A set came in within a tenth of a second, and one of its rounds was noted as filling. Guards
    /// against then spending 40 % of 55 s on telling the number of levels.
    #[test]
    fn sets_that_come_in_sooner_than_they_are_measured_do_not_take_long() {
        let options = EvaluationOptions { budget_s: 55.0, ..ten_minutes() };
        let is_long = |fill_s| {
            let mut probe = Scripted { cost_s: 0.5, fill_s };
            let mut exploration = Exploration::new(&options, &mut probe);
            let purpose = CurveKey::UniqueBytes(BorderOperation::Read).into();
            let workload = options.nominal(1 << 28);
            exploration.point_filled(&purpose, &workload, Need::Essential, 9.0).unwrap();
            take_long(&exploration)
        };
        assert_eq!([0.1, 3.0].map(is_long), [false, true]);
    }
}
