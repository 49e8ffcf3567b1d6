//! What other programs do to inputs and results while a command works on them.

use crate::common::started::{Started, signal, wait_until};
use crate::common::{Ran, ioscape, path, read, run, scratch_of, warm_campaign};
use ioscape_schema::Document;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Requests in the trace: far more than are read at once.
const ROWS: u64 = 400_000;

/// A trace of several megabytes.
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

/// Imports the trace and applies `change` to it in the middle of the reading, with the position
/// read so far. Starts over if the trace was read before the test, which may wake up late, could
/// change it.
fn imported(folder: &Path, change: impl Fn(&Path, u64)) -> Ran {
    let (input, output) = (trace(folder).canonicalize().unwrap(), folder.join("o.csv"));
    let half = fs::metadata(&input).unwrap().len() / 2;
    for _ in 0..20 {
        let words = ["trace", "import", path(&input), "-o", path(&output), "--force"];
        let started = Started::of(&words);
        let process = started.0.id();
        wait_until(|| position(process, &input).is_some_and(|at| at > 0) || started.has_ended());
        signal(process, "STOP");
        if let Some(at) = position(process, &input).filter(|at| *at < half) {
            change(&input, at);
            signal(process, "CONT");
            return started.end();
        }
        signal(process, "KILL");
        started.end();
        let _ = fs::remove_file(&output);
    }
    panic!("it is read too fast");
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
    // At the end of a line, so that the rest is a valid trace.
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
    let started = started.until(|_| fs::read_to_string(result).is_ok_and(is_begun));
    signal(started.0.id(), "INT");
    started.end().ended(130);
}

/// Resumes one result with two commands at once; `words` are theirs without the result. The command
/// that saves last continues elsewhere and names every file that it leaves there; nothing unseen is
/// replaced.
fn resumed_twice(words: &[&str], result: &Path, is_whole: impl Fn(&Document) -> bool) {
    let elsewhere = tempfile::tempdir().unwrap();
    let start = |()| {
        let mut command =
            ioscape(&[words, &["--resume", path(result), "-o", path(result)]].concat());
        command.env("TMPDIR", elsewhere.path());
        Started::spawn(command)
    };
    let (mut late, mut said) = (0, String::new());
    for ran in [(); 2].map(start).map(Started::end) {
        if ran.code != Some(0) {
            late += 1;
            said += &ran.ended(1).says(&["another program", "instead"]).err;
        }
    }
    let is_whole = |file: &PathBuf| is_whole(&serde_json::from_str(&read(file)).unwrap());
    let rescued = scratch_of(elsewhere.path());
    assert_eq!(rescued.iter().filter(|file| is_whole(file)).count(), late, "{rescued:?}");
    // A file with the same name except for a number would match within its longer name.
    let names = |file: &&PathBuf| said.split([' ', ';', '\n']).any(|word| word == path(file));
    assert_eq!(rescued.iter().find(|file| !names(file)), None, "{said}");
    assert!(late < 2 && is_whole(&result.to_owned()));
    assert_eq!(scratch_of(result.parent().unwrap()), Vec::<PathBuf>::new());
}

#[test]
fn two_commands_that_resume_one_result_leave_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("r.json");
    interrupted(folder.path(), &result);
    resumed_twice(&["evaluate", path(folder.path())], &result, |document| {
        let points = document.evaluation().map_or(0, |one| one.probes.len());
        !document.interrupted && points > 2
    });
}

#[test]
fn two_commands_that_resume_one_campaign_leave_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("r.json");
    let campaign = warm_campaign(folder.path());
    let first = ["campaign", "run", path(&campaign), path(folder.path()), "--max-file-size", "4M"];
    run(&[&first[..], &["--rounds", "1", "-o", path(&result)]].concat()).ended(0);
    let more = [&first[..], &["--rounds", "3"]].concat();
    resumed_twice(&more, &result, |document| {
        !document.interrupted && document.campaign().is_some_and(|one| one.rounds == 3)
    });
}

#[test]
fn a_late_resume_that_is_interrupted_names_the_file_that_it_saved() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let result = folder.path().join("r.json");
    interrupted(folder.path(), &result);
    let words = ["evaluate", path(folder.path()), "--resume", path(&result), "-o", path(&result)];
    let mut command = ioscape(&words);
    command.env("TMPDIR", elsewhere.path());
    // Once it has begun, it has read what it continues from, and another program is faster.
    let started = Started::spawn(command).until(|_| !scratch_of(folder.path()).is_empty());
    let other = folder.path().join("other");
    fs::copy(&result, &other).unwrap();
    fs::rename(&other, &result).unwrap();
    let before = read(&result);
    let started = started.until(|_| !scratch_of(elsewhere.path()).is_empty());
    signal(started.0.id(), "INT");
    let ran = started.end().ended(130).says(&["another program", "continue with --resume"]);
    assert_eq!(read(&result), before, "it is the other program's");
    let named = ran.err.rsplit("--resume ").next().unwrap().split(';').next().unwrap().trim();
    assert!(scratch_of(elsewhere.path()).contains(&PathBuf::from(named)), "{}", ran.err);
    let points = |text: &str| {
        let found: Document = serde_json::from_str(text).unwrap();
        found.evaluation().map_or(0, |one| one.probes.len())
    };
    assert!(points(&read(Path::new(named))) > points(&before), "{}", ran.err);
}
