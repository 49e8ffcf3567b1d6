//! Which processes count, which value a case has, and why it has none.

use super::*;
use crate::case::not_here;
use ioscape_schema::Locality;

const REFERENCE: Reference =
    Reference { fastest_ns: 10, ever_alone: true, unseen: None, no_time_s: None };

fn case() -> Case {
    Case::new("x", "y", "", |_| Err(not_here("no")))
}

fn gathered(values: &[f64]) -> Gathered {
    let mut found = Gathered::default();
    values.iter().for_each(|&value| found.add_value(value, &[], Background::default()));
    found
}

#[test]
fn the_value_is_the_median_within_its_interval() {
    let one = benchmark(&case(), &gathered(&[5.0, 1.0, 2.0, 3.0, 4.0, 100.0]), REFERENCE);
    assert_eq!((one.value, one.ci95), (Some(3.5), Some([1.0, 100.0])));
    assert_eq!(one.not_measured, None);
    let unseen = Reference { unseen: Some(UNSEEN), ..REFERENCE };
    let blind = benchmark(&case(), &gathered(&[1.0; 6]), unseen);
    assert!(blind.value.is_none() && blind.set_aside.len() == 6);
    assert!(blind.not_measured.unwrap().contains("/proc/stat"));
    let never_alone = Reference { ever_alone: false, ..REFERENCE };
    let one = benchmark(&case(), &gathered(&[5.0; 6]), never_alone);
    assert!(one.value.is_none() && one.not_measured.unwrap().contains("throughout the run"));
    assert!(benchmark(&case().unpinned(), &gathered(&[5.0; 6]), never_alone).value.is_some());
}

#[test]
fn what_was_not_measured_has_a_reason_and_no_number() {
    let mut found = gathered(&[1.0; 8]);
    found.refuse("one processor only".to_owned());
    let one = benchmark(&case(), &found, REFERENCE);
    assert_eq!((one.value, one.ci95), (None, None));
    assert_eq!(one.not_measured.as_deref(), Some("one processor only"));
    let never = benchmark(&case(), &Gathered::default(), REFERENCE);
    assert!(never.not_measured.is_some() && never.value.is_none());
}

#[test]
fn a_case_without_time_says_so() {
    let late = Reference { no_time_s: Some(60.0), ..REFERENCE };
    for ran in 0..3 {
        let one = benchmark(&case(), &gathered(&vec![1.0; ran]), late);
        let why = one.not_measured.unwrap();
        assert!(why.contains("no time left") && why.contains("60 s"), "{why}");
        assert!(why.contains(&format!("{ran} of the 3 processes")), "{why}");
        assert_eq!((one.value, one.set_aside.len()), (None, ran));
    }
    assert_eq!(benchmark(&case(), &gathered(&[1.0; 3]), late).value, Some(1.0));
    let mut slow = Gathered::default();
    slow.add(process(160, 0, 16), Background::default());
    let why = benchmark(&case(), &slow, late).not_measured.unwrap();
    assert!(why.contains("slower than at its best"), "a reason of its own: {why}");
    assert!(!slow.lacks_time(&case(), late));
    // Once, "give a longer --budget" was said beside busy loops, where it changes nothing.
    let few = gathered(&[1.0]);
    assert!(few.lacks_time(&case(), late));
    assert!(!few.lacks_time(&case(), Reference { unseen: Some(UNSEEN), ..late }));
}

/// Returns ten batches of a process.
fn process(ns: u64, delay_ns: u64, pace_ns: u64) -> Vec<Batch> {
    vec![Batch { ns, ops: 1, delay_ns: Some(delay_ns), pace_ns }; 10]
}

#[test]
fn disturbed_processes_are_set_aside() {
    let run = |fast: usize, slow: usize| {
        let mut found = Gathered::default();
        (0..fast).for_each(|_| found.add(process(100, 0, 10), Background::default()));
        (0..slow).for_each(|_| found.add(process(160, 0, 16), Background::default()));
        assert_eq!(found.counted(&case(), 10), fast);
        benchmark(&case(), &found, REFERENCE)
    };
    let one = run(3, 3);
    assert_eq!((one.value, one.set_aside.len()), (Some(100.0), 3));
    assert_eq!(one.contamination.slowed_frac, Some(0.5));
    for (fast, slow) in [(3, 3), (3, 2), (6, 6)] {
        let [low, high] = run(fast, slow).ci95.unwrap();
        assert!(
            (99.9..=100.0).contains(&low) && (100.0..=100.1).contains(&high),
            "{low} to {high}"
        );
    }
    let one = run(2, 18);
    assert_eq!((one.value, one.processes.len(), one.set_aside.len()), (None, 0, 20));
    assert!(one.not_measured.unwrap().starts_with("in 18 of 20 processes its processor was"));
    assert_eq!(run(2, 0).value, Some(100.0), "an interrupted run keeps what it has");
}

