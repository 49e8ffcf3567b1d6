//! A test of paired rounds that may be checked after every round: its error rate holds whenever it
//! is stopped.
//!
//! The number of possible pairs is estimated from the time left, and known when the time is up; the
//! error is spent over these pairs (O'Brien and Fleming, "A multiple testing procedure for clinical
//! trials", 1979; Jennison and Turnbull, "Group Sequential Methods", 2000, chapters 2 and 9).
//! Without a difference, the sum of the pairs' logarithms is a random walk. It leaves a constant
//! bound within that many pairs with probability alpha, however often it is checked: a Wiener
//! process leaves +-c with probability at most 4(1 - Phi(c)). The effects that the bound does not
//! rule out form the repeated confidence interval. Since the scatter is estimated, the bounds are
//! those of Student's t with the same tail. Pairs are not assumed to be independent: an arm may
//! have a slow state of its own that lasts for several pairs.

use ioscape_schema::statistics;
use ioscape_schema::tally::{correlation, standard_error};
use ioscape_schema::{Verdict, is_near_one};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Fewest pairs for a verdict: fewer say nothing about their own scatter.
pub(super) const PAIRS_MIN: usize = 4;
/// The smallest tail that can be told from zero.
const TAIL_MIN: f64 = 1e-12;
/// A bound that no finite scatter reaches.
const BOUND_MAX: f64 = 1e6;

/// The pairs of one workload so far.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedTest {
    /// ln(second arm's throughput over the first's) of every pair.
    logs: Vec<f64>,
    /// Probability of a false verdict, 0 to 1.
    pub(super) alpha: f64,
    /// Ratios within this distance of 1 count as no difference.
    margin: f64,
    /// Share of all possible pairs that has been measured, 0 to 1.
    spent: f64,
    /// Resolution of the figures, on the logarithm.
    pub(super) resolution: f64,
    /// How far the ratio may be off because the sets were laid out too few times, on the logarithm.
    pub(super) layouts: f64,
    /// ln(ratio) without rests, if it contradicts the verdict of the pairs.
    unrested: Option<f64>,
    /// The number of pairs without rests.
    unrested_pairs: usize,
}

impl PairedTest {
    /// Returns a test without pairs, in which at most a share `alpha` of equal arms gets a false
    /// verdict.
    pub fn new(alpha: f64, margin: f64) -> Self {
        let (logs, unrested, unrested_pairs) = (Vec::new(), None, 0);
        let [spent, resolution, layouts] = [0.0; 3];
        Self { logs, alpha, margin, spent, resolution, layouts, unrested, unrested_pairs }
    }

    /// Adds a pair of throughputs, the first arm's and the second's. With it, a share `spent` of
    /// all possible pairs has been measured. A pair in which an arm has no throughput is left out.
    pub fn push(&mut self, first: f64, second: f64, spent: f64) {
        self.spent = spent.clamp(0.0, 1.0);
        let log = (second / first).ln();
        if log.is_finite() {
            self.logs.push(log);
        }
    }

    /// Adds pairs of throughputs of both arms without rests, once there are no further pairs. If
    /// their mean ratio is another one beyond chance, the interval then reaches to it, unless the
    /// faster arm gains even more by it; and also if in each of them the other arm is the faster
    /// one.
    pub fn push_unrested(&mut self, pairs: &[[f64; 2]]) {
        let logs: Vec<f64> = pairs.iter().map(|[first, second]| (second / first).ln()).collect();
        let log = statistics::mean(&logs);
        let off = log - self.mean();
        let other = self.half_of(logs.len());
        // Runs that scatter widely do not make the slower arm the faster one each time.
        let contradicts = match self.verdict() {
            Verdict::Faster => off < -other || logs.iter().all(|log| *log < -self.margin),
            Verdict::Slower => off > other || logs.iter().all(|log| *log > self.margin),
            _ => off.abs() > other,
        };
        self.unrested = (log.is_finite() && contradicts).then_some(log);
        self.unrested_pairs = logs.len();
    }

    /// The ratio without rests, if it contradicts the verdict of the pairs.
    pub fn unrested(&self) -> Option<f64> {
        self.unrested.map(f64::exp)
    }

    /// Declares that there will be no further pairs.
    pub fn end(&mut self) {
        self.spent = 1.0;
    }

