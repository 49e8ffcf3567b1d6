//! Two ways of doing the same work, measured in turn until it is certain which one is faster.

mod layouts;
mod sequential;
mod series;

use layouts::Layouts;
use sequential::PAIRS_MIN;
pub use sequential::PairedTest;
use series::Series;

use crate::comparison::measured::{Condition, NotComparable};
use ioscape_schema::units::counted;
use ioscape_schema::{
    ConditionResult, Environment, MeasuredComparison, MeasuredRow, Measurement, Metric, Workload,
    is_wide,
};

/// Returns the order in which the arms of a pair, 0 and 1, are measured. It is balanced over every
/// two pairs, so that steady drift cancels, and either arm begins with equal chance.
pub fn order(seed: u64, pair: usize) -> [usize; 2] {
    let block = (seed ^ (pair as u64 / 2)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let begins_second = (block >> 63 == 1) ^ (pair % 2 == 1);
    if begins_second { [1, 0] } else { [0, 1] }
}

/// A further pair is begun only if it would end in time even when it takes this many times as long
/// as the longest so far.
const CAUTION: f64 = 1.1;

/// A run takes about this many times as long as it measures, since it also warms up. A run that
/// writes through the file cache may take far longer: until its dirty pages reach their limit, and
/// while they are flushed.
const WITH_WARM_UP: f64 = 1.5;

/// A run that measures for less than this, in seconds, says little.
const LEAST_RUN_S: f64 = 0.05;

/// Pairs of each workload that a budget should have room for: twice those of a verdict, since the
/// first pair also lays out the files and few pairs show only large differences.
const PAIRS_PLANNED: usize = 2 * PAIRS_MIN;

/// Measured runs without rests of each arm, where there is time: one pair of scattering runs may
/// point the other way by chance, three seldom do.
const RUNS_UNRESTED: usize = 3;

/// A named workload.
type Named = (String, Workload);

/// Pairs the jobs of two files in order, each pair as one workload on both arms.
///
/// # Errors
/// The sentence for the user, if the files, called `names`, hold different numbers of jobs.
pub fn paired(
    names: [&str; 2],
    first: Vec<Named>,
    second: Vec<Named>,
) -> Result<Vec<(String, [Workload; 2])>, String> {
    if first.len() != second.len() {
        let ([a, b], [one, other]) = (names, [first.len(), second.len()]);
        return Err(format!(
            "{a} has {one} jobs and {b} has {other}: they are compared in order, so give as many"
        ));
    }
    let name = |a: String, b: &str| if a == b { a } else { format!("{b} against {a}") };
    let both = |((a, one), (b, other)): (Named, Named)| (name(a, &b), [one, other]);
    Ok(first.into_iter().zip(second).map(both).collect())
}

/// Returns the longest time that one run may measure, in seconds: `asked_s`, or less if `budget_s`
/// would not hold enough pairs of each of `jobs` workloads for a verdict.
///
/// # Errors
/// The sentence for the user, if that time would be too short.
pub fn longest_run_s(asked_s: f64, budget_s: f64, jobs: usize) -> Result<f64, String> {
    let runs = 2 * PAIRS_PLANNED * jobs.max(1);
    let runs_s = |run_s: f64| CAUTION * WITH_WARM_UP * run_s * runs as f64;
    let most_s = budget_s / runs_s(1.0);
    if most_s < asked_s.min(LEAST_RUN_S) {
        let jobs = counted(jobs as u64, "job");
        let least_s = runs_s(LEAST_RUN_S).ceil();
        return Err(format!(
            "--budget is too little for {PAIRS_PLANNED} pairs of runs of {jobs}: give at least {least_s}s, or several times that if runs start slowly"
        ));
    }
    Ok(asked_s.min(most_s))
}

/// How long the pairs of a workload take, which decides whether there is time for another pair and
/// how many are possible. The first pair does not count, since it also lays out the files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pace {
    longest_s: f64,
    shortest_s: Option<f64>,
}

