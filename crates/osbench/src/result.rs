//! From the numbers of all processes to a case's result.

use super::background::Background;
use super::case::Case;
use super::division;
use super::estimate::{self, Batch, Flaw, INTERVAL_LEAST, Number};
use super::foreign;
use super::mab;
use super::reasons::{NEVER_ALONE, UNSEEN, disturbed, no_time};
use ioscape_schema::statistics::median_interval;
use ioscape_schema::{Contamination, OsBenchmark, OsRule, OsUnit};

/// Processes that a number must come from, where there were as many: one may have been lucky.
const COUNTED_LEAST: usize = division::COUNTED_LEAST as usize;

/// A process of a case: its batches, or its value where the whole is one number.
#[derive(Debug)]
enum Measured {
    Batches(Vec<Batch>),
    Value(f64),
}

impl Measured {
    /// Operations in all batches.
    fn operations(&self) -> u64 {
        match self {
            Self::Batches(batches) => batches.iter().map(|batch| batch.ops).sum(),
            Self::Value(_) => 1,
        }
    }
}

/// What the processes of a case came to so far.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    processes: Vec<(Measured, Background)>,
    refusal: Option<String>,
}

impl Gathered {
    /// Adds a process by its batches, and what others did meanwhile.
    pub(crate) fn add(&mut self, batches: Vec<Batch>, background: Background) {
        self.processes.push((Measured::Batches(batches), background));
    }

    /// Adds a process by its value.
    pub(crate) fn add_value(&mut self, value: f64, background: Background) {
        if value.is_finite() && value > 0.0 {
            self.processes.push((Measured::Value(value), background));
        }
    }

    /// How long the fixed computation took at best in each process, and whether its neighbours were mostly idle.
    fn paces(&self) -> impl Iterator<Item = (u64, bool)> {
        self.processes.iter().filter_map(|(measured, background)| match measured {
            Measured::Batches(batches) => Some((estimate::pace(batches)?, background.was_alone())),
            Measured::Value(_) => None,
        })
    }

    /// Processes whose numbers count, where the fixed computation takes `fastest_ns` at full speed.
    pub(crate) fn counted(&self, case: &Case, fastest_ns: u64) -> usize {
        self.numbers(case, fastest_ns).filter(|(_, number)| number.flaw.is_none()).count()
    }

    /// Whether too few processes ran for a number, and not for another reason; disturbed ones have a reason of their own.
    pub(crate) fn lacks_time(&self, case: &Case, fastest_ns: u64) -> bool {
        let counted = self.counted(case, fastest_ns);
        let ran = self.count();
        !self.refused() && ran < COUNTED_LEAST && counted == ran
    }

    /// What others did during each process.
    pub(crate) fn backgrounds(&self) -> impl Iterator<Item = &Background> {
        self.processes.iter().map(|(_, background)| background)
    }

    /// Seconds that all processes took.
    pub(crate) fn elapsed_s(&self) -> f64 {
        self.backgrounds().map(|background| background.elapsed_s).sum()
    }

    /// Processes that ended with a number.
    pub(crate) fn count(&self) -> usize {
        self.processes.len()
    }

    /// Notes why the case cannot be measured; earlier values do not count then.
    pub(crate) fn refuse(&mut self, why: String) {
        self.refusal.get_or_insert(why);
    }

    /// Whether it is known that the case cannot be measured.
    pub(crate) fn refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// The value of each process, and what it is worth.
    fn numbers(&self, case: &Case, fastest_ns: u64) -> impl Iterator<Item = (f64, Number)> {
        self.processes.iter().filter_map(move |(measured, background)| {
            let mut number = match measured {
                Measured::Batches(batches) => estimate::number(batches, case.rule, fastest_ns)?,
                Measured::Value(value) => Number {
                    ns_per_op: *value,
                    clean_frac: None,
                    run_delay_frac: None,
                    slower: 1.0,
                    flaw: None,
                },
            };
            number.flaw = flaw(case, background, measured.operations(), number.flaw);
            let value = match measured {
                Measured::Batches(_) => case.value(number.ns_per_op),
                Measured::Value(value) => *value,
            };
            Some((value, number))
        })
    }

