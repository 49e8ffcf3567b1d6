//! Further measurements beside the borders of a set-size curve.

use super::allotment::{END_SHARE, WHOLE_GRID};
use super::exploration::{Exploration, Need};
use super::fills;
use super::probe::Probe;
use super::sweep::Sweep;
use crate::judge::levels::borders_of;
use crate::judge::points::PointId;
use ioscape_schema::{BorderOperation, CurveKey, Parameter};

/// With fewer points than this on a side of a border, the border rests on a single measurement.
const ALONE: usize = 2;
/// Half the relative confidence interval of a point beside a border, from which on the point counts
/// as uncertain.
const UNSURE: f64 = 0.5;
/// Factor across a border's gap below which its place rests on the laws on both sides, not on the gap.
const MILD: f64 = 3.0;
/// The factor around a mild border within which the points count most for these laws.
const NEAR: f64 = 1.4;
/// A gap of at least this factor is narrowed before the points beside it are repeated; and how many
/// sets a curve gets for that, at most.
const WIDE: f64 = 1.5;
const NARROWED_MOST: usize = 3;

/// Confirms the borders of a curve, so that a border that rests on a single outlier vanishes: by
/// sets within a wide gap, which narrow it besides, and then by repeating the points next to it.
///
/// Leaves out points that take as much time as an end of another curve, and points whose set takes
/// long to come into the file cache: other sets show more in that time.
pub(super) fn borders<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    sweep: &Sweep,
    operation: BorderOperation,
) -> Result<(), P::Error> {
    narrow(exploration, sweep, operation)?;
    repeat(exploration, operation)
}

/// A border's gap, and the points beside it.
struct Beside {
    gap: [f64; 2],
    points: Vec<PointId>,
    /// Whether the border rests on a single measurement, or on one that varied much.
    is_alone: bool,
}

fn beside<P: Probe>(exploration: &Exploration<'_, P>, operation: BorderOperation) -> Vec<Beside> {
    let evidence = &exploration.state.evidence;
    let curve = evidence.on(CurveKey::UniqueBytes(operation));
    let of = |gap: [f64; 2]| {
        let before = curve.iter().filter(|point| point.0 <= gap[0]).count();
        let points = curve.iter().filter(|point| gap.contains(&point.0)).map(|point| point.1);
        let points: Vec<PointId> = points.collect();
        let is_unsure = |&id: &PointId| evidence.points.kept(id).relative_error() > UNSURE;
        let is_alone =
            before < ALONE || curve.len() - before < ALONE || points.iter().any(is_unsure);
        Beside { gap, points, is_alone }
    };
    borders_of(evidence, operation).iter().map(|border| of(border.gap)).collect()
}

/// Measures sets within the wide gaps of borders that rest on single measurements.
fn narrow<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    sweep: &Sweep,
    operation: BorderOperation,
) -> Result<(), P::Error> {
    let sweep = Sweep { grid_need: Need::Essential, ..sweep.clone() };
    let most_s = END_SHARE * exploration.options.budget_s;
    for _ in 0..NARROWED_MOST {
        let all = beside(exploration, operation).into_iter();
        let wide = all.filter(|one| one.is_alone && one.gap[1] > WIDE * one.gap[0]);
        let middle = wide.filter_map(|one| sweep.axis.between(one.gap[0], one.gap[1])).next();
        let Some(middle) = middle else { break };
        let workload = sweep.template.clone().with(Parameter::UniqueBytes, middle);
        let is_late = fills::needed_s(exploration, middle) > 0.0;
        if is_late || exploration.similar_cost_s(&workload) > most_s {
            break;
        }
        let before = exploration.state.evidence.ids(sweep.key).len();
        exploration.sweep_grid(&sweep, &[middle])?;
        if exploration.state.evidence.ids(sweep.key).len() == before {
            break;
        }
    }
    Ok(())
}

/// Repeats the points next to each border.
fn repeat<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    operation: BorderOperation,
) -> Result<(), P::Error> {
    let curve = exploration.state.evidence.on(CurveKey::UniqueBytes(operation)).to_vec();
    let has_time = exploration.allotment.points(exploration.phase) >= WHOLE_GRID;
    for Beside { gap, points, is_alone } in beside(exploration, operation) {
        let throughput = |id: &PointId| exploration.state.evidence.points.throughput(*id);
        let speeds: Vec<f64> = points.iter().map(throughput).collect();
        let is_mild = has_time && speeds.len() == 2 && speeds[0] < MILD * speeds[1];
        let need = if is_alone || is_mild { Need::Essential } else { Need::Ordinary };
        let mut repeated = points.clone();
        if is_alone {
            repeated.extend(&points);
        } else if is_mild {
            let near = |p: &&(f64, PointId)| {
                p.0 > gap[0] / NEAR && p.0 < gap[1] * NEAR && !gap.contains(&p.0)
            };
            repeated.extend(curve.iter().filter(near).map(|p| p.1));
        }
        let most_s = END_SHARE * exploration.options.budget_s;
        let is_short = |&id: &PointId| {
            exploration.costs().refill_s(id) == 0.0 && exploration.cost_s(id) <= most_s
        };
        repeated.retain(is_short);
        for id in repeated {
            exploration.again(id, need)?;
        }
    }
    Ok(())
}