impl Pace {
    /// Whether another pair is expected to end within `left_s` seconds. Before one is known, it is
    /// assumed to take `others_s`, the longest of the other workloads.
    fn has_time(&self, left_s: f64, others_s: f64) -> bool {
        let longest_s = if self.shortest_s.is_some() { self.longest_s } else { others_s };
        CAUTION * longest_s <= left_s
    }

    /// Records a pair that took `pair_s` seconds.
    fn took(&mut self, pair_s: f64) {
        self.longest_s = self.longest_s.max(pair_s);
        self.shortest_s = Some(self.shortest_s.map_or(pair_s, |shortest| shortest.min(pair_s)));
    }

    /// Returns the share of `pairs` in all possible pairs with `left_s` seconds left, if further
    /// pairs take as long as the shortest so far; 0 before one is known.
    fn spent(&self, pairs: usize, left_s: f64) -> f64 {
        let pairs = pairs as f64;
        let known = self.shortest_s.filter(|shortest_s| *shortest_s > 0.0);
        known.map_or(0.0, |shortest_s| pairs / (pairs + left_s.max(0.0) / shortest_s))
    }
}

/// How long runs without rests of `jobs` workloads take, in seconds, if each arm has `one_s` seconds
/// of them for each workload. The second arm first spends what it earned in the runs of the first.
fn unrested_s(jobs: usize, one_s: f64) -> f64 {
    3.0 * jobs as f64 * one_s * WITH_WARM_UP
}

/// One workload on both arms.
#[derive(Clone, Debug, PartialEq)]
pub struct Duel {
    /// Its name.
    pub name: String,
    /// The workload of each arm.
    pub workloads: [Workload; 2],
    /// One series per quantity, the throughput first.
    series: Vec<Series>,
    pace: Pace,
    layouts: Layouts,
    /// Seconds that all pairs took.
    measured_s: f64,
}

/// All workloads, measured in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Interleaving {
    duels: Vec<Duel>,
    seed: u64,
    next: usize,
    condition: Option<Condition>,
}

impl Interleaving {
    /// Returns the workloads by name, each for the first and for the second arm. Over all of them
    /// together, the chance of a false verdict for equal arms is at most `alpha`. Ratios within
    /// `margin` of 1 count as no difference.
    pub fn new(all: Vec<(String, [Workload; 2])>, alpha: f64, margin: f64, seed: u64) -> Self {
        let series = Series::all(all.len(), alpha, margin);
        let duel = |(name, workloads)| {
            let series = series.clone();
            let (pace, layouts) = Default::default();
            Duel { name, workloads, series, pace, layouts, measured_s: 0.0 }
        };
        let duels = all.into_iter().map(duel).collect();
        Self { duels, seed, next: 0, condition: None }
    }

    /// Tells response times apart no finer than the clock that counts them, in steps of `tick_ns`.
    #[must_use]
    pub fn timed_in_steps_of(mut self, tick_ns: f64) -> Self {
        let all = self.duels.iter_mut().flat_map(|duel| &mut duel.series);
        all.for_each(|series| series.tick_ns = tick_ns);
        self
    }

    /// Adds the question whether some row meets `condition`. If that is about response times, the
    /// throughputs get no verdict, and no part of its error.
    ///
    /// # Errors
    /// No row counts the metric of the condition.
    pub fn failing_if(mut self, condition: Option<Condition>) -> Result<Self, NotComparable> {
        if let Some(one) = condition.as_ref().filter(|one| one.metric == Metric::Rate) {
            let found = "throughput and time".to_owned();
            let (condition, metric) = (one.text.clone(), one.metric.word());
            return Err(NotComparable::NoMetric { condition, metric, found });
        }
        if condition.as_ref().is_some_and(|one| one.metric == Metric::Time) {
            let all = self.duels.iter_mut().flat_map(|duel| &mut duel.series);
            all.for_each(Series::judge_times_alone);
        }
        self.condition = condition;
        Ok(self)
    }