    /// The number of pairs so far.
    pub fn pairs(&self) -> usize {
        self.logs.len()
    }

    fn mean(&self) -> f64 {
        statistics::mean(&self.logs)
    }

    /// The second arm's throughput over the first's: the geometric mean of the pairs' ratios.
    pub fn ratio(&self) -> f64 {
        self.mean().exp()
    }

    /// Half the width of the interval on the logarithm; infinite while there are too few
    /// pairs.
    fn half(&self) -> f64 {
        self.resolution + self.layouts + self.error(self.spent)
    }

    /// How far chance may put the mean of so many further pairs from that of the others, on the
    /// logarithm.
    fn half_of(&self, further: usize) -> f64 {
        let share = self.logs.len() as f64 / further.max(1) as f64;
        self.resolution + (share + 1.0).sqrt() * self.error(1.0)
    }

    /// By how much the mean may be off once a share `spent` of all possible pairs is measured.
    fn error(&self, spent: f64) -> f64 {
        if self.logs.len() < PAIRS_MIN {
            return f64::INFINITY;
        }
        // The pairs show that there is a state, but not how long it lasts: perhaps as long as they
        // do.
        let correlation = if self.wanders() { 1.0 } else { correlation(&self.logs) };
        let (error, freedom) = standard_error(&self.logs, correlation);
        self.bound(freedom, spent) * error
    }

    /// Whether neighbouring pairs correlate by more than two standard errors of independent pairs,
    /// so that an arm has a state that lasts for several pairs.
    pub fn wanders(&self) -> bool {
        correlation(&self.logs) > 2.0 / (self.logs.len() as f64).sqrt()
    }

    /// The same in standard errors.
    fn bound(&self, freedom: f64, spent: f64) -> f64 {
        let (Ok(normal), Ok(student)) = (Normal::new(0.0, 1.0), StudentsT::new(0.0, 1.0, freedom))
        else {
            return BOUND_MAX;
        };
        let over_all_time = -normal.inverse_cdf(self.alpha / 4.0);
        let tail = normal.cdf(-over_all_time / spent.sqrt());
        if tail < TAIL_MIN { BOUND_MAX } else { -student.inverse_cdf(tail) }
    }

    /// The interval of the ratio that holds at all times with probability 1 - alpha: low and high.
    pub fn interval(&self) -> [f64; 2] {
        let about = |middle: f64, half: f64| [middle - half, middle + half];
        let [mut low, mut high] = about(self.mean(), self.half());
        if let Some(log) = self.unrested {
            let [least, most] = about(log, self.half_of(self.unrested_pairs));
            (low, high) = (low.min(least), high.max(most));
        }
        // Far beyond any real ratio, but still finite.
        [low, high].map(|end| end.clamp(-100.0, 100.0).exp())
    }

    /// What can be said about the second arm so far.
    pub fn verdict(&self) -> Verdict {
        match self.interval() {
            [low, _] if low > 1.0 => Verdict::Faster,
            [_, high] if high < 1.0 => Verdict::Slower,
            ends if is_near_one(ends, self.margin) => Verdict::NoDifference,
            _ => Verdict::CannotBeTold,
        }
    }

