//! Limits, signals and other programs: each fault ends in one sentence and the right exit code, and leaves nothing behind.

use crate::common::{Ran, ioscape, path, run, scratch_of};
use ioscape_schema::{Document, Measurement, WarningKind};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest time to wait for what is certain to come.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the command in a shell, which has done `before`.
fn after(before: &str, arguments: &[&str]) -> Ran {
    let program = ioscape(&[]).get_program().to_owned();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{before}; exec \"$0\" \"$@\"")).arg(program).args(arguments);
    Ran::of(shell)
}

fn short(folder: &Path) -> [&str; 6] {
    ["run", path(folder), "--unique-bytes", "1M", "--seconds", "100ms"]
}

fn nothing_left(folder: &Path) {
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "{:?}", fs::read_dir(folder));
}

#[test]
fn too_few_files_that_may_be_open_are_told_with_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    for limit in ["ulimit -n 4", "ulimit -n 6"] {
        after(limit, &short(folder.path())).ended(1).says(&["Too many open files", "ulimit -n"]);
        nothing_left(folder.path());
    }
}

#[test]
fn a_limit_of_the_file_size_is_told_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["File too large", "ulimit -f", "at byte"];
    after("ulimit -f 100", &short(folder.path())).ended(1).says(&words);
    nothing_left(folder.path());
    let file = folder.path().join("file");
    let vxbench = ["vxbench", "-w", "write", "-i", "iosize=64k,iocount=16", path(&file)];
    after("ulimit -f 100", &vxbench).ended(1).says(&words);
    nothing_left(folder.path());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let ran = after("exec 3>&1; exec > /dev/null", &short(folder.path()));
    ran.ended(0);
    let mut child = Started::of(&short(folder.path()));
    drop(child.0.stdout.take());
    child.end().ended(0);
    nothing_left(folder.path());
}

#[test]
fn a_full_standard_output_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let ran = after("exec > /dev/full", &short(folder.path()));
    ran.ended(1).says(&["standard output", "No space left"]);
    nothing_left(folder.path());
}

/// A run that goes on until something ends it.
struct Started(Child);

impl Started {
    fn of(arguments: &[&str]) -> Self {
        let mut command = ioscape(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().expect("it starts"))
    }

    /// An endless run of one process in `folder`, once its workers are at work. It is so slow that its figure does not get known.
    fn endless(folder: &Path, more: &[&str]) -> Self {
        let started = ["run", path(folder), "--unique-bytes", "1M", "--size-mean", "4k"];
        let slow = ["--seconds", "1000", "--think-time", "500ms"];
        let started = Self::of(&[&started[..], &slow[..], more].concat());
        wait_until(|| !scratch_of(folder).is_empty() && started.worker().is_some());
        // What is forked first are helpers, which are gone before the measured part.
        std::thread::sleep(Duration::from_millis(1500));
        started
    }

    /// The process that issues requests: the youngest, below the one that does the work.
    fn worker(&self) -> Option<u32> {
        let keeper = children(self.0.id()).last().copied()?;
        children(keeper).last().copied()
    }

    fn end(self) -> Ran {
        let ended = self.0.wait_with_output().expect("it ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: ended.status.code(), out: text(&ended.stdout), err: text(&ended.stderr) }
    }
}

fn children(process: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    list.unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn wait_until(done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(status.expect("kill runs").success());
}

#[test]
fn signals_that_ask_to_end_are_obeyed_and_nothing_is_left() {
    for name in ["TERM", "HUP", "INT"] {
        let folder = tempfile::tempdir().unwrap();
        let started = Started::endless(folder.path(), &[]);
        signal(started.0.id(), name);
        started.end().ended(130).says(&["interrupted"]);
        nothing_left(folder.path());
    }
}

#[test]
fn a_worker_that_is_killed_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let started = Started::endless(folder.path(), &[]);
    signal(started.worker().expect("a worker"), "KILL");
    started.end().ended(1).says(&["worker 0", "killed"]);
    nothing_left(folder.path());
}

#[test]
fn a_file_that_another_program_shortens_is_told() {
    for (engine, word) in [("psync", "shortened it"), ("mmap", "shrank")] {
        let folder = tempfile::tempdir().unwrap();
        let reads = ["--read-frac", "1", "--engine", engine];
        let started = Started::endless(folder.path(), &reads);
        let scratch = scratch_of(folder.path());
        File::options().write(true).open(&scratch[0]).unwrap().set_len(0).unwrap();
        started.end().ended(1).says(&[word]);
        nothing_left(folder.path());
    }
}

#[test]
fn a_scratch_file_that_another_program_removes_is_missed_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let started = Started::endless(folder.path(), &[]);
    fs::remove_file(&scratch_of(folder.path())[0]).unwrap();
    signal(started.0.id(), "INT");
    started.end().ended(130);
    nothing_left(folder.path());
}