    /// What is wrong with each process; those without a number were interrupted before one batch was long enough.
    pub(crate) fn flaws(&self, case: &Case, fastest_ns: u64) -> impl Iterator<Item = Option<Flaw>> {
        let told: Vec<_> = self.numbers(case, fastest_ns).map(|(_, number)| number.flaw).collect();
        let untold = self.count() - told.len();
        told.into_iter().chain(std::iter::repeat_n(Some(Flaw::Interrupted), untold))
    }

    fn contamination(&self, numbers: &[Number]) -> Contamination {
        let clean: Vec<f64> = numbers.iter().filter_map(|number| number.clean_frac).collect();
        let delay: Vec<f64> = numbers.iter().filter_map(|number| number.run_delay_frac).collect();
        let is_slow = |flaw: &Flaw| matches!(flaw, Flaw::Slowed | Flaw::Unexplained);
        let slowed = numbers.iter().filter(|number| number.flaw.as_ref().is_some_and(is_slow));
        let slowed = slowed.count();
        let sum = |of: fn(&Background) -> f64| self.backgrounds().map(of).sum::<f64>();
        let (total, elapsed) = (sum(|b| b.total_s), sum(|b| b.elapsed_s));
        let others: Vec<f64> = self.backgrounds().filter_map(Background::others).collect();
        Contamination {
            clean_frac: estimate::median(&clean),
            run_delay_frac: estimate::median(&delay),
            steal_frac: (total > 0.0).then(|| sum(|b| b.steal_s) / total),
            slowed_frac: (!numbers.is_empty()).then(|| slowed as f64 / numbers.len() as f64),
            other_cpus: estimate::median(&others),
            throttled_frac: (elapsed > 0.0).then(|| sum(|b| b.throttled_s) / elapsed),
        }
    }
}

/// What is wrong with a number, by what others did meanwhile and by its batches.
fn flaw(
    case: &Case,
    background: &Background,
    operations: u64,
    of_batches: Option<Flaw>,
) -> Option<Flaw> {
    let others = case.shares && background.has_others(case);
    match of_batches {
        // Not even what ran between the stops counts: a processor that rested for 80 ms of 100 has cold caches and another clock for many
        // batches to come, and nothing in them shows it.
        _ if background.throttled_s > 0.0 => Some(Flaw::Throttled),
        _ if background.stops > 0 => Some(Flaw::Stopped),
        _ if others => Some(Flaw::Others),
        _ if is_whole(case) && background.lost_to_hypervisor() => Some(Flaw::Stolen),
        _ if foreign::is_there(case, background, operations) => Some(Flaw::Storage),
        // Reading back what was dropped from the file cache counts as waiting for memory, and is what a cold run does.
        _ if case.shares && background.lacks_memory() && !mab::is_cold(case) => Some(Flaw::Memory),
        Some(Flaw::Slowed) if background.is_quiet(case) => Some(Flaw::Unexplained),
        other => other,
    }
}

/// Takes a case's value, and says why; its numbers stay as evidence.
pub(crate) fn withdraw(one: &mut OsBenchmark, why: String) {
    (one.value, one.ci95) = (None, None);
    // In the order of `slower`: those that counted first.
    one.processes.append(&mut one.set_aside);
    one.set_aside = std::mem::take(&mut one.processes);
    one.not_measured = Some(why);
}

/// Whether a case's number is made of all that was measured, disturbed or not.
fn is_whole(case: &Case) -> bool {
    matches!(case.rule, OsRule::Mean | OsRule::Single)
}

/// In more seconds than these the counters of processors, which move every 10 ms, have moved wherever they do.
const COUNTED_S: f64 = 0.05;

/// What is known of the whole run when its cases are judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// Time of the fixed computation at full speed.
    pub(crate) fastest_ns: u64,
    /// Whether that is the speed of a core without neighbours: in some process of the run they were mostly idle.
    pub(crate) ever_alone: bool,
    /// Whether nothing told what other programs did: the counters of the processors were not there, or stood still all the time.
    pub(crate) unseen: bool,
    /// The seconds that the run was to take, where they ended it.
    pub(crate) no_time_s: Option<f64>,
}

