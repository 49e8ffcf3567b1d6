//! Ratios of two figures with their intervals, and the verdicts on them.
//!
//! Logarithms of rounds are compared by Student's t with Welch's degrees of freedom, by their
//! medians and by their means. A verdict must hold for both, since a single round can move a median
//! from one level to another if the rounds have two levels. Few rounds say little about their own
//! scatter, so each row's variance is drawn towards the mean variance of the other rows of its
//! document (Smyth, "Linear models and empirical Bayes methods", 2004: moderated t). The further it
//! lies above that mean, the less it is drawn.

use ioscape_schema::statistics::{self, sort_by_number};
use ioscape_schema::{Basis, MARGIN, Metric, Verdict, is_near_one};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Probability of taking chance for a difference, over all rows together.
const ALPHA: f64 = 0.05;
/// Degrees of freedom that the mean variance of the other rows counts for, at most.
const PRIOR_FREEDOM: f64 = 3.0;
/// Least standard deviation of ln(throughput) from one run of a workload to the next, assumed for a
/// row without rounds. It is the median over six real systems when it was chosen (two runs lay 13 %
/// apart), between the 8 % and the 17 to 21 % that the median and the root mean square of the
/// differences give now (`docs/prediction.md`, accuracy on real systems).
pub(super) const BETWEEN_RUNS: f64 = 0.14;
/// The same for figures whose scatter from run to run is unknown: no ratio exceeds it.
pub(super) const UNKNOWN_BETWEEN: f64 = 1e3;
/// Degrees of freedom of an assumed scatter.
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
    /// Standard deviation of the figure's logarithm within a single run, towards less and towards
    /// more; 0 if nothing is known.
    pub(super) within: [f64; 2],
    /// Least standard deviation of its logarithm from one run to the next, assumed if it has no
    /// rounds.
    pub(super) between: f64,
    /// Least standard error of the figure's logarithm, however little its samples scatter; 0 if the
    /// samples say everything.
    pub(super) least_error: f64,
    /// Whether a repetition would give the same figure, as in virtual time.
    pub(super) is_exact: bool,
}

impl Figure {
    fn logs(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.ln()).collect()
    }

    /// Mean of the samples' logarithms, or the figure's own logarithm if there are no samples.
    fn mean_log(&self) -> f64 {
        if self.samples.is_empty() { self.value.ln() } else { statistics::mean(&self.logs()) }
    }
}

/// What rounds say about the scatter of a figure's logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scatter {
    /// Variance; 0 if nothing is known.
    variance: f64,
    /// Its degrees of freedom.
    freedom: f64,
}

impl Scatter {
    fn of(figure: &Figure) -> Self {
        let logs = figure.logs();
        let freedom = logs.len().saturating_sub(1) as f64;
        Self { variance: statistics::variance(&logs), freedom }
    }

    /// The mean of several scatters, weighted by their degrees of freedom.
    fn mean(all: impl Iterator<Item = Self>) -> Self {
        let (sum, freedom) = all.fold((0.0, 0.0), |(sum, freedom), one| {
            (sum + one.freedom * one.variance, freedom + one.freedom)
        });
        Self { variance: if freedom > 0.0 { sum / freedom } else { 0.0 }, freedom }
    }
}

/// What is known about how a figure's logarithm scatters.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    own: Scatter,
    /// The scatter of the other rows of its document and metric.
    others: Scatter,
}

impl Known {
    /// The row's own scatter, drawn towards that of the others. The row must have rounds.
    fn drawn(&self) -> Scatter {
        let Self { own, others } = *self;
        // The more a row scatters beyond the others, the less they resemble it and say about it.
        let likeness =
            if own.variance > others.variance { others.variance / own.variance } else { 1.0 };
        let prior = PRIOR_FREEDOM.min(others.freedom) * likeness;
        let freedom = prior + own.freedom;
        let variance = (prior * others.variance + own.freedom * own.variance) / freedom;
        Scatter { variance, freedom }
    }
}

/// How far a figure's logarithm may be off, towards less and towards more.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    variance: [f64; 2],
    freedom: f64,
    /// Whether a typical scatter had to be assumed.
    is_alone: bool,
}

/// The logarithm of a ratio, and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    log: f64,
    /// The smaller and the larger of the values by the medians and by the means of the logarithms.
    ends: [f64; 2],
    /// Standard error of either end, and its degrees of freedom.
    error: [f64; 2],
    freedom: [f64; 2],
    pub(super) basis: Basis,
    pub(super) verdict: Verdict,
}

impl Judged {
    pub(super) fn ratio(&self) -> f64 {
        self.log.exp()
    }

    pub(super) fn ci95(&self) -> [f64; 2] {
        let half = |end: usize| {
            self.error[end] * student(self.freedom[end]).map_or(2.0, |t| t.inverse_cdf(0.975))
        };
        let [low, high] = self.ends;
        // Far beyond any real ratio, but still finite.
        [low - half(0), high + half(1)].map(|end| end.clamp(-100.0, 100.0).exp())
    }

    /// The probability of a logarithm as small as this one or smaller if the true one is `limit`.
    pub(super) fn chance_below(&self, limit: f64) -> f64 {
        self.chance_of(1, self.ends[1] - limit)
    }

    /// The probability of a logarithm as large as this one or larger if the true one is `limit`.
    pub(super) fn chance_above(&self, limit: f64) -> f64 {
        self.chance_of(0, limit - self.ends[0])
    }

