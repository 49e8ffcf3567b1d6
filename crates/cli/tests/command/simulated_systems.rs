//! Simulated systems and drives evaluated like any other: the borders and policies that are known of them are found.

use super::common::program;
use ioscape_schema::{Access, Document};

/// Evaluates a shipped system and holds its policy, regions and the sizes of its caches, in MiB, against what is known.
fn evaluated(name: &str, policy: &str, regions: usize, caches: [Option<f64>; 2]) {
    let document = evaluation_of(name);
    let evaluation = document.evaluation().expect("an evaluation");
    let found = serde_json::to_value(evaluation.findings.write_policy).expect("a policy");
    assert_eq!(found, policy, "{name}");
    assert_eq!(evaluation.regions.len(), regions, "{name}");
    let findings = &evaluation.findings;
    for (found, known) in
        [&findings.read_cache_bytes, &findings.write_cache_bytes].iter().zip(caches)
    {
        let Some(known) = known else { continue };
        let found = found.as_ref().map_or(0.0, |size| size.value / 1024.0 / 1024.0);
        assert!((found / known - 1.0).abs() < 0.06, "{name}: {found} MiB for {known}");
    }
}

fn evaluation_of(name: &str) -> Document {
    let run = program().args(["evaluate", &format!("sim:{name}"), "--json"]).assert().success();
    serde_json::from_slice(&run.get_output().stdout).expect("a document")
}

#[test]
fn the_caches_and_policies_of_the_papers_systems_are_found() {
    evaluated("sparcstation-1", "write-cancelling", 2, [Some(21.0), None]);
    evaluated("decstation-5000-sprite", "write-cancelling", 3, [Some(20.0), Some(5.0)]);
    evaluated("decstation-5000-ultrix", "write-through", 2, [Some(3.0), None]);
}

#[test]
fn the_caches_of_the_hp_730_are_found_whether_flushed_or_not() {
    for name in ["hp-730", "hp-730-no-flush"] {
        evaluated(name, "write-cancelling", 2, [Some(3.0), Some(3.0)]);
    }
}

/// Its cache of 50 MB is flushed every 30 s: writes slow down gradually, long before the cache ends. A size that is not that of
/// the cache must not be told; none at all is what is told today.
#[test]
fn no_wrong_size_is_told_of_the_large_cache_that_is_flushed() {
    let document = evaluation_of("hp-730-hpux9");
    let evaluation = document.evaluation().expect("an evaluation");
    assert_eq!(evaluation.regions.len(), 2);
    let findings = &evaluation.findings;
    let told = [&findings.read_cache_bytes, &findings.write_cache_bytes];
    for size in told.into_iter().flatten() {
        let found = size.value / 1024.0 / 1024.0;
        assert!((found / 50.0 - 1.0).abs() < 0.06, "{found} MiB for 50");
    }
    assert!(
        evaluation.borders.iter().any(|b| (b.unique_bytes / 1048576.0 / 50.0 - 1.0).abs() < 0.06)
    );
}

#[test]
fn a_drive_alone_is_evaluated_with_direct_access() {
    let document = evaluation_of("hp-c2204a");
    let evaluation = document.evaluation().expect("an evaluation");
    let probes = || evaluation.probes.iter();
    assert!(probes().next().is_some());
    assert!(probes().all(|probe| probe.measurement.workload.access == Access::Direct));
    let drive = include_str!("../../../simulate/drives/hp-c2204a.toml");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mine.toml"), drive).expect("a file");
    let of_file = program()
        .current_dir(folder.path())
        .args(["evaluate", "sim:mine.toml", "--dry-run"])
        .assert()
        .success();
    assert!(String::from_utf8_lossy(&of_file.get_output().stdout).contains("alone"));
    let refused =
        program().args(["evaluate", "sim:hp-c2204a", "--access", "buffered"]).assert().code(2);
    assert!(String::from_utf8_lossy(&refused.get_output().stderr).contains("a drive alone"));
}
