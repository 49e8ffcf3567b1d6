//! `ioscape trace analyze --state` and `trace merge` from the outside: the parts of a trace give
//! the result of the whole.

use super::common::program;
use super::trace_analysis::lines;
use serde_json::Value;
use std::path::Path;

/// Writes [`lines`] as a whole, in files of 1000, and by volume.
fn traces(folder: &Path) {
    let lines = lines();
    let file = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).expect("the trace is written");
    };
    file("all.csv", lines.concat());
    for (at, lines) in lines.chunks(1000).enumerate() {
        file(&format!("{at}.csv"), lines.concat());
    }
    for volume in ["host,0", "host,1"] {
        let name = format!("{}.csv", volume.replace(',', "-"));
        let of_volume = lines.iter().filter(|line| line.contains(volume));
        file(&name, of_volume.map(String::as_str).collect());
    }
}

fn ioscape(folder: &Path, words: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = program();
    command.current_dir(folder).arg("trace").args(words).assert()
}

fn summary(folder: &Path, words: &[&str]) -> Value {
    let done = ioscape(folder, words).success();
    let document: Value = serde_json::from_slice(&done.get_output().stdout).expect("one document");
    document["trace_summary"].clone()
}

fn state(folder: &Path, words: &[&str], name: &str) {
    let words = [&["analyze", "--json", "--state", name], words].concat();
    ioscape(folder, &words).success();
}

#[test]
fn stretches_of_one_file_give_its_result_and_can_be_merged_in_steps() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    traces(folder);
    let whole = summary(folder, &["analyze", "--json", "all.csv"]);
    assert_eq!(whole["warnings"][1]["where"], "types");
    state(folder, &["all.csv", "--from", "0h", "--to", "1s"], "a");
    state(folder, &["all.csv", "--from", "1s", "--to", "3s", "--threads", "1"], "b");
    state(folder, &["all.csv", "--from", "3s"], "c");
    assert_eq!(summary(folder, &["merge", "--json", "c", "a", "b"]), whole);
    ioscape(folder, &["merge", "c", "b", "--state", "bc"]).success();
    assert_eq!(summary(folder, &["merge", "--json", "bc", "a"]), whole);
    let gap = ioscape(folder, &["merge", "a", "c"]).success();
    let text = String::from_utf8_lossy(&gap.get_output().stdout).into_owned();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("no part holds the time from 1 s to 3 s"), "{text}");
}

#[test]
fn files_of_a_time_and_of_a_disk_give_the_result_of_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    traces(folder);
    let mut whole = summary(folder, &["analyze", "--json", "all.csv"]);
    for name in ["0", "1", "2", "host-0", "host-1"] {
        state(folder, &[&format!("{name}.csv")], name);
    }
    let mut merged = summary(folder, &["merge", "--json", "2", "0", "1"]);
    assert_eq!(merged["name"], "0.csv, 1.csv, 2.csv");
    merged["name"] = whole["name"].clone();
    assert_eq!(merged, whole);
    let mut merged = summary(folder, &["merge", "--json", "host-1", "host-0"]);
    assert_eq!(merged["warnings"][1]["where"], "types");
    assert_eq!(merged["warnings"][2]["where"], "inter_arrival_ns, burstiness, miss_ratio");
    for key in ["name", "inter_arrival_ns", "burstiness", "miss_ratio"] {
        merged[key] = whole[key].clone();
    }
    for summary in [&mut merged, &mut whole] {
        summary.as_object_mut().expect("an object").remove("warnings");
    }
    assert_eq!(merged, whole);
}

#[test]
fn what_does_not_belong_together_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    traces(folder);
    state(folder, &["0.csv"], "0");
    state(folder, &["1.csv", "--block", "4k"], "1");
    state(folder, &["host-0.csv"], "host-0");
    let whole = std::fs::read(folder.join("0")).expect("it was written");
    std::fs::write(folder.join("cut"), &whole[..whole.len() / 2]).expect("a file");
    for (parts, told) in [
        (["0", "1"], "were not analyzed alike"),
        (["0", "host-0"], "both hold requests to host_0"),
        (["0", "0"], "both hold requests to host_0"),
        (["0", "cut"], "cut is damaged or cut off"),
        (["0", "all.csv"], "all.csv is not the state of an analysis"),
    ] {
        let done = ioscape(folder, &["merge", parts[0], parts[1]]).code(2);
        let text = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(text.contains(told) && text.lines().count() == 1, "{text}");
    }
    // A state may replace a state, and nothing else.
    state(folder, &["1.csv"], "0");
    ioscape(folder, &["analyze", "0.csv", "--state", "1.csv"]).code(2);
}
