//! The curves of the other parameters around the focal vector of every region.

use super::axis::Axis;
use super::exploration::{Exploration, Need};
use super::probe::Probe;
use super::rounds;
use super::sweep::{Refine, Sweep};
use crate::judge::points::PointId;
use crate::phase::Phase;
use ioscape_schema::{CurveKey, Parameter};

/// Measures all curves of all regions; every region gets an equal share of the time.
pub(crate) fn region_curves<P: Probe>(
    exploration: &mut Exploration<'_, P>,
) -> Result<(), P::Error> {
    exploration.begin(Phase::Curves);
    let count = exploration.state.levels.regions.len();
    for index in 0..count {
        exploration.begin_part(count - index);
        let sweeps = sweeps(exploration, index);
        if is_filling(exploration, &sweeps)? {
            let what = format!("the other parameters in region {}", index + 1);
            let reason = "its set was still coming into the file cache while it was measured, so that comparisons would tell of that alone; give a longer budget";
            exploration.leave_out(&what, reason);
            continue;
        }
        // Ends and focal point of all four curves before any of them is refined.
        for sweep in &sweeps {
            exploration.sweep_grid(sweep, &grid(sweep))?;
        }
        for sweep in &sweeps {
            exploration.sweep_refine(sweep)?;
        }
        // The search over all parameters was asked for, and needs the time; the curves are completed behind it.
        if exploration.options.all_parameters {
            continue;
        }
        // What is in doubt comes before more of it.
        let ids = exploration.state.evidence.result_points();
        rounds::repair(exploration, &ids, Need::Ordinary)?;
        ends_again(exploration, &sweeps)?;
        for sweep in &sweeps {
            exploration.sweep_fill(sweep)?;
        }
    }
    Ok(())
}

/// Measures the focal point of a region, which is on all its curves, and tells whether its set was still coming into the file cache.
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

/// Measures the ends of the curves once more: findings compare them, and a single round may have been disturbed.
fn ends_again<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    sweeps: &[Sweep],
) -> Result<(), P::Error> {
    let mut ids: Vec<PointId> = Vec::new();
    for sweep in sweeps {
        let curve = exploration.state.evidence.ids(sweep.key);
        ids.extend([curve.first(), curve.last()].into_iter().flatten());
    }
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|&id| exploration.state.evidence.points.round_count(id) == 1);
    for id in ids {
        if !exploration.again(id, Need::Ordinary)? {
            break;
        }
    }
    Ok(())
}

/// Fills the curves that are short of points, in all regions, with what time the current phase has.
pub(crate) fn complete<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    for index in 0..exploration.state.levels.regions.len() {
        let sweeps = sweeps(exploration, index);
        if is_filling(exploration, &sweeps)? {
            continue;
        }
        for sweep in sweeps {
            exploration.sweep_fill(&sweep)?;
        }
    }
    Ok(())
}

/// Regions whose curves were not begun.
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
    // Writes come last: they leave the file cache in another state.
    order.sort_by_key(|parameter| *parameter == Parameter::ReadFrac);
    order.into_iter().map(sweep).collect()
}

/// Focal point and both ends.
fn grid(sweep: &Sweep) -> Vec<f64> {
    let axis = &sweep.axis;
    let mut grid = vec![sweep.template.get(axis.parameter), axis.low, axis.high];
    if axis.parameter == Parameter::QueueDepth {
        // Throughput rises with the depth until it saturates: the bend is anywhere between.
        grid.extend(axis.steps(4.0));
    }
    if sweep.template.process_num == 1 && axis.parameter == Parameter::ProcessNum {
        // The focal point is an end here, and a curve needs a middle.
        grid.extend(axis.between(axis.low, axis.high));
    }
    grid
}
