//! What one measured curve says: values at its points, ratios with bounds, where it reaches a level.

use super::points::positive;
use super::segment::Sample;
use ioscape_schema::statistics::{geometric_mean, median};
use ioscape_schema::{BorderOperation, Bounded, Evaluation, Parameter, Point};

/// Share of the best throughput that counts as performing well.
pub(crate) const PERFORMS_WELL: f64 = 0.75;
/// Runs repeat themselves no better than this, whatever their own confidence interval says.
const REPEATABILITY: f64 = 0.02;
/// Least number of repeated points, or of references, from which repeatability is estimated.
const PAIRS: usize = 4;
/// Factor to a border up to which a set lies beside it: a little more or less of it is in the cache from run to run.
const BESIDE: f64 = 1.25;
/// What may have disturbed a point that was measured only once, in log throughput, where too few were repeated to see it.
const ALONE: f64 = 0.25;
/// Repeated points from which on it is seen, and the least it is taken to be.
const PAIRS_ALONE: usize = 16;
const ALONE_LEAST: f64 = 0.1;
/// Uncertainty of a point over half the spread of its rounds.
const SPREAD: f64 = 1.2;
/// Rounds up to which it is.
const SPREAD_ROUNDS: f64 = 3.0;
/// Two-sided 95 % of a normal distribution.
pub(crate) const Z95: f64 = 1.96;

/// How well a run of this evaluation repeats itself: standard deviation of log throughput between rounds of one point.
///
/// A run's own confidence interval holds for its few seconds. What the machine does between runs shows in repeated rounds,
/// or, where there are too few, in the references.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Repeatability {
    /// The standard deviation.
    between: f64,
    /// What may have disturbed a point that was measured only once, in log throughput.
    alone: f64,
}

impl Repeatability {
    pub(crate) fn of(evaluation: &Evaluation) -> Self {
        let points = points_of(evaluation);
        let repeated = || points.iter().copied();
        let mut between: Vec<f64> = repeated().filter_map(pair).collect();
        let steps = evaluation.drift.throughputs.windows(2);
        // The few points that were repeated first lie beside borders, where runs differ most: where references tell as well how
        // runs repeat themselves, these points tell of the border.
        if between.len() < PAIRS_ALONE {
            if steps.len() >= PAIRS {
                let is_beside = |p: &Point| is_beside_a_border(evaluation, p);
                between = repeated().filter(|p| !is_beside(p)).filter_map(pair).collect();
            }
            between.extend(steps.map(|w| (w[0] / w[1].max(1e-9)).ln().abs()));
        }
        if between.len() < PAIRS {
            return Self { between: REPEATABILITY, alone: ALONE };
        }
        between.sort_by(f64::total_cmp);
        // Of normal noise, differences of two are below 0.954 standard deviations in half of the cases, and below 1.81 in
        // eight of ten; the latter is larger where bursts interfere.
        let most = between[between.len() * 4 / 5] / 1.81;
        // One pair in twenty differs by more: that is what may have befallen a point unseen.
        let rarely = between[(between.len() * 19).div_ceil(20) - 1].clamp(ALONE_LEAST, 2.0);
        let alone = if between.len() >= PAIRS_ALONE { rarely } else { rarely.max(ALONE) };
        Self { between: (median(&between) / 0.954).max(most).clamp(REPEATABILITY, 1.0), alone }
    }

    /// Uncertainty of a point by its own confidence interval and by how well runs repeat themselves, 95 %, in log throughput.
    fn usual_error_of(self, point: &Point) -> f64 {
        let interval = point.measurement.relative_error();
        let interval = if interval.is_finite() { interval } else { 1.0 };
        // What varies within a run is a part of what varies between runs, unless this point varies more than others do.
        let rounds = point.rounds.len().max(1) as f64;
        let usual = interval.max(Z95 * self.between) / rounds.sqrt();
        // Rounds that differ by more than runs usually do: one of them was disturbed, and it is not known which. The more there
        // are, the further the outermost lie apart, and the less the median follows them.
        let apart = SPREAD * point.spread.unwrap_or(0.0) * (SPREAD_ROUNDS / rounds).sqrt().min(1.0);
        usual.max(apart).clamp(REPEATABILITY, 2.0)
    }

    /// What may have befallen a point that was measured only once.
    fn alone_error_of(self, point: &Point) -> f64 {
        if point.rounds.len() < 2 { self.alone } else { 0.0 }
    }

    /// Uncertainty of a point, 95 %, in log throughput.
    pub(crate) fn error_of(self, point: &Point) -> f64 {
        self.usual_error_of(point).hypot(self.alone_error_of(point)).min(2.0)
    }

