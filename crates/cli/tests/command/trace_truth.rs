//! `ioscape trace` says what it knows and no more: what a trace does not tell is absent, and said first.

use assert_cmd::Command;
use serde_json::Value;
use std::fmt::Write as _;

/// Runs `ioscape trace` with these words on the trace `bytes`, in a folder of its own.
fn trace(words: &[&str], name: &str, bytes: &[u8]) -> assert_cmd::assert::Assert {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(name), bytes).expect("the trace is written");
    let mut command = Command::cargo_bin("ioscape").expect("the command is built");
    command.current_dir(folder.path()).arg("trace").args(words).arg(name).assert()
}

fn text(assert: assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.success().get_output().stdout).into_owned()
}

fn summary(words: &[&str], name: &str, bytes: &[u8]) -> Value {
    let words = [&["analyze", "--json"], words].concat();
    let done = trace(&words, name, bytes).success();
    let document: Value = serde_json::from_slice(&done.get_output().stdout).expect("a document");
    document["trace_summary"].clone()
}

/// Requests in Alibaba's notation, which tells no completions: device, operation, offset, length.
fn alibaba(requests: impl Iterator<Item = (u64, char, u64, u64)>) -> Vec<u8> {
    let mut text = String::new();
    for (at, (device, op, offset, length)) in requests.enumerate() {
        let time = 1_577_808_000_000_000 + at * 100;
        let _ = writeln!(text, "{device},{op},{offset},{length},{time}");
    }
    text.into_bytes()
}

#[test]
fn workloads_of_a_trace_without_completions_have_no_response_time() {
    let requests = |gap: u64| alibaba((0..500).map(move |n| (0, 'R', n * gap, 4096)));
    let done = trace(&["characterize", "--json"], "a.csv", &requests(8192)).success();
    let found: Value = serde_json::from_slice(&done.get_output().stdout).expect("a document");
    let overall = &found["trace_characterization"]["overall"];
    assert!(overall["response_time_ns"].is_null(), "{overall}");
    assert_eq!((&overall["process_num"], &overall["requests"]), (&1.into(), &500.into()));
    assert_eq!(found["warnings"][0]["kind"], "times_unknown");
    let told = text(trace(&["characterize"], "a.csv", &requests(8192)));
    assert!(told.contains("requests have no completion times: process_num"), "{told}");
}

#[test]
fn times_that_a_trace_does_not_tell_are_absent_and_that_is_said_first() {
    let trace_bytes =
        alibaba((0..500).map(|n| (0, if n % 2 == 0 { 'R' } else { 'W' }, n * 4096, 4096)));
    let told = text(trace(&["analyze"], "a.csv", &trace_bytes));
    let doubt = told.find("500 requests have no completion times").expect("the doubt");
    assert!(doubt < told.find("Requests: 500").expect("the numbers"), "{told}");
    for absent in ["0 ns", "idle", "Response times", "Queue lengths", "99 % within", "elapsed time"]
    {
        assert!(
            !told[told.find("Requests:").expect("numbers")..]
                .split("\nWarnings")
                .next()
                .is_some_and(|tables| tables.contains(absent)),
            "{absent}: {told}"
        );
    }
    let found = summary(&[], "a.csv", &trace_bytes);
    for key in ["response_times", "latency_map"] {
        assert!(found[key].is_null(), "{key}");
    }
    for key in ["queue_length", "idle_frac", "idle_time_frac", "in_flight_mean"] {
        assert!(found["disks"][0].get(key).is_none(), "{key}");
    }
}

#[test]
fn of_many_volumes_the_busiest_are_followed_and_listed_first() {
    let one_each = (0..2000).map(|n| (n, 'W', 0, 4096));
    let last = (0..300).map(|n| (1999, 'R', n * 8192, 8192));
    let bytes = alibaba(one_each.chain(last));
    for by in ["disk", "partition"] {
        let told = text(trace(&["analyze", "--by", by], "many.csv", &bytes));
        let table = told.split("Load by").nth(1).expect("the load");
        let first = table.lines().find(|line| line.contains("device")).expect("a row");
        assert!(first.contains("device 1999") && first.contains("301"), "{first}");
        assert!(table.contains("and 1976 more"), "{table}");
        let placement = told.split("Placement").nth(1).expect("the placement");
        assert!(placement.contains("device 1999") && placement.contains("and 1976 more"), "{told}");
    }
    let found = summary(&[], "many.csv", &bytes);
    let disks = found["disks"].as_array().expect("disks");
    let busiest = disks.iter().find(|disk| disk["name"] == "device 1999").expect("it is followed");
    assert_eq!(busiest["load"]["ios"], 301);
    assert_eq!(found["partitions"].as_array().map(Vec::len), Some(2000));
}

#[test]
fn caches_and_sets_have_aligned_blocks_and_the_papers_rule_is_on_demand() {
    // 8 KiB each, one behind the other, half a block off: an aligned cache of 8 KiB blocks is hit by every second block.
    let bytes = alibaba((0..1000).map(|n| (0, 'W', 4096 + n * 8192, 8192)));
    let aligned = summary(&[], "a.csv", &bytes);
    let request = summary(&["--block-align", "request"], "a.csv", &bytes);
    assert_eq!(aligned["working_set"]["bytes"], 1001 * 8192);
    assert_eq!(request["working_set"]["bytes"], 1000 * 8192);
    let last = |found: &Value| {
        found["miss_ratio"]["curves"][0]["points"]
            .as_array()
            .expect("points")
            .last()
            .cloned()
            .expect("one")[1]
            .clone()
    };
    assert_eq!((last(&aligned), last(&request)), (Value::from(1001.0 / 2000.0), Value::from(1.0)));
    // Figures 12 and 13 are the paper's in both.
    for key in ["overwrites", "popularity"] {
        assert_eq!(aligned[key], request[key], "{key}");
    }
    let done = trace(&["analyze", "--block-align", "sideways"], "a.csv", &bytes).code(2);
    let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(told.contains("one of aligned, request"), "{told}");
}

#[test]
fn a_sampled_miss_ratio_states_where_the_exact_one_lies() {
    let place = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let bytes = alibaba((0..60_000).map(|n| (0, 'R', place(n) % 30_000 * 8192, 8192)));
    let found = summary(&[], "a.csv", &bytes);
    let [exact, sampled] = [0, 1].map(|n| found["miss_ratio"]["curves"][n].clone());
    assert_eq!((&exact["one_in"], &sampled["one_in"]), (&Value::from(1), &Value::from(16)));
    assert!(exact.get("interval90").is_none());
    let points = |of: &Value, key: &str| of[key].as_array().expect("points").clone();
    let truth = points(&exact, "points");
    for (point, interval) in points(&sampled, "points").iter().zip(points(&sampled, "interval90")) {
        let truth = truth.iter().find(|p| p[0] == point[0]).expect("the same size")[1].as_f64();
        let [low, high] = [0, 1].map(|n| interval[n].as_f64());
        assert!(low <= truth && truth <= high, "{point}: {interval}, {truth:?}");
    }
}
