//! `ioscape characterize` as its user sees it: which output goes where, exit codes, and results
//! that can be run again.

use super::common::started::{Started, signal};
use super::common::{Ran, program, skipped};
use assert_cmd::Command;
use ioscape_schema::{Access, Document, Ending, OperationTraits, SizeDistribution, Stop, Workload};
use predicates::prelude::*;
use std::path::Path;

fn ioscape(folder: &Path) -> Command {
    let mut command = program();
    command.current_dir(folder);
    command
}

fn folder_with(bytes: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("in"), vec![b'x'; bytes]).expect("a file");
    folder
}

#[test]
fn a_copy_is_what_it_is_known_to_be() {
    let folder = folder_with(4 << 20);
    let copy = ["dd", "if=in", "of=out", "bs=64k", "conv=fsync", "status=none"];
    // Another locale would make it map its files.
    let output = ioscape(folder.path())
        .env("LC_ALL", "C")
        .args(["characterize", "--below", ".", "--json", "-o", "a.ioscape.json", "--"])
        .args(copy)
        .assert()
        .success()
        .get_output()
        .clone();
    let saved = std::fs::read(folder.path().join("a.ioscape.json")).expect("the result");
    assert_eq!(saved, output.stdout, "one document in both places");
    let document: Document = serde_json::from_slice(&saved).expect("a document");
    let found = document.characterization().expect("what was asked for");
    let overall = &found.overall;
    assert_eq!((overall.requests, overall.bytes, overall.syncs), (128, 8 << 20, 1));
    assert_eq!((overall.unique_bytes, overall.size_mean), (8 << 20, 65_536));
    assert_eq!((overall.read_frac, overall.process_num), (0.5, 1));
    assert_eq!(overall.seq_frac, 126.0 / 127.0, "but for the first write");
    assert_eq!(overall.size_distribution, SizeDistribution::Fixed);
    assert_eq!(overall.access, Access::Buffered);
    assert_eq!((found.files.len(), found.processes.len()), (2, 1));
    assert_eq!(found.files.iter().map(|file| file.traits.seq_frac).sum::<f64>(), 2.0);
    assert_eq!(found.ending, Some(Ending::Exit(0)));

    let pattern = found.pattern.as_ref().expect("the requests in detail");
    assert_eq!((pattern.requests(), pattern.bytes()), (128, 8 << 20));
    assert_eq!((pattern.unique_bytes, pattern.unique_write_bytes), (8 << 20, 4 << 20));
    assert!(pattern.memory_bytes.is_some_and(|bytes| bytes > 65_536));
    assert!(pattern.classes.iter().all(|class| class.missed(1e12) == 1.0), "all is new");

    // It ends with its last phase, and never takes as long.
    let run = ["run", ".", "a.ioscape.json", "--seconds", "60s", "--json"];
    let output = ioscape(folder.path()).args(run).assert().success().get_output().clone();
    let again: Document = serde_json::from_slice(&output.stdout).expect("a document");
    let measured = &again.measurements().expect("a run")[0];
    let own = measured.workload.by_operation.clone().expect("reads and writes apart");
    let alike = OperationTraits { sizes: vec![(65_536, 1.0)], seq_frac: 63.0 / 64.0 };
    assert_eq!((&own.read, &own.write, own.change_frac), (&alike, &alike, 1.0));
    let summary = Workload { by_operation: None, ..measured.workload.clone() };
    assert_eq!(summary.without_phases(), overall.workload());
    let once = overall.bytes..=overall.bytes + 65_536;
    assert!(measured.stop == Stop::PhasesOver && once.contains(&measured.bytes), "{measured:?}");
    let memory_bytes = measured.workload.memory_bytes;
    assert!(memory_bytes.is_some() && memory_bytes == pattern.memory_bytes);
    assert_eq!(measured.workload.phases.len(), found.phases.len());
    let moved: u64 = found.phases.iter().map(|phase| phase.bytes).sum();
    assert_eq!(moved, overall.bytes, "{:?}", found.phases);
    assert_eq!(measured.name.as_deref(), Some("dd"));
}