    /// Ratio of two points with bounds from both uncertainties; `None` when the lower one did not move any bytes, or where the cache of one of
    /// them was still filling: then it tells how far that had come.
    pub(crate) fn ratio(self, over: &Point, under: &Point) -> Option<Bounded> {
        if [over, under].iter().any(|point| point.measurement.was_filling()) {
            return None;
        }
        let value = over.throughput() / under.throughput();
        if !value.is_finite() || value <= 0.0 {
            return None;
        }
        // Runs differ by factors: two that are off by a half each may be so in opposite directions.
        let usual = self.usual_error_of(over).hypot(self.usual_error_of(under));
        // By how much two single runs differ but rarely bounds the ratio of two of them, not each of the two.
        let alone = self.alone_error_of(over).max(self.alone_error_of(under));
        let factor = usual.hypot(alone).exp();
        // On a machine with two speeds the median of a few rounds is one of them, whichever met the majority, and only the mean
        // comes nearer with more rounds; of rounds of which one was disturbed the median is nearer. Both must bear what is said.
        let mean = mean_speed(over) / mean_speed(under);
        Some(Bounded { value, low: value.min(mean) / factor, high: value.max(mean) * factor })
    }

    /// Throughput at the upper end of a curve of a fraction over that at its lower end.
    pub(crate) fn ends_ratio(self, curve: &[Point]) -> Option<Bounded> {
        self.ratio(at(curve, 1.0)?, at(curve, 0.0)?)
    }

    /// The best throughput of several processes, or of a deeper queue, over that of one, with which the curve begins; `None` where several were not
    /// measured. The one is no candidate: of several that are all slower it would be the best, and no slower than itself.
    pub(crate) fn several_ratio(self, curve: &[Point]) -> Option<Bounded> {
        self.ratio(best_of_several(curve)?, curve.first()?)
    }

    /// A curve of set sizes as samples of time per byte, without the points whose cache was still filling.
    pub(crate) fn samples(self, curve: &[Point]) -> Vec<Sample> {
        let sample = |p: &Point| {
            let sigma = self.error_of(p) / Z95;
            let s = 1.0 / p.throughput().max(1e-3);
            Sample { unique_bytes: p.value, s, sigma, noise: sigma }
        };
        curve.iter().filter(|p| !p.measurement.was_filling()).map(sample).collect()
    }
}

/// The points of all curves, each once: the focal point of a region lies on all its curves, and perhaps on that of the sizes of the set.
fn points_of(evaluation: &Evaluation) -> Vec<&Point> {
    let set_sizes = [BorderOperation::Mixed, BorderOperation::Read, BorderOperation::Write];
    let mut curves = set_sizes.map(|operation| evaluation.set_size_curve(operation)).to_vec();
    for region in &evaluation.regions {
        curves
            .extend(Parameter::ALL.iter().filter_map(|&p| region.curves.get(p)).map(Vec::as_slice));
    }
    let mut points: Vec<&Point> = Vec::new();
    for point in curves.into_iter().flatten() {
        let workload = &point.measurement.workload;
        if !points.iter().any(|seen| seen.measurement.workload == *workload) {
            points.push(point);
        }
    }
    points
}

/// Difference of the first two rounds of a point, in log throughput.
fn pair(point: &Point) -> Option<f64> {
    match point.rounds[..] {
        [a, b, ..] if a > 0.0 && b > 0.0 => Some((a / b).ln().abs()),
        _ => None,
    }
}

/// Whether the set of a point is within a factor of [`BESIDE`] of a border.
fn is_beside_a_border(evaluation: &Evaluation, point: &Point) -> bool {
    let set = point.measurement.workload.unique_bytes as f64;
    let is_near = |at: f64| (set / at).ln().abs() < BESIDE.ln();
    evaluation.borders.iter().any(|border| is_near(border.unique_bytes))
}

/// Geometric mean of the rounds of a point, in bytes per second.
fn mean_speed(point: &Point) -> f64 {
    let rounds: Vec<f64> = point.rounds.iter().copied().map(positive).collect();
    geometric_mean(&rounds).unwrap_or_else(|| positive(point.throughput()))
}

pub(crate) fn inverse(bounded: Bounded) -> Bounded {
    let Bounded { value, low, high } = bounded;
    Bounded { value: 1.0 / value, low: 1.0 / high, high: 1.0 / low }
}

/// The point of a curve at `value` exactly.
pub(crate) fn at(curve: &[Point], value: f64) -> Option<&Point> {
    curve.iter().find(|p| p.value == value)
}

