//! The search of section 7: all parameters at their 75 % performance point at once.

use super::axis::Axis;
use super::exploration::{Exploration, Need};
use super::probe::Probe;
use super::sweep::{Refine, Sweep};
use crate::judge::curve::PERFORMS_WELL;
use crate::judge::points::positive;
use crate::phase::Phase;
use ioscape_schema::{AllParameters, CurveKey, FocalRange, Parameter, Workload};

/// The most steps of the iteration.
const STEPS: usize = 4;
/// Why a search that ended before it settled is reported as unfinished.
const UNSETTLED: &str =
    "the focal values still moved when the time for them ended; give a longer budget";
/// Why a search that ended in its first step reports nothing.
const UNFINISHED: &str = "its first step did not end in the time for it; give a longer budget";
/// Number of values between the ends of each coarse grid.
const BETWEEN: usize = 3;
/// Most points of one curve.
const POINTS: usize = 8;

/// Returns the range of values around the best one where throughput stays at 75 % of its best or
/// above.
///
/// `points` are in order of the value. Crossings are interpolated on the axis' scale.
pub(crate) fn performing_well(axis: &Axis, points: &[(f64, f64)]) -> Option<[f64; 2]> {
    let best = (0..points.len()).max_by(|&a, &b| points[a].1.total_cmp(&points[b].1))?;
    let level = PERFORMS_WELL * points[best].1;
    let crossing = |inside: usize, outside: usize| {
        let (a, b) = (points[inside], points[outside]);
        let part = (a.1 - level) / (a.1 - b.1);
        axis.value_at(axis.scale(a.0) + part * (axis.scale(b.0) - axis.scale(a.0)))
    };
    let below = (0..best).rev().find(|&i| points[i].1 < level);
    let above = (best + 1..points.len()).find(|&i| points[i].1 < level);
    let low = below.map_or(points[0].0, |i| crossing(i + 1, i));
    let high = above.map_or(points[points.len() - 1].0, |i| crossing(i - 1, i));
    Some([low, high])
}

/// The least restrictive end (self-scaling paper, footnote 4): the largest set, the smallest requests, the fewest
/// processes, the least sequential, and, as in figure 4, the fewest reads.
fn least_restrictive(parameter: Parameter, [low, high]: [f64; 2]) -> f64 {
    match parameter {
        Parameter::UniqueBytes => high,
        Parameter::ProcessNum | Parameter::QueueDepth => (low - 1e-6).ceil(),
        Parameter::SizeMean | Parameter::ReadFrac | Parameter::SeqFrac => low,
    }
}

/// Change of log throughput between two focal points below which they differ only by noise.
const SAME: f64 = 0.08;

/// Whether a focal point stayed, in its value or in its throughput: on a gentle slope, noise moves
/// the crossing far.
fn is_settled(range: &FocalRange, before: f64) -> bool {
    let after = range.focal;
    let is_near = match range.parameter {
        Parameter::UniqueBytes => (after / before).ln().abs() < 0.15,
        Parameter::SizeMean | Parameter::ProcessNum | Parameter::QueueDepth => {
            (after / before).ln().abs() < 0.3
        }
        Parameter::ReadFrac | Parameter::SeqFrac => (after - before).abs() < 0.1,
    };
    let yields = |value| log_throughput(range, value);
    is_near || (yields(after) - yields(before)).abs() < SAME
}

/// Log throughput at `value` on the range's curve, which is flat beyond its ends.
fn log_throughput(range: &FocalRange, value: f64) -> f64 {
    let log = |i: usize| positive(range.curve[i].throughput()).ln();
    let next = range.curve.partition_point(|p| p.value < value);
    if range.curve.is_empty() {
        return 0.0;
    }
    if next == 0 || next == range.curve.len() {
        return log(next.saturating_sub(1));
    }
    let scale = |v: f64| if range.parameter.is_logarithmic() { v.max(1e-9).ln() } else { v };
    let [a, b] = [next - 1, next].map(|i| scale(range.curve[i].value));
    log(next - 1) + (scale(value) - a) / (b - a) * (log(next) - log(next - 1))
}