    /// Returns the index of the workload whose turn it is, and the order of its arms. Its question
    /// (how the throughputs compare, or whether the condition is met) is still open, and another
    /// pair is expected to end within `left_s` seconds. `None` if there is no such workload.
    pub fn turn(&mut self, left_s: f64) -> Option<(usize, [usize; 2])> {
        let count = self.duels.len();
        let longest_s = self.duels.iter().map(|duel| duel.pace.longest_s).fold(0.0, f64::max);
        let is_due = |&index: &usize| {
            let duel = &self.duels[index % count];
            duel.is_open(self.condition.as_ref()) && duel.pace.has_time(left_s, longest_s)
        };
        let found = (self.next..self.next + count).find(is_due)? % count;
        self.next = found + 1;
        Some((found, order(self.seed ^ (found as u64) << 32, self.duels[found].pairs())))
    }

    /// Returns the workload with this index.
    pub fn duel(&self, index: usize) -> &Duel {
        &self.duels[index]
    }

    /// Whether arms with a file each are to lay out this workload's sets before its next pair.
    pub fn lays_out(&self, index: usize) -> bool {
        let duel = &self.duels[index];
        let is_due = duel.layouts.is_due(duel.measured_s);
        is_due && duel.workloads.iter().any(layouts::matter)
    }

    /// Records that both arms laid out this workload's sets, in `seconds`.
    pub fn laid_out(&mut self, index: usize, seconds: f64) {
        self.duels[index].layouts.add(seconds);
    }

    /// Records a pair of runs, the first arm's and the second's, which took `pair_s` seconds and
    /// left `left_s` seconds.
    pub fn record(&mut self, index: usize, runs: &[Measurement; 2], pair_s: f64, left_s: f64) {
        let duel = &mut self.duels[index];
        if duel.series[0].is_begun() {
            duel.pace.took(pair_s);
        }
        let spent = duel.pace.spent(duel.pairs() + 1, left_s);
        duel.measured_s += pair_s;
        let layouts = duel.layouts.scatter(duel.pairs() + 1);
        for one in &mut duel.series {
            one.push(runs, spent);
            one.test.layouts = layouts;
        }
    }

    /// How long [`Self::measure_unrested`] takes, in seconds, if all workloads get a verdict and an
    /// arm spends what it earned for as long as one run measures, `run_s` seconds.
    pub fn unrested_s(&self, run_s: f64) -> f64 {
        unrested_s(self.duels.len(), (1 + RUNS_UNRESTED) as f64 * run_s)
    }

    /// Measures each workload that has a verdict on what is asked a few times more without rests, for
    /// `run_s` seconds each, once there are no further pairs: an arm that rests in the other's turns
    /// may earn something in them, such as burst credit. So each arm has all its runs in a row, the
    /// one that ran last before the other: `arms`. Before the first measured run of a workload it
    /// spends what it earned in another: for as long as it rested, and further, as `within_s` seconds
    /// allow, but for half as long as one run measures at least. `run` measures a workload on an arm
    /// for so many seconds; its last argument numbers the runs of an arm.
    ///
    /// # Errors
    /// The first error of `run`.
    pub fn measure_unrested<E>(
        &mut self,
        arms: [usize; 2],
        within_s: f64,
        run_s: f64,
        mut run: impl FnMut(&Duel, usize, f64, u64) -> Result<Measurement, E>,
    ) -> Result<(), E> {
        let settled = self.settled();
        let each_s = within_s / unrested_s(settled.len(), 1.0);
        let has_room = each_s >= (RUNS_UNRESTED as f64 + 0.5) * run_s;
        let count = if has_room { RUNS_UNRESTED } else { 1 };
        let measured_s = count as f64 * run_s;
        let spend_s = (each_s - measured_s).max(run_s / 2.0);
        let mut runs = vec![vec![<[Measurement; 2]>::default(); count]; settled.len()];
        let mut rested_s = 0.0;
        for arm in arms {
            let (mut number, mut busy_s) = (0, 0.0);
            for (&index, runs) in settled.iter().zip(&mut runs) {
                let duel = &self.duels[index];
                run(duel, arm, rested_s + spend_s, number)?;
                for (number, runs) in (number + 1..).zip(runs.iter_mut()) {
                    runs[arm] = run(duel, arm, run_s, number)?;
                }
                number += 1 + count as u64;
                busy_s += rested_s + spend_s + measured_s;
                rested_s = 0.0;
            }
            rested_s = busy_s;
        }
        settled.iter().zip(&runs).for_each(|(&index, runs)| self.record_unrested(index, runs));
        Ok(())
    }

