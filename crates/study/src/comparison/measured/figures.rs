//! Ratios of two figures with their intervals, and what can be said of them.
//!
//! Logarithms of rounds are compared by Student's t with Welch's degrees of freedom. Few rounds say little of their own
//! scatter, so each row's variance is drawn towards the mean variance of its document (Smyth, "Linear models and empirical
//! Bayes methods", 2004: moderated t).

use ioscape_schema::statistics::{self, sort_by_number};
use ioscape_schema::{Basis, Metric, Verdict, is_near_one};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Ratios within this of 1 are no difference.
pub const MARGIN: f64 = 0.05;
/// How often chance may be taken for a difference, over all rows together.
const ALPHA: f64 = 0.05;
/// Degrees of freedom that the document's mean variance counts for.
const PRIOR_FREEDOM: f64 = 3.0;
/// Standard deviation of ln(throughput) from one run of a workload to the next, assumed where a document has no rounds: the
/// median over six real systems when it was chosen (two runs lay 13 % apart), between the 8 % and the 17 to 21 % that the median and
/// the root mean square of the differences give now (`docs/prediction.md`, accuracy on real systems).
const BETWEEN_RUNS: f64 = 0.14;
/// Degrees of freedom of what is assumed.
const ASSUMED_FREEDOM: f64 = 30.0;
/// Half the width of a normal distribution's 95 % interval, in standard deviations.
pub(super) const NORMAL95: f64 = 1.96;
/// The variance of a median over that of a mean, for normal samples.
const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// A figure of one document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// The figure, above 0: the median of the samples where there are several.
    pub(super) value: f64,
    /// Its rounds or processes.
    pub(super) samples: Vec<f64>,
    /// Standard deviation of the figure's logarithm within a single run; 0 where nothing is known.
    pub(super) within: f64,
    /// Least standard error of the figure's logarithm, however little its samples scatter; 0 where they tell all.
    pub(super) least_error: f64,
    /// Whether the same would be measured again, as in virtual time.
    pub(super) is_exact: bool,
}

impl Figure {
    fn freedom(&self) -> f64 {
        self.samples.len().saturating_sub(1) as f64
    }

    /// Sample variance of the logarithms; 0 of fewer than two.
    fn variance(&self) -> f64 {
        let logs: Vec<f64> = self.samples.iter().map(|sample| sample.ln()).collect();
        statistics::variance(&logs)
    }
}

/// A ratio and how sure it is, on the logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    log: f64,
    /// Standard error.
    error: f64,
    freedom: f64,
    pub(super) basis: Basis,
    pub(super) verdict: Verdict,
}

impl Judged {
    pub(super) fn ratio(&self) -> f64 {
        self.log.exp()
    }

    pub(super) fn ci95(&self) -> [f64; 2] {
        let half = self.error * student(self.freedom).map_or(2.0, |t| t.inverse_cdf(0.975));
        // Far beyond any real ratio, and still a finite number.
        [self.log - half, self.log + half].map(|end| end.clamp(-100.0, 100.0).exp())
    }

    /// The chance of a logarithm as small as this one or smaller where the true one is `limit`.
    pub(super) fn chance_below(&self, limit: f64) -> f64 {
        let off = self.log - limit;
        if self.error <= 0.0 {
            return if off < 0.0 { 0.0 } else { 1.0 };
        }
        student(self.freedom).map_or(1.0, |t| t.cdf(off / self.error))
    }

    /// The chance of a logarithm as large as this one or larger where the true one is `limit`.
    pub(super) fn chance_above(&self, limit: f64) -> f64 {
        match self.error <= 0.0 && self.log == limit {
            // Nothing varies, and it is not beyond the limit.
            true => 1.0,
            false => 1.0 - self.chance_below(limit),
        }
    }

    /// The chance of a ratio as far from 1 where there is no difference.
    fn chance(&self) -> f64 {
        let below = self.chance_below(0.0);
        if self.log == 0.0 { 1.0 } else { (2.0 * below.min(1.0 - below)).min(1.0) }
    }
}

fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom.clamp(1.0, 1e4)).ok()
}

/// Mean variance of all figures that have rounds, weighted by what they know of it; `None` where none has.
fn mean_variance<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<f64> {
    let (sum, freedom) = figures.fold((0.0, 0.0), |(sum, freedom), figure| {
        (sum + figure.freedom() * figure.variance(), freedom + figure.freedom())
    });
    (freedom > 0.0).then(|| sum / freedom)
}

