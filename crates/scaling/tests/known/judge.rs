//! The judge as a function of the log: its findings from a finished evaluation, and from documents
//! stored earlier.
#![allow(clippy::disallowed_methods, reason = "stored evaluations are read")]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use crate::machines::{Level, MIB, Machine, hierarchy, mix, one_cache, options, shape, steps};
use crate::today;
use ioscape_scaling::{EvaluationOptions, explore, findings, judge};
use ioscape_schema::{BorderOperation, Evaluation, LevelCount, Workload};
use std::fs;
use std::path::{Path, PathBuf};

/// A read cache of 200 MiB over a disk, and a write cache of 40 MiB that thrashes.
fn caches(workload: &Workload) -> f64 {
    let unique_bytes = workload.unique_bytes as f64;
    let reads = hierarchy(&[Level(200.0 * MIB, 8e9), Level(1e18, 1e7)], unique_bytes);
    let writes = steps(&[Level(40.0 * MIB, 4e9), Level(1e18, 1e7)], unique_bytes);
    shape(workload) * mix(workload, reads, writes)
}

#[test]
fn a_finished_evaluation_is_judged_as_it_was() {
    for seed in 0..6 {
        let mut machine = Machine::with_noise(seed, 0.03, caches);
        machine.burst_ratio = Some(1.8);
        if seed % 2 == 1 {
            machine.disturbed = |number| number % 7 == 3;
            machine.drift = |at_s| if (100.0..220.0).contains(&at_s) { 0.5 } else { 1.0 };
        }
        let options = EvaluationOptions {
            budget_s: [600.0, 60.0][seed as usize / 3],
            all_parameters: seed == 2,
            interactions: if seed == 0 { 8 } else { 0 },
            flush_interval_s: Some(5.0),
            ..options(1024.0 * MIB)
        };
        let evaluation = explore(&options, &mut machine).unwrap();
        assert_eq!(judge(&evaluation), evaluation, "seed {seed}");
    }
}

#[test]
fn the_judgement_follows_from_the_log_alone() {
    let whole = explore(&options(1024.0 * MIB), &mut Machine::new(3, caches)).unwrap();
    let mut emptied = whole.clone();
    emptied.borders.clear();
    emptied.findings = ioscape_schema::Findings::default();
    emptied.drift = ioscape_schema::Drift::default();
    emptied.unique_bytes_slope.clear();
    assert_eq!(judge(&emptied), whole);
    assert_eq!(judge(&Evaluation::default()).regions, []);
}

/// Never states another number; where noise leaves a third region possible, withholds it.
#[test]
fn a_plain_number_of_regions_is_told_or_withheld_and_never_another() {
    let first = |seed| {
        let found = explore(&options(1024.0 * MIB), &mut Machine::new(seed, one_cache)).unwrap();
        found.findings.sentences[0].clone()
    };
    let said: Vec<String> = today::seeds(0..20, 2).map(first).collect();
    let told = said.iter().filter(|s| s.starts_with("Performance has 2 regions")).count();
    let withheld = said.iter().filter(|s| s.contains("cannot be told from this run: ")).count();
    assert_eq!(told + withheld, said.len(), "{said:#?}");
    // At most two of all the seeds.
    assert!(told + 2 >= said.len(), "{told} of {}: {said:#?}", said.len());
}

#[test]
fn a_number_of_regions_that_is_not_sure_is_withheld_with_its_rivals() {
    let mut evaluation = explore(&options(1024.0 * MIB), &mut Machine::new(0, one_cache)).unwrap();
    let count = |regions, probability| LevelCount {
        regions,
        probability,
        read_borders: Vec::new(),
        write_borders: Vec::new(),
    };
    let mut first = |counts| {
        evaluation.level_counts = counts;
        findings(&evaluation).sentences.remove(0)
    };
    assert!(first(vec![count(2, 0.96), count(3, 0.04)]).starts_with("Performance has 2 regions"));
    let said = first(vec![count(3, 0.6), count(2, 0.4)]);
    assert!(said.contains("cannot be told from this run: 3 (60 %) or 2 (40 %);"), "{said}");
    let said = first(vec![count(3, 0.999)]);
    assert!(
        said.contains(
            "cannot be told from this run: 3 by the model of levels, but the borders found make 2;"
        ),
        "{said}"
    );
    let said = first(Vec::new());
    assert!(said.starts_with("So far, performance has 2 regions"), "{said}");
    assert!(said.ends_with("how probable that is was not asked."), "{said}");
}

