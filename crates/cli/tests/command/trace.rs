//! `ioscape trace`: traces in and out, what is reported of them, and what is refused.

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use ioscape_schema::{Document, WarningKind};
use predicates::prelude::*;
use std::path::Path;

const SPC: &str = "0,8,512,r,0.0\n1,16,4096,w,0.5\n0,8,512,x,1.0\n";

fn ioscape(folder: &Path, words: &[&str]) -> assert_cmd::assert::Assert {
    Command::new(cargo_bin("ioscape")).current_dir(folder).args(words).assert()
}

fn document(assert: assert_cmd::assert::Assert) -> Document {
    serde_json::from_slice(&assert.success().get_output().stdout).expect("a document")
}

#[test]
fn a_trace_is_imported_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.spc"), &SPC[..30]).unwrap();
    let told = document(ioscape(
        folder.path(),
        &["trace", "import", "a.spc", "-o", "a.parquet", "--json"],
    ));
    let files = told.trace_files().expect("what was written");
    assert_eq!((files[0].rows, files[0].reads, files[0].bytes), (2, Some(1), 4608));
    assert_eq!((files[0].info.format.as_str(), files[0].span_ns), ("spc", 500_000_000));
    ioscape(folder.path(), &["trace", "export", "a.parquet", "--format", "disksim", "-o", "a.txt"])
        .success()
        .stdout(predicate::str::contains("2 requests"));
    let text = std::fs::read_to_string(folder.path().join("a.txt")).unwrap();
    assert_eq!(text, "0.000000 0 8 1 1\n500.000000 1 16 8 0\n");
    ioscape(folder.path(), &["trace", "import", "-", "-o", "b.csv"]).failure();
    let piped = Command::new(cargo_bin("ioscape"))
        .current_dir(folder.path())
        .args(["trace", "import", "-", "-o", "b.csv"])
        .write_stdin(&SPC[..30])
        .assert();
    piped.success();
    assert!(folder.path().join("b.csv").exists());
}

#[test]
fn a_trace_goes_through_a_pipe_as_an_arrow_stream() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.spc"), &SPC[..30]).unwrap();
    let words = ["trace", "import", "a.spc", "--output-format", "arrow", "-o", "-"];
    let piped = ioscape(folder.path(), &words).success();
    let stream = piped.get_output().stdout.clone();
    let beside = String::from_utf8_lossy(&piped.get_output().stderr).into_owned();
    assert!(beside.contains("2 requests"), "{beside}");
    let read = Command::new(cargo_bin("ioscape"))
        .args(["trace", "characterize", "-", "--json"])
        .write_stdin(stream)
        .assert();
    let told: serde_json::Value =
        serde_json::from_slice(&read.success().get_output().stdout).expect("a document");
    assert_eq!(told["trace_characterization"]["overall"]["requests"], 2, "{told}");
    ioscape(folder.path(), &["trace", "import", "a.spc", "-o", "-", "--json"]).code(2);
}

#[test]
fn broken_lines_fail_or_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.spc"), SPC).unwrap();
    ioscape(folder.path(), &["trace", "import", "a.spc", "-o", "a.parquet"]).code(1).stderr(
        predicate::str::contains("a.spc, line 3").and(predicate::str::contains("--skip-bad")),
    );
    assert!(!folder.path().join("a.parquet").exists(), "a trace is whole or not there");
    let words = ["trace", "import", "a.spc", "-o", "a.parquet", "--skip-bad", "--json"];
    let told = document(ioscape(folder.path(), &words));
    assert_eq!(told.warnings[0].kind, WarningKind::RecordsSkipped);
    assert_eq!(told.trace_files().unwrap()[0].info.skipped, 1);
}

#[test]
fn misuse_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "no trace\n").unwrap();
    for (words, told) in [
        (&["trace", "import", "a.txt", "-o", "x.parquet"][..], "no known trace format"),
        (&["trace", "import", "nowhere", "-o", "x.parquet"], "nowhere"),
        (&["trace", "import", ".", "-o", "x.parquet"], "is a directory"),
        (&["trace", "import", "a.txt", "-o", "none/x.parquet"], ""),
        (&["trace", "import", "a.txt", "--format", "nonsense", "-o", "x"], "no such format"),
        (&["trace", "export", "a.txt", "--format", "msr", "-o", "x"], "no such format to write"),
        (&["trace", "record", "--device", "nowhere", "-o", "x.parquet"], "no such block device"),
        (&["trace", "record", "--seconds", "1", "-o", "x.parquet", "--", "true"], "--seconds"),
    ] {
        ioscape(folder.path(), words).code(2).stderr(predicate::str::contains(told));
        assert!(!folder.path().join("x.parquet").exists());
    }
}
