//! Limits, signals and other programs: each fault ends in one sentence and the right exit code, and leaves nothing behind.

use crate::common::started::{Started, signal};
use crate::common::{Ran, ioscape, path, read, run, scratch_of};
use ioscape_schema::Document;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

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
    let elsewhere = tempfile::tempdir().unwrap();
    let before = format!("export TMPDIR={}; exec > /dev/full", path(elsewhere.path()));
    let ran = after(&before, &short(folder.path()));
    let ran = ran.ended(1).says(&["standard output", "No space left", "instead"]);
    nothing_left(folder.path());
    let rescued = scratch_of(elsewhere.path());
    assert!(rescued.len() == 1 && ran.err.contains(path(&rescued[0])), "{rescued:?} {}", ran.err);
    assert!(read(&rescued[0]).contains("\"measurements\""));
}

#[test]
fn a_help_that_cannot_be_printed_is_a_failure() {
    for words in [&["--help"][..], &["--version"], &["completions", "bash"], &["schema"]] {
        after("exec > /dev/full", words).ended(1).says(&["standard output", "No space left"]);
    }
}

#[test]
fn a_result_beyond_the_limit_of_the_file_size_leaves_the_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let (result, page) = (folder.path().join("r.json"), folder.path().join("p.html"));
    run(&["evaluate", "sim:hp-730", "--points", "60", "-o", path(&result)]).ended(0);
    run(&["report", path(&result), "-o", path(&page)]).ended(0);
    let before = read(&page);
    let words = ["report", path(&result), "-o", path(&page)];
    after("ulimit -f 4", &words).ended(1).says(&["p.html", "File too large"]);
    assert_eq!(read(&page), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no part of a page is left");
}

#[test]
fn closed_descriptors_are_no_files_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let (place, elsewhere) = (folder.path(), tempfile::tempdir().unwrap());
    let result = elsewhere.path().join("r.json");
    let words = [&short(place)[..], &["-o", path(&result)]].concat();
    after("exec <&- >&- 2>&-", &words).ended(0);
    let document: Document = serde_json::from_str(&read(&result)).expect("the result alone");
    assert_eq!(document.measurements().map(Vec::len), Some(1));
    nothing_left(place);
}

#[test]
fn signals_that_ask_to_end_are_obeyed_and_nothing_is_left() {
    for name in ["TERM", "HUP", "INT"] {
        let folder = tempfile::tempdir().unwrap();
        let started = Started::endless(folder.path(), "");
        signal(started.0.id(), name);
        started.end_keeping().ended(130).says(&["interrupted"]);
        nothing_left(folder.path());
    }
}

#[test]
fn a_worker_that_is_killed_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let started = Started::endless(folder.path(), "");
    signal(started.worker().expect("a worker"), "KILL");
    started.end_keeping().ended(1).says(&["worker 0", "killed"]);
    nothing_left(folder.path());
}

#[test]
fn a_file_that_another_program_shortens_is_told() {
    for (engine, word) in [("psync", "shortened it"), ("mmap", "shrank")] {
        let folder = tempfile::tempdir().unwrap();
        let reads = format!("read_frac = 1\nengine = {engine:?}");
        let started = Started::endless(folder.path(), &reads);
        let scratch = scratch_of(folder.path());
        File::options().write(true).open(&scratch[0]).unwrap().set_len(0).unwrap();
        started.end_keeping().ended(1).says(&[word]);
        nothing_left(folder.path());
    }
}

#[test]
fn a_scratch_file_that_another_program_removes_is_missed_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let started = Started::endless(folder.path(), "");
    fs::remove_file(&scratch_of(folder.path())[0]).unwrap();
    signal(started.0.id(), "INT");
    started.end_keeping().ended(130);
    nothing_left(folder.path());
}

#[test]
fn two_runs_in_one_folder_leave_each_other_alone() {
    let folder = tempfile::tempdir().unwrap();
    let started = Started::endless(folder.path(), "");
    let theirs = scratch_of(folder.path());
    let ran = run(&short(folder.path())).ended(0);
    assert!(!ran.err.contains("left behind"), "{}", ran.err);
    assert_eq!(scratch_of(folder.path()), theirs);
    signal(started.0.id(), "INT");
    started.end().ended(130);
    assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn two_runs_that_write_one_result_leave_a_whole_one() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let result = folder.path().join("r.json");
    let words = [&short(folder.path())[..], &["-o", path(&result)]].concat();
    let start = |()| {
        let mut command = ioscape(&words);
        command.env("TMPDIR", elsewhere.path());
        Started::spawn(command)
    };
    let all = [(); 3].map(start);
    // Who comes late puts its result elsewhere and says so; it replaces nothing that it did not see.
    let mut whole = 0;
    for started in all {
        let ran = started.end();
        whole += usize::from(ran.code == Some(0));
        if ran.code != Some(0) {
            ran.ended(1).says(&["another program", "instead"]);
        }
    }
    assert_eq!(scratch_of(elsewhere.path()).len(), 3 - whole);
    assert!(whole > 0);
    let document: Document = serde_json::from_str(&read(&result)).unwrap();
    assert_eq!(document.measurements().map(Vec::len), Some(1));
    fs::remove_file(&result).unwrap();
    nothing_left(folder.path());
}

#[test]
fn two_runs_that_remove_what_a_killed_one_left_both_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let started = Started::endless(folder.path(), "");
    signal(started.0.id(), "KILL");
    assert_eq!(started.end().code, None);
    assert_eq!(scratch_of(folder.path()).len(), 1);
    for started in [Started::of(&short(folder.path())), Started::of(&short(folder.path()))] {
        started.end().ended(0);
    }
    nothing_left(folder.path());
}