#[test]
fn requests_on_a_ring_are_seen() {
    let folder = folder_with(1);
    let own = assert_cmd::cargo::cargo_bin("ioscape").display().to_string();
    let of_ring = ["--engine", "io_uring", "--queue-depth", "4", "--size-dist", "fixed"];
    let workload = ["--unique-bytes", "1M", "--size-mean", "8k", "--read-frac", "0.7"];
    let run = [&["run", ".", "--seconds", "300ms", "--json"][..], &of_ring, &workload].concat();
    let alone = ioscape(folder.path()).args(&run).output().expect("it runs");
    let told = String::from_utf8_lossy(&alone.stderr);
    if alone.status.code() == Some(2) && told.contains("io_uring") {
        return skipped(&told);
    }
    assert!(alone.status.success(), "{told}");
    let found = ioscape(folder.path())
        .args(["characterize", "--below", ".", "--json", "-o", "a.ioscape.json", "--", &own])
        .args(&run)
        .assert()
        .success();
    let found: Document = serde_json::from_slice(&found.get_output().stdout).expect("a document");
    let overall = &found.characterization().expect("what was asked for").overall;
    let laid_out = 1u64 << 20;
    let requests = ((overall.bytes - laid_out) / 8192) as f64;
    assert!(requests > 100.0, "{overall:?}");
    // The set is laid out page by page, or all at once where requests are expensive.
    let before = overall.requests as f64 - requests;
    let pages = laid_out as f64 / ioscape_machine::cache::page_size() as f64;
    assert!([1.0, pages].iter().any(|laid| (before - laid).abs() < 4.0), "{overall:?}");
    let (reads, chance) =
        (overall.read_frac * overall.requests as f64, (0.7 * 0.3 / requests).sqrt());
    assert!((reads / requests - 0.7).abs() < 5.0 * chance + 4.0 / requests, "{overall:?}");
    assert_eq!(overall.unique_bytes, 1 << 20);
    let unseen = |kind| kind == ioscape_schema::WarningKind::CallsUnseen;
    assert!(!found.warnings.iter().any(|doubt| unseen(doubt.kind)), "{:?}", found.warnings);
}

#[test]
fn standard_output_belongs_to_the_command() {
    let folder = folder_with(10);
    ioscape(folder.path())
        .args(["characterize", "--", "cat", "in", "-"])
        .write_stdin("from outside")
        .assert()
        .success()
        .stdout("xxxxxxxxxxfrom outside")
        .stderr(predicate::str::contains("--unique-bytes"));
    let output = ioscape(folder.path())
        .args(["characterize", "--json", "--", "cat", "in"])
        .assert()
        .success()
        .stderr("xxxxxxxxxx")
        .get_output()
        .clone();
    serde_json::from_slice::<Document>(&output.stdout).expect("the document alone");
    let output = ioscape(folder.path())
        .args(["characterize", "-o", "-", "--", "cat", "in"])
        .assert()
        .success()
        .stderr(predicate::str::contains("xxxxxxxxxx").and(predicate::str::contains("--unique-")))
        .get_output()
        .clone();
    serde_json::from_slice::<Document>(&output.stdout).expect("the document alone");
}

#[test]
fn who_wants_nothing_but_the_commands_own_output_gets_that() {
    let folder = folder_with(10);
    ioscape(folder.path())
        .args(["-q", "characterize", "-o", "a.ioscape.json", "--", "cat", "in"])
        .assert()
        .success()
        .stdout("xxxxxxxxxx")
        .stderr("");
    assert!(folder.path().join("a.ioscape.json").exists());
}

