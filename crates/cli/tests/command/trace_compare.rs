//! `ioscape trace compare` from the outside.

use super::common::program;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// 200 seconds of requests in the format of MSR Cambridge: `reads` in ten are reads, and each takes
/// `times` ticks of 100 ns or a third more.
fn trace(folder: &Path, name: &str, seed: u64, reads: u64, times: u64) {
    let mut text = String::new();
    for i in 0..20_000u64 {
        let x = (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let time = 128_166_372_000_000_000 + i * 100_000 + x % 50_000;
        let op = if x % 10 < reads { "Read" } else { "Write" };
        let (offset, took) = ((x >> 8) % 700 * 8192, times + x % (times / 3));
        let _ = writeln!(text, "{time},host,0,{op},{offset},{},{took}", 4096 << (x % 3));
    }
    std::fs::write(folder.join(name), text).expect("the trace is written");
}

fn ioscape(folder: &Path, words: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = program();
    command.current_dir(folder).args(["trace", "compare"]).args(words).assert()
}

#[test]
fn what_changed_is_named_and_the_same_load_is_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    trace(folder, "before.csv", 0, 4, 10_000);
    trace(folder, "again.csv", 1 << 40, 4, 10_000);
    trace(folder, "after.csv", 1 << 41, 4, 20_000);
    trace(folder, "written.csv", 1 << 42, 0, 10_000);
    let found = |other: &str, more: &[&str]| -> Value {
        let done = ioscape(folder, &[&["before.csv", other, "--json"], more].concat()).success();
        serde_json::from_slice(&done.get_output().stdout).expect("one document")
    };
    assert_eq!(found("again.csv", &[])["trace_comparison"]["verdict"], "alike");
    let document = found("after.csv", &["-o", "both.ioscape.json", "--html", "both.html"]);
    let told = &document["trace_comparison"];
    assert_eq!(told["verdict"], "changed");
    let figures = told["figures"].as_array().expect("figures");
    for (name, verdict) in [("read_elapsed_ns_mean", "changed"), ("requests_per_s", "alike")] {
        let one = figures.iter().find(|one| one["name"] == name).expect(name);
        assert_eq!(one["verdict"], verdict, "{one}");
    }
    for (other, condition, code) in [
        ("after.csv", "time > 1.5", 3),
        ("after.csv", "time > 2.5", 0),
        ("after.csv", "changed", 3),
        ("after.csv", "rate < 0.8", 0),
        ("again.csv", "changed", 0),
        // The reads stop completely.
        ("written.csv", "throughput < 0.5", 3),
        ("again.csv", "speed < 1", 2),
    ] {
        let told = ioscape(folder, &["before.csv", other, "--fail-if", condition]).code(code);
        let told = String::from_utf8_lossy(&told.get_output().stderr).into_owned();
        assert_eq!(told.contains("beyond chance"), code == 3, "{told}");
    }
    let page = std::fs::read_to_string(folder.join("both.html")).expect("a page");
    assert!(page.contains("The workload changed") && page.contains("second"));
    let mut report = program();
    let report =
        report.current_dir(folder).args(["report", "both.ioscape.json"]).assert().success();
    let text = String::from_utf8_lossy(&report.get_output().stdout).into_owned();
    assert!(text.contains("mean time of a read"), "{text}");
}

#[test]
fn a_trace_that_is_none_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    trace(folder, "before.csv", 0, 4, 10_000);
    ioscape(folder, &["before.csv"]).code(2);
    ioscape(folder, &["before.csv", "absent.csv"]).code(2);
    std::fs::write(folder.join("words.txt"), "no trace\n").expect("it is written");
    ioscape(folder, &["before.csv", "words.txt"]).code(2);
}