/// Variance of a figure's logarithm, no less than its least error allows, its degrees of freedom, and whether a usual scatter had to be assumed.
fn spread(figure: &Figure, mean: Option<f64>) -> (f64, f64, bool) {
    let (variance, freedom, is_alone) = own_spread(figure, mean);
    (variance.max(figure.least_error * figure.least_error), freedom, is_alone)
}

fn own_spread(figure: &Figure, mean: Option<f64>) -> (f64, f64, bool) {
    let own = figure.freedom();
    let count = figure.samples.len().max(1) as f64;
    let within = figure.within * figure.within;
    match mean {
        _ if figure.is_exact && own == 0.0 => (within, ASSUMED_FREEDOM, false),
        Some(mean) => {
            let freedom = PRIOR_FREEDOM + own;
            let variance = (PRIOR_FREEDOM * mean + own * figure.variance()) / freedom;
            let of_figure = if count < 3.0 { 1.0 } else { OF_MEDIAN };
            let alone = if own == 0.0 { within } else { 0.0 };
            (variance * of_figure / count + alone, freedom, own == 0.0)
        }
        None => (within + BETWEEN_RUNS * BETWEEN_RUNS, ASSUMED_FREEDOM, true),
    }
}

fn ratio_of([above, below]: [&Figure; 2], means: [Option<f64>; 2], is_same: bool) -> Judged {
    let log = (above.value / below.value).ln();
    let verdict = Verdict::CannotBeTold;
    // Figures of two results are equal by rounding too; those of virtual time are the same wherever they come from.
    if above == below && (is_same || above.is_exact) {
        let basis = Basis::SameMeasurement;
        return Judged { log: 0.0, error: 0.0, freedom: 1e4, basis, verdict };
    }
    let [(a, a_freedom, a_alone), (b, b_freedom, b_alone)] =
        [spread(above, means[0]), spread(below, means[1])];
    let total = a + b;
    let freedom = if total > 0.0 {
        total * total / (a * a / a_freedom + b * b / b_freedom)
    } else {
        ASSUMED_FREEDOM
    };
    let basis = if a_alone || b_alone { Basis::SingleRun } else { Basis::Rounds };
    Judged { log, error: total.sqrt(), freedom, basis, verdict }
}

/// Which of the chances are below 5 % over all of them together (Holm 1979).
pub(super) fn holm(chances: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    sort_by_number(&mut order, |&at| chances[at]);
    let mut sure = vec![false; chances.len()];
    for (done, &index) in order.iter().enumerate() {
        if chances[index] > ALPHA / (chances.len() - done) as f64 {
            break;
        }
        sure[index] = true;
    }
    sure
}