#[test]
fn a_result_that_would_go_nowhere_is_refused_before_the_command_runs() {
    let folder = folder_with(10);
    ioscape(folder.path())
        .args(["-q", "characterize", "--", "touch", "ran"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(predicate::str::contains("--quiet").and(predicate::str::contains("-o")));
    assert!(!folder.path().join("ran").exists());
}

#[test]
fn the_commands_end_is_passed_on() {
    let folder = folder_with(10);
    let run = |line: &str| {
        let mut command = ioscape(folder.path());
        command.args(["characterize", "--", "sh", "-c", line]).assert()
    };
    run("cat in; exit 3").code(3).stderr(predicate::str::contains("exit code 3"));
    run("kill -KILL $$").code(137).stderr(predicate::str::contains("signal 9"));
    ioscape(folder.path())
        .args(["characterize", "--", "ioscape-no-such-program"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(
            predicate::str::contains("no such program")
                .and(predicate::str::contains("\n").count(1)),
        );
    ioscape(folder.path()).args(["characterize"]).assert().code(2);
    ioscape(folder.path())
        .args(["characterize", "--below", "nowhere", "--", "true"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("nowhere"));
}

#[test]
fn results_of_another_kind_are_no_workload() {
    let folder = folder_with(10);
    std::fs::write(folder.path().join("b.json"), r#"{"schema": "fio"}"#).expect("a file");
    ioscape(folder.path()).args(["run", ".", "b.json"]).assert().code(2);
    ioscape(folder.path())
        .args(["run", ".", "--unique-bytes", "64k", "--size-mean", "4k", "--seconds", "100ms"])
        .args(["-o", "c.ioscape.json"])
        .assert()
        .success();
    ioscape(folder.path())
        .args(["run", ".", "c.ioscape.json"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("characterizes no application"));
}

/// Runs a shell line in `folder`; signals the command once the file `ready` exists there.
fn signalled(folder: &Path, line: &str, name: &str) -> Started {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("ioscape"));
    command.args(["characterize", "--json", "--below", ".", "--", "sh", "-c", line]);
    command.current_dir(folder);
    let started = Started::spawn(command).until(|_| folder.join("ready").exists());
    signal(started.0.id(), name);
    started
}

/// The outcome of an interruption.
fn interrupted(folder: &Path, line: &str) -> Ran {
    signalled(folder, line, "INT").end().ended(130)
}

#[test]
fn an_interruption_keeps_what_was_seen() {
    let folder = folder_with(10);
    let ran = interrupted(folder.path(), "cat in; echo ready > ready; exec sleep 1000");
    let document: Document = serde_json::from_str(&ran.out).expect("a document");
    assert!(document.interrupted);
    let found = document.characterization().expect("what was seen");
    assert!(found.files.iter().any(|file| file.path.ends_with("/in") && file.traits.bytes == 10));
}

#[test]
fn an_interrupted_command_has_the_time_that_it_needs_to_end() {
    let folder = folder_with(10);
    let line = "trap 'sleep 4; echo saved > saved; exit 0' INT; echo ready > ready; \
                for i in $(seq 600); do sleep 0.1; done";
    let ran = interrupted(folder.path(), line).says(&["waiting for sh (process ", "Ctrl-C again"]);
    assert!(folder.path().join("saved").exists(), "it was killed");
    let document: Document = serde_json::from_str(&ran.out).expect("a document");
    let found = document.characterization().expect("what was seen");
    assert_eq!((document.interrupted, found.ending), (true, Some(Ending::Exit(0))));
    assert!(found.files.iter().any(|file| file.path.ends_with("/saved")));
}

#[test]
fn a_second_interruption_kills_what_is_left_and_keeps_what_was_seen() {
    let folder = folder_with(10);
    let line = "trap '' INT TERM; cat in; echo ready > ready; for i in $(seq 90); do sleep 1; done";
    let mut started = signalled(folder.path(), line, "INT");
    started.listen_until(|said| said.contains("Ctrl-C again kills"));
    signal(started.0.id(), "INT");
    let ran = started.end().ended(130);
    let document: Document = serde_json::from_str(&ran.out).expect("a document");
    let found = document.characterization().expect("what was seen");
    assert_eq!((document.interrupted, found.ending), (true, Some(Ending::Signal(9))));
    assert!(found.files.iter().any(|file| file.path.ends_with("/in") && file.traits.bytes == 10));
}

/// SIGHUP makes many servers reload their configuration instead of ending.
#[test]
fn a_command_is_asked_to_end_as_we_are() {
    for (name, heard) in [("INT", "INT"), ("TERM", "TERM"), ("HUP", "TERM")] {
        let folder = folder_with(10);
        let line = "for name in INT TERM HUP; do trap \"echo x > $name; exit 0\" $name; done; \
                    echo ready > ready; for i in $(seq 600); do sleep 0.1; done";
        signalled(folder.path(), line, name).end().ended(130);
        let all = ["INT", "TERM", "HUP"].map(|one| folder.path().join(one).exists());
        assert_eq!(all, ["INT", "TERM", "HUP"].map(|one| one == heard), "{name}");
    }
}