impl Reference {
    /// From what the cases of a run came to.
    pub(crate) fn of<'a>(all: impl Iterator<Item = (&'a Case, &'a Gathered)>) -> Self {
        let all: Vec<_> = all.collect();
        let backgrounds = || all.iter().flat_map(|(_, found)| found.backgrounds());
        let looked_s: f64 = backgrounds().map(|one| one.elapsed_s).sum();
        let unseen = looked_s > COUNTED_S && backgrounds().all(|one| one.total_s == 0.0);
        let pinned = all.iter().filter(|(case, _)| case.pinned);
        let paces: Vec<(u64, bool)> = pinned.flat_map(|(_, found)| found.paces()).collect();
        let alone = paces.iter().filter(|(_, alone)| *alone).map(|(pace, _)| *pace).collect();
        let full = estimate::full_pace(alone);
        let least = || paces.iter().map(|(pace, _)| *pace).min().unwrap_or(u64::MAX);
        let (fastest_ns, ever_alone) = (full.unwrap_or_else(least), full.is_some());
        Self { fastest_ns, ever_alone, unseen, no_time_s: None }
    }
}

/// Whether a number counts: if nothing was wrong with it; or where fewer than [`COUNTED_LEAST`] of its `processes` have one that is so, also if its processor
/// was slow without a visible reason, for then it may never be any faster; if they are enough for an interval, for the number alone is off.
fn judge(numbers: &[Number], processes: usize) -> impl Fn(&Number) -> bool {
    let sound = numbers.iter().filter(|number| number.flaw.is_none()).count();
    let too_few = sound < COUNTED_LEAST.min(processes) && numbers.len() >= INTERVAL_LEAST;
    move |number| match number.flaw {
        None => true,
        Some(flaw) => too_few && flaw == Flaw::Unexplained,
    }
}

/// The result of a case. Where fewer than [`COUNTED_LEAST`] numbers count, it has no value, and says why.
pub(crate) fn benchmark(case: &Case, found: &Gathered, reference: Reference) -> OsBenchmark {
    let (all, numbers): (Vec<f64>, Vec<Number>) = found.numbers(case, reference.fastest_ns).unzip();
    let contamination = found.contamination(&numbers);
    let counts = judge(&numbers, found.count());
    let pairs = all.into_iter().zip(&numbers);
    let (mut good, mut flawed): (Vec<_>, Vec<_>) = pairs.partition(|(_, number)| counts(number));
    let refusal = found.refusal.clone().or_else(|| {
        let neighbours = case.pinned && !reference.ever_alone && found.count() > 0;
        let too_few = || disturbed(&numbers, found.count(), good.len(), &contamination);
        let late = || {
            let lacks = found.lacks_time(case, reference.fastest_ns);
            reference.no_time_s.filter(|_| lacks).map(|s| no_time(found.count(), s))
        };
        match (reference.unseen && found.count() > 0, neighbours) {
            (true, _) => Some(UNSEEN.to_owned()),
            (_, true) => Some(NEVER_ALONE.to_owned()),
            _ => too_few().or_else(late),
        }
    });
    if refusal.is_some() {
        flawed.append(&mut good);
    }
    let of = |some: &[(f64, &Number)]| some.iter().map(|(value, _)| *value).collect::<Vec<f64>>();
    let (values, set_aside) = (of(&good), of(&flawed));
    let value = estimate::median(&values);
    let untold = || "the run ended before this case".to_owned();
    let slower = |(_, number): &(f64, &Number)| number.flaw.map_or(1.0, |_| number.slower);
    OsBenchmark {
        name: case.name.to_owned(),
        case: case.case.clone(),
        place: case.place.map(|(_, place)| place),
        value,
        unit: case.unit,
        tasks: case.tasks.map(|(count, _)| count),
        task_kind: case.tasks.map(|(_, kind)| kind),
        ci95: interval(&values)
            .map(|ends| with_faster(ends, &set_aside, case.unit == OsUnit::Nanos))
            .map(|ends| with_full_speed(ends, &good, case.unit == OsUnit::Nanos)),
        rule: case.rule,
        slower: good.iter().chain(&flawed).map(slower).collect(),
        elapsed_s: found.elapsed_s(),
        processes: values,
        set_aside,
        contamination,
        not_measured: value.is_none().then(|| refusal.unwrap_or_else(untold)),
        teaches: case.teaches.to_owned(),
        ..OsBenchmark::default()
    }
}

