//! `ioscape ab` reports what the time is too short for, what cannot be run and what is doubtful.

use crate::common::started::{Started, signal};
use crate::common::{path, read, refused, run, skipped};
use ioscape_schema::{Document, Warning, WarningKind};
use std::fs;

const JOBS: &str = "[[job]]\nname = \"a\"\nunique_bytes = \"128M\"\n\
    [[job]]\nname = \"b\"\nunique_bytes = \"1M\"\n[[job]]\nname = \"c\"\nunique_bytes = \"1M\"\n";

#[test]
fn jobs_that_the_time_did_not_reach_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    let jobs = folder.path().join("jobs.toml");
    [&a, &b].iter().for_each(|place| fs::create_dir(place).unwrap());
    fs::write(&jobs, JOBS).unwrap();
    let words = ["ab", path(&a), path(&b), "--jobs", path(&jobs), "--json"];
    // Laying out the first job alone takes longer.
    let short = run(&[&words[..], &["--seconds", "1ms", "--budget", "100ms"]].concat()).ended(0);
    let document: Document = serde_json::from_str(&short.out).expect("a result");
    let rows = &document.comparison().expect("a comparison").measured[0].rows;
    // Within a millisecond there may be too few requests for a 99th percentile.
    assert!((2..=3).contains(&rows.len()), "of the first job alone: {rows:?}");
    let is_whole = |one: &&Warning| one.place.is_empty() && one.kind == WarningKind::BudgetSpent;
    let spent = document.warnings.iter().find(is_whole);
    let message = spent.map(|one| one.message.as_str());
    assert_eq!(message, Some("not measured: b, c; give a longer --budget"));
    // Too short for the first pair.
    let none = run(&[&words[..], &["--seconds", "1ns", "--budget", "100ns"]].concat()).ended(1);
    assert_eq!(none.says(&["nothing was measured within the budget", "--budget"]).out, "");
}

/// Once, CI got the verdict "slower" and exit code 0.
#[test]
fn a_row_that_meets_a_condition_ends_with_its_own_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let [small, large] = ["4k", "256k"].map(|size| {
        let file = folder.path().join(format!("{size}.toml"));
        let job = format!(
            "[[job]]\nname = \"x\"\nunique_bytes = \"4M\"\nsize_mean = \"{size}\"\nread_frac = 1.0\n"
        );
        fs::write(&file, job).unwrap();
        file
    });
    let on = ["--dir", path(folder.path()), "--seconds", "50ms", "--budget", "20s"];
    let [large, small] = [path(&large), path(&small)];
    let against = |first, second, fail_if| {
        run(&[&["ab", first, second][..], &on, &["--fail-if", fail_if]].concat())
    };
    against(large, small, "throughput<0.9").ended(3).says(&["beyond chance"]);
    against(small, large, "throughput<0.9").ended(0);
    against(small, large, "rate<0.9").ended(2).says(&["no row counts rate"]);
}

#[test]
fn a_budget_without_room_for_a_run_of_each_job_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs.toml");
    fs::write(&jobs, JOBS).unwrap();
    let place = path(folder.path());
    let words = ["ab", path(&jobs), path(&jobs), "--dir", place, "--budget", "100ms"];
    refused(&words, &["--budget", "3 jobs", "at least 4s"]);
}

#[test]
fn a_job_that_cannot_be_run_is_refused_before_the_first_is() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs.toml");
    let more = "[[job]]\nname = \"d\"\nunique_bytes = \"900T\"\n";
    fs::write(&jobs, [JOBS, more].concat()).unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    [&a, &b].iter().for_each(|place| fs::create_dir(place).unwrap());
    refused(&["ab", path(&a), path(&b), "--jobs", path(&jobs)], &["job \"d\"", "does not fit"]);
}

/// Once, the advice was `--destroy-data`, which the command does not have.
#[test]
fn files_and_devices_are_refused_and_job_files_of_other_programs_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    [&a, &b].iter().for_each(|file| fs::write(file, [0_u8; 8192]).unwrap());
    let ran = run(&["ab", path(&a), path(&b)]).ended(2).says(&["is no directory", "name a"]);
    assert!(!ran.err.contains("--destroy-data"), "{}", ran.err);
    let jobs = ["a.fio", "b.fio"].map(|name| folder.path().join(name));
    for file in &jobs {
        fs::write(file, "[a]\nrw=read\nsize=1m\n").unwrap();
    }
    let words = ["ab", path(&jobs[0]), path(&jobs[1]), "--dir", path(folder.path())];
    let ran = run(&[&words[..], &["--budget", "1ms"]].concat());
    ran.ended(2).says(&["--budget is too little", "1 job:"]);
}

#[test]
fn what_is_doubtful_about_its_runs_is_told_once_for_each_arm() {
    let [Ok(a), Ok(b)] = [(); 2].map(|()| tempfile::tempdir_in("/dev/shm")) else {
        return skipped("no /dev/shm");
    };
    let words = ["--direct", "--unique-bytes", "1M", "--seconds", "20ms", "--json"];
    let alone = run(&[&["run", path(a.path())][..], &words[..]].concat());
    if alone.code != Some(0) {
        return skipped("no direct I/O in memory here");
    }
    let alone: Document = serde_json::from_str(&alone.out).expect("a result");
    let of_direct = |one: &&Warning| one.kind == WarningKind::DirectWithoutDevice;
    let doubts = &alone.measurements().expect("a run")[0].warnings;
    let doubt = doubts.iter().find(of_direct).expect("memory is no device");
    let arms = ["ab", path(a.path()), path(b.path()), "--budget", "1s"];
    let both = run(&[&arms[..], &words[..]].concat()).ended(0);
    let both: Document = serde_json::from_str(&both.out).expect("a result");
    let told: Vec<&Warning> = both.warnings.iter().filter(of_direct).collect();
    let [first, second] = told[..] else { panic!("one for each arm: {:?}", both.warnings) };
    assert_eq!([&first.message, &second.message], [&doubt.message; 2]);
    let mut places = [first.place.as_str(), second.place.as_str()];
    places.sort_unstable();
    let mut expected = [&a, &b].map(|place| format!("{}, run", path(place.path())));
    expected.sort_unstable();
    assert_eq!(places, expected);
}

/// Once, hours of pairs were lost in a power failure.
#[test]
fn a_comparison_that_is_killed_keeps_the_pairs_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, result] = ["a", "b", "r.json"].map(|name| folder.path().join(name));
    [&a, &b].iter().for_each(|place| fs::create_dir(place).unwrap());
    let words = ["ab", path(&a), path(&b), "--unique-bytes", "1M", "--seconds", "1s"];
    let more = ["--budget", "600s", "-o", path(&result)];
    let started = Started::of(&[&words[..], &more].concat());
    let started = started.until(|_| fs::metadata(&result).is_ok_and(|file| file.len() > 0));
    signal(started.0.id(), "KILL");
    started.end();
    let document: Document = serde_json::from_str(&read(&result)).expect("a document");
    assert!(document.interrupted);
    assert!(document.comparison().expect("a comparison").measured[0].rows[0].rounds[0] > 0);
}
