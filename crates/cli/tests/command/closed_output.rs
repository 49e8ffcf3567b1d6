//! Standard output whose reader goes away: the command still says how the work ended, and no result
//! is lost.

use crate::common::started::{Started, signal};
use crate::common::{Ran, cannot_record, in_memory, ioscape, path, run, scratch_of};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The command with these arguments and a standard output that nobody reads; rescued results go to
/// `elsewhere`.
fn unread(words: &[&str], elsewhere: &Path) -> Started {
    let mut command = ioscape(words);
    command.env("TMPDIR", elsewhere);
    let mut started = Started::spawn(command);
    drop(started.0.stdout.take());
    started
}

/// A replay of reads and writes at these times, in seconds, and its scratch file, a while after its
/// layout. It runs in memory, where no other work delays the layout.
fn replay(folder: &Path, rows: &str, more: &[&str]) -> (Started, File) {
    let trace = folder.join("a.spc");
    fs::write(&trace, rows).unwrap();
    let words = ["trace", "replay", path(&trace), path(folder), "--buffered"];
    let kept = folder.join("kept");
    fs::create_dir(&kept).unwrap();
    let started = unread(&[&words[..], more].concat(), &kept);
    let started = started.until(|_| !scratch_of(folder).is_empty());
    std::thread::sleep(Duration::from_secs(3));
    let scratch = File::options().write(true).open(&scratch_of(folder)[0]);
    (started, scratch.expect("a scratch file"))
}

#[test]
fn a_replay_that_is_interrupted_says_so_whoever_reads_the_output() {
    let folder = in_memory();
    let (started, _) = replay(folder.path(), "0,8,4096,r,0.0\n0,16,4096,r,500.0\n", &[]);
    signal(started.0.id(), "INT");
    started.end().ended(130).says(&["interrupted: the result covers what was replayed"]);
    assert!(scratch_of(folder.path()).is_empty());
    assert_eq!(scratch_of(&folder.path().join("kept")).len(), 1);
}

#[test]
fn a_replay_that_fails_says_so_beside_what_it_verified() {
    let folder = in_memory();
    let rows = "0,16,4096,w,0.0\n0,16,4096,r,12.0\n0,1024,4096,r,13.0\n";
    let (started, scratch) = replay(folder.path(), rows, &["--verify"]);
    scratch.write_all_at(&[0x55; 64], 8192 + 100).expect("it is changed");
    scratch.set_len(16_384).expect("it is shortened");
    let ran = started.end().ended(1);
    ran.says(&["the result covers what was replayed before", "verification failed"]);
}

#[test]
fn the_end_of_a_recorded_command_is_passed_on_whoever_reads_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("a.parquet");
    let words = ["trace", "record", "-o", path(&trace), "--", "sh", "-c", "exit 3"];
    let ran = unread(&words, folder.path()).end();
    if cannot_record(&ran) {
        return;
    }
    ran.ended(3).says(&["the recorded command ended"]);
}

/// Guards against a defect: what a recorded command wrote went to standard error, and the summary into
/// the file that was meant for it.
#[test]
fn a_recorded_command_keeps_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("a.parquet");
    let recorded = |more: &[&str]| {
        let words = ["trace", "record", "-o", path(&trace)];
        run(&[&words, more, &["--", "echo", "DATA"]].concat())
    };
    let ran = recorded(&[]);
    if cannot_record(&ran) {
        return;
    }
    let ran = ran.ended(0).says(&["UTC"]);
    assert_eq!(ran.out, "DATA\n");
    let ran = recorded(&["--json"]).ended(0).says(&["DATA"]);
    serde_json::from_str::<serde_json::Value>(&ran.out).expect("the document alone");
}

/// The output of `trace COMMAND` that reads so many rows from a pipe, which stays open until the
/// command is interrupted.
fn interrupted(command: &str, rows: u64) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let started = unread(&["trace", command, path(&pipe)], folder.path());
    let mut writer = File::options().write(true).open(&pipe).expect("it is read");
    let row = |n: u64| format!("0,{},4096,r,{}.{:03}\n", n * 8, n / 1000, n % 1000);
    writer.write_all((0..rows).map(row).collect::<String>().as_bytes()).expect("it is read");
    std::thread::sleep(Duration::from_secs(2));
    signal(started.0.id(), "INT");
    started.end()
}

#[test]
fn an_analysis_that_is_interrupted_says_so_whoever_reads_the_output() {
    // At most the latest 131,072 rows are held back for sorting.
    interrupted("analyze", 200_000).ended(130).says(&["interrupted: what was read is analysed"]);
    interrupted("characterize", 200_000).ended(130).says(&["what was read is described"]);
}

#[test]
fn an_interruption_before_the_first_row_is_no_trace_without_requests() {
    // More than it takes to recognize the format, yet all of them are held back.
    for command in ["analyze", "characterize"] {
        let ran = interrupted(command, 20_000).ended(130);
        ran.says(&["interrupted: nothing of the choice was read"]);
    }
}