/// The interval of what counts: by order, or Student's where too few count for that. Disturbed processes are known to be off, so that they
/// say nothing of it.
fn interval(values: &[f64]) -> Option<[f64; 2]> {
    median_interval(values).or_else(|| estimate::interval_of_few(values))
}

/// The interval with what was set aside and is faster still: being disturbed only ever adds time, so that what counts was disturbed as well
/// then, and no witness saw it.
fn with_faster(ends: [f64; 2], set_aside: &[f64], is_time: bool) -> [f64; 2] {
    set_aside.iter().fold(ends, |[low, high], &value| match is_time {
        true => [low.min(value), high],
        false => [low, high.max(value)],
    })
}

/// The interval with what the numbers would be at full speed, if slowness costs the case as much as it does the fixed computation: it
/// costs other work less, so that the number of a processor of its own lies between the two.
fn with_full_speed(ends: [f64; 2], counted: &[(f64, &Number)], is_time: bool) -> [f64; 2] {
    let slow = counted.iter().filter(|(_, number)| number.flaw.is_some());
    slow.fold(ends, |[low, high], (value, number)| match is_time {
        true => [low.min(value / number.slower), high],
        false => [low, high.max(value * number.slower)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::not_here;

    const REFERENCE: Reference =
        Reference { fastest_ns: 10, ever_alone: true, unseen: false, no_time_s: None };

    fn case() -> Case {
        Case::new("x", "y", "", |_| Err(not_here("no")))
    }

    fn gathered(values: &[f64]) -> Gathered {
        let mut found = Gathered::default();
        values.iter().for_each(|&value| found.add_value(value, Background::default()));
        found
    }

    #[test]
    fn the_value_is_the_median_within_its_interval() {
        let one = benchmark(&case(), &gathered(&[5.0, 1.0, 2.0, 3.0, 4.0, 100.0]), REFERENCE);
        assert_eq!((one.value, one.ci95), (Some(3.5), Some([1.0, 100.0])));
        assert_eq!(one.not_measured, None);
        let unseen = Reference { unseen: true, ..REFERENCE };
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
        assert!(!slow.lacks_time(&case(), 10));
    }

    /// Ten batches of a process.
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
        assert!(
            one.not_measured.unwrap().starts_with("in 5 of 5 processes its processor was slower")
        );
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
        let text = sentence(case(), stopped, quiet.clone());
        assert!(text.contains("used its processor (80 % of the time)"), "{text}");
        let others = Background { others_s: Some(1.9), ..quiet.clone() };
        let text = sentence(case().sharing(), process(100, 0, 10), others);
        assert!(text.contains("kept 1.9 processors busy"), "{text}");
        let halted = Background { stops: 1, ..quiet.clone() };
        let text = sentence(case().by(OsRule::Mean), process(100, 0, 10), halted);
        assert!(text.contains("it was stopped and let go on (SIGSTOP"), "{text}");
        let stolen = Background { steal_s: 0.2, ..quiet.clone() };
        let text = sentence(case().by(OsRule::Mean), process(100, 0, 10), stolen.clone());
        assert!(text.contains("the hypervisor took part"), "{text}");
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
        assert!(
            why.starts_with("in 1 of 3 processes other programs used its processor, so"),
            "{why}"
        );
        found.add_value(100.0, Background::default());
        assert_eq!(benchmark(&case(), &found, REFERENCE).value, Some(100.0), "three of four");
        let mut never = Gathered::default();
        never.add(Vec::new(), Background::default());
        let why = benchmark(&case(), &never, REFERENCE).not_measured.unwrap();
        assert!(why.starts_with("in 1 of 1 processes other programs used its processor"), "{why}");
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
}
