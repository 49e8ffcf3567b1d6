//! From the numbers of all processes to a case's result, with its warnings.

use super::background::Background;
use super::case::Case;
use super::estimate::{self, Batch, Flaw, Number};
use super::waiting::Waiting;
use super::{getpid, mab, read};
use ioscape_schema::{
    Contamination, Locality, OsBenchmark, OsResults, OsRule, Warning, WarningKind,
};

/// Fewer clean batches than this share raise a warning.
const CLEAN_LEAST: f64 = 0.25;

/// A hypervisor that takes more than this share of time raises a warning.
const STEAL_MOST: f64 = 0.05;

/// More slowed processes than this share raise a warning.
const SLOWED_MOST: f64 = 0.5;

/// Processes that a number must come from, where there were as many: one may have been lucky.
const COUNTED_LEAST: usize = 3;

/// A process of a case: its batches, or its value where the whole is one number.
#[derive(Debug)]
enum Measured {
    Batches(Vec<Batch>),
    Value(f64),
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

    /// Processes whose numbers count, where the fixed computation took `fastest_ns` at best in the run.
    pub(crate) fn counted(&self, case: &Case, fastest_ns: u64) -> usize {
        self.numbers(case, fastest_ns).filter(|(_, number)| number.flaw.is_none()).count()
    }

    /// What others did during each process.
    pub(crate) fn backgrounds(&self) -> impl Iterator<Item = &Background> {
        self.processes.iter().map(|(_, background)| background)
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
                Measured::Value(value) => {
                    Number { ns_per_op: *value, clean_frac: None, run_delay_frac: None, flaw: None }
                }
            };
            number.flaw = flaw(case, background, number.flaw);
            let value = match measured {
                Measured::Batches(_) => case.value(number.ns_per_op),
                Measured::Value(value) => *value,
            };
            Some((value, number))
        })
    }

    fn contamination(&self, numbers: &[Number]) -> Contamination {
        let clean: Vec<f64> = numbers.iter().filter_map(|number| number.clean_frac).collect();
        let delay: Vec<f64> = numbers.iter().filter_map(|number| number.run_delay_frac).collect();
        let slowed = numbers.iter().filter(|number| number.flaw == Some(Flaw::Slowed)).count();
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

/// What is wrong with a number, by what others did meanwhile and by its batches. Batches show by themselves when a quota stopped them;
/// where all of the time counts, the quota must not have stopped any.
fn flaw(case: &Case, background: &Background, of_batches: Option<Flaw>) -> Option<Flaw> {
    let throttled = background.throttled_s > 0.0;
    let by_batches = case.rule == OsRule::CleanQuartile;
    let others = case.shares && background.has_others(case);
    // The kernel may not count a quota's stop as waiting for a processor, which is all that several tasks that sleep can go by.
    let unseen = case.tasks.is_some() && case.waiting == Waiting::Queued;
    match of_batches {
        _ if throttled && (!by_batches || unseen) => Some(Flaw::Throttled),
        Some(Flaw::Interrupted) if throttled => Some(Flaw::Throttled),
        _ if others => Some(Flaw::Others),
        // Reading back what was dropped from the file cache counts as waiting for memory, and is what a cold run does.
        _ if case.shares && background.lacks_memory() && !mab::is_cold(case) => Some(Flaw::Memory),
        other => other,
    }
}

/// What is known of the whole run when its cases are judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// Least time of the fixed computation that any process had most of the time.
    pub(crate) fastest_ns: u64,
    /// Whether that is the speed of a core without neighbours: in some process of the run they were mostly idle.
    pub(crate) ever_alone: bool,
}

/// The result of a case. A number counts if nothing was wrong with it; where fewer than [`COUNTED_LEAST`] do, the case has no value,
/// and says why.
pub(crate) fn benchmark(case: &Case, found: &Gathered, reference: Reference) -> OsBenchmark {
    let (all, numbers): (Vec<f64>, Vec<Number>) = found.numbers(case, reference.fastest_ns).unzip();
    let contamination = found.contamination(&numbers);
    let pairs = all.into_iter().zip(&numbers);
    let (full, flawed): (Vec<_>, Vec<_>) = pairs.partition(|(_, number)| number.flaw.is_none());
    let of = |some: Vec<(f64, &Number)>| some.into_iter().map(|(value, _)| value).collect();
    let (mut values, mut set_aside): (Vec<f64>, Vec<f64>) = (of(full), of(flawed));
    let refusal = found.refusal.clone().or_else(|| {
        let neighbours = case.pinned && !reference.ever_alone && !numbers.is_empty();
        if neighbours { Some(NEVER_ALONE.to_owned()) } else { disturbed(&numbers, &contamination) }
    });
    if refusal.is_some() {
        set_aside.append(&mut values);
    }
    let value = estimate::median(&values);
    let untold = || "the run ended before this case".to_owned();
    OsBenchmark {
        name: case.name.to_owned(),
        case: case.case.clone(),
        place: case.place.map(|(_, place)| place),
        value,
        unit: case.unit,
        tasks: case.tasks.map(|(count, _)| count),
        task_kind: case.tasks.map(|(_, kind)| kind),
        ci95: interval(&values, &set_aside),
        rule: case.rule,
        processes: values,
        set_aside,
        contamination,
        not_measured: value.is_none().then(|| refusal.unwrap_or_else(untold)),
        teaches: case.teaches.to_owned(),
        ..OsBenchmark::default()
    }
}

