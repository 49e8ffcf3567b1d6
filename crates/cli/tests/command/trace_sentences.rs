//! What `ioscape trace analyze` says of every available public trace, and of traces of a few
//! requests, follows from their contents.

use super::common::data;
use assert_cmd::Command;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const SECOND_NS: u64 = 1_000_000_000;

/// The text and the result of an analysis.
fn analysed(traces: &[PathBuf]) -> (String, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("result.json");
    let mut command = Command::cargo_bin("ioscape").expect("the command is built");
    let done =
        command.args(["trace", "analyze", "-o"]).arg(&result).args(traces).assert().success();
    let text = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    let bytes = std::fs::read(&result).expect("a result");
    let document: Value = serde_json::from_slice(&bytes).expect("a document");
    (text, document["trace_summary"].clone())
}

/// The text and the result of analyzing a trace of these bytes.
fn of(name: &str, bytes: &[u8]) -> (String, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("the trace is written");
    analysed(&[path])
}

/// The available public traces of every format, each with the files that belong together.
fn public() -> Vec<Vec<PathBuf>> {
    let singles = [
        "blktrace/evelii.sample.blkparse.txt",
        "blktrace/takeoverjp.sample.blktrace.0",
        "cello2003/hourly.03126.srt.bz2",
        "cloudphysics/cloudPhysicsIO.csv",
        "cloudphysics/cloudPhysicsIO.vscsi",
        "disk-validation/cheetah9LP.trace",
        "disk-validation/hp_c2247a.trace",
        "hplajw/ajw.1week.srt",
        "msr/msr.cut.per_10k.rw_20_80.105.trace",
        "spc/wsrch-small.mqsim.trace",
        "recorded/blk/loop0.blkparse.head5000.txt",
        "recorded/blk/vda.perf-script.head5000.txt",
    ];
    let mut all: Vec<Vec<&str>> = singles.iter().map(|&one| vec![one]).collect();
    all.push(vec!["recorded/blk/loop0.blktrace.0", "recorded/blk/loop0.blktrace.1"]);
    let there = |names: Vec<&str>| names.into_iter().map(data).collect::<Option<Vec<PathBuf>>>();
    all.into_iter().filter_map(there).collect()
}

/// Checks that nothing is said of windows longer than half the trace, nor of overwrites if there
/// are none.
fn windows_are_shorter_than_the_trace(name: &str, found: &Value) {
    let at = |key: &str| found[key].as_u64().expect("a time");
    let length_ns = at("last_ns") - at("first_ns");
    let overwrites = &found["overwrites"];
    for (key, seconds) in [("within_1s", 1), ("within_30s", 30), ("within_1h", 3600)] {
        let long = length_ns >= 2 * seconds * SECOND_NS;
        let some = overwrites["count"].as_u64() > Some(0);
        assert!(overwrites.get(key).is_none() || (long && some), "{name}: {key} of {length_ns} ns");
    }
    assert!(
        found.get("absorption").is_none() || length_ns >= 60 * SECOND_NS,
        "{name}: {length_ns}"
    );
}

/// Checks that flags and types, each separately, are reported only for formats that have them.
fn flags_are_told_by_the_format(name: &str, told: &str, found: &Value) {
    let kernel = ["blktrace", "blkparse", "trace-events"];
    let format = found["info"]["format"].as_str().expect("a format");
    let flags = ["sync", "async", "raw"];
    let types = found["types"].as_array().cloned().unwrap_or_default();
    let meant = match format {
        "hp-srt" => [true; 3],
        _ if kernel.contains(&format) => [true, false, false],
        _ => [false; 3],
    };
    for one in &types {
        assert_eq!(flags.map(|flag| one.get(flag).is_some()), meant, "{name}: {one}");
    }
    assert_eq!(types.is_empty(), meant == [false; 3], "{name}");
    let columns = ["flagged sync", "flagged async", "not async", "requests not flagged"];
    let [sync, asynchronous, not, share] = columns.map(|column| told.contains(column));
    assert_eq!(
        ([sync, asynchronous, not, share]),
        [meant[0], meant[1], meant[1], meant[1]],
        "{name}"
    );
}

