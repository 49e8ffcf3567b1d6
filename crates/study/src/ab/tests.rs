//! Tests of duels between made-up runs: what is reported about them, and when they end.

use super::*;
use ioscape_schema::{Stop, Verdict};

/// A pair of runs with these throughputs and matching response times.
fn runs(throughputs: [f64; 2]) -> [Measurement; 2] {
    throughputs.map(|throughput| {
        let mut run = Measurement::empty(Workload::default(), Stop::Confident);
        run.throughput_bytes_per_s = throughput;
        run.response_time_ns.p50 = (1e14 / throughput) as u64;
        run.response_time_ns.p99 = (3e14 / throughput) as u64;
        run
    })
}

fn one() -> Vec<(String, [Workload; 2])> {
    vec![("one".to_owned(), [(); 2].map(|()| Workload::default()))]
}

/// The throughput rows.
fn throughputs(ab: &Interleaving) -> Vec<MeasuredRow> {
    ab.rows().into_iter().filter(|row| row.metric == Metric::Throughput).collect()
}

/// Guards against a defect: pauses of 150 ms hid that a commit took 150 times as long.
#[test]
fn response_times_are_told_where_throughput_shows_no_difference() {
    let mut ab = Interleaving::new(one(), 0.05, 0.03, 1);
    for pair in 0..6u32 {
        let mut runs = runs([1e8, 1e8]);
        for (run, p50) in runs.iter_mut().zip([4_000 + u64::from(pair), 613_000]) {
            run.response_time_ns.p50 = p50;
        }
        ab.record(0, &runs, 1.0, f64::from(5 - pair));
    }
    let rows = ab.rows();
    let told = rows.iter().map(|row| (row.metric, row.verdict));
    let expected = [
        (Metric::Throughput, Verdict::NoDifference),
        (Metric::Time, Verdict::Slower),
        (Metric::Time, Verdict::NoDifference),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    assert_eq!(rows[1].name.as_deref(), Some("one, p50 response time"));
}

/// Guards against a defect: times that lay in neighbouring bins of the histogram in every pair were
/// told apart.
#[test]
fn times_are_told_apart_no_finer_than_they_are_counted() {
    let mut ab = Interleaving::new(one(), 0.05, 0.0001, 1);
    for pair in 0..6u32 {
        let mut runs = runs([1e8, 1e8]);
        runs[1].response_time_ns.p50 += runs[1].response_time_ns.p50 / 2000;
        ab.record(0, &runs, 1.0, f64::from(5 - pair));
    }
    assert_eq!(ab.rows()[1].verdict, Verdict::CannotBeTold);
}

/// Guards against a defect: on a clock of 25 MHz, 738 and 742 ns count as 720 and 760 in every pair,
/// which was "slower, 5.6 % (5.5 to 5.7)".
#[test]
fn times_are_told_apart_no_finer_than_the_clock_ticks() {
    let told = |tick_ns: f64| {
        let mut ab = Interleaving::new(one(), 0.05, 0.03, 1).timed_in_steps_of(tick_ns);
        for pair in 0..6u32 {
            let mut runs = runs([1e8, 1e8]);
            for (run, ns) in runs.iter_mut().zip([720, 760]) {
                (run.response_time_ns.p50, run.ios) = (ns, 1000);
            }
            ab.record(0, &runs, 1.0, f64::from(5 - pair));
        }
        ab.rows()[1].verdict
    };
    assert_eq!([told(1.0), told(40.0)], [Verdict::Slower, Verdict::CannotBeTold]);
}

/// A volume that keeps up `base` B/s, and bursts for as long as it has credit.
#[derive(Clone, Copy)]
struct Volume {
    base: f64,
    burst: f64,
    /// What it may still write beyond `base`, in bytes.
    credit: f64,
}

impl Volume {
    /// A volume that rested for a second.
    fn of([base, burst]: [f64; 2]) -> Self {
        Self { base, burst, credit: base }
    }

    /// The throughput of a run of so many seconds.
    fn run(&mut self, seconds: f64) -> f64 {
        let more = self.credit.min((self.burst - self.base) * seconds);
        self.credit -= more;
        self.base + more / seconds
    }
}

/// What pairs of a second on these volumes tell, and then runs without rests, of `jobs` workloads.
fn told_without_rests(kept: [[f64; 2]; 2], jobs: usize) -> [Vec<Verdict>; 2] {
    let all = vec![one().remove(0); jobs];
    let mut ab = Interleaving::new(all, 0.05, 0.03, 1);
    let (mut volumes, mut arms) = (kept.map(Volume::of), [0, 1]);
    let mut run = |arm: usize, seconds: f64| {
        volumes[1 - arm].credit += volumes[1 - arm].base * seconds;
        volumes[arm].run(seconds)
    };
    for pair in (0..8 * jobs).rev() {
        let (index, order) = (pair % jobs, order(1, pair));
        let mut pair_of = [0.0; 2];
        for arm in order {
            pair_of[arm] = run(arm, 1.0) * if pair % 3 == 0 { 1.02 } else { 1.0 };
        }
        ab.record(index, &runs(pair_of), 2.0, 2.0 * (pair / jobs) as f64);
        arms = [order[1], order[0]];
    }
    let verdicts = |ab: &Interleaving| throughputs(ab).iter().map(|row| row.verdict).collect();
    let paired = verdicts(&ab);
    let unrested = |_: &Duel, arm: usize, seconds: f64, _| {
        let [measured, _] = runs([run(arm, seconds); 2]);
        Ok::<_, ()>(measured)
    };
    ab.measure_unrested(arms, 16.0 * jobs as f64, 1.0, unrested).expect("no errors");
    [paired, verdicts(&ab)]
}

/// Guards against three defects: volumes of 30 MB/s and of 20 that burst to 40, which earn in the
/// first one's turns what they spend in their own, were called faster; where both arms lose as much
/// without rests, a true difference was withheld; and so was that there is none.
#[test]
fn what_holds_with_rests_alone_is_withheld_and_what_holds_without_them_is_not() {
    for jobs in [1, 3] {
        let told = |kept: [[f64; 2]; 2]| {
            let of_all = told_without_rests(kept.map(|volume| volume.map(|rate| rate * 1e6)), jobs);
            of_all.map(|mut verdicts| {
                verdicts.dedup();
                verdicts
            })
        };
        let open = Verdict::CannotBeTold;
        let [rested, unrested] = told([[30.0, 30.0], [20.0, 40.0]]);
        assert_eq!([rested, unrested], [[Verdict::Faster], [open]].map(Vec::from), "{jobs}");
        let slower = [[Verdict::Slower]; 2].map(Vec::from);
        assert_eq!(told([[20.0, 40.0], [15.0, 30.0]]), slower, "{jobs}");
        let equal = [[Verdict::NoDifference]; 2].map(Vec::from);
        assert_eq!(told([[20.0, 40.0]; 2]), equal, "{jobs}");
    }
}

#[test]
fn a_ratio_without_rests_is_told_where_it_contradicts_a_verdict() {
    let told = |second: f64, unrested: [f64; 2]| {
        let mut ab = Interleaving::new(one(), 0.05, 0.03, 1);
        for pair in 0..8u32 {
            let scatter = if pair % 2 == 0 { 1.002 } else { 1.0 / 1.002 };
            ab.record(0, &runs([3e7, second * scatter]), 1.0, f64::from(7 - pair));
        }
        ab.record_unrested(0, &[1.0, 0.99, 1.01].map(|by| runs(unrested.map(|rate| rate * by))));
        let [throughput, p50, p99] = &ab.rows()[..] else { panic!("{:?}", ab.rows()) };
        assert_eq!([p50.verdict, p99.verdict], [throughput.verdict; 2]);
        let low = (throughput.ci95[0] * 10.0).round();
        (throughput.verdict, low, ab.changed_by_rests().join(""))
    };
    let words = |ratios: &str| format!("one ({ratios} with rests)");
    let open = Verdict::CannotBeTold;
    assert_eq!(told(4e7, [3e7, 2e7]), (open, 7.0, words("0.67 times, 1.33")));
    assert_eq!(told(4e7, [3e7, 4.01e7]), (Verdict::Faster, 13.0, String::new()));
    assert_eq!(told(3e7, [4e7, 2e7]), (open, 5.0, words("0.50 times, 1.00")));
    // No rest made the faster arm so.
    assert_eq!(told(4e7, [3e7, 8e7]), (Verdict::Faster, 13.0, String::new()));
    assert_eq!(told(2e7, [3e7, 1e7]), (Verdict::Slower, 7.0, String::new()));
}

/// The 99th percentile of 21 requests is the longest of them. Once, pairs that had so few left the
/// row to the faster ones.
#[test]
fn a_percentile_of_too_few_requests_has_no_row() {
    let rows = |all: [u64; 2]| {
        let mut ab = Interleaving::new(one(), 0.05, 0.03, 1);
        for ios in all {
            let mut runs = runs([1e8, 1e8]);
            runs[1].ios = ios;
            ab.record(0, &runs, 1.0, 1.0);
        }
        ab.rows().len()
    };
    assert_eq!([[21, 21], [100, 100], [100, 21]].map(rows), [2, 3, 2]);
}

#[test]
fn a_condition_is_met_beyond_chance_or_not_at_all() {
    let met = |fail_if: &str, second: f64, pairs: u32| {
        let condition = fail_if.parse().expect("a condition");
        let ab = Interleaving::new(one(), 0.05, 0.03, 1);
        let mut ab = ab.failing_if(Some(condition)).expect("what its rows count");
        for pair in 0..pairs {
            let scatter = if pair % 2 == 0 { 1.01 } else { 1.0 / 1.01 };
            ab.record(0, &runs([1e8, second * scatter]), 1.0, f64::from(pairs - 1 - pair));
        }
        let is_open = ab.turn(10.0).is_some();
        let found = ab.comparison(Default::default(), Default::default(), 0.03);
        (found.condition.expect("a condition").met_by, is_open)
    };
    assert_eq!(met("throughput<0.9", 0.5e8, 6), (vec![0], false));
    assert_eq!(met("throughput<0.9", 1e8, 6), (vec![], false));
    assert_eq!(met("throughput<0.9", 0.5e8, 3), (vec![], true), "too few pairs");
    // It is slower, but whether by that much is not certain yet.
    assert_eq!(met("throughput<0.9", 0.9e8, 6), (vec![], true));
    assert_eq!(met("time>1.1", 0.5e8, 6), (vec![1, 2], false));
    assert_eq!(met("time>1.1", 1e8, 6), (vec![], false));
    let rate = "rate<0.9".parse().ok();
    assert!(Interleaving::new(one(), 0.05, 0.03, 1).failing_if(rate).is_err());
}

/// Guards against sentences on throughput where response times alone get a verdict.
#[test]
fn what_is_told_beside_the_rows_is_about_what_was_asked() {
    let condition = "time>1.1".parse().ok();
    let ab = Interleaving::new(one(), 0.05, 0.03, 1);
    let mut ab = ab.failing_if(condition).expect("what its rows count");
    for pair in 0..8u32 {
        let scatter = if pair % 2 == 0 { 1.002 } else { 1.0 / 1.002 };
        ab.record(0, &runs([3e7, 4e7 * scatter]), 1.0, f64::from(7 - pair));
    }
    assert_eq!(ab.settled(), [0], "the response times have a verdict");
    let [low, high] = ab.rows()[0].ci95;
    assert!(1.2 < low && high < 1.5, "no verdict, but an interval of throughput: {low} to {high}");
    assert!(ab.standing(0).starts_with("one, p50 response time: 0.750 ("), "{}", ab.standing(0));
    ab.record_unrested(0, &[1.0, 0.99, 1.01].map(|by| runs([3e7 * by, 2e7])));
    let told = ab.changed_by_rests();
    assert!(told[0].starts_with("one, p50 response time (1.5"), "{told:?}");
    let told: Vec<Verdict> = ab.rows().iter().map(|row| row.verdict).collect();
    assert_eq!(told, [Verdict::NotAsked, Verdict::CannotBeTold, Verdict::CannotBeTold]);
}

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
fn runs_are_as_short_as_verdicts_on_each_job_within_the_budget_need() {
    assert_eq!(longest_run_s(2.0, 180.0, 3), Ok(2.0));
    let short = longest_run_s(2.0, 264.0, 40).expect("long enough");
    assert!((short - 0.25).abs() < 1e-9, "{short}");
    // Guards against a defect: runs of two seconds left room for only three pairs, too few to tell
    // anything.
    assert!(longest_run_s(2.0, 15.0, 1).expect("long enough") < 0.6);
    let why = longest_run_s(60.0, 1.0, 40).unwrap_err();
    assert!(why.contains("40 jobs") && why.contains("at least 53s"), "{why}");
    // Shorter runs are allowed if requested.
    assert_eq!(longest_run_s(0.001, 1.0, 20), Ok(0.001));
}

#[test]
fn what_was_not_reached_is_named() {
    let all = ["a", "b", "c"].map(|name| (name.to_owned(), [(); 2].map(|()| Workload::default())));
    let mut ab = Interleaving::new(all.to_vec(), 0.05, 0.03, 1);
    assert_eq!(ab.not_measured(), ["a", "b", "c"]);
    ab.record(0, &runs([1e8, 2e8]), 4.0, 36.0);
    assert_eq!((ab.not_measured(), ab.rows().len()), (vec!["b", "c"], 3));
}

/// Guards against a defect: two pairs of buffered writes, which fill the dirty pages first, ended
/// as "cannot be told" without a hint that more time would help.
#[test]
fn what_has_too_few_pairs_for_a_verdict_is_named() {
    let all = ["a", "b"].map(|name| (name.to_owned(), [(); 2].map(|()| Workload::default())));
    let mut ab = Interleaving::new(all.to_vec(), 0.05, 0.03, 1);
    for pair in 1..=PAIRS_MIN {
        ab.record(0, &runs([1e8, 2e8]), 4.0, 36.0);
        if pair == 2 {
            assert_eq!(ab.too_few(), ["a (2 of at least 4)"], "of b there are none");
            assert_eq!(ab.enough_times(), 4.0);
        }
    }
    ab.time_is_up();
    assert_eq!(ab.too_few(), Vec::<String>::new());
}

#[test]
fn one_pair_has_no_bounds_and_a_wide_interval_that_excludes_1_has_one() {
    let mut ab = Interleaving::new(one(), 0.05, 0.03, 1);
    ab.record(0, &runs([1e8, 2e8]), 4.0, 36.0);
    assert_eq!(ab.standing(0), "one: 2.000 (how far it is off cannot be told yet) after 1 pair");
    let mut ab = Interleaving::new(one(), 0.05, 0.03, 1);
    for (pair, ratio) in (0..4u32).zip([150.0, 3000.0, 400.0, 8000.0]) {
        ab.record(0, &runs([ratio * 1e5, 1e5]), 4.0, f64::from(4 * (3 - pair)));
    }
    assert!(ab.standing(0).contains(" (below 0.0"), "{}", ab.standing(0));
}

#[test]
fn laying_out_the_files_of_any_workload_is_no_pace() {
    let all = ["a", "b"].map(|name| (name.to_owned(), [(); 2].map(|()| Workload::default())));
    let mut ab = Interleaving::new(all.to_vec(), 0.05, 0.03, 1);
    ab.record(0, &runs([1e8, 1e8]), 20.0, 168.0);
    assert!(ab.turn(1.0).is_some() && ab.turn(-1.0).is_none());
    ab.record(1, &runs([1e8, 1e8]), 106.0, 62.0);
    ab.record(0, &runs([1e8, 1e8]), 4.0, 58.0);
    ab.record(1, &runs([1e8, 1e8]), 4.0, 54.0);
    assert!(ab.turn(54.0).is_some() && ab.turn(4.0).is_none());
}

/// Guards against a defect: time was up for both because the long pairs had no room; the short
/// pairs were three, too few for a verdict.
#[test]
fn workloads_of_short_pairs_go_on_where_those_of_long_ones_have_no_room() {
    let all = ["a", "b"].map(|name| (name.to_owned(), [(); 2].map(|()| Workload::default())));
    let mut ab = Interleaving::new(all.to_vec(), 0.05, 0.03, 1);
    let mut left_s = 180.0;
    for pair_s in [4.0, 60.0, 4.0, 54.0] {
        let (index, _) = ab.turn(left_s).expect("time is left");
        left_s -= pair_s;
        ab.record(index, &runs([1e8, 1e8]), pair_s, left_s);
    }
    assert_eq!(ab.turn(4.0), None);
    while let Some((index, _)) = ab.turn(left_s) {
        left_s -= 4.0;
        ab.record(index, &runs([1e8, 1e8]), 4.0, left_s);
    }
    let told = throughputs(&ab).into_iter().map(|row| (row.rounds[0], row.verdict));
    let expected = [(4, Verdict::NoDifference), (2, Verdict::CannotBeTold)];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

/// Guards against a defect: each pair was judged as if all the time left went to its workload
/// alone, so the bound at the end was 350 standard errors.
#[test]
fn what_many_workloads_show_is_told_when_time_is_up() {
    const PAIR_S: f64 = 4.5;
    let all = (0..10).map(|n| (format!("job {n}"), [(); 2].map(|()| Workload::default())));
    let mut ab = Interleaving::new(all.collect(), 0.05, 0.03, 1);
    for pair in 0..40u32 {
        let (index, _) = ab.turn(180.0).expect("time is left");
        let scatter = if pair / 10 % 2 == 0 { 1.05 } else { 1.0 / 1.05 };
        let left_s = PAIR_S * f64::from(39 - pair);
        ab.record(index, &runs([1e8, 2e8 * scatter]), PAIR_S, left_s);
    }
    let told = |ab: &Interleaving| {
        throughputs(ab).iter().filter(|row| row.verdict == Verdict::Faster).count()
    };
    assert!(told(&ab) < 5, "{}", told(&ab));
    ab.time_is_up();
    assert_eq!(told(&ab), 10);
}

/// One drive was faster for ten pairs, then the other one.
#[test]
fn workloads_whose_ratio_itself_changed_are_named() {
    let told = |is_first: fn(u32) -> bool| {
        let mut ab = Interleaving::new(one(), 0.05, 0.03, 1);
        for pair in 0..20 {
            let pair_of = if is_first(pair) { [1.3e8, 1e8] } else { [1e8, 1.3e8] };
            ab.record(0, &runs(pair_of), 1.0, f64::from(19 - pair));
        }
        assert_eq!(throughputs(&ab)[0].verdict, Verdict::CannotBeTold);
        ab.wandering().len()
    };
    assert_eq!([told(|pair| pair < 10), told(|pair| pair % 2 == 0)], [1, 0]);
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
        both.record(index, &runs(pair), 1.0, f64::from(39 - round));
    }
    let rows = throughputs(&both);
    assert_eq!((rows[0].verdict, rows[1].verdict), (Verdict::Faster, Verdict::CannotBeTold));
    assert!(both.standing(0).contains(" to "), "{}", both.standing(0));
    assert!(turns[0] <= 12 && turns[1] >= 28, "{turns:?}");
    assert!(rows[0].values[0] > rows[0].values[1] && rows[0].ratio > 1.9);
}
