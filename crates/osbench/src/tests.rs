//! Short but complete runs of the micro-benchmarks.

use super::rounds::MORE_ROUNDS;
use super::*;
use ioscape_schema::WarningKind;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn short(only: &[&str], directory: &std::path::Path) -> OsOptions {
    OsOptions {
        only: only.iter().map(|&name| name.to_owned()).collect(),
        directories: vec![directory.to_owned()],
        processes: 6,
        process_ns: 3_000_000,
        ..OsOptions::full()
    }
}

/// Returns the benchmarks that docs/os.md lists in the first column of its first two tables; `None`
/// in the published crate, which has no such page.
fn documented() -> Option<BTreeSet<String>> {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/os.md");
    let text = std::fs::read_to_string(page).ok()?;
    let rows = text.lines().skip_while(|line| !line.starts_with("| `dhrystone`"));
    let rows = rows.take_while(|line| !line.starts_with("| `gcc"));
    let cells = rows.filter_map(|row| row.strip_prefix("| ")?.split(" |").next());
    Some(cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect())
}

#[test]
fn every_benchmark_that_is_documented_has_cases() {
    let sizes = Sizes { caches: vec![32 << 10, 1 << 20], tasks: vec![1, 2], ..Sizes::default() };
    let cases = catalog(&sizes, &[(0, Locality::Local)]);
    let found: BTreeSet<String> = cases.iter().map(|case| case.name.to_owned()).collect();
    match documented() {
        Some(documented) => assert_eq!(found, documented),
        None => ioscape_machine::testing::skipped("docs/os.md is not here"),
    }
    for table in &ioscape_schema::os::paper::TABLES {
        for (_, case) in table.cases {
            assert!(cases.iter().any(|c| c.name == table.name && c.case == *case), "{case}");
        }
    }
    assert!(cases.iter().all(|case| case.teaches.ends_with('.')));
}

#[test]
fn a_short_run_measures_and_cleans_up() {
    let home = tempfile::tempdir().unwrap();
    let mut steps = 0;
    let options = short(&["getpid", "open-close", "dhrystone"], home.path());
    let outcome = run(&options, &mut |_, _| steps += 1).unwrap();
    outcome.finished.unwrap();
    // Slowed processes are repeated in further rounds.
    let most = 6 + MORE_ROUNDS.len();
    assert!((7 * 6..=7 * most).contains(&steps), "{steps}");
    for one in &outcome.results.benchmarks {
        let (counted, all) = (one.processes.len(), one.processes.len() + one.set_aside.len());
        assert!((6..=most).contains(&all), "{}: {:?}", one.name, one.not_measured);
        // If other programs run beside this test there may be no value, but then there is a reason.
        let Some(value) = one.value else {
            assert!(counted == 0 && one.not_measured.as_ref().is_some_and(|why| why.len() > 20));
            continue;
        };
        let [low, high] = one.ci95.unwrap();
        assert!(counted >= 3 && 0.0 < low && low <= value && value <= high);
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    let files = outcome.results.benchmarks.iter().find(|one| one.name == "open-close").unwrap();
    assert_eq!(files.place, Some(Locality::Local));
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let home = tempfile::tempdir().unwrap();
    let options = short(&["getpid"], home.path());
    let flag = Arc::clone(&options.interrupt);
    let mut steps = 0;
    let outcome = run(&options, &mut |_, _| {
        steps += 1;
        flag.store(steps == 5, Ordering::Relaxed);
    })
    .unwrap();
    assert!(matches!(outcome.finished, Err(Error::Interrupted)));
    let all = outcome.results.benchmarks.iter();
    let counts: usize = all.map(|one| one.processes.len() + one.set_aside.len()).sum();
    assert_eq!(counts, 4);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn two_local_directories_and_a_file_are_refused() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut options = short(&["getpid"], one.path());
    options.directories.push(two.path().to_owned());
    let error = run(&options, &mut |_, _| {}).unwrap_err();
    assert!(error.is_misuse() && error.to_string().contains("network file system"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = run(&short(&["getpid"], file.path()), &mut |_, _| {}).unwrap_err();
    assert!(error.is_misuse(), "{error}");
}

#[test]
fn a_directory_that_takes_no_files_is_refused_only_where_files_are_made() {
    let nowhere = std::path::Path::new("/proc");
    let of = |name| run(&OsOptions { budget_s: 1e-9, ..short(&[name], nowhere) }, &mut |_, _| {});
    let outcome = of("timestamp").unwrap();
    outcome.finished.unwrap();
    assert_eq!(outcome.results.benchmarks.len(), 2);
    assert!(outcome.environment.kernel.is_some());
    assert!(of("stat").unwrap_err().is_misuse());
    assert!(makes_files(&[]) && makes_files(&["scaling".to_owned()]));
}

#[test]
fn a_run_without_time_says_so_of_every_case() {
    let home = tempfile::tempdir().unwrap();
    let options = OsOptions { budget_s: 1e-9, ..short(&["getpid", "stat"], home.path()) };
    let outcome = run(&options, &mut |_, _| {}).unwrap();
    outcome.finished.unwrap();
    assert_eq!((outcome.results.benchmarks.len(), outcome.without_time), (4, 4));
    for one in &outcome.results.benchmarks {
        let why = one.not_measured.as_deref().unwrap();
        assert!(one.value.is_none() && why.starts_with("no time left"), "{}: {why}", one.name);
    }
    let told = outcome.warnings.iter().find(|one| one.kind == WarningKind::BudgetSpent);
    assert!(told.unwrap().message.contains("4 cases have no value"), "{told:?}");
}
