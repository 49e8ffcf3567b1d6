//! Two ways of doing the same work, measured in turns until it is certain which is faster.

mod sequential;

use ioscape_schema::statistics;
use sequential::PAIRS_MIN;
pub use sequential::PairedTest;

use ioscape_schema::units::counted;
use ioscape_schema::{
    Basis, Environment, MeasuredComparison, MeasuredRow, Metric, Workload, is_wide,
};

/// Which arm of a pair is measured first and which second, 0 and 1: balanced over every two pairs, so that steady drift cancels,
/// and begun by either with equal chance.
pub fn order(seed: u64, pair: usize) -> [usize; 2] {
    let block = (seed ^ (pair as u64 / 2)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let begins_second = (block >> 63 == 1) ^ (pair % 2 == 1);
    if begins_second { [1, 0] } else { [0, 1] }
}

/// A further pair is begun if it ends in time, should it take this many times as long as the longest so far.
const CAUTION: f64 = 1.1;

/// A run takes about so many times as long as it measures: it warms up, too. One that writes through the file cache may take far longer, until
/// its dirty pages fill their room and when they are flushed.
const WITH_WARM_UP: f64 = 1.5;

/// A run that measures for less than this, in seconds, tells little.
const LEAST_RUN_S: f64 = 0.05;

/// A workload by its name.
type Named = (String, Workload);

/// The jobs of two files in order, as one workload each on both arms.
///
/// # Errors
/// The files, called `names`, hold different numbers of jobs: a sentence.
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

/// Longest time that one run measures, in seconds: `asked_s`, or less where `budget_s` has no room for a pair of so long ones of
/// each of `jobs`.
///
/// # Errors
/// That would be too little: a sentence.
pub fn longest_run_s(asked_s: f64, budget_s: f64, jobs: usize) -> Result<f64, String> {
    let runs_s = |run_s: f64| CAUTION * WITH_WARM_UP * 2.0 * run_s * jobs.max(1) as f64;
    let most_s = budget_s / runs_s(1.0);
    if most_s < asked_s.min(LEAST_RUN_S) {
        let jobs = counted(jobs as u64, "job");
        let least_s = runs_s(LEAST_RUN_S).ceil();
        return Err(format!(
            "--budget is too little for a pair of runs of {jobs}: give at least {least_s}s"
        ));
    }
    Ok(asked_s.min(most_s))
}

/// How long the pairs of a workload take, and so whether there is time for another, and how many there may be. What the first took is
/// not among them, since it lays out the files, too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pace {
    longest_s: f64,
    shortest_s: Option<f64>,
}

impl Pace {
    /// Whether another pair ends within `left_s` seconds, as far as can be told; before one is known it may take `others_s`, as the
    /// longest of the other workloads.
    fn has_time(&self, left_s: f64, others_s: f64) -> bool {
        let longest_s = if self.shortest_s.is_some() { self.longest_s } else { others_s };
        CAUTION * longest_s <= left_s
    }

    /// A pair took so many seconds.
    fn took(&mut self, pair_s: f64) {
        self.longest_s = self.longest_s.max(pair_s);
        self.shortest_s = Some(self.shortest_s.map_or(pair_s, |shortest| shortest.min(pair_s)));
    }

    /// The share that `pairs` are of all that there may be, with `left_s` seconds left: the further ones take as long as the shortest
    /// so far. 0 before one is known.
    fn spent(&self, pairs: usize, left_s: f64) -> f64 {
        let pairs = pairs as f64;
        let known = self.shortest_s.filter(|shortest_s| *shortest_s > 0.0);
        known.map_or(0.0, |shortest_s| pairs / (pairs + left_s.max(0.0) / shortest_s))
    }
}

/// One workload on both arms.
#[derive(Clone, Debug, PartialEq)]
pub struct Duel {
    /// Its name.
    pub name: String,
    /// The workload of each arm.
    pub workloads: [Workload; 2],
    test: PairedTest,
    samples: [Vec<f64>; 2],
    pace: Pace,
}

/// All workloads, which are measured in turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Interleaving {
    duels: Vec<Duel>,
    seed: u64,
    next: usize,
}