/// The ratio of every pair, the first of a pair over the second, and what can be said of it. `is_same`: both come from one
/// document, so that equal figures are one measurement.
///
/// Rows of one metric share what their scatter tells; times of the slowest requests scatter more than throughput.
pub(super) fn judge(pairs: &[[&Figure; 2]], metrics: &[Metric], is_same: bool) -> Vec<Judged> {
    let of_metric = |metric: Metric, side: usize| {
        let both = pairs.iter().zip(metrics).filter(|(_, one)| **one == metric);
        mean_variance(both.map(|(pair, _)| pair[side]))
    };
    let ratio = |(pair, metric): (&[&Figure; 2], &Metric)| {
        ratio_of(*pair, [0, 1].map(|side| of_metric(*metric, side)), is_same)
    };
    let mut judged: Vec<Judged> = pairs.iter().zip(metrics).map(ratio).collect();
    let sure = holm(&judged.iter().map(Judged::chance).collect::<Vec<_>>());
    for ((one, sure), metric) in judged.iter_mut().zip(sure).zip(metrics) {
        let is_more = one.log > 0.0;
        one.verdict = match sure {
            true if is_more == metric.more_is_faster() => Verdict::Faster,
            true => Verdict::Slower,
            false if is_near_one(one.ci95(), MARGIN) => Verdict::NoDifference,
            false => Verdict::CannotBeTold,
        };
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn figure(samples: &[f64]) -> Figure {
        let value = statistics::median(samples);
        Figure { value, samples: samples.to_vec(), within: 0.0, least_error: 0.0, is_exact: false }
    }

    fn normal(generator: &mut Pcg64Mcg) -> f64 {
        (0..12).map(|_| generator.random::<f64>()).sum::<f64>() - 6.0
    }

    /// A document of `rows` rows of `rounds` rounds; the scatter differs from row to row by a factor of up to 7.
    fn scattered(g: &mut Pcg64Mcg, rows: usize, rounds: usize, factor: f64) -> Vec<Figure> {
        (0..rows)
            .map(|row| {
                let sd = 0.03 * (2.0 * row as f64 / rows as f64).exp();
                let samples: Vec<f64> =
                    (0..rounds).map(|_| factor * (sd * normal(g)).exp()).collect();
                figure(&samples)
            })
            .collect()
    }

    fn verdicts(a: &[Figure], b: &[Figure]) -> Vec<Judged> {
        let pairs: Vec<[&Figure; 2]> = a.iter().zip(b).map(|(a, b)| [a, b]).collect();
        judge(&pairs, &vec![Metric::Throughput; pairs.len()], false)
    }

    #[test]
    fn equal_systems_are_told_apart_one_time_in_twenty_at_most() {
        for (rounds, seed) in [(2, 1), (3, 2), (5, 3)] {
            let mut generator = Pcg64Mcg::seed_from_u64(seed);
            let (mut wrong, mut outside) = (0, 0);
            for _ in 0..400 {
                let [a, b] = [(); 2].map(|()| scattered(&mut generator, 30, rounds, 1.0));
                let judged = verdicts(&a, &b);
                let is_wrong =
                    |one: &Judged| matches!(one.verdict, Verdict::Faster | Verdict::Slower);
                wrong += usize::from(judged.iter().any(is_wrong));
                let misses = |one: &Judged| one.ci95()[0] > 1.0 || one.ci95()[1] < 1.0;
                outside += judged.iter().filter(|one| misses(one)).count();
            }
            assert!(wrong <= 28, "{rounds} rounds: {wrong} of 400 comparisons");
            let share = outside as f64 / 12_000.0;
            assert!((0.005..0.06).contains(&share), "{rounds} rounds: {share} of the intervals");
        }
    }

    #[test]
    fn a_true_difference_is_found() {
        let mut generator = Pcg64Mcg::seed_from_u64(4);
        let a = scattered(&mut generator, 10, 5, 1.5);
        let b = scattered(&mut generator, 10, 5, 1.0);
        let judged = verdicts(&a, &b);
        assert!(judged[..7].iter().all(|one| one.verdict == Verdict::Faster), "{judged:?}");
    }

    #[test]
    fn the_same_measurement_does_not_differ_and_a_single_run_says_little() {
        let one = figure(&[100.0]);
        let same = judge(&[[&one, &one]], &[Metric::Throughput], true)[0];
        assert_eq!((same.verdict, same.basis), (Verdict::NoDifference, Basis::SameMeasurement));
        assert_eq!(same.ci95(), [1.0, 1.0]);
        let equal = verdicts(std::slice::from_ref(&one), std::slice::from_ref(&one))[0];
        assert_eq!((equal.verdict, equal.basis), (Verdict::CannotBeTold, Basis::SingleRun));
        // Percentiles come in steps, so that rounds are equal by chance.
        let rounds = figure(&[100.0, 101.0]);
        let again = verdicts(std::slice::from_ref(&rounds), std::slice::from_ref(&rounds))[0];
        assert_eq!((again.ratio(), again.basis), (1.0, Basis::Rounds));
        let alone = |value: f64| verdicts(&[figure(&[value])], std::slice::from_ref(&one))[0];
        assert_eq!(alone(90.0).verdict, Verdict::CannotBeTold);
        assert_eq!((alone(50.0).verdict, alone(50.0).basis), (Verdict::Slower, Basis::SingleRun));
        let exact = |value: f64| Figure { is_exact: true, ..figure(&[value]) };
        let virtual_time = verdicts(&[exact(99.0)], &[exact(100.0)])[0];
        assert_eq!(virtual_time.verdict, Verdict::Slower);
    }

    #[test]
    fn a_figure_is_no_surer_than_its_least_error() {
        let [a, b] = [[15.0, 15.1, 14.9, 15.0], [10.0, 10.1, 9.9, 10.0]].map(|s| figure(&s));
        assert_eq!(judge(&[[&a, &b]], &[Metric::Time], false)[0].verdict, Verdict::Slower);
        // Its processor was slower by 1.6 at the time, so that it may take as long as the other.
        let slow = Figure { least_error: 1.6f64.ln() / NORMAL95, ..a };
        let judged = judge(&[[&slow, &b]], &[Metric::Time], false)[0];
        assert_eq!(judged.verdict, Verdict::CannotBeTold);
        assert!(judged.ci95()[0] < 1.0, "{:?}", judged.ci95());
    }

    #[test]
    fn less_time_is_faster() {
        let [a, b] = [[10.0, 10.1, 9.9, 10.0], [20.0, 20.1, 19.9, 20.0]].map(|s| figure(&s));
        let judged = judge(&[[&a, &b]], &[Metric::Time], false);
        assert_eq!(judged[0].verdict, Verdict::Faster);
    }
}