    /// Whether more pairs are needed.
    pub fn is_open(&self) -> bool {
        self.verdict() == Verdict::CannotBeTold
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::OF_THROUGHPUT;
    use super::super::{Interleaving, Pace};
    use super::*;
    use ioscape_schema::{MeasuredRow, Measurement, Workload};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Virtual seconds that a pair of runs takes, and that are available.
    const PAIR_S: f64 = 4.5;
    const TIME_S: f64 = 180.0;
    /// Standard deviation of ln(throughput) from one run of two seconds to the next: the repeatability of such runs on a
    /// quiet disk is 2 to 10 %.
    const NOISE: f64 = 0.05;
    /// The share of false verdicts that the throughput of a single workload may have.
    const OF_ONE: f64 = 0.05 * OF_THROUGHPUT;

    /// ln(speed) of a machine, from run to run.
    type State = Box<dyn FnMut(&mut Pcg64Mcg) -> f64>;

    fn normal(generator: &mut Pcg64Mcg) -> f64 {
        (0..12).map(|_| generator.random::<f64>()).sum::<f64>() - 6.0
    }

    /// A speed that drifts from its mean and returns, by steps of this standard deviation.
    fn drift(mut now: f64, correlation: f64, step: f64) -> State {
        Box::new(move |generator| {
            now = correlation * now + step * normal(generator);
            now
        })
    }

    /// The same from a random beginning, with this standard deviation of the speed.
    fn lasting_drift(generator: &mut Pcg64Mcg, correlation: f64, deviation: f64) -> State {
        let step = deviation * (1.0 - correlation * correlation).sqrt();
        drift(deviation * normal(generator), correlation, step)
    }

    /// Two levels, one so many times as fast as the other, for so many runs each on average.
    fn levels(generator: &mut Pcg64Mcg, times: f64, runs: f64) -> State {
        let mut is_fast = generator.random::<f64>() < 0.5;
        Box::new(move |generator| {
            is_fast ^= generator.random::<f64>() < 1.0 / runs;
            if is_fast { times.ln() } else { 0.0 }
        })
    }

    /// A speed that is so many times as high for the first runs.
    fn burst(times: f64, mut runs: u32) -> State {
        Box::new(move |_| {
            let is_fast = runs > 0;
            runs = runs.saturating_sub(1);
            if is_fast { times.ln() } else { 0.0 }
        })
    }

    /// A machine with a state, whose runs scatter; some stall for half their time.
    struct Machine {
        generator: Pcg64Mcg,
        state: State,
        noise: f64,
        stalls: f64,
    }

    impl Machine {
        /// One whose speed drifts by tens of percent.
        fn new(seed: u64, noise: f64, stalls: f64) -> Self {
            let state = drift(0.0, 0.98, 0.03);
            Self { generator: Pcg64Mcg::seed_from_u64(seed), state, noise, stalls }
        }

        fn run(&mut self, speed: f64) -> f64 {
            let state = (self.state)(&mut self.generator);
            let noise = self.noise * normal(&mut self.generator);
            let stalled = self.generator.random::<f64>() < self.stalls;
            speed * (state + noise).exp() * if stalled { 0.5 } else { 1.0 }
        }
    }

    /// Returns the verdict after three minutes on an arm that is `factor` times as fast, if laying
    /// out the files takes the share `laid_out` of that time.
    fn decided(seed: u64, factor: f64, [noise, stalls, laid_out]: [f64; 3]) -> Verdict {
        let machine = Machine::new(seed, noise, stalls);
        on(&mut [machine], seed, factor, (1.0 - laid_out) * TIME_S).verdict()
    }

    /// The pairs on a machine that both arms share, or on one machine for each arm.
    fn on(machines: &mut [Machine], seed: u64, factor: f64, time_s: f64) -> PairedTest {
        let (mut test, mut pace) = (PairedTest::new(OF_ONE, 0.03), Pace::default());
        let (mut spent_s, last) = (0.0, machines.len() - 1);
        while test.is_open() && spent_s + PAIR_S <= time_s {
            let [mut first, mut second] = [0.0; 2];
            for arm in super::super::order(seed, test.pairs()) {
                let speed = if arm == 0 { 1e8 } else { factor * 1e8 };
                *[&mut first, &mut second][arm] = machines[arm.min(last)].run(speed);
            }
            spent_s += PAIR_S;
            if test.pairs() > 0 {
                pace.took(PAIR_S);
            }
            test.push(first, second, pace.spent(test.pairs() + 1, time_s - spent_s));
        }
        test
    }

    fn share(count: u64, factor: f64, world: [f64; 3], of: fn(Verdict) -> bool) -> u64 {
        (0..count).filter(|seed| of(decided(1000 + seed, factor, world))).count() as u64
    }

    fn differs(verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Faster | Verdict::Slower)
    }

    #[test]
    fn identical_arms_are_told_apart_five_times_of_a_hundred_at_most() {
        assert!(share(100, 1.0, [NOISE, 0.0, 0.0], differs) <= 5);
        // More worlds: quieter, noisier, with stalls, and with time for few pairs.
        for world in [
            [0.01, 0.0, 0.0],
            [NOISE, 0.0, 0.0],
            [0.2, 0.0, 0.0],
            [NOISE, 0.02, 0.0],
            [NOISE, 0.0, 0.8],
        ] {
            let wrong = share(1000, 1.0, world, differs);
            assert!(wrong <= 50, "noise, stalls, time for the layout {world:?}: {wrong} of 1000");
        }
    }