/// Scales all parameters: sweeps each with the others at their focal points until no focal point
/// moves any more.
pub(crate) fn all_parameters<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    start: &Workload,
) -> Result<(), P::Error> {
    exploration.begin(Phase::AllParameters);
    let mut focal = start.clone();
    if let Some(first) = exploration.state.levels.regions.first() {
        focal.unique_bytes = first.focal.unique_bytes;
    }
    for step in 0..STEPS {
        let before = focal.clone();
        let mut ranges = Vec::new();
        for parameter in Parameter::ALL {
            if !exploration.has_time_for(BETWEEN + 2) {
                match (step, ranges.is_empty()) {
                    (0, true) => exploration.skip(Phase::AllParameters),
                    (0, false) => exploration.shorten(Phase::AllParameters, UNFINISHED),
                    _ => exploration.shorten(Phase::AllParameters, UNSETTLED),
                }
                return Ok(());
            }
            let Some(range) = range(exploration, step, parameter, &focal)? else { return Ok(()) };
            focal = focal.with(parameter, range.focal);
            ranges.push(range);
        }
        let settled = ranges.iter().all(|r: &FocalRange| is_settled(r, before.get(r.parameter)));
        exploration.found_all_parameters(AllParameters { focal: focal.clone(), settled, ranges });
        if settled {
            break;
        }
    }
    Ok(())
}

/// Measures one curve and returns its range; `None` when nothing could be measured.
fn range<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    step: usize,
    parameter: Parameter,
    focal: &Workload,
) -> Result<Option<FocalRange>, P::Error> {
    let mut axis = Axis::new(&exploration.options, parameter, focal.unique_bytes);
    if parameter == Parameter::UniqueBytes {
        axis = axis.from(4.0 * focal.size_mean as f64);
    }
    let key = CurveKey::AllParameters { step, parameter };
    let sweep = Sweep {
        key,
        axis,
        template: focal.clone(),
        refine: Refine::ThreeQuarters,
        points: POINTS,
        grid_need: Need::Ordinary,
    };
    exploration.sweep(&sweep, &axis.grid(BETWEEN))?;
    let Some(well) = performing_well(&axis, &exploration.state.evidence.throughputs(key)) else {
        return Ok(None);
    };
    let value = axis.round(least_restrictive(parameter, well));
    let curve = exploration.state.evidence.curve(key);
    Ok(Some(FocalRange { parameter, focal: value, performs_well: well, curve }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::EvaluationOptions;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::testing::Scripted;

    /// The time suffices for two parameters of the first step, or for none.
    #[test]
    fn a_search_that_began_is_not_said_to_have_had_no_time() {
        let note = |cost_s: f64, typical_cost_s: f64| {
            let options =
                EvaluationOptions { all_parameters: true, typical_cost_s, ..ten_minutes() };
            let mut probe = Scripted { cost_s, fill_s: 0.0 };
            let mut exploration = Exploration::new(&options, &mut probe);
            all_parameters(&mut exploration, &options.nominal(64 << 20)).unwrap();
            exploration.so_far().shortened.get(Phase::AllParameters.name()).cloned()
        };
        assert_eq!(note(26.0, 2.5).as_deref(), Some(UNFINISHED));
        let none = note(26.0, 100.0).unwrap_or_default();
        assert!(none.starts_with("no time was left for it"), "{none}");
    }

    #[test]
    fn the_range_ends_where_three_quarters_are_crossed() {
        let axis = Axis::new(&ten_minutes(), Parameter::SeqFrac, 1 << 20);
        let points = [(0.0, 50.0), (0.5, 100.0), (1.0, 60.0)];
        let [low, high] = performing_well(&axis, &points).unwrap();
        assert!((low - 0.25).abs() < 1e-9 && (high - 0.8125).abs() < 1e-9);
    }

    #[test]
    fn least_restrictive_values() {
        let range = [2.5, 9.0];
        let chosen = Parameter::ALL.map(|p| least_restrictive(p, range));
        assert_eq!(chosen, [9.0, 2.5, 2.5, 2.5, 3.0]);
    }
}
