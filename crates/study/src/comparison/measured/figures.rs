//! Ratios of two figures with their intervals, and what can be said of them.
//!
//! Logarithms of rounds are compared by Student's t with Welch's degrees of freedom. Few rounds say little of their own
//! scatter, so each row's variance is drawn towards the mean variance of the other rows of its document (Smyth, "Linear models
//! and empirical Bayes methods", 2004: moderated t), and the less the further it lies above that.

use ioscape_schema::statistics::{self, sort_by_number};
use ioscape_schema::{Basis, Metric, Verdict, is_near_one};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Ratios within this of 1 are no difference.
pub const MARGIN: f64 = 0.05;
/// How often chance may be taken for a difference, over all rows together.
const ALPHA: f64 = 0.05;
/// Degrees of freedom that the mean variance of the other rows counts for, at most.
const PRIOR_FREEDOM: f64 = 3.0;
/// Standard deviation of ln(throughput) from one run of a workload to the next, assumed at least where a row has no rounds: the
/// median over six real systems when it was chosen (two runs lay 13 % apart), between the 8 % and the 17 to 21 % that the median and
/// the root mean square of the differences give now (`docs/prediction.md`, accuracy on real systems).
pub(super) const BETWEEN_RUNS: f64 = 0.14;
/// The same of figures of which nobody knows how they scatter from run to run: no ratio is beyond it.
pub(super) const UNKNOWN_BETWEEN: f64 = 1e3;
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
    /// Standard deviation of its logarithm from one run to the next, assumed at least where it has no rounds.
    pub(super) between: f64,
    /// Least standard error of the figure's logarithm, however little its samples scatter; 0 where they tell all.
    pub(super) least_error: f64,
    /// Whether the same would be measured again, as in virtual time.
    pub(super) is_exact: bool,
}

/// What rounds tell of the scatter of a figure's logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scatter {
    /// Variance; 0 where nothing is known.
    variance: f64,
    /// Its degrees of freedom.
    freedom: f64,
}

impl Scatter {
    fn of(figure: &Figure) -> Self {
        let logs: Vec<f64> = figure.samples.iter().map(|sample| sample.ln()).collect();
        let freedom = logs.len().saturating_sub(1) as f64;
        Self { variance: statistics::variance(&logs), freedom }
    }

    /// The mean of several, weighted by what they know of it.
    fn mean(all: impl Iterator<Item = Self>) -> Self {
        let (sum, freedom) = all.fold((0.0, 0.0), |(sum, freedom), one| {
            (sum + one.freedom * one.variance, freedom + one.freedom)
        });
        Self { variance: if freedom > 0.0 { sum / freedom } else { 0.0 }, freedom }
    }
}

/// How far a figure's logarithm may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    variance: f64,
    freedom: f64,
    /// Whether a usual scatter had to be assumed.
    is_alone: bool,
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

/// How far a figure may be off, no less than its least error allows: by its own scatter, and by that of the `others` of its metric.
fn spread(figure: &Figure, own: Scatter, others: Scatter) -> Spread {
    let is_one = own.freedom == 0.0;
    let (variance, freedom) = match is_one {
        true => of_one(figure, others),
        false => of_rounds(figure.samples.len() as f64, own, others),
    };
    let least = figure.least_error * figure.least_error;
    Spread { variance: variance.max(least), freedom, is_alone: is_one && !figure.is_exact }
}

/// Variance of a single run's logarithm, and its degrees of freedom: other rows may scatter more than is usual, but do not tell
/// that this one scatters less. What they scatter more is known as they know it, and what is usual as that is (Satterthwaite).
fn of_one(figure: &Figure, others: Scatter) -> (f64, f64) {
    let (within, usual) = (figure.within * figure.within, figure.between * figure.between);
    if figure.is_exact {
        return (within, ASSUMED_FREEDOM);
    }
    let more = others.variance - usual;
    if more <= 0.0 {
        return (within + usual, ASSUMED_FREEDOM);
    }
    let parts = usual * usual / ASSUMED_FREEDOM + more * more / others.freedom.min(PRIOR_FREEDOM);
    (within + others.variance, others.variance * others.variance / parts)
}

/// Variance of the median logarithm of `count` rounds, and its degrees of freedom.
fn of_rounds(count: f64, own: Scatter, others: Scatter) -> (f64, f64) {
    // The more a row scatters beyond the others, the less they are of its kind, and tell of it.
    let likeness =
        if own.variance > others.variance { others.variance / own.variance } else { 1.0 };
    let prior = PRIOR_FREEDOM.min(others.freedom) * likeness;
    let freedom = prior + own.freedom;
    let variance = (prior * others.variance + own.freedom * own.variance) / freedom;
    let of_figure = if count < 3.0 { 1.0 } else { OF_MEDIAN };
    (variance * of_figure / count, freedom)
}

