//! Doubts about results: known traps of the benchmarks, and disturbances.

use super::case::forces;
use super::estimate::is_wide;
use super::result::withdraw;
use super::{getpid, mab, read};
use ioscape_schema::{
    Contamination, Locality, MabProof, OsBenchmark, OsResults, OsRule, Warning, WarningKind,
};

/// A smaller share of clean batches raises a warning.
const CLEAN_LEAST: f64 = 0.25;

/// A hypervisor that takes a larger share of the time raises a warning.
const STEAL_MOST: f64 = 0.05;

/// A larger share of slowed processes raises a warning.
const SLOWED_MOST: f64 = 0.5;

/// Attaches the warnings of the trap detectors and about disturbances; `caches_told` is whether the
/// kernel reported the caches' sizes.
pub(crate) fn all(results: &mut OsResults, caches_told: bool) {
    let benchmarks = &mut results.benchmarks;
    if let Some(why) = results.mab.as_ref().and_then(MabProof::left_out) {
        let of_mab = |one: &&mut OsBenchmark| one.name == mab::NAME && one.value.is_some();
        benchmarks.iter_mut().filter(of_mab).for_each(|one| withdraw(one, why.to_owned()));
    }
    let (local, remote) = (Some(Locality::Local), Some(Locality::Remote));
    let traps = [
        ("getpid", "C library", None, getpid::doubts(benchmarks)),
        ("read", read::WRITTEN, local, read::doubts(benchmarks, local)),
        ("read", read::WRITTEN, remote, read::doubts(benchmarks, remote)),
    ];
    for (name, case, place, trap) in traps {
        let is_it =
            |one: &&mut OsBenchmark| (&*one.name, &*one.case, one.place) == (name, case, place);
        benchmarks.iter_mut().filter(is_it).for_each(|one| one.warnings.extend(trap.clone()));
    }
    for one in benchmarks.iter_mut() {
        if !caches_told && is_sized_by_caches(one) {
            let text = "the kernel does not report the cache sizes: typical ones are assumed";
            one.warnings.push(Warning::new(WarningKind::Unsupported, text));
        }
        one.warnings.extend(contaminated(one));
        one.warnings.extend(wide(one));
        if cfg!(debug_assertions) && one.name == "dhrystone" {
            let text =
                "this program was built without optimisation: its rating is many times too low";
            one.warnings.push(Warning::new(WarningKind::Trap, text));
        }
    }
}

/// Whether assumed cache sizes affect a case: any copy, or a read that is to stay in a named cache.
fn is_sized_by_caches(one: &OsBenchmark) -> bool {
    one.name == "bcopy" || one.name == "read" && one.case.starts_with("level ")
}

/// Warns, for the cases that force data to storage at `place`, that there is no storage: the data
/// is kept `by` a part of memory.
pub(crate) fn storage(results: &mut OsResults, place: Locality, by: &str) {
    let here = |one: &&mut OsBenchmark| one.place == Some(place);
    for one in results.benchmarks.iter_mut().filter(here) {
        if forces(&one.name, &one.case) {
            let text = format!("files are in memory here ({by}): fsync writes nothing to storage");
            one.warnings.push(Warning::new(WarningKind::Trap, text));
        }
    }
}

/// Warns that changes of the directory at `place` wait for storage, because of `by`, even in cases
/// that force nothing.
pub(crate) fn synchronous(place: Locality, by: &str) -> Warning {
    let text = format!(
        "the {} directory is synchronous ({by}): in every case, creating, renaming and deleting a file waits for storage",
        place.word()
    );
    Warning::new(WarningKind::Trap, text)
}

/// The doubt about numbers of a slow processor.
const UNEXPLAINED: &str = "the processor was slower than at its best in this run, and no program of this machine is seen that slowed it";

fn contaminated(one: &OsBenchmark) -> Option<Warning> {
    let Contamination { clean_frac, steal_frac, .. } = one.contamination;
    let dirty = one.rule == OsRule::CleanQuartile && clean_frac.is_some_and(|c| c < CLEAN_LEAST);
    let stolen = steal_frac.is_some_and(|share| share > STEAL_MOST);
    let slowed = one.contamination.slowed_frac.is_some_and(|share| share > SLOWED_MOST);
    let unexplained = one.is_slow();
    let why = match (dirty, stolen, slowed) {
        _ if unexplained => UNEXPLAINED,
        (true, ..) => "other programs used the processor in most batches",
        (_, true, _) => "the hypervisor took part of the time",
        (.., true) => "the processor was slower than its best in most processes",
        _ => return None,
    };
    one.value?;
    let text = format!("{why}: measure again when the machine is quieter before publishing this");
    Some(Warning::new(WarningKind::Contaminated, text))
}

