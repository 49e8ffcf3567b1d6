//! From the numbers of all processes to a case's result, with its warnings.

use super::case::Case;
use super::estimate::{self, Batch, Number};
use super::{getpid, mab, read};
use ioscape_machine::load::Snapshot;
use ioscape_schema::{
    Contamination, Locality, OsBenchmark, OsResults, OsRule, Warning, WarningKind,
};

/// Fewer clean batches than this share raise a warning.
const CLEAN_LEAST: f64 = 0.25;

/// A hypervisor that takes more than this share of time raises a warning.
const STEAL_MOST: f64 = 0.05;

/// More slowed processes than this share raise a warning.
const SLOWED_MOST: f64 = 0.5;

/// What the processes of a case came to so far.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    processes: Vec<Vec<Batch>>,
    values: Vec<f64>,
    stolen_s: f64,
    total_s: f64,
    refusal: Option<String>,
}

impl Gathered {
    /// Adds a process by its batches.
    pub(crate) fn add(&mut self, batches: Vec<Batch>) {
        self.processes.push(batches);
    }

    /// Processes that were not slowed, where the fixed computation took `fastest_ns` at best in the run.
    pub(crate) fn at_full_pace(&self, case: &Case, fastest_ns: u64) -> usize {
        let numbers =
            self.processes.iter().filter_map(|p| estimate::number(p, case.rule, fastest_ns));
        numbers.filter(|number| !number.slowed).count()
    }

    /// Adds a process by its value.
    pub(crate) fn add_value(&mut self, value: f64) {
        if value.is_finite() && value > 0.0 {
            self.values.push(value);
        }
    }

    /// Notes why the case cannot be measured; earlier values do not count then.
    pub(crate) fn refuse(&mut self, why: String) {
        self.refusal.get_or_insert(why);
    }

    /// Whether it is known that the case cannot be measured.
    pub(crate) fn refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// Adds what the hypervisor took between two moments.
    pub(crate) fn stolen(&mut self, before: &Snapshot, after: &Snapshot) {
        self.stolen_s += (after.steal_s - before.steal_s).max(0.0);
        self.total_s += (after.total_s - before.total_s).max(0.0);
    }

    fn contamination(&self, numbers: &[Number]) -> Contamination {
        let clean: Vec<f64> = numbers.iter().filter_map(|number| number.clean_frac).collect();
        let delay: Vec<f64> = numbers.iter().filter_map(|number| number.run_delay_frac).collect();
        let slowed = numbers.iter().filter(|number| number.slowed).count();
        Contamination {
            clean_frac: estimate::median(&clean),
            run_delay_frac: estimate::median(&delay),
            steal_frac: (self.total_s > 0.0).then(|| self.stolen_s / self.total_s),
            slowed_frac: (!numbers.is_empty()).then(|| slowed as f64 / numbers.len() as f64),
        }
    }
}

/// The result of a case, where the fixed computation took `fastest_ns` at best in the run. Processes that were slowed count
/// only where there is no other: they form a second heap a fifth or more away, so that one of the others is nearer than the median of all.
pub(crate) fn benchmark(case: &Case, found: Gathered, fastest_ns: u64) -> OsBenchmark {
    let numbers: Vec<Number> = found
        .processes
        .iter()
        .filter_map(|batches| estimate::number(batches, case.rule, fastest_ns))
        .collect();
    let contamination = found.contamination(&numbers);
    let (slowed, full): (Vec<Number>, Vec<Number>) = numbers.into_iter().partition(|n| n.slowed);
    let value_of = |number: Number| case.value(number.ns_per_op);
    let mut set_aside: Vec<f64> = slowed.into_iter().map(value_of).collect();
    let mut values: Vec<f64> = full.into_iter().map(value_of).chain(found.values).collect();
    if values.is_empty() {
        values.append(&mut set_aside);
    }
    if found.refusal.is_some() {
        (values, set_aside) = (Vec::new(), Vec::new());
    }
    let value = estimate::median(&values);
    let untold = || "the run ended before this case".to_owned();
    OsBenchmark {
        name: case.name.to_owned(),
        case: case.case.clone(),
        place: case.place.map(|(_, place)| place),
        value,
        unit: case.unit,
        ci95: interval(&values, &set_aside),
        rule: case.rule,
        processes: values,
        set_aside,
        contamination,
        not_measured: value.is_none().then(|| found.refusal.unwrap_or_else(untold)),
        teaches: case.teaches.to_owned(),
        ..OsBenchmark::default()
    }
}

/// The interval of what counts; of all, where too few count. A slowed process is only ever further out, so that this one is
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

    fn case() -> Case {
        Case::new("x", "y", "", |_| Err(not_here("no")))
    }

    fn gathered(values: &[f64]) -> Gathered {
        Gathered { values: values.to_vec(), ..Gathered::default() }
    }

    #[test]
    fn the_value_is_the_median_within_its_interval() {
        let one = benchmark(&case(), gathered(&[5.0, 1.0, 2.0, 3.0, 4.0, 100.0]), 10);
        assert_eq!((one.value, one.ci95), (Some(3.5), Some([1.0, 100.0])));
        assert_eq!(one.not_measured, None);
    }

    #[test]
    fn what_was_not_measured_has_a_reason_and_no_number() {
        let mut found = gathered(&[1.0; 8]);
        found.refuse("one processor only".to_owned());
        let one = benchmark(&case(), found, 10);
        assert_eq!((one.value, one.ci95), (None, None));
        assert_eq!(one.not_measured.as_deref(), Some("one processor only"));
        let never = benchmark(&case(), Gathered::default(), 10);
        assert!(never.not_measured.is_some() && never.value.is_none());
    }

    #[test]
    fn slowed_processes_are_set_aside_while_others_are_left() {
        let process = |ns, pace_ns| vec![Batch { ns, ops: 1, delay_ns: Some(0), pace_ns }; 10];
        let run = |fast: usize, slow: usize| {
            let mut found = Gathered::default();
            (0..fast).for_each(|_| found.add(process(100, 10)));
            (0..slow).for_each(|_| found.add(process(160, 16)));
            assert_eq!(found.at_full_pace(&case(), 10), fast);
            benchmark(&case(), found, 10)
        };
        let one = run(3, 3);
        assert_eq!((one.value, one.set_aside.len()), (Some(100.0), 3));
        assert_eq!(one.contamination.slowed_frac, Some(0.5));
        let one = run(1, 5);
        assert_eq!((one.value, one.set_aside.len()), (Some(100.0), 5));
        assert_eq!(one.ci95, Some([100.0, 160.0]), "of all, for one is too few");
        let one = run(2, 18);
        assert_eq!((one.value, one.ci95), (Some(100.0), Some([100.0, 160.0])), "holds the value");
        assert_eq!(run(2, 3).ci95, None, "five are too few in any case");
        assert_eq!(
            run(6, 6).ci95,
            Some([100.0; 2]),
            "the slowed do not count where enough others do"
        );
        let one = run(0, 6);
        assert_eq!((one.value, one.processes.len(), one.set_aside.len()), (Some(160.0), 6, 0));
    }

    #[test]
    fn contamination_is_a_doubt() {
        let one = |clean, steal| OsBenchmark {
            value: Some(1.0),
            contamination: Contamination {
                clean_frac: Some(clean),
                steal_frac: Some(steal),
                run_delay_frac: None,
                slowed_frac: None,
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