/// The evaluations stored with the project's data; none where the data are missing.
pub fn stored() -> Vec<PathBuf> {
    let data = std::env::var_os("IOSCAPE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let folder = data.join("evaluations");
    let Ok(folder) = fs::read_dir(&folder) else {
        eprintln!(
            "SKIPPED: {} is not here; set IOSCAPE_DATA to the folder of the data",
            folder.display()
        );
        return Vec::new();
    };
    let paths = folder.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "json")).collect()
}

/// All of their probes are taken into account.
#[test]
fn stored_evaluations_can_be_judged_again() {
    for path in stored() {
        let text = fs::read_to_string(&path).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let evaluation: Evaluation =
            serde_json::from_value(document["evaluation"].clone()).unwrap();
        let json = |evaluation: &Evaluation| serde_json::to_value(&evaluation.probes).unwrap();
        let purposes = |log: &serde_json::Value| -> Vec<String> {
            let log = log.as_array().unwrap().iter();
            log.map(|probe| probe["purpose"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(purposes(&json(&evaluation)), purposes(&document["evaluation"]["probes"]));
        let judged = judge(&evaluation);
        assert_eq!(judged.points_measured, evaluation.points_measured, "{}", path.display());
        let compared = judged.drift.throughputs.len() + judged.drift.not_compared as usize;
        assert_eq!(compared, evaluation.drift.throughputs.len());
        assert!(!judged.findings.sentences.is_empty());
        for (was, is) in [
            (&evaluation.unique_bytes_curve, &judged.unique_bytes_curve),
            (&evaluation.unique_bytes_read_curve, &judged.unique_bytes_read_curve),
            (&evaluation.unique_bytes_write_curve, &judged.unique_bytes_write_curve),
        ] {
            assert_eq!(was.len(), is.len(), "{}", path.display());
            assert!(was.iter().zip(is).all(|(a, b)| a.rounds.len() == b.rounds.len()));
        }
    }
}

/// Four evaluations of one machine with 24 GiB over a virtual disk, in three of which no border was
/// found: throughput falls only threefold, at one or two costly points. The resident share shows
/// it: 22.2 to 22.9 GiB of every larger set.
#[test]
fn the_read_cache_of_24_gib_of_memory_is_found() {
    const GIB: f64 = 1073741824.0;
    for path in stored() {
        let text = fs::read_to_string(&path).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let evaluation: Evaluation =
            serde_json::from_value(document["evaluation"].clone()).unwrap();
        let judged = judge(&evaluation);
        let said = judged.findings.sentences.join("\n");
        let name = path.file_name().unwrap().to_string_lossy();
        let cache = judged.findings.read_cache_bytes.expect("a read cache");
        let place = [cache.low, cache.value, cache.high].map(|b| b / GIB);
        assert!(place[0] >= 20.9 && place[2] <= 24.0, "{name}: {place:?}");
        assert!((21.5..=23.5).contains(&place[1]), "{name}: {place:?}");
        assert_eq!(judged.regions.len(), 2, "{name}");
        let reads = judged.borders.iter().filter(|b| b.operation == BorderOperation::Read);
        assert_eq!(reads.count(), 1, "{name}");
        for false_words in ["No gain from", "is larger than that", "one region", "no border"] {
            assert!(!said.contains(false_words), "{name}: {said}");
        }
    }
}