/// Why no case of a pinned process has a value where its neighbours never rested.
const NEVER_ALONE: &str = "other programs kept a processor that may share the core busy throughout the run, so how fast this one is alone cannot be told: measure again when the machine is quieter";

/// Why too few numbers count; `None` where enough do.
fn disturbed(numbers: &[Number], contamination: &Contamination) -> Option<String> {
    let flaws: Vec<Flaw> = numbers.iter().filter_map(|number| number.flaw).collect();
    if numbers.len() - flaws.len() >= COUNTED_LEAST.min(numbers.len()) {
        return None;
    }
    let count = |flaw: &Flaw| flaws.iter().filter(|one| *one == flaw).count();
    let most = flaws.iter().copied().max_by_key(count)?;
    let percent = |share: Option<f64>| share.map_or(0.0, |share| share * 100.0);
    let what = match most {
        Flaw::Throttled => format!(
            "a quota of processor time stopped it ({:.0} % of the time)",
            percent(contamination.throttled_frac)
        ),
        Flaw::Interrupted => format!(
            "other programs used its processor ({:.0} % of the time), so that too little ran undisturbed",
            percent(contamination.run_delay_frac)
        ),
        Flaw::Others => format!(
            "other programs kept {:.1} processors busy and share memory, storage or a processor with this case",
            contamination.other_cpus.unwrap_or(0.0)
        ),
        Flaw::Memory => "programs had to wait for memory".to_owned(),
        Flaw::Slowed => "its processor was slower than at its best in this run, as next to another guest of the host or at a lower clock".to_owned(),
    };
    let advice = match most {
        Flaw::Throttled => "measure outside of the control group that has it",
        _ => "measure again when the machine is quieter",
    };
    Some(format!("in {} of {} processes {what}: {advice}", count(&most), numbers.len()))
}

/// The interval of what counts; of all, where too few count. A disturbed process is only ever further out, so that this one is
/// wider, and it holds the value.
fn interval(values: &[f64], set_aside: &[f64]) -> Option<[f64; 2]> {
    let value = estimate::median(values)?;
    let of_all = || {
        let [low, high] = estimate::interval(&[values, set_aside].concat())?;
        Some([low.min(value), high.max(value)])
    };
    estimate::interval(values).or_else(of_all)
}

/// Attaches what the trap detectors and the contamination say; `caches_told` is whether the kernel told the caches' sizes.
pub(crate) fn doubt(results: &mut OsResults, caches_told: bool) {
    let all = &mut results.benchmarks;
    if results.mab.as_ref().is_some_and(|proof| !proof.whole) {
        for one in all.iter_mut().filter(|one| one.name == mab::NAME) {
            let text = "the compiled program is not the known one: work was left out, so this does not count";
            one.warnings.push(Warning::new(WarningKind::Trap, text));
        }
    }
    let traps = [
        ("getpid", "C library", getpid::doubts(all)),
        ("read", "file cache, as written", read::doubts(all)),
    ];
    for (name, case, trap) in traps {
        for one in all.iter_mut().filter(|one| one.name == name && one.case == case) {
            one.warnings.extend(trap.clone());
        }
    }
    for one in all.iter_mut() {
        if !caches_told && one.name == "bcopy" {
            let text = "the kernel does not report the cache sizes: typical ones are assumed";
            one.warnings.push(Warning::new(WarningKind::Unsupported, text));
        }
        one.warnings.extend(contaminated(one));
        if cfg!(debug_assertions) && one.name == "dhrystone" {
            let text =
                "this program was built without optimisation: its rating is many times too low";
            one.warnings.push(Warning::new(WarningKind::Trap, text));
        }
    }
}

/// Attaches to the cases that force data to storage at `place` that there is none.
pub(crate) fn doubt_storage(results: &mut OsResults, place: Locality) {
    let here = |one: &&mut OsBenchmark| one.place == Some(place);
    for one in results.benchmarks.iter_mut().filter(here) {
        if one.name == "fsync" || one.case.ends_with("fsync") {
            let text = "this file system is in memory: fsync writes nothing to storage";
            one.warnings.push(Warning::new(WarningKind::Trap, text));
        }
    }
}

