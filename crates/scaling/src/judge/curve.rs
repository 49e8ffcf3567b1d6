//! What one measured curve says: values at its points, ratios with bounds, where it reaches a level.

use super::points::positive;
use super::segment::Sample;
use ioscape_schema::statistics::{geometric_mean, median};
use ioscape_schema::{Bounded, Evaluation, Parameter, Point};

/// Share of the best throughput that counts as performing well.
pub(crate) const PERFORMS_WELL: f64 = 0.75;
/// Runs repeat themselves no better than this, whatever their own confidence interval says.
const REPEATABILITY: f64 = 0.02;
/// Least number of repeated points, or of references, from which repeatability is estimated.
const PAIRS: usize = 4;
/// A set within this factor of a border lies beside it: how much of it is cached varies slightly
/// from run to run.
const BESIDE: f64 = 1.25;
/// Error assumed for a point measured only once, in log throughput, if too few points were repeated
/// to estimate it.
const ALONE: f64 = 0.25;
/// Repeated points from which that error is estimated, and the least estimate.
const PAIRS_ALONE: usize = 16;
const ALONE_LEAST: f64 = 0.1;
/// Uncertainty of a point, as a multiple of half the spread of its rounds.
const SPREAD: f64 = 1.2;
/// Rounds up to which [`SPREAD`] applies in full.
const SPREAD_ROUNDS: f64 = 3.0;
/// Two-sided 95 % of a normal distribution.
pub(crate) const Z95: f64 = 1.96;

/// How well runs of one kind repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Noise {
    /// The standard deviation of log throughput between rounds of one point.
    between: f64,
    /// Error assumed for a point measured only once, in log throughput.
    alone: f64,
}

impl Noise {
    /// Returns the noise of all runs of an evaluation together, which has these points.
    fn of_all(evaluation: &Evaluation, points: &[&Point]) -> Self {
        let repeated = || points.iter().copied();
        let mut between: Vec<f64> = repeated().filter_map(pair).collect();
        let steps = evaluation.drift.throughputs.windows(2);
        // The first points to be repeated lie beside borders, where runs differ most. If references
        // show how runs repeat, leave these points out: their scatter is that of the border.
        if between.len() < PAIRS_ALONE {
            if steps.len() >= PAIRS {
                let is_beside = |p: &Point| is_beside_a_border(evaluation, p);
                between = repeated().filter(|p| !is_beside(p)).filter_map(pair).collect();
            }
            between.extend(steps.map(|w| (w[0] / w[1].max(1e-9)).ln().abs()));
        }
        let is_few = between.len() < PAIRS_ALONE;
        match Self::of(between) {
            None => Self { between: REPEATABILITY, alone: ALONE },
            Some(found) if is_few => Self { alone: found.alone.max(ALONE), ..found },
            Some(found) => found,
        }
    }

    /// Returns the noise that these differences of two rounds show; `None` if there are too few.
    fn of(mut between: Vec<f64>) -> Option<Self> {
        if between.len() < PAIRS {
            return None;
        }
        between.sort_by(f64::total_cmp);
        // With normal noise, half of all differences of two are below 0.954 standard deviations,
        // and eight in ten below 1.81; bursts raise the latter.
        let most = between[between.len() * 4 / 5] / 1.81;
        // One pair in twenty differs by more: a disturbance of this size may hide in a point
        // measured once.
        let alone = between[(between.len() * 19).div_ceil(20) - 1].clamp(ALONE_LEAST, 2.0);
        let between = (median(&between) / 0.954).max(most).clamp(REPEATABILITY, 1.0);
        Some(Self { between, alone })
    }

    /// The larger of both, each by itself.
    fn max(self, other: Self) -> Self {
        Self { between: self.between.max(other.between), alone: self.alone.max(other.alone) }
    }
}

/// How well runs of this evaluation repeat: those that wait for storage, and all others.
///
/// A run's own confidence interval covers only its few seconds. What the machine does between runs
/// shows in repeated rounds or, where there are too few, in the references.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Repeatability {
    waiting: Noise,
    others: Noise,
}

impl Repeatability {
    pub(crate) fn of(evaluation: &Evaluation) -> Self {
        let points = points_of(evaluation);
        let all = Noise::of_all(evaluation, &points);
        // Many quiet runs of one kind hide how little those of the other repeat.
        let [waiting, others] = [true, false].map(|waits| {
            let own = points.iter().filter(|p| p.measurement.waits() == waits);
            let apart = own.filter(|p| !is_beside_a_border(evaluation, p));
            let between = apart.filter_map(|p| pair(p)).collect();
            Noise::of(between).map_or(all, |own| own.max(all))
        });
        Self { waiting, others }
    }

    fn noise_of(self, point: &Point) -> Noise {
        if point.measurement.waits() { self.waiting } else { self.others }
    }

