//! fio's job files run, and fio's output is read.

use super::common::{path, run};

const OUTPUT: &str = r#"{"fio version": "fio-3.33", "timestamp": 1790000000, "jobs": [{"jobname": "mail",
  "job options": {"rw": "randread", "bs": "4k", "size": "1g"}, "usr_cpu": 1.0, "sys_cpu": 4.0,
  "read": {"io_bytes": 8192000, "runtime": 2000, "total_ios": 2000, "bw_mean": 4000.0, "bw_dev": 100.0, "bw_samples": 4,
    "lat_ns": {"min": 1, "max": 9000, "mean": 1000.0}, "clat_ns": {"percentile": {"50.000000": 900}}},
  "write": {"io_bytes": 0, "runtime": 0, "total_ios": 0}}]}"#;

#[test]
fn a_job_file_of_fio_runs_and_is_never_a_target() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let jobs = folder.path().join("jobs.fio");
    let text =
        "[mail]\nrw=randrw\nrwmixread=70\nsize=1m\nbs=4k\nruntime=100ms\ndirectory=/nowhere\n";
    std::fs::write(&jobs, text).expect("a file");
    let told = run(&["run", path(&jobs), path(folder.path()), "--json"]).ended(0);
    assert!(
        told.err.contains("directory: the target is the one on the command line"),
        "{}",
        told.err
    );
    let found: serde_json::Value = serde_json::from_str(&told.out).expect("JSON");
    let workload = &found["measurements"][0]["workload"];
    assert_eq!(
        (workload["read_frac"].as_f64(), workload["size_mean"].as_u64()),
        (Some(0.7), Some(4096))
    );
    assert_eq!(std::fs::read_to_string(&jobs).expect("the job file"), text);
    std::fs::write(&jobs, "[mail]\nsize=1m\nverify=md5\n").expect("a file");
    run(&["run", path(&jobs), path(folder.path())])
        .ended(2)
        .says(&["jobs.fio", "line 3", "verify"]);
}

#[test]
fn fios_output_stands_beside_ours() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (theirs, page) = (folder.path().join("fio.json"), folder.path().join("page.html"));
    std::fs::write(&theirs, OUTPUT).expect("a file");
    let shown = run(&["report", path(&theirs)]).ended(0).out;
    assert!(shown.contains("4.1 MB/s") && shown.contains("measured by fio"), "{shown}");
    run(&["report", path(&theirs), path(&theirs), "-o", path(&page)]).ended(0);
    assert!(std::fs::read_to_string(&page).expect("a page").contains("<td>fio (2)</td>"));
}

#[test]
fn the_schema_is_printed() {
    let told = run(&["schema"]).ended(0).out;
    let schema: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert!(schema["$defs"]["Measurement"]["properties"]["ios"].is_object());
}
