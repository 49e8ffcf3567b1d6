//! `ioscape trace` says what it knows and no more: what a trace does not record is absent, and is
//! said first.

use assert_cmd::Command;
use serde_json::Value;
use std::fmt::Write as _;

/// Runs `ioscape trace` with these arguments on the trace `bytes`, in a directory of its own.
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

/// Requests in Alibaba's format, which records no completions: device, operation, offset, length.
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
    assert!(told.contains("requests have no response times: process_num"), "{told}");
}

#[test]
fn times_that_a_trace_does_not_tell_are_absent_and_that_is_said_first() {
    let trace_bytes =
        alibaba((0..500).map(|n| (0, if n % 2 == 0 { 'R' } else { 'W' }, n * 4096, 4096)));
    let told = text(trace(&["analyze"], "a.csv", &trace_bytes));
    let doubt = told.find("500 requests have no response times").expect("the doubt");
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
    // Consecutive 8 KiB requests, half a block off: every second aligned block is a hit.
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
    // Figures 12 and 13 are the paper's with either alignment.
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

/// Requests in SYSTOR '17's format, one millisecond apart; every fifth has no response.
fn systor() -> Vec<u8> {
    let mut text = String::new();
    for at in 0..500 {
        let took = if at % 5 == 0 { "" } else { "0.0002" };
        let _ = writeln!(
            text,
            "1455592{:03}.{:06},{took},R,0,{},4096",
            100 + at / 1000,
            at % 1000 * 1000,
            at * 8192
        );
    }
    text.into_bytes()
}

#[test]
fn requests_without_a_response_are_in_no_time_and_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("t.csv");
    std::fs::write(folder.path().join("s.csv"), systor()).expect("the trace is written");
    let mut import = Command::cargo_bin("ioscape").expect("the command is built");
    import.current_dir(folder.path()).args(["trace", "import", "s.csv", "-o", "t.csv"]);
    import.assert().success();
    let rows = std::fs::read(csv).expect("rows");
    for (name, bytes) in [("s.csv", systor()), ("t.csv", rows)] {
        let found = summary(&[], name, &bytes);
        let doubt = found["warnings"][0]["message"].as_str().expect("a doubt");
        assert!(doubt.starts_with("100 of 500 requests have no response time"), "{doubt}");
        let times = &found["response_times"]["all"];
        assert_eq!((&times["elapsed_ns"]["count"], times.get("physical_ns")), (&400.into(), None));
        assert_eq!(times["elapsed_ns"]["min"], 200_000.0);
        assert!(found["disks"][0].get("queue_length").is_none(), "a fifth lacks its response");
        let told = text(trace(&["analyze"], name, &bytes));
        assert!(
            told.contains("! the format systor does not tell when requests were issued"),
            "{told}"
        );
        assert!(
            told.find("! 100 of 500").expect("it is first")
                < told.find("Requests:").expect("numbers")
        );
    }
}

#[test]
fn what_a_trace_of_objects_does_not_tell_is_absent() {
    let mut bytes = Vec::new();
    for at in 0..2000u64 {
        bytes.extend((1_000_000 + at as u32 / 50).to_le_bytes());
        bytes.extend((at * 31 % 400).to_le_bytes());
        bytes.extend(4096u32.to_le_bytes());
        bytes.extend((-1i64).to_le_bytes());
    }
    let told = text(trace(&["analyze"], "o.oracleGeneral", &bytes));
    let numbers = told.find("Requests:").expect("numbers");
    assert!(told.find("! the format does not tell what reads").expect("a doubt") < numbers);
    let tables = told[numbers..].split("\nWarnings").next().expect("tables");
    for untold in [
        "% of them reads",
        "reads  ",
        "within 1 ms",
        "between arrivals",
        "Placement",
        "Alignment",
        "0 ns",
    ] {
        assert!(!tables.contains(untold), "{untold}: {told}");
    }
    let found = summary(&[], "o.oracleGeneral", &bytes);
    for key in ["inter_arrival_ns", "distances", "sequential", "alignment", "address_maps"] {
        assert!(found.get(key).is_none(), "{key}: {found}");
    }
    let windows = found["burstiness"]["dispersion"].as_array().expect("windows of a second");
    assert!(windows.iter().all(|one| one[0].as_u64() >= Some(1_000_000_000)), "{windows:?}");
    assert!(found["miss_ratio"]["curves"][0]["points"][0][1].as_f64() > Some(0.0));
}

#[test]
fn zeros_of_an_older_result_are_left_out_when_it_is_opened() {
    let requests = alibaba((0..500).map(|n| (0, 'R', n * 8192, 4096)));
    let done = trace(&["analyze", "--json"], "a.csv", &requests).success();
    let mut document: Value =
        serde_json::from_slice(&done.get_output().stdout).expect("a document");
    let zeros = serde_json::json!({
        "io_type": "unknown", "op": "read", "ios": 500, "bytes": 2_048_000, "sync": 0, "async": 0, "raw": 0
    });
    document["trace_summary"]["types"] = Value::Array(vec![zeros]);
    document["warnings"] = Value::Array(Vec::new());
    document["trace_summary"]["warnings"] = Value::Array(Vec::new());
    let folder = tempfile::tempdir().expect("a folder");
    let old = folder.path().join("old.json");
    std::fs::write(&old, document.to_string()).expect("the result is written");
    let mut report = Command::cargo_bin("ioscape").expect("the command is built");
    let told = text(report.arg("report").arg(&old).assert());
    assert!(
        !told.contains("flagged") && told.contains("! the format alibaba does not tell"),
        "{told}"
    );
}