    /// Returns the 95 % uncertainty of a point in log throughput, from its own confidence interval
    /// and from how well runs repeat.
    fn usual_error_of(self, point: &Point) -> f64 {
        let interval = point.measurement.relative_error();
        let interval = if interval.is_finite() { interval } else { 1.0 };
        // Variation within a run is part of that between runs, unless this point varies more than
        // others.
        let rounds = point.rounds.len().max(1) as f64;
        let usual = interval.max(Z95 * self.noise_of(point).between) / rounds.sqrt();
        // If rounds differ by more than runs usually do, one was disturbed, and it is not known
        // which. With more rounds the extremes lie further apart, but the median follows them less.
        let apart = SPREAD * point.spread.unwrap_or(0.0) * (SPREAD_ROUNDS / rounds).sqrt().min(1.0);
        // What others may have taken from each round does not average out.
        let slowed = point.measurement.faster_without_others().ln();
        usual.max(apart).clamp(REPEATABILITY, 2.0).max(slowed)
    }

    /// Returns the error assumed for a point measured only once; 0 for others.
    fn alone_error_of(self, point: &Point) -> f64 {
        if point.rounds.len() < 2 { self.noise_of(point).alone } else { 0.0 }
    }

    /// Returns the 95 % uncertainty of a point, in log throughput.
    pub(crate) fn error_of(self, point: &Point) -> f64 {
        self.usual_error_of(point).hypot(self.alone_error_of(point)).min(2.0)
    }

    /// Returns the ratio of two points, with bounds from both uncertainties.
    ///
    /// `None` if either moved no bytes, or if the cache of either was still filling: its speed then
    /// shows only how far that had come.
    pub(crate) fn ratio(self, over: &Point, under: &Point) -> Option<Bounded> {
        if [over, under].iter().any(|point| point.measurement.was_filling()) {
            return None;
        }
        let value = over.throughput() / under.throughput();
        if !value.is_finite() || value <= 0.0 {
            return None;
        }
        // Runs differ by factors: two that are each off by a half may be off in opposite
        // directions.
        let usual = self.usual_error_of(over).hypot(self.usual_error_of(under));
        // Two single runs rarely differ by more than `alone`, so it bounds their ratio, not each of
        // them.
        let alone = self.alone_error_of(over).max(self.alone_error_of(under));
        let factor = usual.hypot(alone).exp();
        // On a machine with two speeds, the median of a few rounds is whichever speed met the
        // majority, and only the mean converges with more rounds. If one round was disturbed, the
        // median is closer. The bounds must hold for both.
        let mean = mean_speed(over) / mean_speed(under);
        Some(Bounded { value, low: value.min(mean) / factor, high: value.max(mean) * factor })
    }

    /// Returns the throughput at fraction 1 of a curve over that at fraction 0.
    pub(crate) fn ends_ratio(self, curve: &[Point]) -> Option<Bounded> {
        self.ratio(at(curve, 1.0)?, at(curve, 0.0)?)
    }

    /// Returns the best throughput of several processes, or of a deeper queue, over that of one,
    /// with which the curve begins; `None` if several were not measured.
    ///
    /// The one is no candidate for the best: if all others are slower, the ratio would be 1. The low
    /// end allows for the luck that made the best one the best.
    pub(crate) fn several_ratio(self, curve: &[Point]) -> Option<Bounded> {
        let best = best_of_several(curve)?;
        let found = self.ratio(best, curve.first()?)?;
        let luck = (quantile_of_best(curve.len() - 1) / Z95 - 1.0) * self.usual_error_of(best);
        Some(Bounded { low: found.low / luck.exp(), ..found })
    }

    /// Returns a set-size curve as samples of time per byte, without points whose cache was still
    /// filling.
    pub(crate) fn samples(self, curve: &[Point]) -> Vec<Sample> {
        let sample = |p: &Point| {
            let sigma = self.error_of(p) / Z95;
            let s = 1.0 / p.throughput().max(1e-3);
            Sample { unique_bytes: p.value, s, sigma, noise: sigma }
        };
        curve.iter().filter(|p| !p.measurement.was_filling()).map(sample).collect()
    }
}