#[test]
fn a_disturbed_process_that_is_faster_widens_the_interval() {
    assert_eq!(with_faster([99.0, 101.0], &[160.0, 80.0], true), [80.0, 101.0]);
    assert_eq!(with_faster([99.0, 101.0], &[160.0, 80.0], false), [99.0, 160.0]);
    assert_eq!(with_faster([99.0, 101.0], &[], true), [99.0, 101.0]);
}

#[test]
fn slowness_without_a_visible_reason_is_a_wide_number() {
    let quiet = Background { elapsed_s: 1.0, others_s: Some(0.0), ..Background::default() };
    let busy = Background { others_s: Some(0.9), ..quiet.clone() };
    let run = |fast: usize, beside: &Background| {
        let mut found = Gathered::default();
        (0..fast).for_each(|_| found.add(process(100, 0, 10), quiet.clone()));
        (fast..8).for_each(|_| found.add(process(120, 0, 16), beside.clone()));
        benchmark(&case(), &found, REFERENCE)
    };
    let one = run(2, &quiet);
    assert_eq!((one.value, one.ci95), (Some(120.0), Some([75.0, 120.0])), "120 / 1.6 ns");
    assert!(one.is_slow());
    assert_eq!(one.slower, [1.0, 1.0, 1.6, 1.6, 1.6, 1.6, 1.6, 1.6]);
    let one = run(3, &quiet);
    assert_eq!((one.value, one.set_aside.len(), one.is_slow()), (Some(100.0), 5, false));
    assert_eq!(run(2, &busy).value, None, "with a reason it is none");
    let mut few = Gathered::default();
    (0..5).for_each(|_| few.add(process(120, 0, 16), quiet.clone()));
    let one = benchmark(&case(), &few, REFERENCE);
    assert_eq!((one.value, one.set_aside.len()), (None, 5), "without an interval");
    assert!(one.not_measured.unwrap().starts_with("in 5 of 5 processes its processor was slower"));
}

#[test]
fn whole_runs_and_what_the_scheduler_places_are_wide_numbers_on_a_slow_processor_too() {
    let quiet = Background { elapsed_s: 1.0, others_s: Some(0.0), ..Background::default() };
    let (mut placed, mut whole) = (Gathered::default(), Gathered::default());
    for (count, ns, pace_ns) in [(2, 100, 10), (6, 120, 16)] {
        for _ in 0..count {
            placed.add(process(ns, 0, pace_ns), quiet.clone());
            whole.add_value(ns as f64, &process(1, 0, pace_ns), quiet.clone());
        }
    }
    for (rule, found) in [(OsRule::Quartile, &placed), (OsRule::Single, &whole)] {
        let one = benchmark(&case().by(rule).unpinned(), found, REFERENCE);
        assert_eq!((one.value, one.ci95), (Some(120.0), Some([75.0, 120.0])), "{rule:?}");
        assert!(one.is_slow(), "{rule:?}");
    }
}

#[test]
fn three_slow_runs_of_a_whole_benchmark_are_a_wide_number() {
    let quiet = Background { elapsed_s: 1.0, others_s: Some(0.0), ..Background::default() };
    let mut few = Gathered::default();
    (0..3).for_each(|_| few.add_value(120.0, &process(1, 0, 16), quiet.clone()));
    let one = benchmark(&case().by(OsRule::Single).unpinned(), &few, REFERENCE);
    assert_eq!((one.value, one.is_slow()), (Some(120.0), true));
    assert!(one.ci95.is_some_and(|[low, _]| low <= 75.0), "{one:?}");
}

#[test]
fn what_the_hypervisor_took_is_held_against_all_that_a_placed_case_used() {
    let of = |own_steal_s| {
        let (elapsed_s, busy_s) = (0.4, 3.0);
        let beside = Background { elapsed_s, busy_s, own_steal_s, ..Background::default() };
        let mut found = Gathered::default();
        (0..6).for_each(|_| found.add(process(100, 0, 10), beside.clone()));
        benchmark(&case().by(OsRule::Quartile).unpinned(), &found, REFERENCE).not_measured
    };
    assert_eq!(of(0.03), None, "one per cent");
    assert!(of(0.2).is_some_and(|why| why.contains("the hypervisor took part")));
}