    fn record_unrested(&mut self, index: usize, runs: &[[Measurement; 2]]) {
        self.duels[index].series.iter_mut().for_each(|one| one.push_unrested(runs));
    }

    /// Ends measuring: the remaining error is spent on what is still open. While other workloads
    /// were due as well, each pair was judged as one of more pairs than there are now, so its bound
    /// was no lower.
    pub fn time_is_up(&mut self) {
        let condition = self.condition.as_ref();
        let open = self.duels.iter_mut().filter(|duel| duel.is_open(condition));
        open.flat_map(|duel| &mut duel.series).for_each(|one| one.test.end());
    }

    /// What is known so far: a row per quantity of each workload that was measured.
    pub fn rows(&self) -> Vec<MeasuredRow> {
        self.duels.iter().flat_map(Duel::rows).collect()
    }

    /// The names of the workloads that were never measured, in order.
    pub fn not_measured(&self) -> Vec<&str> {
        let unmeasured = self.duels.iter().filter(|duel| duel.pairs() == 0);
        unmeasured.map(|duel| duel.name.as_str()).collect()
    }

    /// The workloads with too few pairs for any verdict, in order, each with its number of pairs.
    pub fn too_few(&self) -> Vec<String> {
        let of = |duel: &Duel| format!("{} ({} of at least {PAIRS_MIN})", duel.name, duel.pairs());
        self.short().map(of).collect()
    }

    /// How many times the budget would have had room for the planned pairs of those workloads.
    pub fn enough_times(&self) -> f64 {
        self.short().map(|duel| PAIRS_PLANNED as f64 / duel.pairs() as f64).fold(1.0, f64::max)
    }

    fn short(&self) -> impl Iterator<Item = &Duel> {
        self.duels.iter().filter(|duel| (1..PAIRS_MIN).contains(&duel.pairs()))
    }

    /// The rows that are not told, in order, since some runs had too few requests for them, where
    /// others had enough or the condition asks for response times.
    pub fn untold(&self) -> Vec<String> {
        let is_asked = self.condition.as_ref().is_some_and(|one| one.metric == Metric::Time);
        let of = |duel: &Duel| -> Vec<String> {
            let untold = duel.series.iter().filter(|one| one.lacks_requests(is_asked));
            untold.map(|one| one.name(&duel.name)).collect()
        };
        self.duels.iter().flat_map(of).collect()
    }

    /// The told quantities of a workload that are asked about.
    fn asked<'a>(&'a self, duel: &'a Duel) -> impl Iterator<Item = &'a Series> {
        let condition = self.condition.as_ref();
        duel.series.iter().filter(move |one| one.is_asked(condition) && one.is_told())
    }

    /// The indexes of the workloads that have a verdict on what is asked.
    fn settled(&self) -> Vec<usize> {
        let is_settled = |index: &usize| {
            let duel = &self.duels[*index];
            self.asked(duel).any(|one| !one.test.is_open())
        };
        (0..self.duels.len()).filter(is_settled).collect()
    }