/// Checks that no mean is of nothing.
fn means_are_of_some(name: &str, found: &Value) {
    for disk in found["disks"].as_array().expect("disks") {
        let load = &disk["load"];
        let count = |key: &str| load[key].as_u64().unwrap_or(0);
        for (key, ios) in [
            ("queue_mean_read", count("reads")),
            ("queue_mean_write", count("ios") - count("reads").min(count("ios"))),
        ] {
            assert!(disk.get(key).is_none() || ios > 0, "{name}: {key} of {load}");
        }
    }
}

fn holds(name: &str, (told, found): &(String, Value)) {
    windows_are_shorter_than_the_trace(name, found);
    flags_are_told_by_the_format(name, told, found);
    means_are_of_some(name, found);
    for never in ["Time: 0 s", "0.00 requests", "NaN", "inf "] {
        assert!(!told.contains(never), "{name}: {never}: {told}");
    }
}

#[test]
fn of_every_public_trace_only_what_it_holds_is_said() {
    let traces = public();
    if traces.is_empty() {
        eprintln!("SKIPPED: no traces: set IOSCAPE_DATA to the folder of the data");
        return;
    }
    for trace in traces {
        let name = trace[0].file_name().map(Path::new).expect("a name").display().to_string();
        holds(&name, &analysed(&trace));
    }
}

/// Requests in MSR Cambridge's format: the time in units of 100 ns, the operation, the offset, the
/// size and the response time.
fn msr(rows: &[(u64, &str, u64, u64, u64)]) -> Vec<u8> {
    let mut text = String::new();
    for (time, op, offset, size, took) in rows {
        let _ =
            writeln!(text, "{},host,0,{op},{offset},{size},{took}", 128_166_372_000_000_000 + time);
    }
    text.into_bytes()
}

#[test]
fn of_a_few_requests_the_counts_are_told_and_no_rates() {
    let one = of("one.csv", &msr(&[(0, "Write", 0, 4096, 1000)]));
    holds("one", &one);
    for absent in ["per second", "100 %", "99 % within"] {
        assert!(!one.0.contains(absent), "{absent}: {}", one.0);
    }
    assert!(one.0.contains("0 of them reads") && one.0.contains("too few for a rate"), "{}", one.0);
    assert!(one.1["disks"][0].get("idle_time_frac").is_none(), "one request tells no idle time");

    let twice = of("two.csv", &msr(&[(0, "Read", 0, 4096, 0), (0, "Write", 0, 4096, 0)]));
    holds("two at once", &twice);
    assert!(twice.0.contains("all at one time"), "{}", twice.0);
    assert!(twice.1["burstiness"].get("inter_arrival_scv").is_none(), "{}", twice.1["burstiness"]);

    let rows: Vec<_> = (0..4).map(|at| (at * 10_000, "Write", at % 2 * 8192, 8192, 900)).collect();
    let writes = of("writes.csv", &msr(&rows));
    holds("only writes", &writes);
    assert!(writes.0.contains("Left out: overwrites within an hour"), "{}", writes.0);
    assert!(!writes.0.contains("100 %") && writes.0.contains("of 4"), "{}", writes.0);
    assert_eq!(writes.1["overwrites"]["count"], 2);

    let rows: Vec<_> = (0..300).map(|at| (at * 10_000, "Read", at * 8192, 8192, 900)).collect();
    let reads = of("reads.csv", &msr(&rows));
    holds("only reads", &reads);
    assert!(
        !reads.0.contains("Left out") && reads.0.contains("100 % of them reads"),
        "{}",
        reads.0
    );
}

#[test]
fn what_is_nearly_all_is_not_called_all() {
    let op = |at: u64| if at == 7 { "Write" } else { "Read" };
    // One per second, each answered within a microsecond: idle for nearly all of the time.
    let rows: Vec<_> = (0..3000).map(|at| (at * 10_000_000, op(at), at * 8192, 8192, 10)).collect();
    let found = of("reads.csv", &msr(&rows));
    holds("nearly all", &found);
    assert!(found.0.contains("Requests: 3k, > 99.9 % of them reads"), "{}", found.0);
    let queues =
        found.0.split("Queue lengths").nth(1).and_then(|rest| rest.split("Alignment").next());
    assert!(queues.is_some_and(|queues| queues.contains("> 99.9 %")), "{}", found.0);
}