#[test]
fn each_disturbance_has_its_sentence() {
    let sentence = |case: Case, batches: Vec<Batch>, background: Background| {
        let mut found = Gathered::default();
        (0..6).for_each(|_| found.add(batches.clone(), background.clone()));
        let one = benchmark(&case, &found, REFERENCE);
        assert_eq!((one.value, one.set_aside.len()), (None, 6));
        one.not_measured.unwrap()
    };
    let quiet = Background { elapsed_s: 1.0, ..Background::default() };
    let throttled = Background { throttled_s: 0.8, ..quiet.clone() };
    let stopped = process(500, 400, 10);
    let text = sentence(case(), stopped.clone(), throttled.clone());
    assert!(text.contains("a quota of processor time stopped it (80 % of the time)"), "{text}");
    let text = sentence(case().by(OsRule::Mean), process(100, 0, 10), throttled);
    assert!(text.contains("a quota"), "{text}");
    let text = sentence(case(), stopped.clone(), quiet.clone());
    assert!(text.contains("used its processor (80 % of the time)"), "{text}");
    let others = Background { others_s: Some(1.9), ..quiet.clone() };
    let text = sentence(case().sharing(), process(100, 0, 10), others);
    assert!(text.contains("kept 1.9 processors busy"), "{text}");
    let halted = Background { stops: 1, ..quiet.clone() };
    let text = sentence(case().by(OsRule::Mean), process(100, 0, 10), halted);
    assert!(text.contains("it was stopped and let go on (SIGSTOP"), "{text}");
    let stolen = Background { own_steal_s: 0.2, ..quiet.clone() };
    for rule in [OsRule::Mean, OsRule::Quartile] {
        let text = sentence(case().by(rule), process(100, 0, 10), stolen.clone());
        assert!(text.contains("the hypervisor took part"), "{text}");
    }
    let of_its_own = Background { steal_s: 0.8, own_steal_s: 0.8, ..quiet.clone() };
    let text = sentence(case(), stopped.clone(), of_its_own);
    assert!(text.contains("the hypervisor took part"), "its own time lacks what was taken: {text}");
    let everywhere = Background { steal_s: 0.05, own_steal_s: 0.003, ..quiet.clone() };
    let text = sentence(case(), stopped, everywhere.clone());
    assert!(text.contains("used its processor (80 % of the time)"), "a little of each: {text}");
    let text = sentence(case().by(OsRule::Mean), process(100, 40, 10), everywhere);
    assert!(text.contains("used its processor (40 % of the time)"), "{text}");
    let mut found = Gathered::default();
    (0..6).for_each(|_| found.add(process(100, 0, 10), stolen.clone()));
    assert_eq!(benchmark(&case(), &found, REFERENCE).value, Some(100.0), "the quiet quarter");
    let moved = Background { device_bytes: Some(50 << 20), ..quiet.clone() };
    let text = sentence(case().by(OsRule::Mean), process(100, 0, 10), moved);
    assert!(text.contains("other programs use it"), "{text}");
    let short = Background { stalled_s: Some(0.5), ..quiet };
    let text = sentence(case().sharing(), process(100, 0, 10), short);
    assert!(text.contains("wait for memory"), "{text}");
}

#[test]
fn a_process_too_disturbed_for_a_batch_is_no_refusal() {
    let mut found = gathered(&[100.0; 2]);
    found.add(Vec::new(), Background::default());
    let one = benchmark(&case(), &found, REFERENCE);
    assert_eq!((one.value, one.set_aside.len()), (None, 2), "two numbers of three processes");
    let why = one.not_measured.unwrap();
    assert!(why.starts_with("in 1 of 3 processes other programs used its processor, so"), "{why}");
    found.add_value(100.0, &[], Background::default());
    assert_eq!(benchmark(&case(), &found, REFERENCE).value, Some(100.0), "three of four");
    let mut never = Gathered::default();
    never.add(Vec::new(), Background::default());
    let why = benchmark(&case(), &never, REFERENCE).not_measured.unwrap();
    assert!(why.starts_with("in 1 of 1 processes other programs used its processor"), "{why}");
}

#[test]
fn one_late_process_among_six_leaves_the_value() {
    const WHY: &str = "no time for it";
    let mut found = Gathered::default();
    (0..5).for_each(|_| found.add(process(100, 0, 10), Background::default()));
    found.add_late(WHY.to_owned(), Background::default());
    let one = benchmark(&case(), &found, REFERENCE);
    assert_eq!((one.value, one.processes.len(), one.not_measured), (Some(100.0), 5, None));
    assert!(!found.refused() && found.flaws(&case(), 10).flatten().count() == 1);
    let mut never = Gathered::default();
    for ran in 1..=4 {
        never.add_late(WHY.to_owned(), Background::default());
        let one = benchmark(&case(), &never, REFERENCE);
        assert_eq!((one.value, one.not_measured.as_deref()), (None, Some(WHY)));
        assert_eq!(never.refused(), ran >= 3, "the first three may have had bad luck: {ran}");
    }
    assert_eq!(never.flaws(&case(), 10).count(), 0, "nothing was seen to disturb it");
}

