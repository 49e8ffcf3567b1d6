//! The adaptive curve: a coarse grid, then points where the curve is not yet resolved.

use super::axis::Axis;
use super::exploration::{Exploration, Need, Refusal};
use super::probe::Probe;
use super::rounds;
use super::storage_speed;
use crate::judge::points::positive;
use crate::phase::Phase;
use ioscape_schema::{CurveKey, Parameter, Purpose, Workload};

/// How the next value is chosen. Values are on the parameter's scale, throughputs are logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Refine {
    /// Where the change is largest, until it is small or the interval narrow; this brackets cliffs.
    Cliffs,
    /// Where the curve bends most; this draws the shape with few points.
    Bends,
    /// Where throughput crosses 75 % of its best.
    ThreeQuarters,
    /// Not at all.
    Never,
}

/// A curve to measure.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    pub key: CurveKey,
    pub axis: Axis,
    /// All other parameters.
    pub template: Workload,
    pub refine: Refine,
    /// The most points of the curve.
    pub points: usize,
    /// Whether the coarse grid is measured even when the phase's share is spent.
    pub grid_need: Need,
}

/// The fewest points that a curve of a region should have.
pub(crate) const CURVE_LEAST: usize = 7;
/// The fractions of reads between which the law of a write-through cache bends most.
const MOSTLY_READS: [f64; 2] = [0.75, 1.0];
/// Change of log throughput that is worth a point: 25 %.
const CHANGE: f64 = 0.22;
/// Ratio of set sizes below which a cliff is not bracketed more closely.
const NARROW: f64 = 1.06;

/// The interval to divide, as the index of its lower end; values ascend. An interval with an end
/// among `closed` is never chosen, because its change says nothing.
pub(crate) fn next_interval(
    axis: &Axis,
    refine: Refine,
    points: &[(f64, f64)],
    closed: &[f64],
) -> Option<usize> {
    let scaled: Vec<(f64, f64)> =
        points.iter().map(|&(v, t)| (axis.scale(v), positive(t).ln())).collect();
    let score = |i: usize| match refine {
        Refine::Cliffs => cliff(&scaled, i),
        Refine::Bends => bend(&scaled, i),
        Refine::ThreeQuarters => crossing(&scaled, i),
        Refine::Never => 0.0,
    };
    let possible = |&i: &usize| {
        let ends = [points[i].0, points[i + 1].0];
        axis.between(ends[0], ends[1]).is_some() && !ends.iter().any(|end| closed.contains(end))
    };
    let best = (0..points.len().saturating_sub(1))
        .filter(possible)
        .max_by(|&a, &b| score(a).total_cmp(&score(b)))?;
    (score(best) > 0.0).then_some(best)
}

/// How much a cliff in this interval deserves a point: large changes over wide intervals do, steep
/// ones first. A change of more than e^2 counts as e^2, so that several cliffs share the points.
fn cliff(points: &[(f64, f64)], i: usize) -> f64 {
    let width = points[i + 1].0 - points[i].0;
    let change = (points[i + 1].1 - points[i].1).abs();
    if change < CHANGE || width < NARROW.ln() { 0.0 } else { change.min(2.0).powi(2) * width }
}

/// The distance of a point from the straight line between its neighbours.
fn departure(points: &[(f64, f64)], i: usize) -> f64 {
    if i == 0 || i + 1 >= points.len() {
        return 0.0;
    }
    let [a, b, c] = [points[i - 1], points[i], points[i + 1]];
    let part = (b.0 - a.0) / (c.0 - a.0);
    (b.1 - (a.1 + part * (c.1 - a.1))).abs()
}

/// The bend at either end as far as it concerns this interval, plus a share of the change itself.
fn bend(points: &[(f64, f64)], i: usize) -> f64 {
    let span = points[points.len() - 1].0 - points[0].0;
    let width = (points[i + 1].0 - points[i].0) / span.max(1e-9);
    let change = (points[i + 1].1 - points[i].1).abs();
    let bend = departure(points, i).max(departure(points, i + 1));
    let score = bend.min(change) + 0.3 * change;
    if width < 0.03 || score < CHANGE { 0.0 } else { score * width.sqrt() }
}

fn crossing(points: &[(f64, f64)], i: usize) -> f64 {
    let best = points.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    let level = best + 0.75f64.ln();
    let span = points[points.len() - 1].0 - points[0].0;
    let width = (points[i + 1].0 - points[i].0) / span.max(1e-9);
    let crosses = (points[i].1 >= level) != (points[i + 1].1 >= level);
    if crosses && width > 0.02 { width } else { 0.0 }
}

