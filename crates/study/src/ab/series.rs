//! One quantity of a workload, measured on both arms in turn.

use super::sequential::PairedTest;
use crate::comparison::measured::Condition;
use crate::quantity::{BIN, QUANTITIES, Quantity};
use ioscape_schema::{Basis, MeasuredRow, Measurement, Metric, Verdict, statistics};

/// Share of all false verdicts that throughputs may have, unless response times alone are asked
/// about: the pairs end once these are certain.
pub(super) const OF_THROUGHPUT: f64 = 0.8;

/// The pairs of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    /// Index of the quantity in [`QUANTITIES`].
    number: usize,
    /// The step of the clock that times requests, in nanoseconds.
    pub(super) tick_ns: f64,
    /// Whether runs had too few requests for the quantity.
    has_few: bool,
    /// Whether it gets a verdict.
    is_judged: bool,
    pub(super) test: PairedTest,
    samples: [Vec<f64>; 2],
}

impl Series {
    /// Returns all quantities of one of `jobs` workloads, without pairs. The chance of a false
    /// verdict over the rows of all workloads is at most `alpha`.
    pub(super) fn all(jobs: usize, alpha: f64, margin: f64) -> Vec<Self> {
        let new = |(number, one): (usize, &Quantity)| {
            let rows = QUANTITIES.iter().filter(|other| other.metric == one.metric).count() * jobs;
            let is_throughput = one.metric == Metric::Throughput;
            let share = if is_throughput { OF_THROUGHPUT } else { 1.0 - OF_THROUGHPUT };
            let mut test = PairedTest::new(share * alpha / rows.max(1) as f64, margin);
            test.resolution = if one.metric == Metric::Time { BIN } else { 0.0 };
            let (has_few, is_judged, samples) = (false, true, Default::default());
            Self { number, tick_ns: 0.0, has_few, is_judged, test, samples }
        };
        QUANTITIES.iter().enumerate().map(new).collect()
    }

    /// Leaves all false verdicts to response times: throughputs keep their interval, but get no
    /// verdict.
    pub(super) fn judge_times_alone(&mut self) {
        self.is_judged = self.quantity().metric == Metric::Time;
        if self.is_judged {
            self.test.alpha /= 1.0 - OF_THROUGHPUT;
        }
    }

    fn quantity(&self) -> &'static Quantity {
        &QUANTITIES[self.number]
    }

    /// Whether all pairs tell it. Without those that have too few requests it would be that of the
    /// fast ones.
    pub(super) fn is_told(&self) -> bool {
        self.test.pairs() > 0 && !self.has_few
    }

    /// Whether a pair of runs has been added.
    pub(super) fn is_begun(&self) -> bool {
        !self.samples[0].is_empty()
    }

    /// The figures of a pair of runs; `None` if one has too few requests for the quantity.
    fn figures(&self, runs: &[Measurement; 2]) -> Option<[f64; 2]> {
        let quantity = self.quantity();
        let has_few = runs.iter().any(|run| run.ios > 0 && run.ios < quantity.least);
        (!has_few).then(|| runs.each_ref().map(quantity.of))
    }

    /// Adds pairs of runs without rests, the first arm's and the second's, once there are no
    /// others.
    pub(super) fn push_unrested(&mut self, runs: &[[Measurement; 2]]) {
        if let Some(pairs) = runs.iter().map(|pair| self.figures(pair)).collect::<Option<Vec<_>>>()
        {
            self.test.push_unrested(&pairs);
        }
    }

    /// Whether some runs had too few requests for it, and others enough, or it is `asked` for.
    pub(super) fn lacks_requests(&self, is_asked: bool) -> bool {
        self.has_few && (is_asked || self.is_begun())
    }

    /// What its row is called, in the workload `name`.
    pub(super) fn name(&self, name: &str) -> String {
        format!("{name}{}", self.quantity().suffix)
    }

    /// Adds the runs of a pair, the first arm's and the second's, if they have enough requests for
    /// the quantity. With it, a share `spent` of all possible pairs has been measured.
    pub(super) fn push(&mut self, runs: &[Measurement; 2], spent: f64) {
        let quantity = self.quantity();
        let Some([first, second]) = self.figures(runs) else {
            self.has_few = true;
            return;
        };
        // The clock counts whole steps, so a median stands still between two of them.
        if quantity.metric == Metric::Time && first.min(second) > 0.0 {
            let step = self.tick_ns / first.min(second);
            self.test.resolution = self.test.resolution.max(step);
        }
        self.test.push(first, second, spent);
        self.samples[0].push(first);
        self.samples[1].push(second);
    }

    /// Whether it is asked about: by `condition` or, without one, since it is the throughput.
    pub(super) fn is_asked(&self, condition: Option<&Condition>) -> bool {
        let asked = condition.map_or(Metric::Throughput, |condition| condition.metric);
        self.quantity().metric == asked
    }

    /// Whether further pairs are needed: to tell whether `condition` is met or, without one, how
    /// the throughputs compare.
    pub(super) fn is_open(&self, condition: Option<&Condition>) -> bool {
        let is_undecided = |condition: &Condition| condition.is_met(self.test.interval()).is_none();
        self.is_asked(condition)
            && !self.has_few
            && (self.test.is_open() || condition.is_some_and(is_undecided))
    }

    fn verdict(&self) -> Verdict {
        match self.test.verdict() {
            _ if !self.is_judged => Verdict::NotAsked,
            Verdict::Faster if !self.quantity().metric.more_is_faster() => Verdict::Slower,
            Verdict::Slower if !self.quantity().metric.more_is_faster() => Verdict::Faster,
            verdict => verdict,
        }
    }

    /// The row of the workload `name`; `rows` says what else is in it.
    pub(super) fn row(&self, name: &str) -> MeasuredRow {
        let [first, second] = &self.samples;
        let pairs = self.test.pairs() as u32;
        MeasuredRow {
            name: Some(self.name(name)),
            workload: None,
            metric: self.quantity().metric,
            values: [second, first].map(|samples| statistics::median(samples)),
            rounds: [pairs, pairs],
            samples: Some([second.clone(), first.clone()]),
            ratio: self.test.ratio(),
            ci95: self.test.interval(),
            basis: Basis::Interleaved,
            verdict: self.verdict(),
        }
    }
}