fn ratio_of([above, below]: [&Figure; 2], spreads: [Spread; 2], is_same: bool) -> Judged {
    let log = (above.value / below.value).ln();
    let verdict = Verdict::CannotBeTold;
    // Figures of two results are equal by rounding too; those of virtual time are the same wherever they come from.
    if above == below && (is_same || above.is_exact) {
        let basis = Basis::SameMeasurement;
        return Judged { log: 0.0, error: 0.0, freedom: 1e4, basis, verdict };
    }
    let total = spreads[0].variance + spreads[1].variance;
    let parts = spreads.map(|one| one.variance * one.variance / one.freedom);
    let freedom = match total > 0.0 {
        true => total * total / (parts[0] + parts[1]),
        false => ASSUMED_FREEDOM,
    };
    let is_alone = spreads.iter().any(|one| one.is_alone);
    let basis = if is_alone { Basis::SingleRun } else { Basis::Rounds };
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
    let of_all = |side: usize| -> Vec<Scatter> {
        pairs.iter().map(|pair| Scatter::of(pair[side])).collect()
    };
    let own = [0, 1].map(of_all);
    let others = |side: usize, at: usize| {
        let all = (0..pairs.len()).filter(|&other| other != at && metrics[other] == metrics[at]);
        Scatter::mean(all.map(|other| own[side][other]))
    };
    let ratio = |at: usize| {
        let of_side = |side: usize| spread(pairs[at][side], own[side][at], others(side, at));
        ratio_of(pairs[at], [0, 1].map(of_side), is_same)
    };
    let mut judged: Vec<Judged> = (0..pairs.len()).map(ratio).collect();
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
        Figure {
            value,
            samples: samples.to_vec(),
            within: 0.0,
            between: BETWEEN_RUNS,
            least_error: 0.0,
            is_exact: false,
        }
    }

    fn normal(generator: &mut Pcg64Mcg) -> f64 {
        (0..12).map(|_| generator.random::<f64>()).sum::<f64>() - 6.0
    }

    /// A document with a row for each of these standard deviations, of `rounds` rounds.
    fn drawn(g: &mut Pcg64Mcg, scatter: &[f64], rounds: usize, factor: f64) -> Vec<Figure> {
        let of_row = |sd: &f64| {
            let samples: Vec<f64> = (0..rounds).map(|_| factor * (sd * normal(g)).exp()).collect();
            figure(&samples)
        };
        scatter.iter().map(of_row).collect()
    }

    /// The scatter of `rows` rows, which differs from row to row by a factor of up to 7.
    fn uneven(rows: usize) -> Vec<f64> {
        (0..rows).map(|row| 0.03 * (2.0 * row as f64 / rows as f64).exp()).collect()
    }

    fn verdicts(a: &[Figure], b: &[Figure]) -> Vec<Judged> {
        let pairs: Vec<[&Figure; 2]> = a.iter().zip(b).map(|(a, b)| [a, b]).collect();
        judge(&pairs, &vec![Metric::Throughput; pairs.len()], false)
    }

    /// How many of 400 comparisons of equal systems tell some row apart, and the share of the intervals that leave out 1.
    fn told_apart(seed: u64, scatter: &[f64], rounds: usize) -> (usize, f64) {
        let mut generator = Pcg64Mcg::seed_from_u64(seed);
        let (mut wrong, mut outside) = (0, 0);
        for _ in 0..400 {
            let [a, b] = [(); 2].map(|()| drawn(&mut generator, scatter, rounds, 1.0));
            let judged = verdicts(&a, &b);
            let is_wrong = |one: &Judged| matches!(one.verdict, Verdict::Faster | Verdict::Slower);
            wrong += usize::from(judged.iter().any(is_wrong));
            let misses = |one: &Judged| one.ci95()[0] > 1.0 || one.ci95()[1] < 1.0;
            outside += judged.iter().filter(|one| misses(one)).count();
        }
        (wrong, outside as f64 / (400 * scatter.len()) as f64)
    }

    #[test]
    fn equal_systems_are_told_apart_one_time_in_twenty_at_most() {
        for (rounds, seed) in [(2, 1), (3, 2), (5, 3)] {
            for rows in [1, 2, 10, 30] {
                let (wrong, share) = told_apart(seed, &uneven(rows), rounds);
                let what = format!("{rows} rows of {rounds} rounds");
                assert!(wrong <= 28, "{what}: {wrong} of 400 comparisons");
                // Few rows have few intervals.
                assert!(rows < 10 || (0.005..0.06).contains(&share), "{what}: {share} of all");
            }
        }
    }

    #[test]
    fn a_noisy_row_among_quiet_ones_is_told_apart_no_more_often() {
        let scatter: Vec<f64> = (0..10).map(|row| if row == 0 { 0.3 } else { 0.03 }).collect();
        for rounds in [2, 3, 5] {
            let (wrong, _) = told_apart(7, &scatter, rounds);
            assert!(wrong <= 28, "{rounds} rounds: {wrong} of 400 comparisons");
        }
    }

    #[test]
    fn a_row_without_rounds_scatters_as_is_usual_or_more_where_others_do() {
        let [lone, other] = [50.0, 46.0].map(|value| figure(&[value]));
        let high_beside = |samples: [f64; 2]| {
            let rounds = figure(&samples);
            let pairs = [[&rounds, &rounds], [&other, &lone]];
            judge(&pairs, &[Metric::Throughput; 2], false)[1].ci95()[1]
        };
        let quiet = high_beside([5000.0, 5010.0]);
        assert!((1.3..1.5).contains(&quiet) && high_beside([2000.0, 5000.0]) > 10.0, "{quiet}");
    }

    /// From one pair of rounds in another row, 13.9 % left 30 degrees of freedom, and 14.1 % left 1.
    #[test]
    fn a_row_without_rounds_is_hardly_less_known_where_others_scatter_hardly_more() {
        let one = figure(&[100.0]);
        let freedom = |scatter: f64| {
            let others = Scatter { variance: scatter * scatter, freedom: 1.0 };
            of_one(&one, others).1
        };
        assert_eq!(freedom(0.139), ASSUMED_FREEDOM);
        assert!((freedom(0.141) - ASSUMED_FREEDOM).abs() < 2.0, "{}", freedom(0.141));
        assert!(freedom(0.4) < 2.0, "{}", freedom(0.4));
    }

    #[test]
    fn a_true_difference_is_found() {
        let mut generator = Pcg64Mcg::seed_from_u64(4);
        let [a, b] = [1.5, 1.0].map(|factor| drawn(&mut generator, &uneven(10), 5, factor));
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