fn contaminated(one: &OsBenchmark) -> Option<Warning> {
    let Contamination { clean_frac, steal_frac, .. } = one.contamination;
    let dirty = one.rule == OsRule::CleanQuartile && clean_frac.is_some_and(|c| c < CLEAN_LEAST);
    let stolen = steal_frac.is_some_and(|share| share > STEAL_MOST);
    let slowed = one.contamination.slowed_frac.is_some_and(|share| share > SLOWED_MOST);
    let why = match (dirty, stolen, slowed) {
        (true, ..) => "other programs used the processor in most batches",
        (_, true, _) => "the hypervisor took part of the time",
        (.., true) => "the processor was slower than its best in most processes",
        _ => return None,
    };
    one.value?;
    let text = format!("{why}: measure again when the machine is quieter before publishing this");
    Some(Warning::new(WarningKind::Contaminated, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::not_here;

    const REFERENCE: Reference = Reference { fastest_ns: 10, ever_alone: true };

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
        assert_eq!(one.ci95, Some([100.0, 160.0]), "of all, for three are too few");
        assert_eq!(run(3, 2).ci95, None, "five are too few in any case");
        assert_eq!(run(6, 6).ci95, Some([100.0; 2]), "enough others do");
        let one = run(2, 18);
        assert_eq!((one.value, one.processes.len(), one.set_aside.len()), (None, 0, 20));
        assert!(one.not_measured.unwrap().starts_with("in 18 of 20 processes its processor was"));
        assert_eq!(run(2, 0).value, Some(100.0), "an interrupted run keeps what it has");
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
        let short = Background { stalled_s: 0.5, ..quiet };
        let text = sentence(case().sharing(), process(100, 0, 10), short);
        assert!(text.contains("wait for memory"), "{text}");
    }

    #[test]
    fn a_quota_leaves_what_ran_between_its_stops() {
        let mut found = Gathered::default();
        let mut batches = process(100, 0, 10);
        batches.extend(process(500, 400, 10));
        let throttled = Background { throttled_s: 0.8, elapsed_s: 1.0, ..Background::default() };
        (0..6).for_each(|_| found.add(batches.clone(), throttled.clone()));
        let one = benchmark(&case(), &found, REFERENCE);
        assert_eq!(one.value, Some(100.0));
        assert!((one.contamination.throttled_frac.unwrap() - 0.8).abs() < 1e-9);
    }

    #[test]
    fn contamination_is_a_doubt() {
        let one = |clean, steal| OsBenchmark {
            value: Some(1.0),
            contamination: Contamination {
                clean_frac: Some(clean),
                steal_frac: Some(steal),
                ..Contamination::default()
            },
            ..OsBenchmark::default()
        };
        let benchmarks = vec![one(0.9, 0.0), one(0.1, 0.0), one(0.9, 0.2)];
        let mut results = OsResults { benchmarks, ..OsResults::default() };
        doubt(&mut results, true);
        let kinds = |results: &OsResults| -> Vec<_> {
            results.benchmarks.iter().map(|b| b.warnings.first().map(|w| w.kind)).collect()
        };
        let bad = Some(WarningKind::Contaminated);
        assert_eq!(kinds(&results), [None, bad, bad]);
    }

    #[test]
    fn a_file_system_in_memory_is_told_where_data_is_forced() {
        let one = |name: &str, case: &str, place| OsBenchmark {
            name: name.into(),
            case: case.into(),
            place: Some(place),
            ..OsBenchmark::default()
        };
        let benchmarks = vec![
            one("fsync", "4 KB overwritten", Locality::Local),
            one("create-delete", "no data, fsync", Locality::Local),
            one("create-delete", "no data", Locality::Local),
            one("fsync", "4 KB overwritten", Locality::Remote),
        ];
        let mut results = OsResults { benchmarks, ..OsResults::default() };
        doubt_storage(&mut results, Locality::Local);
        let counts: Vec<usize> = results.benchmarks.iter().map(|b| b.warnings.len()).collect();
        assert_eq!(counts, [1, 1, 0, 0]);
    }

    #[test]
    fn a_compiler_that_left_work_out_is_found_out() {
        let mut results = OsResults {
            benchmarks: vec![OsBenchmark { name: "mab".into(), ..OsBenchmark::default() }],
            mab: Some(ioscape_schema::MabProof { whole: false, ..Default::default() }),
            ..OsResults::default()
        };
        doubt(&mut results, true);
        assert_eq!(results.benchmarks[0].warnings[0].kind, WarningKind::Trap);
    }
}