/// Returns the points of all curves, each once. A region's focal point lies on all its curves, and
/// perhaps on a set-size curve.
fn points_of(evaluation: &Evaluation) -> Vec<&Point> {
    let mut points: Vec<&Point> = Vec::new();
    for point in evaluation.curves(&Parameter::ALL).flatten() {
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

/// Returns the normal quantile at 1 - 0.025 / `count`, to within 1 %. The best of `count` equal
/// points exceeds it one time in forty.
fn quantile_of_best(count: usize) -> f64 {
    (Z95 * Z95 + 1.74 * (count as f64).ln()).sqrt()
}

/// The fastest point of a curve except its first; `None` if there is no other.
pub(crate) fn best_of_several(curve: &[Point]) -> Option<&Point> {
    best(curve.get(1..)?)
}

/// The slowest point of a curve.
pub(crate) fn worst(curve: &[Point]) -> Option<&Point> {
    curve.iter().min_by(|a, b| a.throughput().total_cmp(&b.throughput()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::region;
    use ioscape_schema::{Measurement, RegionCurves, Stop, Workload};
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg32;

    /// A point whose round `i` ran at the slower of two speeds if bit `i` of `slow` is set.
    fn two_speeds(rounds: usize, slow: usize, factor: f64) -> Point {
        let speed = |round: usize| if slow >> round & 1 == 1 { 1.0 / factor } else { 1.0 };
        of_rounds((0..rounds).map(speed).collect())
    }

    /// Runs of both kinds repeat equally well.
    fn alike(between: f64) -> Repeatability {
        let noise = Noise { between, alone: ALONE_LEAST };
        Repeatability { waiting: noise, others: noise }
    }

    fn of_rounds(rounds: Vec<f64>) -> Point {
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

    /// Once, four processes of which others had most of the time were 4.0 times (2.1 to 7.9) slower
    /// than one; right after, both were as fast.
    #[test]
    fn what_others_may_have_taken_from_every_round_does_not_average_out() {
        let quiet = of_rounds(vec![1.0; 9]);
        let mut slowed = of_rounds(vec![0.25; 9]);
        let ratio = |slowed: &Point| alike(0.02).ratio(slowed, &quiet).unwrap();
        assert!(ratio(&slowed).high < 0.3);
        slowed.measurement.witness.lost_frac = Some(0.8);
        let by = ratio(&slowed);
        assert!(by.low < 0.25 && by.high >= 1.25, "{by:?}");
    }

    /// Twice as many were called faster by the interval of one fixed pair.
    #[test]
    fn the_luckiest_of_several_equal_points_is_not_called_faster() {
        let noise = alike(0.1);
        let mut random = Pcg32::seed_from_u64(1);
        for several in [2, 4, 7] {
            let mut misses = || {
                let mut round = || {
                    let one: f64 = StandardNormal.sample(&mut random);
                    (0.1 * one).exp()
                };
                let point = |_| of_rounds([round(), round(), round()].into());
                let curve: Vec<Point> = (0..=several).map(point).collect();
                noise.several_ratio(&curve).unwrap().low > 1.0
            };
            let missed = (0..1000).filter(|_| misses()).count();
            assert!(missed < 35, "the best of {several}: {missed} of 1000");
        }
    }

    #[test]
    fn the_best_of_several_lies_beyond_the_quantile_of_one() {
        // Of a normal distribution, at 1 - 0.025 over the number.
        for (count, quantile) in [(1, 1.960), (2, 2.241), (4, 2.498), (7, 2.690), (16, 2.955)] {
            assert!((quantile_of_best(count) / quantile - 1.0).abs() < 0.01, "{count}");
        }
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

    /// Storage that others share halved from run to run, beside memory that repeated itself to 2 %:
    /// writes were called 1.1 to 13 times faster than reads that were as fast.
    #[test]
    fn quiet_memory_does_not_hide_how_little_storage_repeats() {
        let of = |waits: bool, index: u32, rounds: &[f64]| {
            let mut point = of_rounds(rounds.to_vec());
            point.value = f64::from(index);
            let m = &mut point.measurement;
            (m.workload.unique_bytes, m.elapsed_s) = (1 << 20 << u32::from(waits), 1.0);
            (m.workload.size_mean, m.cpu_system_s) =
                (512 * u64::from(index + 1), if waits { 0.1 } else { 0.9 });
            point
        };
        let memory = (0..100).map(|i| of(false, i, &[1.0, 1.02]));
        let storage = (0..5).map(|i| of(true, i, &[1.0, if i % 2 == 0 { 2.0 } else { 0.6 }]));
        let size_mean = memory.chain(storage).collect();
        let curves = RegionCurves { size_mean, ..RegionCurves::default() };
        let evaluation = Evaluation { regions: vec![region(curves)], ..Evaluation::default() };
        let noise = Repeatability::of(&evaluation);
        let ratio = |waits, rounds: [f64; 2]| {
            let [over, under] = rounds.map(|speed| of(waits, 99, &[speed]));
            noise.ratio(&over, &under).unwrap()
        };
        assert!(ratio(true, [1.9, 1.0]).low < 1.0, "{noise:?}");
        assert!(ratio(false, [1.9, 1.0]).low > 1.5, "{noise:?}");
    }

    #[test]
    fn a_point_whose_cache_was_filling_is_compared_with_nothing() {
        let noise = alike(0.02);
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

    /// All outcomes are equally likely, so the share of intervals that miss is exact.
    #[test]
    fn a_machine_with_two_speeds_does_not_make_two_equal_points_differ() {
        for factor in [1.2, 1.5, 2.0] {
            // Half of all pairs of rounds differ by the factor, hence this repeatability.
            let noise = alike(f64::ln(factor) / 1.81);
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