#[test]
fn two_runs_in_one_folder_leave_each_other_alone() {
    let folder = tempfile::tempdir().unwrap();
    let started = Started::endless(folder.path(), &[]);
    let theirs = scratch_of(folder.path());
    let ran = run(&short(folder.path())).ended(0);
    assert!(!ran.err.contains("left behind"), "{}", ran.err);
    assert_eq!(scratch_of(folder.path()), theirs);
    signal(started.0.id(), "INT");
    started.end().ended(130);
    assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new());
}

/// A run of 6 s, of which `stopped` is stopped for 3 s; its measurement.
fn with_a_stop(stopped: impl Fn(&Started) -> Vec<u32>) -> Measurement {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs.toml");
    let job = "[[job]]\nname = \"a\"\nunique_bytes = \"1M\"\nread_frac = 1\nthink_time = \"5ms\"\nseconds = 6\n";
    fs::write(&jobs, job).unwrap();
    let started = Started::of(&["run", path(folder.path()), path(&jobs), "--json"]);
    wait_until(|| !scratch_of(folder.path()).is_empty() && started.worker().is_some());
    std::thread::sleep(Duration::from_millis(2500));
    let processes = stopped(&started);
    processes.iter().for_each(|process| signal(*process, "STOP"));
    std::thread::sleep(Duration::from_secs(3));
    processes.iter().for_each(|process| signal(*process, "CONT"));
    let ran = started.end().ended(0);
    let document: Document = serde_json::from_str(&ran.out).unwrap();
    document.measurements().unwrap()[0].clone()
}

fn expect_stopped(measured: &Measurement) {
    let told = measured.warnings.iter().find(|one| one.kind == WarningKind::Stopped);
    assert!(told.is_some() && measured.disturbed, "{:?}", measured.warnings);
    let [_, high] = measured.throughput_ci95;
    assert!(high > 1.3 * measured.throughput_bytes_per_s, "{:?}", measured.throughput_ci95);
}

#[test]
fn a_worker_that_is_stopped_for_a_while_is_told() {
    expect_stopped(&with_a_stop(|started| started.worker().into_iter().collect()));
}

#[test]
fn a_run_that_is_stopped_as_a_whole_for_a_while_is_told() {
    expect_stopped(&with_a_stop(|started| {
        let keeper = children(started.0.id()).last().copied().expect("it works");
        let mut all = vec![started.0.id(), keeper];
        all.extend(children(keeper));
        all
    }));
}

#[test]
fn a_worker_that_stays_stopped_is_not_said_to_hang() {
    let folder = tempfile::tempdir().unwrap();
    let short = ["run", path(folder.path()), "--unique-bytes", "1M", "--seconds", "4s"];
    let started = Started::of(&[&short[..], &["--read-frac", "1", "--think-time", "5ms"]].concat());
    wait_until(|| !scratch_of(folder.path()).is_empty() && started.worker().is_some());
    std::thread::sleep(Duration::from_millis(2000));
    signal(started.worker().expect("a worker"), "STOP");
    let ran = started.end().ended(1).says(&["worker 0", "stopped"]);
    assert!(!ran.err.contains("hangs"), "{}", ran.err);
    nothing_left(folder.path());
}