/// The fastest point of a curve.
pub(crate) fn best(curve: &[Point]) -> Option<&Point> {
    curve.iter().max_by(|a, b| a.throughput().total_cmp(&b.throughput()))
}

/// The fastest point of a curve but for its first; `None` where there is no other.
pub(crate) fn best_of_several(curve: &[Point]) -> Option<&Point> {
    best(curve.get(1..)?)
}

/// The slowest point of a curve.
pub(crate) fn worst(curve: &[Point]) -> Option<&Point> {
    curve.iter().min_by(|a, b| a.throughput().total_cmp(&b.throughput()))
}

/// Least value at which a curve reaches `level`, interpolated on a logarithmic scale.
pub(crate) fn first_at(curve: &[Point], level: f64) -> Option<f64> {
    let reached = curve.iter().position(|p| p.throughput() >= level)?;
    let high = curve[reached].value;
    let Some(before) = reached.checked_sub(1).map(|i| &curve[i]) else { return Some(high) };
    let part = (level - before.throughput()) / (curve[reached].throughput() - before.throughput());
    Some(before.value * (high / before.value).powf(part.clamp(0.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::region;
    use ioscape_schema::{Measurement, RegionCurves, Stop, Workload};

    /// A point whose round `i` met the slow one of two speeds where bit `i` of `slow` is set.
    fn two_speeds(rounds: usize, slow: usize, factor: f64) -> Point {
        let speed = |round: usize| if slow >> round & 1 == 1 { 1.0 / factor } else { 1.0 };
        let rounds: Vec<f64> = (0..rounds).map(speed).collect();
        let mut sorted = rounds.clone();
        sorted.sort_by(f64::total_cmp);
        let throughput = sorted[(sorted.len() - 1) / 2];
        let measurement = Measurement {
            throughput_bytes_per_s: throughput,
            throughput_ci95: [0.98 * throughput, 1.02 * throughput],
            ..Measurement::empty(Workload::default(), Stop::Confident)
        };
        let spread = (sorted[sorted.len() - 1] - sorted[0]) / 2.0;
        let point = Point { value: 0.0, measurement, rounds, spread: None };
        Point { spread: Some(spread / point.throughput()), ..point }
    }

    #[test]
    fn a_point_on_several_curves_tells_once_how_runs_repeat_themselves() {
        let curve = || vec![Point { rounds: vec![1.0, 2.0], ..two_speeds(2, 0, 1.0) }];
        let of = |curves: RegionCurves| {
            let regions = vec![region(curves)];
            Repeatability::of(&Evaluation { regions, ..Evaluation::default() })
        };
        let one = RegionCurves { size_mean: curve(), ..RegionCurves::default() };
        let [read_frac, seq_frac, process_num] = [curve(), curve(), curve()];
        let all = RegionCurves { read_frac, seq_frac, process_num, ..one.clone() };
        assert_eq!(of(all), of(one));
    }

    #[test]
    fn a_point_whose_cache_was_filling_is_compared_with_nothing() {
        let noise = Repeatability { between: 0.02, alone: ALONE_LEAST };
        let steady = two_speeds(3, 0, 1.0);
        let mut filling = steady.clone();
        filling.measurement.bytes = 1 << 24;
        filling.measurement.workload.unique_bytes = 1 << 30;
        filling.measurement.workload.read_frac = 1.0;
        filling.measurement.witness.resident_frac = Some([0.1, 0.12]);
        assert!(noise.ratio(&steady, &steady).is_some());
        assert_eq!(noise.ratio(&steady, &filling), None);
        assert_eq!(noise.ratio(&filling, &steady), None);
    }

    /// All outcomes are equally likely, so that the share of intervals that miss is exact.
    #[test]
    fn a_machine_with_two_speeds_does_not_make_two_equal_points_differ() {
        for factor in [1.2, 1.5, 2.0] {
            // Half of all pairs of rounds differ by the factor, as many as tell how well runs repeat themselves.
            let noise = Repeatability { between: f64::ln(factor) / 1.81, alone: ALONE_LEAST };
            for rounds in 2..=6 {
                let outcomes = 1 << rounds;
                let misses = |(a, b): (usize, usize)| {
                    let [over, under] = [a, b].map(|slow| two_speeds(rounds, slow, factor));
                    let ratio = noise.ratio(&over, &under).unwrap();
                    ratio.low > 1.0 || ratio.high < 1.0
                };
                let all = (0..outcomes).flat_map(|a| (0..outcomes).map(move |b| (a, b)));
                let missed = all.filter(|&pair| misses(pair)).count();
                let share = missed as f64 / (outcomes * outcomes) as f64;
                assert!(share <= 0.05, "{rounds} rounds, {factor}: {share}");
            }
        }
    }
}
