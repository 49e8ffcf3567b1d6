//! What other programs do to inputs and results while a command is at work on them.

use crate::common::started::{Started, signal, wait_until};
use crate::common::{Ran, ioscape, path, read, scratch_of};
use ioscape_schema::Document;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Requests in the trace: far more than are read at once.
const ROWS: u64 = 400_000;

/// A trace of some megabytes.
fn trace(folder: &Path) -> PathBuf {
    let file = folder.join("a.csv");
    let row = |n: u64| format!("{n}000000,{},{},4096\n", n % 2, n * 7919 % 2_000_000 * 4096);
    let rows: String = (0..ROWS).map(row).collect();
    fs::write(&file, format!("queued_ns,is_write,offset_bytes,length_bytes\n{rows}")).unwrap();
    file
}

/// How far a process has read a file, in bytes.
fn position(process: u32, file: &Path) -> Option<u64> {
    let open = fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let ours = open.filter(|one| fs::read_link(one.path()).is_ok_and(|name| name == file));
    let at = |one: fs::DirEntry| {
        let name = one.file_name().into_string().ok()?;
        let about = fs::read_to_string(format!("/proc/{process}/fdinfo/{name}")).ok()?;
        about.lines().next()?.strip_prefix("pos:")?.trim().parse::<u64>().ok()
    };
    ours.filter_map(at).max()
}

/// Imports the trace; in the middle of its reading `change` is done to it, with how far it was read.
fn imported(folder: &Path, change: impl Fn(&Path, u64)) -> Ran {
    let (input, output) = (trace(folder).canonicalize().unwrap(), folder.join("o.csv"));
    let started = Started::of(&["trace", "import", path(&input), "-o", path(&output), "--force"]);
    let process = started.0.id();
    wait_until(|| position(process, &input).is_some_and(|at| at > 0));
    signal(process, "STOP");
    let at = position(process, &input).expect("it reads it");
    assert!(at < fs::metadata(&input).unwrap().len() / 2, "it was read too fast: {at}");
    change(&input, at);
    signal(process, "CONT");
    started.end()
}

#[test]
fn an_input_that_grows_while_it_is_read_is_read_to_its_new_end() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "500000000000,0,4096,4096\n".repeat(1000);
    let append = |file: &Path, _| {
        File::options().append(true).open(file).unwrap().write_all(rows.as_bytes()).unwrap();
    };
    imported(folder.path(), append).ended(0);
    let output = read(&folder.path().join("o.csv"));
    let rows = output.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(rows.count() as u64, ROWS + 1000);
}

#[test]
fn an_input_that_is_shortened_while_it_is_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let cut =
        |file: &Path, at: u64| File::options().write(true).open(file).unwrap().set_len(at).unwrap();
    let before = |file: &Path, at: u64| cut(file, at / 2);
    // Where a line ends, so that what is left is a sound trace.
    let behind = |file: &Path, at: u64| {
        let text = read(file);
        let line = text[..2 * at as usize].rfind('\n').expect("lines");
        cut(file, line as u64 + 1);
    };
    for change in [&before as &dyn Fn(&Path, u64), &behind] {
        let ran = imported(folder.path(), change).ended(1);
        let ran = ran.says(&["a.csv", "another program shortened it while it was read"]);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(!folder.path().join("o.csv").exists());
    }
}

/// A short evaluation of `folder` that was interrupted.
fn interrupted(folder: &Path, result: &Path) {
    let words = ["evaluate", path(folder), "--budget", "15s", "--max-unique-bytes", "8M"];
    let started = Started::of(&[&words[..], &["-o", path(result)]].concat());
    let is_begun = |text: String| {
        let found: Option<Document> = serde_json::from_str(&text).ok();
        found.is_some_and(|found| found.evaluation().is_some_and(|one| one.probes.len() >= 2))
    };
    wait_until(|| fs::read_to_string(result).is_ok_and(is_begun));
    signal(started.0.id(), "INT");
    started.end().ended(130);
}

#[test]
fn two_commands_that_resume_one_result_leave_a_whole_one() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let result = folder.path().join("r.json");
    interrupted(folder.path(), &result);
    let start = |()| {
        let name = path(&result);
        let mut command = ioscape(&["evaluate", path(folder.path()), "--resume", name, "-o", name]);
        command.env("TMPDIR", elsewhere.path());
        Started::spawn(command)
    };
    // Who saves a point after the other did goes on elsewhere and says so; nothing that was not seen is replaced.
    let mut late = 0;
    for ran in [(); 2].map(start).map(Started::end) {
        if ran.code != Some(0) {
            late += 1;
            ran.ended(1).says(&["another program", "instead"]);
        }
    }
    let is_whole = |file: &PathBuf| {
        let document: Document = serde_json::from_str(&read(file)).unwrap();
        let points = document.evaluation().map_or(0, |one| one.probes.len());
        !document.interrupted && points > 2
    };
    let rescued = scratch_of(elsewhere.path());
    assert_eq!(rescued.iter().filter(|file| is_whole(file)).count(), late, "{rescued:?}");
    assert!(late < 2 && is_whole(&result));
    assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new());
}
