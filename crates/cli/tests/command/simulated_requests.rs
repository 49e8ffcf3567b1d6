//! Single requests of a simulated trace: flushes, requests whose recorded times include a queue,
//! and requests of traces that do not record everything; and limits of a simulated drive that few
//! requests reach.

use crate::common::started::Started;
use crate::common::{path, run};
use crate::trace_analysis::peak_kib;
use ioscape_schema::{Document, WarningKind};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The document of a simulation.
fn told(trace: &Path, options: &[&str]) -> Document {
    let ran = run(&[&["simulate", path(trace), "--json"], options].concat()).ended(0);
    serde_json::from_str(&ran.out).expect("a document")
}

/// A file of these lines.
fn file(folder: &Path, name: &str, lines: &[String]) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, lines.join("\n") + "\n").expect("a trace can be written");
    file
}

#[test]
fn a_flush_among_requests_with_recorded_times_is_simulated_and_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [
        "queued_ns,issued_ns,completed_ns,device,is_write,offset_bytes,length_bytes,flags",
        "0,0,10000000,0,1,4096000,4096,",
        "20000000,20000000,25000000,0,1,0,0,flush",
        "40000000,40000000,50000000,0,0,8192000,4096,",
    ];
    let trace = file(folder.path(), "flushed.csv", &lines.map(str::to_owned));
    let rows = folder.path().join("rows.csv");
    told(&trace, &["--drive", "generic-hdd", "--rows", path(&rows)]);
    let again = told(&rows, &["--drive", "generic-hdd"]);
    let agreement = again.simulation().and_then(|s| s.agreement.as_ref()).expect("an agreement");
    assert_eq!((agreement.requests, agreement.demerit), (3, 0.0));
}

#[test]
fn what_a_trace_does_not_tell_is_said_with_its_simulation() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines: Vec<String> = (0..10).map(|n| format!("1538323200,{},8,0,7", n * 800)).collect();
    let seconds = file(folder.path(), "tencent.csv", &lines);
    let doubt = "{\"slow requests alone\":\"1 of 100 requests is in the trace\"}";
    let lines = [
        format!("# ioscape trace {{\"format\":\"recorded\",\"devices\":[],\"notes\":{doubt}}}"),
        "queued_ns,is_write,offset_bytes,length_bytes".to_owned(),
        "0,0,4096,4096".to_owned(),
    ];
    let slow = file(folder.path(), "slow.csv", &lines);
    for (trace, options, kind, words) in [
        (&seconds, &["--format", "tencent"][..], WarningKind::TimesUnknown, "without time between"),
        (&slow, &[][..], WarningKind::RequestsLeftOut, "these alone are the load"),
    ] {
        let told = told(trace, &[options, &["--drive", "generic-hdd"]].concat());
        let is_said = told.warnings.iter().any(|w| w.kind == kind && w.message.contains(words));
        assert!(is_said, "{words}: {:?}", told.warnings);
    }
}

#[test]
fn response_times_with_a_queue_are_not_called_physical() {
    let folder = tempfile::tempdir().expect("a folder");
    // Two reads at a time on a disk that takes 10 ms for each, in MSR's format.
    let line = |n: u64| {
        let time = 128_166_372_000_000_000 + n / 2 * 10_000_000;
        format!("{time},host,0,Read,{},8192,{}", n * 7919 % 3000 * 8192, (n % 2 + 1) * 100_000)
    };
    let trace = file(folder.path(), "host_0.csv", &(0..80).map(line).collect::<Vec<_>>());
    let found = told(&trace, &["--drive", "hp-c2200a"]);
    assert_eq!(found.simulation().expect("a simulation").agreement, None);
    let doubt = found.warnings.iter().find(|warning| warning.place == "agreement");
    let doubt = doubt.expect("why nothing is compared");
    assert!(doubt.message.contains("80 requests that met others"), "{doubt}");
    let shown = run(&["simulate", path(&trace), "--drive", "hp-c2200a"]).ended(0).out;
    assert!(!shown.contains("Recorded physical times"), "{shown}");
}

#[test]
fn drives_that_few_requests_reach_take_little_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::from("queued_ns,device,is_write,offset_bytes,length_bytes\n");
    for n in 0..1000u64 {
        let offset = n * 61_234_567_891 % 15_000_000_000 * 4096;
        let _ = writeln!(text, "{},0,0,{offset},4096", n * 1_000_000);
    }
    let trace = folder.path().join("wide.csv");
    std::fs::write(&trace, text).expect("a trace can be written");
    let result = folder.path().join("r.json");
    let words = ["simulate", path(&trace), "--threads", "1", "-o", path(&result)];
    let drives = ["--drive", "generic-ssd", "--array", "raid0:64"];
    let started = Started::of(&[&words[..], &drives].concat());
    let peak = peak_kib(started.0.id());
    started.end().ended(0);
    assert!((1..=300 << 10).contains(&peak), "{peak} KiB");
}
