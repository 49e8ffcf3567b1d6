//! `ioscape trace` on a small trace of our own: its result, its page, its workloads, and misuse.

use super::common::started::Started;
use super::common::{path, program, read};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// 3000 requests in the format of MSR Cambridge, on two volumes of one host, one per line.
pub(super) fn lines() -> Vec<String> {
    let line = |i: u64| {
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let (time, disk) = (128_166_372_000_000_000 + i * 12_345, x & 1);
        let op = if x % 10 < 4 { "Read" } else { "Write" };
        let (offset, size, took) = ((x >> 8) % 700 * 8192, 4096 << (x % 3), 1000 + x % 50_000);
        format!("{time},host,{disk},{op},{offset},{size},{took}\n")
    };
    (0..3000).map(line).collect()
}

/// The same in a file.
fn trace(folder: &Path) -> PathBuf {
    let path = folder.join("host.csv");
    std::fs::write(&path, lines().concat()).expect("the trace is written");
    path
}

fn ioscape(words: &[&str], trace: &Path) -> assert_cmd::assert::Assert {
    let mut command = program();
    command.arg("trace").args(words).arg(trace).assert()
}

fn document(words: &[&str], trace: &Path) -> Value {
    let done = ioscape(words, trace).success();
    serde_json::from_slice(&done.get_output().stdout).expect("standard output is one document")
}

#[test]
fn a_trace_is_analysed_the_same_by_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let alone = document(&["analyze", "--json", "--threads", "1"], &trace);
    let summary = &alone["trace_summary"];
    assert_eq!(summary["ios"], 3000);
    assert_eq!(summary["disks"].as_array().map(Vec::len), Some(2));
    assert_eq!(summary["name"], "host.csv");
    let shared = document(&["analyze", "--json", "--threads", "3"], &trace);
    assert_eq!(&shared["trace_summary"], summary);
    let early = document(&["analyze", "--json", "--to", "1s", "--disk", "1"], &trace);
    let ios = early["trace_summary"]["ios"].as_u64().unwrap_or(0);
    assert!(ios > 0 && ios < 1000, "{ios}");
}

#[test]
fn the_page_and_the_text_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let page = folder.path().join("page.html");
    let page_name = page.to_str().expect("a name");
    let done = ioscape(&["analyze", "--html", page_name, "--by", "disk"], &trace).success();
    let text = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert!(
        text.contains("Load by disk") && text.contains("Compared with Ruemmler and Wilkes"),
        "{text}"
    );
    let page = std::fs::read_to_string(&page).expect("the page is there");
    assert!(page.contains("figure-miss-ratio"));
}

#[test]
fn what_a_format_does_not_tell_of_types_is_absent_also_from_its_parquet() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let packed = folder.path().join("host.parquet");
    let packed_name = packed.to_str().expect("a name");
    ioscape(&["import", "-o", packed_name], &trace).success();
    for trace in [&trace, &packed] {
        let done = ioscape(&["analyze"], trace).success();
        let text = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let issue = "! the format msr does not tell when requests were issued to the device";
        assert!(words.contains(issue), "{text}");
        assert!(!text.contains("physical  ") && !text.contains("physical time"), "{text}");
        let first = "! the format msr does not tell which requests are synchronous, asynchronous or raw, nor what blocks hold: the table of types is left out Format: ";
        assert!(words.contains(first) && words.contains("Requests: 3k, 40 %"), "{text}");
        for untold in ["\nTypes", "flagged", "metadata"] {
            assert!(!text.contains(untold), "{untold}: {text}");
        }
        let summary = &document(&["analyze", "--json"], trace)["trace_summary"];
        assert_eq!(summary.get("types"), None);
        assert_eq!(summary["warnings"][1]["kind"], "types_unknown");
        assert_eq!(summary["response_times"]["all"].get("physical_ns"), None);
    }
}

#[test]
fn a_trace_becomes_workloads_that_run_takes() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let jobs = folder.path().join("jobs.toml");
    let name = jobs.to_str().expect("a name");
    let found = document(&["characterize", "--json", "--window", "1s", "--jobs", name], &trace);
    let overall = &found["trace_characterization"]["overall"];
    assert_eq!(overall["requests"], 3000);
    let read_frac = overall["read_frac"].as_f64().expect("a fraction");
    assert!((0.35..0.45).contains(&read_frac));
    let text = std::fs::read_to_string(&jobs).expect("the job file is there");
    let jobs: toml::Table = text.parse().expect("it is TOML");
    // The whole, two disks, and four windows of one second.
    assert_eq!(jobs["job"].as_array().map(Vec::len), Some(7));
}

#[test]
fn misuse_is_told_in_a_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    for (words, hint) in [
        (&["analyze", "--disk", "nowhere"][..], "no such disk"),
        (&["analyze", "--from", "1h"], "--from"),
        (&["analyze", "--by", "colour"], "partition"),
        (&["analyze", "--threads", "0"], "--threads"),
        (&["analyze", "--memory", "1M"], "at least 256M"),
        (&["analyze", "--interleave", "1M"], "give 0, or whole KiB up to 256k"),
        (&["analyze", "--interleave", "512"], "give 0, or whole KiB up to 256k"),
        (&["characterize", "--format", "nonsense"], "--format"),
    ] {
        let done = ioscape(words, &trace).code(2);
        let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(told.contains(hint), "{words:?}: {told}");
    }
    for interleave in ["0", "16k", "256k"] {
        ioscape(&["analyze", "--interleave", interleave], &trace).success();
    }
    ioscape(&["analyze"], &folder.path().join("missing")).code(2);
    ioscape(&["analyze"], folder.path()).code(2);
}

/// The most memory that a process used besides its program, in KiB, observed until it ends.
pub(super) fn peak_kib(process: u32) -> u64 {
    let mut peak = 0;
    loop {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let kib = |name: &str| {
            let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
            rest.trim().trim_end_matches(" kB").parse::<u64>().ok()
        };
        let Some(most) = kib("VmHWM:") else { return peak };
        peak = peak.max(most - kib("RssFile:").unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn memory_is_bounded_whatever_the_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let (trace, result) = (folder.path().join("host.csv"), folder.path().join("r.json"));
    // 33 million blocks of 512 bytes: too many for the table's memory although neighbours are alike.
    let line = |i: u64| {
        let (time, offset) = (128_166_372_000_000_000 + i * 1_000_000, i << 22);
        format!("{time},host,0,Write,{offset},{},1000\n", 4 << 20)
    };
    std::fs::write(&trace, (0..4000).map(line).collect::<String>()).expect("the trace is written");
    let words = ["trace", "analyze", "--block", "512", "--memory", "256M", "--force"];
    for threads in ["1", "8"] {
        let more = ["-o", path(&result), "--threads", threads, path(&trace)];
        let started = Started::of(&[&words[..], &more].concat());
        let peak = peak_kib(started.0.id());
        started.end().ended(0);
        assert!(peak <= 256 << 10, "{peak} KiB with {threads} threads");
        assert!(read(&result).contains("one block in"), "how it was sampled is said");
    }
}
