//! `validate` on simulated systems: random workloads, predicted and simulated.

use super::common::{path, program, run};
use super::simulated_memory::{whole_pages, with_memory};
use super::simulated_systems::{MIB, random_system, seeds};
use ioscape_schema::statistics::median;
use ioscape_schema::{Document, Filled, Outcome, Validation};
use std::path::Path;

/// Evaluates a simulated target and keeps the result in `result`.
fn evaluate(target: &str, budget: &str, seed: u64, result: &Path) {
    let seed = seed.to_string();
    let words = ["evaluate", target, "--budget", budget, "--seed", &seed, "-o", path(result)];
    program().args(words).assert().success();
}

/// What `validate` reports for a result and a target.
fn validated(result: &Path, target: &str, options: &[&str]) -> Validation {
    let words = ["validate", path(result), target, "--json"];
    let done = program().args(words).args(options).assert().success();
    let document: Document = serde_json::from_slice(&done.get_output().stdout).expect("a document");
    let Some(Outcome::Validation(run)) = document.outcome else { panic!("no validation") };
    assert!(run.log.is_none(), "nothing is left to do");
    run.validation.expect("it was judged")
}

#[test]
fn what_is_predicted_of_a_simulated_system_is_what_it_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("here.json");
    let target = "sim:decstation-5000-sprite";
    evaluate(target, "10s", 1, &result);
    let found = validated(&result, target, &["--workloads", "24", "--rounds", "2"]);
    assert_eq!(found.workloads, 24);
    assert!(found.errors.median_error < 0.15, "{:?}", found.errors);
    // Each round has requests of its own.
    assert!(found.repeatability_error.is_some_and(|error| error > 0.0), "{found:?}");
}

#[test]
fn a_simulated_system_validates_no_result_of_a_real_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("real.json");
    std::fs::write(&result, include_str!("data/small.ioscape.json")).expect("written");
    let refused = run(&["validate", path(&result), "sim:generic-nvme"]);
    let error = refused.ended(2).err;
    assert!(error.contains("was measured, and sim:generic-nvme is simulated"), "{error}");
    evaluate("sim:decstation-5000-sprite", "3s", 1, &result);
    let refused = run(&["validate", path(&result), "sim:hp-97560"]);
    let error = refused.ended(2).err;
    assert!(error.contains("drive alone"), "{error}");
}

#[test]
fn memory_that_direct_access_passes_by_is_told_to_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("here.json");
    let target = "sim:hp-97560";
    evaluate(target, "5s", 1, &result);
    let few = ["--workloads", "4", "--rounds", "1", "--json", "--what-if", "memory=1G"];
    let done = program().args(["validate", path(&result), target]).args(few).assert().success();
    let document: Document = serde_json::from_slice(&done.get_output().stdout).expect("a document");
    let told = document.warnings.iter().any(|one| one.message.contains("1 GiB changes nothing"));
    assert!(told, "{:?}", document.warnings);
}

#[test]
fn a_drive_is_validated_from_the_state_in_which_it_was_evaluated() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("worn.json");
    let (target, kept) = ("sim:generic-ssd", path(&result));
    let worn = ["--precondition", "steady-state", "--max-unique-bytes", "1M"];
    let few = ["--points", "60", "--budget", "5s", "-o", kept];
    program().args(["evaluate", target]).args(worn).args(few).assert().success();
    let words = ["validate", kept, target, "--workloads", "2", "--rounds", "1", "--json"];
    let done = program().args(words).assert().success();
    let evaluated = std::fs::read(&result).expect("a result");
    let both = [&evaluated, &done.get_output().stdout];
    let both = both.map(|text| serde_json::from_slice::<Document>(text).expect("a document"));
    let is_new = |one: &Document| one.warnings.iter().any(|w| w.message.contains("erased flash"));
    assert_eq!(both.each_ref().map(is_new), [false; 2]);
    let held = both[0].evaluation().and_then(|one| one.precondition);
    assert_eq!(held, Some(Filled::SteadyState));
    // A disk has no such state, and is no less a target.
    let words = ["validate", kept, "sim:hp-97560", "--workloads", "2", "--rounds", "1", "--json"];
    program().args(words).assert().success();
}

/// Nothing was tuned on these systems: half of the memory for odd seeds, twice as much for even
/// ones; the intervals are 90 % intervals. `IOSCAPE_SYSTEMS=80..84` chooses other seeds; from 1000
/// on, drives are made up.
#[test]
#[ignore = "some minutes; the full run has it"]
fn random_workloads_of_random_systems_are_as_they_were_predicted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, seed: u64| folder.path().join(format!("{seed}-{name}"));
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for seed in seeds("69..77") {
        let (text, cache, _) = random_system(seed, folder.path());
        let times = if seed % 2 == 0 { 2.0 } else { 0.5 };
        let [one, other, result] =
            ["here.toml", "there.toml", "here.json"].map(|name| file(name, seed));
        std::fs::write(&one, &text).expect("written");
        std::fs::write(&other, with_memory(&text, times)).expect("written");
        evaluate(&format!("sim:{}", path(&one)), "20s", seed, &result);
        let options = ["--workloads", "60", "--rounds", "2", "--seed", &seed.to_string()];
        let memory = format!("memory={}", whole_pages(cache * times));
        let exchanged = [&options[..], &["--what-if", &memory]].concat();
        let as_is = validated(&result, &format!("sim:{}", path(&one)), &options);
        let what_if = validated(&result, &format!("sim:{}", path(&other)), &exchanged);
        eprintln!(
            "{seed}: {:.1} MiB: {}; times {times}: {}",
            cache / MIB,
            told(&as_is),
            told(&what_if)
        );
        here.push(as_is);
        there.push(what_if);
    }
    for (what, all) in [("as evaluated", here), ("with other memory", there)] {
        let off = median(&all.iter().map(|one| one.errors.median_error).collect::<Vec<f64>>());
        let held = median(&all.iter().map(held).collect::<Vec<f64>>());
        eprintln!("{what}: off by {:.1} %, {:.0} % held", 100.0 * off, 100.0 * held);
        assert!(off < 0.1 && held > 0.8, "{what}: {off} {held}");
    }
}

fn held(found: &Validation) -> f64 {
    found.errors.interval90_coverage.expect("intervals")
}

fn told(found: &Validation) -> String {
    let [off, most] = [found.errors.median_error, found.errors.p90_error].map(|off| 100.0 * off);
    let held = 100.0 * held(found);
    format!("off by {off:.1} % (nine of ten by {most:.0}), {held:.0} % held")
}