impl Interleaving {
    /// The workloads by name, each with that of the first and of the second arm. Over all of them together, equal arms get a
    /// false verdict with a chance of at most `alpha`; ratios within `margin` of 1 are no difference.
    pub fn new(all: Vec<(String, [Workload; 2])>, alpha: f64, margin: f64, seed: u64) -> Self {
        let alpha = alpha / all.len().max(1) as f64;
        let duel = |(name, workloads)| Duel {
            name,
            workloads,
            test: PairedTest::new(alpha, margin),
            samples: Default::default(),
            pace: Pace::default(),
        };
        let duels = all.into_iter().map(duel).collect();
        Self { duels, seed, next: 0 }
    }

    /// The workload whose turn it is, by its number, and the order of its arms: one whose verdict is not certain, and of which another pair
    /// ends within `left_s` seconds, as far as can be told. `None` where there is none.
    pub fn turn(&mut self, left_s: f64) -> Option<(usize, [usize; 2])> {
        let count = self.duels.len();
        let longest_s = self.duels.iter().map(|duel| duel.pace.longest_s).fold(0.0, f64::max);
        let is_due = |&index: &usize| {
            let duel = &self.duels[index % count];
            duel.test.is_open() && duel.pace.has_time(left_s, longest_s)
        };
        let found = (self.next..self.next + count).find(is_due)? % count;
        self.next = found + 1;
        Some((found, order(self.seed ^ (found as u64) << 32, self.duels[found].test.pairs())))
    }

    /// A workload.
    pub fn duel(&self, index: usize) -> &Duel {
        &self.duels[index]
    }

    /// Records a pair of throughputs, the first arm's and the second's, which took `pair_s` seconds and left `left_s` of the time.
    pub fn record(&mut self, index: usize, throughputs: [f64; 2], pair_s: f64, left_s: f64) {
        let duel = &mut self.duels[index];
        if !duel.samples[0].is_empty() {
            duel.pace.took(pair_s);
        }
        let spent = duel.pace.spent(duel.test.pairs() + 1, left_s);
        duel.test.push(throughputs[0], throughputs[1], spent);
        for (samples, throughput) in duel.samples.iter_mut().zip(throughputs) {
            samples.push(throughput);
        }
    }

    /// No further pair is measured: all that is left of the error is spent on what is not certain yet. While other workloads were to be measured as
    /// well, each of the pairs so far was judged as one of more than there are now, so by a bound that was no lower.
    pub fn time_is_up(&mut self) {
        let tests = self.duels.iter_mut().map(|duel| &mut duel.test);
        tests.filter(|test| test.is_open()).for_each(PairedTest::end);
    }

    /// What is known so far, a row per workload that was measured.
    pub fn rows(&self) -> Vec<MeasuredRow> {
        self.duels.iter().filter(|duel| duel.test.pairs() > 0).map(Duel::row).collect()
    }

    /// The names of the workloads that were not measured once, in order.
    pub fn not_measured(&self) -> Vec<&str> {
        let unmeasured = self.duels.iter().filter(|duel| duel.test.pairs() == 0);
        unmeasured.map(|duel| duel.name.as_str()).collect()
    }

    /// The workloads of which there are pairs, and too few for any verdict, in order, each with how many there are.
    pub fn too_few(&self) -> Vec<String> {
        let few = self.duels.iter().map(|duel| (&duel.name, duel.test.pairs()));
        let few = few.filter(|(_, pairs)| (1..PAIRS_MIN).contains(pairs));
        few.map(|(name, pairs)| format!("{name} ({pairs} of at least {PAIRS_MIN})")).collect()
    }

    /// The result: the second of the `systems` over the first, each with the machine as it saw it.
    pub fn comparison(
        &self,
        systems: [String; 2],
        environments: [Environment; 2],
        margin: f64,
    ) -> MeasuredComparison {
        let ([first, second], [here, there]) = (systems, environments);
        MeasuredComparison {
            kind: "ab".to_owned(),
            systems: [second, first],
            environments: [there, here],
            rows: self.rows(),
            only_in: [0, 0],
            lone: Vec::new(),
            differences: Vec::new(),
            margin,
            condition: None,
        }
    }

