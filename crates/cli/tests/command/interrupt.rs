//! Interruptions: finished results are kept, nothing is left behind, and an evaluation continues
//! where it was.

use crate::common::started::{Started, children, signal};
use crate::common::{scratch_files, skipped};
use crate::faults::two_jobs;
use assert_cmd::cargo::cargo_bin;
use ioscape_schema::{Document, Stop, WarningKind};
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The longest wait for a process that is certain to get there.
const PATIENCE: Duration = Duration::from_secs(600);

fn evaluate(folder: &Path, result: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("ioscape"));
    command
        .arg("evaluate")
        .arg(folder)
        .args(["--budget", "30s", "--max-unique-bytes", "32M", "-o"])
        .arg(result)
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(super) fn read(path: &Path) -> Option<Document> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

fn probes(document: &Document) -> usize {
    document.evaluation().map_or(0, |e| e.probes.len())
}

/// Waits until the result file holds some probes.
fn wait_for_probes(child: &mut Child, result: &Path) -> usize {
    let begun = Instant::now();
    loop {
        if let Some(count) = read(result).map(|d| probes(&d)).filter(|&c| c >= 3) {
            return count;
        }
        let ended = child.try_wait().expect("the child can be asked");
        assert!(ended.is_none() && begun.elapsed() < PATIENCE, "no result was saved: {ended:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Guards against a signal that is heeded only while the trace is read: a full queue takes minutes.
#[test]
fn an_overloaded_simulation_ends_when_it_is_told_to() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let trace = folder.path().join("t.csv");
    let row = |n: u64| format!("{},0,{},4096\n", n * 1000, n * 7919 % 1_000_003 * 4_096_000);
    let rows: String = (0..300_000).map(row).collect();
    std::fs::write(&trace, format!("queued_ns,is_write,offset_bytes,length_bytes\n{rows}"))
        .expect("the trace is written");
    let mut command = Command::new(cargo_bin("ioscape"));
    command.arg("simulate").arg(&trace).args(["--drive", "generic-hdd", "--cache", "none"]);
    command.args(["--scheduler", "satf", "--wrap"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(3));
    let begun = Instant::now();
    signal(child.id(), "TERM");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("nothing was written"), "{}", stderr(&output));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn an_interrupted_evaluation_is_kept_and_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let result = folder.path().join("a.ioscape.json");
    let mut child = evaluate(folder.path(), &result, &[]).spawn().expect("it starts");
    let before = wait_for_probes(&mut child, &result);
    signal(child.id(), "INT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("a.ioscape.json"), "{}", stderr(&output));
    assert_eq!(scratch_files(folder.path()), Vec::<PathBuf>::new());
    let partial = read(&result).expect("the result can be read");
    assert!(partial.interrupted && probes(&partial) >= before);

    let resume = ["--resume", result.to_str().expect("a plain path")];
    let second = folder.path().join("b.ioscape.json");
    // The same directory under another of its names.
    let again = evaluate(&folder.path().join("."), &second, &resume).output();
    let output = again.expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let whole = read(&second).expect("the result can be read");
    assert!(!whole.interrupted && probes(&whole) > probes(&partial));
    assert!(whole.warnings.iter().all(|doubt| doubt.kind != WarningKind::Interrupted));
    let (whole, partial) = (whole.evaluation().expect("one"), partial.evaluation().expect("one"));
    assert_eq!(whole.probes[..partial.probes.len()], partial.probes[..], "the log goes on");
    for evaluation in [whole, partial] {
        let left_out = evaluation.shortened.get("single writer");
        assert!(left_out.is_some_and(|why| why.contains("budget")), "{left_out:?}");
    }
}

#[test]
fn an_interrupted_evaluation_of_a_simulated_system_is_kept() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let result = folder.path().join("a.ioscape.json");
    let mut child = Command::new(cargo_bin("ioscape"))
        .args(["evaluate", "sim:hp-730", "--budget", "100h", "--points", "60", "-o"])
        .arg(&result)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let before = wait_for_probes(&mut child, &result);
    signal(child.id(), "INT");
    let output = child.wait_with_output().expect("it ends");
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{told}");
    // It cannot be continued.
    assert!(told.contains("a.ioscape.json") && !told.contains("--resume"), "{told}");
    let partial = read(&result).expect("the result can be read");
    assert!(partial.interrupted && probes(&partial) >= before);
    assert!(partial.warnings.iter().any(|doubt| doubt.kind == WarningKind::Interrupted));
}

#[test]
fn after_a_kill_the_next_run_cleans_up() {
    // A save that is killed leaves its file beside the result.
    let [folder, elsewhere] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let result = elsewhere.path().join("a.ioscape.json");
    let mut child = evaluate(folder.path(), &result, &[]).spawn().expect("it starts");
    wait_for_probes(&mut child, &result);
    signal(child.id(), "KILL");
    let _ = child.wait_with_output();
    assert_eq!(scratch_files(folder.path()).len(), 1, "a killed process cannot clean up");
    assert!(read(&result).is_some_and(|d| d.interrupted), "what was measured is saved");

    let output = Command::new(cargo_bin("ioscape"))
        .arg("run")
        .arg(folder.path())
        .args(["--unique-bytes", "1M", "--seconds", "100ms"])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("left behind"), "{}", stderr(&output));
    assert_eq!(scratch_files(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn an_interrupted_run_keeps_its_finished_jobs_and_what_was_measured_of_the_next() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let jobs = two_jobs(folder.path());
    let rows = folder.path().join("requests.csv");
    let mut command = Command::new(cargo_bin("ioscape"));
    command.arg("run").args([folder.path(), &jobs]).args(["--json", "--rows"]).arg(&rows);
    // The rows of the first job are written when it finishes; the next job is measured soon after.
    let started = Started::spawn(command).until(|_| rows.exists());
    std::thread::sleep(Duration::from_secs(20));
    signal(started.0.id(), "INT");
    let ran = started.end().ended(130);
    let document: Document = serde_json::from_str(&ran.out).expect("valid JSON");
    assert!(document.interrupted);
    let measured = document.measurements().expect("measurements");
    assert_eq!(measured.len(), 2);
    assert!(measured[0].stop != Stop::Interrupted && measured[1].stop == Stop::Interrupted);
    assert!(measured[1].ios > 0 && measured[1].throughput_ci95[1] > 0.0);
    assert!(folder.path().join("requests.2.csv").exists(), "its rows too");
    assert_eq!(scratch_files(folder.path()), Vec::<PathBuf>::new());
}

/// On a server, removing many files may take longer than an interrupted process is given.
#[test]
fn an_interrupted_campaign_says_where_it_is_saved_before_its_files_are_removed() {
    let strace = |words: &[&str]| {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null"]).args(words);
        command
    };
    if !strace(&["true"]).status().is_ok_and(|ended| ended.success()) {
        return skipped("strace is not installed, or may not trace");
    }
    let [place, elsewhere] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let [file, result] = ["endless.toml", "r.json"].map(|name| elsewhere.path().join(name));
    let text = "title = \"endless\"\nrounds = 1000\n[base]\nfile_size = \"1M\"\n[[vary]]\nname = \"iosize\"\n\
                values = [\"64k\", \"256k\"]\n[[method]]\nname = \"plain\"\n";
    std::fs::write(&file, text).expect("a campaign");
    let slow = ["-e", "trace=unlinkat", "-e", "inject=unlinkat:delay_enter=20000000"];
    let mut command = strace(&slow);
    command.arg(cargo_bin("ioscape")).args(["campaign", "run"]);
    // If the test gives up, both end by themselves.
    command.args([file.as_path(), place.path()]).args(["--budget", "2m", "-o"]).arg(&result);
    let tracer = Started::spawn(command).until(|_| result.exists());
    let program = children(tracer.0.id()).first().copied().expect("what is traced");
    signal(program, "INT");
    let name = result.to_str().expect("a plain path");
    tracer.end().ended(130).says(&[name, "continue with --resume", "it is killed"]);
    assert!(read(&result).is_some_and(|found| found.interrupted && found.campaign().is_some()));
}

/// `timeout` signals the command and, at the same moment, its group.
#[test]
fn a_signal_that_comes_twice_at_once_is_one() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let result = folder.path().join("a.ioscape.json");
    let mut command = Command::new(cargo_bin("ioscape"));
    command.current_dir(folder.path()).args(["characterize", "-o"]).arg(&result);
    command.args(["--", "sh", "-c", "echo > ready; exec sleep 60"]);
    let started = Started::spawn(command).until(|_| folder.path().join("ready").exists());
    for _ in 0..2 {
        kill_process(Pid::from_child(&started.0), Signal::TERM).expect("it lives");
        std::thread::sleep(Duration::from_millis(5));
    }
    started.end().ended(130).says(&["interrupted"]);
    assert!(read(&result).is_some_and(|document| document.interrupted));
}

/// A program that ignores SIGCHLD starts programs that inherit this: the kernel would then keep no
/// exit code of our workers.
#[test]
fn a_start_with_the_end_of_children_ignored_changes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let output = Command::new("env")
        .arg("--ignore-signal=CHLD")
        .arg(cargo_bin("ioscape"))
        .arg("run")
        .arg(folder.path())
        .args(["--unique-bytes", "1M", "--seconds", "0.2"])
        .output()
        .expect("env starts it");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