/// Returns the warning that the interval of a value is wide or absent.
fn wide(one: &OsBenchmark) -> Option<Warning> {
    let value = one.value?;
    let text = match one.ci95 {
        Some([low, high]) if is_wide(value, [low, high]) => format!(
            "the interval is wide, from {:+.0} to {:+.0} % of the value: smaller differences from another result mean nothing",
            (low / value - 1.0) * 100.0,
            (high / value - 1.0) * 100.0
        ),
        Some(_) => return None,
        None => {
            let count = match one.processes.len() {
                1 => "only 1 process counts".to_owned(),
                count => format!("only {count} processes count"),
            };
            format!("the value has no interval, for {count}: how far it may be off is not known")
        }
    };
    Some(Warning::new(WarningKind::NotConfident, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_interval_or_none_is_told() {
        let of = |value, ci95| {
            let one =
                OsBenchmark { value, ci95, processes: vec![100.0; 4], ..OsBenchmark::default() };
            wide(&one).map(|warning| warning.message)
        };
        assert_eq!(of(Some(100.0), Some([96.0, 104.0])), None);
        assert!(of(Some(100.0), Some([94.0, 101.0])).unwrap().contains("from -6 to +1 %"));
        assert!(of(Some(100.0), Some([99.0, 120.0])).unwrap().contains("from -1 to +20 %"));
        assert!(of(Some(100.0), None).unwrap().contains("only 4 processes"));
        let single =
            OsBenchmark { value: Some(1.0), processes: vec![1.0], ..OsBenchmark::default() };
        assert!(wide(&single).unwrap().message.contains("for only 1 process counts:"));
        assert_eq!(of(None, None), None);
    }

    #[test]
    fn contamination_is_a_doubt() {
        let one = |clean, steal| OsBenchmark {
            value: Some(1.0),
            ci95: Some([1.0; 2]),
            contamination: Contamination {
                clean_frac: Some(clean),
                steal_frac: Some(steal),
                ..Contamination::default()
            },
            ..OsBenchmark::default()
        };
        let benchmarks = vec![one(0.9, 0.0), one(0.1, 0.0), one(0.9, 0.2)];
        let mut results = OsResults { benchmarks, ..OsResults::default() };
        all(&mut results, true);
        let kinds = |results: &OsResults| -> Vec<_> {
            results.benchmarks.iter().map(|b| b.warnings.first().map(|w| w.kind)).collect()
        };
        let bad = Some(WarningKind::Contaminated);
        assert_eq!(kinds(&results), [None, bad, bad]);
        let slow = OsBenchmark { processes: vec![1.0; 2], slower: vec![1.0, 1.4], ..one(0.9, 0.0) };
        assert!(contaminated(&slow).unwrap().message.contains("no program of this machine"));
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
        storage(&mut results, Locality::Local, "ram0");
        let counts: Vec<usize> = results.benchmarks.iter().map(|b| b.warnings.len()).collect();
        assert_eq!(counts, [1, 1, 0, 0]);
        assert!(results.benchmarks[0].warnings[0].message.contains("in memory here (ram0)"));
    }

    /// Guards against comparing a read from an assumed second-level cache with one from a real one.
    #[test]
    fn what_is_to_stay_in_a_cache_of_unknown_size_is_told() {
        let case = |name: &str, case: &str| OsBenchmark {
            name: name.into(),
            case: case.into(),
            ..OsBenchmark::default()
        };
        let benchmarks =
            vec![case("bcopy", "64 KB"), case("read", "level 2 cache"), case("read", "file cache")];
        let counts = |caches_told| {
            let benchmarks = benchmarks.clone();
            let mut results = OsResults { benchmarks, ..OsResults::default() };
            all(&mut results, caches_told);
            results.benchmarks.iter().map(|one| one.warnings.len()).collect::<Vec<_>>()
        };
        assert_eq!((counts(false), counts(true)), (vec![1, 1, 0], vec![0; 3]));
    }

    #[test]
    fn a_compiler_that_left_work_out_is_found_out() {
        let one = |name: &str, value| OsBenchmark {
            name: name.into(),
            value,
            processes: vec![1.0; 6],
            not_measured: value.is_none().then(|| "a reason of its own".to_owned()),
            ..OsBenchmark::default()
        };
        let mut results = OsResults {
            benchmarks: vec![one("mab", Some(1.0)), one("mab", None), one("getpid", Some(1.0))],
            mab: Some(MabProof { whole: false, ..MabProof::default() }),
            ..OsResults::default()
        };
        all(&mut results, true);
        let [mab, other, getpid] = &results.benchmarks[..] else { panic!("{results:?}") };
        assert_eq!((mab.value, mab.set_aside.len()), (None, 6));
        assert!(mab.not_measured.as_ref().unwrap().contains("work was left out"));
        assert_eq!(other.not_measured.as_deref(), Some("a reason of its own"));
        assert_eq!(getpid.value, Some(1.0));
    }

    #[test]
    fn small_folios_are_told_of_the_place_that_has_them() {
        let one = |case: &str, place, value: f64| OsBenchmark {
            name: "read".into(),
            case: case.into(),
            place: Some(place),
            value: Some(value),
            ci95: Some([value * 0.99, value * 1.01]),
            ..OsBenchmark::default()
        };
        let benchmarks = vec![
            one("file cache", Locality::Local, 18e9),
            one(read::WRITTEN, Locality::Local, 17e9),
            one("file cache", Locality::Remote, 18e9),
            one(read::WRITTEN, Locality::Remote, 6e9),
        ];
        let mut results = OsResults { benchmarks, ..OsResults::default() };
        all(&mut results, true);
        let counts: Vec<usize> = results.benchmarks.iter().map(|b| b.warnings.len()).collect();
        assert_eq!(counts, [0, 0, 0, 1]);
        assert!(results.benchmarks[3].warnings[0].message.contains("3.0 times"));
    }
}