#[test]
fn a_process_that_a_quota_stopped_has_no_number() {
    let mut found = Gathered::default();
    let of = |throttled_s| Background { throttled_s, elapsed_s: 1.0, ..Background::default() };
    (0..2).for_each(|_| found.add(process(130, 0, 10), of(0.8)));
    (0..4).for_each(|_| found.add(process(100, 0, 10), of(0.0)));
    let one = benchmark(&case(), &found, REFERENCE);
    assert_eq!((one.value, one.set_aside), (Some(100.0), vec![130.0; 2]));
    assert!((one.contamination.throttled_frac.unwrap() - 0.8 / 3.0).abs() < 1e-9);
}

#[test]
fn a_case_that_sleeps_has_no_value_where_nobody_counts_its_waiting() {
    let untold = process(100, 0, 10).into_iter().map(|one| Batch { delay_ns: None, ..one });
    let untold: Vec<Batch> = untold.collect();
    let of = |case: Case| {
        let mut found = Gathered::default();
        (0..6).for_each(|_| found.add(untold.clone(), Background::default()));
        benchmark(&case, &found, REFERENCE)
    };
    let files = case().at((0, Locality::Local));
    for case in [case().sleeping(), files.by(OsRule::Mean), case().across_two()] {
        let one = of(case);
        assert_eq!((one.value, one.set_aside.len()), (None, 6));
        assert!(one.not_measured.unwrap().contains("schedstat"));
    }
    assert!(of(case()).value.is_some(), "its own clock tells");
    let waiting = of(case().sleeping().by(OsRule::Quartile));
    assert!(waiting.value.is_some(), "waiting is a part of it");
}

#[test]
fn what_others_kept_busy_is_that_beside_those_they_disturbed() {
    let beside = |others_s, throttled_s| Background {
        elapsed_s: 1.0,
        others_s: Some(others_s),
        throttled_s,
        ..Background::default()
    };
    let mut found = Gathered::default();
    let kinds = [(2, beside(0.0, 0.0)), (3, beside(0.0, 0.5)), (4, beside(1.9, 0.0))];
    for (count, background) in kinds {
        (0..count).for_each(|_| found.add(process(100, 0, 10), background.clone()));
    }
    let why = benchmark(&case().sharing(), &found, REFERENCE).not_measured.unwrap();
    assert!(why.starts_with("in 4 of 9 processes") && why.contains("kept 1.9 processors"), "{why}");
    let mut whole = Gathered::default();
    let written = Background { kernel_s: Some(0.12), ..beside(0.004, 0.0) };
    (0..6).for_each(|_| whole.add_value(100.0, &[], written.clone()));
    let case = case().by(OsRule::Single).unpinned();
    let why = benchmark(&case, &whole, REFERENCE).not_measured.unwrap();
    assert!(why.contains("kept 0.1 processors busy"), "{why}");
}

/// Guards against blaming other programs for kernel threads' work: in a container, which shows no
/// kernel threads, they were blamed in every Modified Andrew Benchmark run.
#[test]
fn kernel_threads_that_are_not_seen_may_do_as_much_as_those_that_are() {
    let whole = case().by(OsRule::Single).unpinned();
    let value = |others_s, kernel_s| {
        let others_s = Some(others_s);
        let beside = Background { elapsed_s: 1.0, others_s, kernel_s, ..Background::default() };
        let mut found = Gathered::default();
        (0..6).for_each(|_| found.add_value(100.0, &[], beside.clone()));
        benchmark(&whole, &found, REFERENCE).value
    };
    assert_eq!((value(0.05, None), value(0.15, None)), (Some(100.0), None));
    assert_eq!(value(0.05, Some(0.0)), None, "programs alone");
}

#[test]
fn counters_of_other_processors_are_no_witness() {
    let of = |misnumbered| {
        let background = Background { elapsed_s: 1.0, misnumbered, ..Background::default() };
        let (case, mut found) = (case(), Gathered::default());
        found.add_value(1.0, &[], background);
        Reference::of(std::iter::once((&case, &found))).unseen
    };
    assert_eq!((of(true), of(false)), (Some(MISNUMBERED), Some(UNSEEN)));
}