    /// Two drives, each with its own drift. Once, pairs were assumed to be independent, and 84 of
    /// 100 got a false verdict. The few that remain drift so slowly that one drive was faster
    /// nearly all the time.
    #[test]
    fn states_of_single_arms_are_seldom_taken_for_differences() {
        let is_wrong = |seed: &u64| {
            let mut machines = [0, 1].map(|arm| Machine::new(2 * seed + arm, NOISE, 0.0));
            differs(on(&mut machines, *seed, 1.0, TIME_S).verdict())
        };
        let wrong = (1000..1400).filter(is_wrong).count();
        assert!(wrong <= 160, "{wrong} of 400");
    }

    /// How many of 1000 pairs of equal arms are told apart in three minutes, and in nine, if each
    /// has its own state. Arms are numbered.
    fn told_apart(noise: f64, state: fn(u64, &mut Pcg64Mcg) -> State) -> [usize; 2] {
        [TIME_S, 3.0 * TIME_S].map(|time_s| {
            let is_wrong = |seed: &u64| {
                let mut machines = [0, 1].map(|arm| {
                    let mut machine = Machine::new(2 * seed + arm, noise, 0.0);
                    machine.state = state(arm, &mut machine.generator);
                    machine
                });
                differs(on(&mut machines, *seed, 1.0, time_s).verdict())
            };
            (1000..2000).filter(is_wrong).count()
        })
    }