    /// In one line, how the workload that was measured last stands.
    pub fn standing(&self, index: usize) -> String {
        let duel = &self.duels[index];
        let (ends, pairs) = (duel.test.interval(), duel.test.pairs());
        let [low, high] = ends.map(|end| format!("{end:.3}"));
        let between = match is_wide(ends) {
            true => "how far it is off cannot be told yet".to_owned(),
            false => format!("{low} to {high}"),
        };
        let pairs = counted(pairs as u64, "pair");
        format!("{}: {:.3} ({between}) after {pairs}", duel.name, duel.test.ratio())
    }
}

impl Duel {
    fn row(&self) -> MeasuredRow {
        let [first, second] = self.samples.each_ref().map(|samples| statistics::median(samples));
        let pairs = self.test.pairs() as u32;
        MeasuredRow {
            name: Some(self.name.clone()),
            workload: (self.workloads[0] == self.workloads[1]).then(|| self.workloads[0].clone()),
            metric: Metric::Throughput,
            values: [second, first],
            rounds: [pairs, pairs],
            samples: Some([self.samples[1].clone(), self.samples[0].clone()]),
            ratio: self.test.ratio(),
            ci95: self.test.interval(),
            basis: Basis::Interleaved,
            verdict: self.test.verdict(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Verdict;

    #[test]
    fn the_order_is_balanced_over_every_two_pairs() {
        let mut begins = 0;
        for seed in 0..100 {
            for pair in (0..40).step_by(2) {
                assert_ne!(order(seed, pair), order(seed, pair + 1));
                begins += usize::from(order(seed, pair) == [1, 0]);
            }
        }
        assert!((700..1300).contains(&begins), "{begins} of 2000");
    }

    #[test]
    fn jobs_are_paired_in_order() {
        let job = |name: &str| (name.to_owned(), Workload::default());
        let names = ["x.toml", "y.toml"];
        let pairs = paired(names, vec![job("a"), job("b")], vec![job("a"), job("c")]).unwrap();
        assert_eq!(pairs.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["a", "c against b"]);
        let why = paired(names, vec![job("a")], Vec::new()).unwrap_err();
        assert!(why.starts_with("x.toml has 1 jobs and y.toml has 0:"), "{why}");
    }

    #[test]
    fn runs_are_as_short_as_a_pair_of_each_job_within_the_budget_needs() {
        assert_eq!(longest_run_s(2.0, 180.0, 3), Ok(2.0));
        let short = longest_run_s(2.0, 33.0, 40).expect("long enough");
        assert!((short - 0.25).abs() < 1e-9, "{short}");
        let why = longest_run_s(60.0, 1.0, 40).unwrap_err();
        assert!(why.contains("40 jobs") && why.ends_with("at least 7s"), "{why}");
        // Shorter ones, where they are asked for.
        assert_eq!(longest_run_s(0.01, 1.0, 20), Ok(0.01));
    }

    #[test]
    fn what_was_not_reached_is_named() {
        let all =
            ["a", "b", "c"].map(|name| (name.to_owned(), [(); 2].map(|()| Workload::default())));
        let mut ab = Interleaving::new(all.to_vec(), 0.05, 0.03, 1);
        assert_eq!(ab.not_measured(), ["a", "b", "c"]);
        ab.record(0, [1e8, 2e8], 4.0, 36.0);
        assert_eq!((ab.not_measured(), ab.rows().len()), (vec!["b", "c"], 1));
    }

    /// Two pairs of buffered writes, which fill the dirty pages first, ended as "cannot be told", and nothing said that more time would tell.
    #[test]
    fn what_has_too_few_pairs_for_a_verdict_is_named() {
        let all = ["a", "b"].map(|name| (name.to_owned(), [(); 2].map(|()| Workload::default())));
        let mut ab = Interleaving::new(all.to_vec(), 0.05, 0.03, 1);
        for pair in 1..=PAIRS_MIN {
            ab.record(0, [1e8, 2e8], 4.0, 36.0);
            if pair == 2 {
                assert_eq!(ab.too_few(), ["a (2 of at least 4)"], "of b there are none");
            }
        }
        ab.time_is_up();
        assert_eq!(ab.too_few(), Vec::<String>::new());
    }

    #[test]
    fn one_pair_has_no_bounds() {
        let one = ("one".to_owned(), [(); 2].map(|()| Workload::default()));
        let mut ab = Interleaving::new(vec![one], 0.05, 0.03, 1);
        ab.record(0, [1e8, 2e8], 4.0, 36.0);
        assert_eq!(
            ab.standing(0),
            "one: 2.000 (how far it is off cannot be told yet) after 1 pair"
        );
    }

    #[test]
    fn laying_out_the_files_of_any_workload_is_no_pace() {
        let all = ["a", "b"].map(|name| (name.to_owned(), [(); 2].map(|()| Workload::default())));
        let mut ab = Interleaving::new(all.to_vec(), 0.05, 0.03, 1);
        ab.record(0, [1e8, 1e8], 20.0, 168.0);
        assert!(ab.turn(1.0).is_some() && ab.turn(-1.0).is_none());
        ab.record(1, [1e8, 1e8], 106.0, 62.0);
        ab.record(0, [1e8, 1e8], 4.0, 58.0);
        ab.record(1, [1e8, 1e8], 4.0, 54.0);
        assert!(ab.turn(54.0).is_some() && ab.turn(4.0).is_none());
    }

    /// Time was up for both as the long pairs had no room, and the short ones were three: too few for a verdict.
    #[test]
    fn workloads_of_short_pairs_go_on_where_those_of_long_ones_have_no_room() {
        let all = ["a", "b"].map(|name| (name.to_owned(), [(); 2].map(|()| Workload::default())));
        let mut ab = Interleaving::new(all.to_vec(), 0.05, 0.03, 1);
        let mut left_s = 180.0;
        for pair_s in [4.0, 60.0, 4.0, 54.0] {
            let (index, _) = ab.turn(left_s).expect("time is left");
            left_s -= pair_s;
            ab.record(index, [1e8, 1e8], pair_s, left_s);
        }
        assert_eq!(ab.turn(4.0), None);
        while let Some((index, _)) = ab.turn(left_s) {
            left_s -= 4.0;
            ab.record(index, [1e8, 1e8], 4.0, left_s);
        }
        let told = ab.rows().into_iter().map(|row| (row.rounds[0], row.verdict));
        let expected = [(4, Verdict::NoDifference), (2, Verdict::CannotBeTold)];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    /// Each pair was one of as many as the time left would have held of its workload alone, so that a bound of 350 standard errors stood at the end.
    #[test]
    fn what_many_workloads_show_is_told_when_time_is_up() {
        const PAIR_S: f64 = 4.5;
        let all = (0..10).map(|n| (format!("job {n}"), [(); 2].map(|()| Workload::default())));
        let mut ab = Interleaving::new(all.collect(), 0.05, 0.03, 1);
        for pair in 0..40u32 {
            let (index, _) = ab.turn(180.0).expect("time is left");
            let scatter = if pair / 10 % 2 == 0 { 1.05 } else { 1.0 / 1.05 };
            let left_s = PAIR_S * f64::from(39 - pair);
            ab.record(index, [1e8, 2e8 * scatter], PAIR_S, left_s);
        }
        let told = |ab: &Interleaving| {
            ab.rows().iter().filter(|row| row.verdict == Verdict::Faster).count()
        };
        assert!(told(&ab) < 5, "{}", told(&ab));
        ab.time_is_up();
        assert_eq!(told(&ab), 10);
    }

    #[test]
    fn workloads_take_turns_until_each_is_certain() {
        let all =
            ["quick", "slow"].map(|name| (name.to_owned(), [(); 2].map(|()| Workload::default())));
        let mut both = Interleaving::new(all.to_vec(), 0.05, 0.03, 1);
        let mut turns = [0; 2];
        for round in 0..40u32 {
            let Some((index, order)) = both.turn(40.0) else { break };
            assert_eq!(order[0] + order[1], 1);
            turns[index] += 1;
            let noise: f64 = if round % 4 < 2 { 1.5 } else { 1.0 / 1.5 };
            let pair =
                if index == 0 { [1e8, 2e8 * noise.clamp(0.99, 1.01)] } else { [1e8, 1e8 * noise] };
            both.record(index, pair, 1.0, f64::from(39 - round));
        }
        let rows = both.rows();
        assert_eq!((rows[0].verdict, rows[1].verdict), (Verdict::Faster, Verdict::CannotBeTold));
        assert!(both.standing(0).contains(" to "), "{}", both.standing(0));
        assert!(turns[0] <= 12 && turns[1] >= 28, "{turns:?}");
        assert!(rows[0].values[0] > rows[0].values[1] && rows[0].ratio > 1.9);
    }
}