    /// The rows asked about that compare otherwise without rests, in order, each with the ratios
    /// without them and with them.
    pub fn changed_by_rests(&self) -> Vec<String> {
        let asked = self.duels.iter().flat_map(|duel| self.asked(duel).map(move |one| (duel, one)));
        let told = |(duel, one): (&Duel, &Series)| {
            let (without, with) = (one.test.unrested()?, one.test.ratio());
            Some(format!("{} ({without:.2} times, {with:.2} with rests)", one.name(&duel.name)))
        };
        asked.filter_map(told).collect()
    }

    /// The workloads of which too few layouts were measured for a verdict, in order.
    pub fn few_layouts(&self) -> Vec<&str> {
        self.undecided(|test| test.layouts > 0.0)
    }

    /// The workloads whose arms are not told apart and whose ratio changed during the measurement,
    /// in order.
    pub fn wandering(&self) -> Vec<&str> {
        self.undecided(PairedTest::wanders)
    }

    /// The workloads without a verdict on a row asked about of which this `holds`, in order.
    fn undecided(&self, holds: impl Fn(&PairedTest) -> bool) -> Vec<&str> {
        let is_one = |one: &Series| one.test.is_open() && holds(&one.test);
        let found = self.duels.iter().filter(|duel| self.asked(duel).any(is_one));
        found.map(|duel| duel.name.as_str()).collect()
    }

    /// Returns the result: the second of the `systems` over the first, each with its environment.
    pub fn comparison(
        &self,
        systems: [String; 2],
        environments: [Environment; 2],
        margin: f64,
    ) -> MeasuredComparison {
        let ([first, second], [here, there]) = (systems, environments);
        let rows = self.rows();
        let condition = self.condition.as_ref().map(|condition| {
            let is_met = |row: &MeasuredRow| {
                row.metric == condition.metric && condition.is_met(row.ci95) == Some(true)
            };
            let met_by =
                (0..).zip(&rows).filter(|(_, row)| is_met(row)).map(|(at, _)| at).collect();
            ConditionResult { fail_if: condition.text.clone(), met_by, lost: Vec::new() }
        });
        MeasuredComparison {
            kind: "ab".to_owned(),
            systems: [second, first],
            environments: [there, here],
            rows,
            only_in: [0, 0],
            lone: Vec::new(),
            differences: Vec::new(),
            margin,
            condition,
        }
    }

    /// Says, in one line, where the workload with this index stands: its throughput, or the first
    /// row that is asked about.
    pub fn standing(&self, index: usize) -> String {
        let duel = &self.duels[index];
        let one = self.asked(duel).next().unwrap_or(&duel.series[0]);
        let (name, test) = (one.name(&duel.name), &one.test);
        let ends = test.interval();
        let [low, high] = ends.map(|end| format!("{end:.3}"));
        let between = match is_wide(ends) {
            true if ends[0] > 1.0 => format!("above {low}"),
            true if ends[1] < 1.0 => format!("below {high}"),
            true => "how far it is off cannot be told yet".to_owned(),
            false => format!("{low} to {high}"),
        };
        let pairs = counted(test.pairs() as u64, "pair");
        format!("{name}: {:.3} ({between}) after {pairs}", test.ratio())
    }
}

impl Duel {
    /// The number of pairs of throughputs so far.
    fn pairs(&self) -> usize {
        self.series[0].test.pairs()
    }

    fn is_open(&self, condition: Option<&Condition>) -> bool {
        self.series.iter().any(|one| one.is_open(condition))
    }

    /// A row for each quantity that all its pairs have.
    fn rows(&self) -> Vec<MeasuredRow> {
        let workload = Some(&self.workloads[0]).filter(|first| **first == self.workloads[1]);
        let told = self.series.iter().filter(|one| one.is_told());
        told.map(|one| MeasuredRow { workload: workload.cloned(), ..one.row(&self.name) }).collect()
    }
}

#[cfg(test)]
mod tests;