    #[test]
    #[ignore = "a table of docs/compare.md: minutes"]
    fn arms_with_states_of_their_own_are_told_apart_as_documented() {
        type World = (&'static str, f64, fn(u64, &mut Pcg64Mcg) -> State);
        let worlds: [World; 7] = [
            ("two levels 1 : 1.2, five pairs each on average", NOISE, |_, g| levels(g, 1.2, 5.0)),
            ("two levels 1 : 1.5, ten pairs", NOISE, |_, g| levels(g, 1.5, 10.0)),
            ("drift of 5 %, correlation 0.8 from pair to pair", 0.02, |_, g| {
                lasting_drift(g, 0.8, 0.05)
            }),
            ("drift of 15 %, correlation 0.98, both equal at first", NOISE, |_, _| {
                drift(0.0, 0.98, 0.03)
            }),
            ("drift of 15 %, correlation 0.96", NOISE, |_, g| lasting_drift(g, 0.96, 0.15)),
            ("drift of 5 %, correlation 0.96, hidden in the scatter", NOISE, |_, g| {
                lasting_drift(g, 0.96, 0.05)
            }),
            ("the first 45 s 1.5 times as fast, equal after", NOISE, |arm, _| {
                burst(1.5, if arm == 0 { 10 } else { 0 })
            }),
        ];
        let row = |(name, noise, state): World| {
            let [short, long] = told_apart(noise, state);
            format!("| {name} | {short} | {long} |")
        };
        let table = worlds.map(row).join("\n");
        assert!(include_str!("../../compare.md").contains(&table), "{table}");
    }

    #[test]
    fn a_true_difference_of_five_percent_is_found_in_three_minutes() {
        let slower = |verdict| verdict == Verdict::Slower;
        let faster = |verdict| verdict == Verdict::Faster;
        let world = [NOISE, 0.0, 0.0];
        let found = [share(1000, 0.95, world, slower), share(1000, 1.05, world, faster)];
        assert!(found.iter().all(|found| *found >= 900), "{found:?} of 1000");
    }

    /// The rows of a whole comparison with this condition after three minutes. Response times
    /// scatter by more than throughput.
    fn rows(seed: u64, factor: f64, fail_if: Option<&str>) -> Vec<MeasuredRow> {
        let mut machine = Machine::new(seed, NOISE, 0.0);
        let all = vec![("one".to_owned(), [(); 2].map(|()| Workload::default()))];
        let condition = fail_if.map(|text| text.parse().expect("a condition"));
        let ab = Interleaving::new(all, 0.05, 0.03, seed).failing_if(condition);
        let (mut ab, mut left_s) = (ab.expect("what its rows count"), TIME_S);
        while let Some((index, order)) = ab.turn(left_s) {
            let mut runs = <[Measurement; 2]>::default();
            for arm in order {
                let rate = machine.run(if arm == 0 { 1e8 } else { factor * 1e8 });
                let mut time =
                    |ns: f64| ns / rate * (NOISE / 2.0 * normal(&mut machine.generator)).exp();
                runs[arm].throughput_bytes_per_s = rate;
                runs[arm].response_time_ns.p50 = time(1e14) as u64;
                runs[arm].response_time_ns.p99 = time(3e14) as u64;
            }
            left_s -= PAIR_S;
            ab.record(index, &runs, PAIR_S, left_s);
        }
        ab.time_is_up();
        ab.rows()
    }

    /// Whatever is asked: throughput, response times, or neither.
    #[test]
    fn all_rows_of_identical_arms_share_five_times_of_a_hundred() {
        for fail_if in [None, Some("throughput < 0.95"), Some("time > 1.05")] {
            let is_wrong =
                |seed: &u64| rows(*seed, 1.0, fail_if).iter().any(|row| differs(row.verdict));
            let wrong = (1000..2000).filter(is_wrong).count();
            assert!(wrong <= 50, "{fail_if:?}: {wrong} of 1000");
        }
    }

    /// Guards against a fifth of the error for the response times where nothing else was asked,
    /// with which 570 were found.
    #[test]
    fn the_whole_error_belongs_to_response_times_if_these_are_asked_about() {
        let fail_if = Some("time > 1.01");
        let is_found = |seed: &u64| rows(*seed, 0.95, fail_if)[1].verdict == Verdict::Slower;
        let found = (1000..2000).filter(is_found).count();
        assert!(found >= 740, "{found} of 1000");
        let throughput = &rows(1000, 0.5, Some("time > 1.1"))[0];
        assert_eq!(throughput.verdict, Verdict::NotAsked, "{throughput:?}");
    }

    #[test]
    fn equal_arms_of_a_steady_machine_show_no_difference() {
        let equal = |verdict| verdict == Verdict::NoDifference;
        assert!(share(100, 1.0, [0.015, 0.0, 0.0], equal) >= 90);
    }

    #[test]
    fn few_pairs_say_nothing_and_useless_ones_are_left_out() {
        let mut test = PairedTest::new(0.05, 0.03);
        assert_eq!((test.verdict(), test.ratio()), (Verdict::CannotBeTold, 1.0));
        for _ in 0..3 {
            test.push(1.0, 2.0, 0.1);
        }
        test.push(0.0, 0.0, 0.1);
        test.push(f64::NAN, 1.0, 0.1);
        assert_eq!((test.pairs(), test.verdict()), (3, Verdict::CannotBeTold));
        assert!(test.interval().iter().all(|end| end.is_finite()));
        for _ in 0..3 {
            test.push(1.0, 2.0, 0.2);
        }
        assert_eq!(test.verdict(), Verdict::Faster, "it never varies");
    }

    /// Pairs whose ratios scatter by a third, as on a drive with burst credit. Guards against a
    /// volume of 20 MB/s that was faster than one of 28.
    #[test]
    fn an_arm_that_is_slower_without_rests_is_not_faster_however_the_pairs_scatter() {
        let told = |pairs: [f64; 2], unrested: [f64; 3]| {
            let mut test = PairedTest::new(0.05, 0.03);
            (0..60).for_each(|pair| test.push(1.0, pairs[pair % 2], pair as f64 / 60.0));
            test.end();
            let rested = test.verdict();
            test.push_unrested(&unrested.map(|second| [1.0, second]));
            [rested, test.verdict()]
        };
        let open = Verdict::CannotBeTold;
        assert_eq!(told([1.0, 1.6], [0.75, 0.7, 0.65]), [Verdict::Faster, open]);
        assert_eq!(told([1.0, 0.6], [1.4; 3]), [Verdict::Slower, open]);
        let faster = [Verdict::Faster; 2];
        assert_eq!(told([1.0, 1.6], [0.99; 3]), faster, "no difference is no contradiction");
        assert_eq!(told([1.0, 1.6], [0.95, 1.5, 0.9]), faster, "two of three, by chance");
    }
}