    /// The probability of an error of `off` or less of an end.
    fn chance_of(&self, end: usize, off: f64) -> f64 {
        if self.error[end] <= 0.0 {
            // Nothing varies: a value at the limit is not beyond it.
            return if off < 0.0 { 0.0 } else { 1.0 };
        }
        student(self.freedom[end]).map_or(1.0, |t| t.cdf(off / self.error[end]))
    }

    /// The probability of a ratio at least as far from 1 if there is no difference.
    fn chance(&self) -> f64 {
        (2.0 * self.chance_below(0.0).min(self.chance_above(0.0))).min(1.0)
    }
}

fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom.clamp(1.0, 1e4)).ok()
}

/// How far a figure may be off, at least by its least error, given what is known `here` about it
/// and `there` about the other of the pair.
fn spread(figure: &Figure, here: Known, there: Known) -> Spread {
    let is_one = here.own.freedom == 0.0;
    let (variance, freedom) = match is_one {
        true => of_one(figure, here.others),
        false => {
            let (variance, freedom) = of_rounds(figure.samples.len() as f64, here, there);
            ([variance; 2], freedom)
        }
    };
    let variance = variance.map(|one| one.max(figure.least_error * figure.least_error));
    Spread { variance, freedom, is_alone: is_one && !figure.is_exact }
}

/// Variances of a single run's logarithm, and their degrees of freedom. Other rows may scatter more
/// than is typical, but they do not show that this row scatters less. The excess has their degrees
/// of freedom, the typical part those of an assumption (Satterthwaite).
fn of_one(figure: &Figure, others: Scatter) -> ([f64; 2], f64) {
    let (within, usual) = (figure.within.map(|one| one * one), figure.between * figure.between);
    if figure.is_exact {
        return (within, ASSUMED_FREEDOM);
    }
    let more = others.variance - usual;
    if more <= 0.0 {
        return (within.map(|one| one + usual), ASSUMED_FREEDOM);
    }
    let parts = usual * usual / ASSUMED_FREEDOM + more * more / others.freedom.min(PRIOR_FREEDOM);
    let freedom = others.variance * others.variance / parts;
    (within.map(|one| one + others.variance), freedom)
}

/// Variance of the median logarithm of `count` rounds, and its degrees of freedom.
fn of_rounds(count: f64, here: Known, there: Known) -> (f64, f64) {
    let Scatter { variance, freedom } = here.drawn();
    // A few rounds that happen to lie close do not show less scatter than more rounds of the same
    // work.
    let is_fewer = here.own.freedom < there.own.freedom;
    let least = if is_fewer { there.drawn().variance } else { 0.0 };
    let of_figure = if count < 3.0 { 1.0 } else { OF_MEDIAN };
    (variance.max(least) * of_figure / count, freedom)
}

fn ratio_of([above, below]: [&Figure; 2], spreads: [Spread; 2], is_same: bool) -> Judged {
    let log = (above.value / below.value).ln();
    let verdict = Verdict::CannotBeTold;
    // Figures of two results can be equal by rounding; those of virtual time are the same wherever
    // they come from.
    if above == below && (is_same || above.is_exact) {
        let basis = Basis::SameMeasurement;
        let (ends, error, freedom) = ([0.0; 2], [0.0; 2], [1e4; 2]);
        return Judged { log: 0.0, ends, error, freedom, basis, verdict };
    }
    let of_means = above.mean_log() - below.mean_log();
    // A ratio is smaller if the first figure is, or the second is larger.
    let of_end = |end: usize| {
        let variances = [spreads[0].variance[end], spreads[1].variance[1 - end]];
        let total = variances[0] + variances[1];
        let part = |side: usize| variances[side] * variances[side] / spreads[side].freedom;
        let is_varying = total > 0.0;
        let freedom =
            if is_varying { total * total / (part(0) + part(1)) } else { ASSUMED_FREEDOM };
        (total.sqrt(), freedom)
    };
    let [low, high] = [0, 1].map(of_end);
    let is_alone = spreads.iter().any(|one| one.is_alone);
    let basis = if is_alone { Basis::SingleRun } else { Basis::Rounds };
    let ends = [log.min(of_means), log.max(of_means)];
    let (error, freedom) = ([low.0, high.0], [low.1, high.1]);
    Judged { log, ends, error, freedom, basis, verdict }
}

/// Which of the probabilities are below 5 % over all of them together (Holm 1979).
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

/// Judges the ratio of every pair, the first of a pair over the second. `is_same`: both come from
/// one document, so that equal figures are one measurement.
///
/// Rows of one metric share what is known about their scatter; times of the slowest requests
/// scatter more than throughput.
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
        let known = [0, 1].map(|side| Known { own: own[side][at], others: others(side, at) });
        let of_side = |side: usize| spread(pairs[at][side], known[side], known[1 - side]);
        ratio_of(pairs[at], [0, 1].map(of_side), is_same)
    };
    let mut judged: Vec<Judged> = (0..pairs.len()).map(ratio).collect();
    // A row that cannot show anything cannot be wrong either, so it does not count among the rows
    // over which chance is ruled out.
    let telling: Vec<usize> = (0..pairs.len())
        .filter(|&at| judged[at].error[0].min(judged[at].error[1]) < UNKNOWN_BETWEEN)
        .collect();
    let sure = holm(&telling.iter().map(|&at| judged[at].chance()).collect::<Vec<_>>());
    for (at, sure) in telling.into_iter().zip(sure) {
        let one = &mut judged[at];
        let is_more = one.log > 0.0;
        one.verdict = match sure {
            true if is_more == metrics[at].more_is_faster() => Verdict::Faster,
            true => Verdict::Slower,
            false if is_near_one(one.ci95(), MARGIN) => Verdict::NoDifference,
            false => Verdict::CannotBeTold,
        };
    }
    judged
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
