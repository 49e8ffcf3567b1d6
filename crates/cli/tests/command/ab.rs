//! `ioscape ab`: what the time does not reach is told.

use crate::common::{path, refused, run};
use ioscape_schema::{Document, WarningKind};
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
    // To lay out the first job takes longer.
    let short = run(&[&words[..], &["--seconds", "10ms", "--budget", "100ms"]].concat()).ended(0);
    let document: Document = serde_json::from_str(&short.out).expect("a result");
    assert_eq!(document.comparison().expect("a comparison").measured[0].rows.len(), 1);
    let spent = document.warnings.iter().find(|one| one.kind == WarningKind::BudgetSpent);
    let message = spent.map(|one| one.message.as_str());
    assert_eq!(message, Some("not measured: b, c; give a longer --budget"));
    // Before the first pair.
    let none = run(&[&words[..], &["--seconds", "1ns", "--budget", "10ns"]].concat()).ended(1);
    assert_eq!(none.says(&["nothing was measured within the budget", "--budget"]).out, "");
}

#[test]
fn a_budget_without_room_for_a_run_of_each_job_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs.toml");
    fs::write(&jobs, JOBS).unwrap();
    let place = path(folder.path());
    let words = ["ab", path(&jobs), path(&jobs), "--dir", place, "--budget", "100ms"];
    refused(&words, &["--budget", "3 jobs", "at least 1s"]);
}