/// The next value of a curve that is to be drawn evenly: half-way in its widest gap, or among
/// mostly reads if no point is there yet.
pub(crate) fn next_even(axis: &Axis, points: &[(f64, f64)]) -> Option<f64> {
    let [low, high] = MOSTLY_READS;
    if axis.parameter == Parameter::ReadFrac && !points.iter().any(|p| p.0 > low && p.0 < high) {
        return Some(axis.round((low + high) / 2.0));
    }
    let gaps = points.windows(2).filter_map(|w| {
        let width = axis.scale(w[1].0) - axis.scale(w[0].0);
        Some((width, axis.between(w[0].0, w[1].0)?))
    });
    gaps.max_by(|a, b| a.0.total_cmp(&b.0)).map(|gap| gap.1)
}

impl<P: Probe> Exploration<'_, P> {
    fn sweep_point(&mut self, sweep: &Sweep, value: f64, need: Need) -> Result<bool, P::Error> {
        let workload = sweep.template.clone().with(sweep.axis.parameter, value);
        let Some(id) = self.point(&sweep.key.into(), &workload, need)? else {
            let reason = match self.refusal() {
                Refusal::Time => {
                    "the remaining points did not fit into the time budget; give a longer one for finer curves"
                }
                Refusal::Points => {
                    "its share of --points was used up; raise --points for finer curves"
                }
                Refusal::Room => "there was no room for the remaining sets; free some space",
            };
            self.shorten(self.phase, reason);
            return Ok(false);
        };
        self.state.evidence.put(sweep.key, value, id);
        storage_speed::check(self, storage_speed::EVERY)?;
        Ok(true)
    }

    /// Measures the coarse grid of a curve. Where a value does not fit into the time, such as a
    /// large set, others may.
    pub(crate) fn sweep_grid(&mut self, sweep: &Sweep, grid: &[f64]) -> Result<(), P::Error> {
        grid.iter().try_for_each(|&value| self.sweep_point(sweep, value, sweep.grid_need).map(drop))
    }

    /// Adds points where they are most informative, and repeats disturbed ones, until the curve is
    /// resolved.
    pub(crate) fn sweep_refine(&mut self, sweep: &Sweep) -> Result<(), P::Error> {
        // Repeated points may move the curve, so the search continues after each repair; three
        // passes are enough.
        for _ in 0..3 {
            while self.state.evidence.ids(sweep.key).len() < sweep.points {
                let points = self.state.evidence.throughputs(sweep.key);
                let filling = self.filling(sweep);
                let Some(i) = next_interval(&sweep.axis, sweep.refine, &points, &filling) else {
                    break;
                };
                let Some(value) = sweep.axis.between(points[i].0, points[i + 1].0) else { break };
                if !self.sweep_point(sweep, value, Need::Ordinary)? {
                    return Ok(());
                }
            }
            if !rounds::repair(self, &self.state.evidence.ids(sweep.key), Need::Ordinary)? {
                break;
            }
        }
        Ok(())
    }

    /// The sets of a curve over set sizes that were still coming into the file cache: their speed
    /// depends on the length of the runs, and a cliff beside them is not the end of a cache.
    fn filling(&self, sweep: &Sweep) -> Vec<f64> {
        if sweep.axis.parameter != Parameter::UniqueBytes {
            return Vec::new();
        }
        let points = self.state.evidence.on(sweep.key).iter();
        points.filter(|point| self.is_filling(point.1)).map(|point| point.0).collect()
    }

    /// The number of points that a curve lacks; 0 where the user limits their number.
    pub(crate) fn short_of(&self, sweep: &Sweep) -> usize {
        match self.options.points_max {
            None => CURVE_LEAST.saturating_sub(self.state.evidence.ids(sweep.key).len()),
            Some(_) => 0,
        }
    }

    /// Adds points evenly until a curve has enough of them, or time is up.
    pub(crate) fn sweep_fill(&mut self, sweep: &Sweep) -> Result<(), P::Error> {
        while self.short_of(sweep) > 0 {
            let points = self.state.evidence.throughputs(sweep.key);
            let Some(value) = next_even(&sweep.axis, &points) else { break };
            let workload = sweep.template.clone().with(sweep.axis.parameter, value);
            let Some(id) = self.point(&sweep.key.into(), &workload, Need::Ordinary)? else { break };
            self.state.evidence.put(sweep.key, value, id);
        }
        Ok(())
    }

    /// Measures the grid of one curve, and refines it.
    pub(crate) fn sweep(&mut self, sweep: &Sweep, grid: &[f64]) -> Result<(), P::Error> {
        self.sweep_grid(sweep, grid)?;
        self.sweep_refine(sweep)
    }

    /// Notes that there was no time for a whole phase.
    pub(crate) fn skip(&mut self, phase: Phase) {
        self.shorten(phase, self.no_time());
    }

    fn no_time(&self) -> String {
        format!("no time was left for it: a point takes about {:.1} s here", self.usual_cost_s())
    }

    /// Notes why something was left out, by the refusal of its latest point.
    pub(crate) fn skip_refused(&mut self, what: &str) {
        let reason = match self.refusal() {
            Refusal::Time => self.no_time(),
            Refusal::Points => "its share of --points was used up".to_owned(),
            Refusal::Room => "there was no room for its set".to_owned(),
        };
        self.leave_out(what, reason);
    }

    /// Measures workloads as points off the curves; notes it as `what` if some were left out.
    pub(crate) fn off_curves(
        &mut self,
        what: &str,
        workloads: Vec<Workload>,
        need: Need,
    ) -> Result<(), P::Error> {
        for workload in workloads {
            let Some(id) = self.point(&Purpose::Interaction, &workload, need)? else {
                self.skip_refused(what);
                break;
            };
            if !self.state.evidence.extra.contains(&id) {
                self.state.evidence.extra.push(id);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::tests::ten_minutes;

    /// Divides intervals of a known curve until none is left to divide or it has `most` points.
    fn drawn(
        axis: Axis,
        refine: Refine,
        curve: impl Fn(f64) -> f64,
        grid: &[f64],
        most: usize,
    ) -> Vec<f64> {
        let mut points: Vec<(f64, f64)> = grid.iter().map(|&v| (v, curve(v))).collect();
        while points.len() < most {
            let Some(i) = next_interval(&axis, refine, &points, &[]) else { break };
            let value = axis.between(points[i].0, points[i + 1].0).unwrap();
            points.insert(i + 1, (value, curve(value)));
        }
        points.iter().map(|p| p.0).collect()
    }

    fn axis(parameter: Parameter) -> Axis {
        Axis::new(&ten_minutes(), parameter, 1 << 30)
    }

    #[test]
    fn a_cliff_is_bracketed_within_six_percent() {
        let axis = axis(Parameter::UniqueBytes);
        let cliff = 1.3e8;
        let values = drawn(
            axis,
            Refine::Cliffs,
            |u| if u < cliff { 1e10 } else { 2e7 },
            &axis.steps(4.0),
            50,
        );
        let behind = values.iter().position(|&v| v > cliff).unwrap();
        assert!(values[behind] / values[behind - 1] < 1.07);
        assert!(values.len() < 15, "{}", values.len());
    }

    #[test]
    fn beside_a_set_that_still_came_in_no_cliff_is_looked_for() {
        let axis = axis(Parameter::UniqueBytes);
        let points = [(1e6, 1e10), (1e7, 1e10), (1e8, 2e7), (1e9, 1e7)];
        let next = |closed: &[f64]| next_interval(&axis, Refine::Cliffs, &points, closed);
        assert_eq!(next(&[]), Some(1));
        assert_eq!(next(&[1e8]), None);
        assert_eq!(next(&[1e9]), Some(1));
    }

    #[test]
    fn a_flat_curve_gets_no_more_points() {
        for (parameter, refine) in [
            (Parameter::UniqueBytes, Refine::Cliffs),
            (Parameter::ReadFrac, Refine::Bends),
            (Parameter::SizeMean, Refine::ThreeQuarters),
        ] {
            let grid = axis(parameter).grid(2);
            assert_eq!(drawn(axis(parameter), refine, |_| 5e7, &grid, 50), grid);
        }
    }

    #[test]
    fn a_curve_is_filled_evenly_and_among_mostly_reads() {
        for parameter in Parameter::ALL {
            let axis = axis(parameter);
            let mut points = vec![(axis.low, 1.0), (axis.high, 1.0)];
            while points.len() < CURVE_LEAST {
                let value = next_even(&axis, &points).unwrap();
                let at = points.partition_point(|p| p.0 < value);
                assert!(points[at].0 > value, "{parameter:?} {value}");
                points.insert(at, (value, 1.0));
            }
            let is_mostly_reads = |p: &(f64, f64)| p.0 > 0.75 && p.0 < 1.0;
            assert!(parameter != Parameter::ReadFrac || points.iter().any(is_mostly_reads));
        }
    }

    #[test]
    fn a_write_through_cache_gets_points_near_pure_reads() {
        let law = |r: f64| 1.0 / ((1.0 - r) / 1e7 + r / 1e10);
        let values = drawn(axis(Parameter::ReadFrac), Refine::Bends, law, &[0.0, 0.5, 1.0], 8);
        assert!(values.iter().filter(|&&r| r > 0.9 && r < 1.0).count() >= 2, "{values:?}");
    }
}
