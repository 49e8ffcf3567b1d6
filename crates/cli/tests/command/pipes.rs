//! Named pipes as inputs: the command waits for a program that writes late and says so, and Ctrl-C
//! ends the wait.

use crate::common::started::{Started, signal};
use crate::common::{path, run};
use ioscape_schema::units::Bytes;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A pipe that nobody writes to yet.
fn pipe(folder: &Path, name: &str) -> PathBuf {
    let pipe = folder.join(name);
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    pipe
}

#[test]
fn a_pipe_without_a_writer_is_told_and_the_wait_can_be_ended() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, jobs) = (pipe(folder.path(), "pipe"), pipe(folder.path(), "jobs.toml"));
    let (place, name) = (path(folder.path()), path(&pipe));
    for (words, name) in [
        (&["report", name][..], name),
        (&["trace", "analyze", name], name),
        (&["trace", "merge", name], name),
        (&["trace", "replay", name, place, "--buffered"], name),
        (&["run", place, path(&jobs)], path(&jobs)),
        (&["campaign", "run", name, place], name),
        (&["evaluate", place, "--resume", name], name),
    ] {
        let mut started = Started::of(words);
        started.listen_until(|said| said.contains("waiting for"));
        signal(started.0.id(), "INT");
        started.end().ended(130).says(&["waiting for", name, "interrupted: nothing was done"]);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left");
}

#[test]
fn a_pipe_that_is_written_late_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = pipe(folder.path(), "pipe");
    let started = Started::of(&["trace", "analyze", "--json", path(&pipe)]);
    std::thread::sleep(Duration::from_millis(500));
    let rows: String = (0..1000).map(|n| format!("0,{},4096,r,0.{n:03}\n", n * 8)).collect();
    std::fs::write(&pipe, rows).unwrap();
    let ran = started.end().ended(0);
    assert!(ran.out.contains("\"ios\": 1000"), "{}", ran.out);
}

/// Rows already passed on cannot be taken back.
#[test]
fn an_interrupted_trace_that_was_passed_on_says_how_much_of_it_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let from = pipe(folder.path(), "from");
    let words = ["trace", "import", path(&from), "--output-format", "csv", "-o", "-"];
    let mut started = Started::of(&words);
    let to = std::fs::File::options().write(true).open(&from).unwrap();
    let writer = std::thread::spawn(move || {
        let mut to = BufWriter::new(to);
        // The writer ends with its reader.
        let row = |n: u64| format!("0,{},4096,r,{}.{:03}\n", n * 8, n / 1000, n % 1000);
        (0..).find(|n| to.write_all(row(*n).as_bytes()).is_err())
    });
    // The latest rows are held back for sorting, so the first one comes late.
    let passed_on = BufReader::new(started.0.stdout.take().unwrap()).lines();
    let rows = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&rows);
    let reader = std::thread::spawn(move || {
        let is_row = |line: &String| line.starts_with(|c: char| c.is_ascii_digit());
        for _ in passed_on.map_while(Result::ok).filter(is_row) {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let started = started.until(|_| rows.load(Ordering::Relaxed) > 0);
    signal(started.0.id(), "INT");
    let ran = started.end().ended(130);
    writer.join().unwrap();
    reader.join().unwrap();
    let told = format!("holds only the first {} requests", rows.load(Ordering::Relaxed));
    assert!(ran.err.contains(&told), "{told}: {}", ran.err);
}

#[test]
fn the_bytes_of_a_trace_that_is_passed_on_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("a.spc");
    std::fs::write(&trace, "0,0,4096,r,0.0\n0,8,4096,w,0.1\n").unwrap();
    let ran = run(&["trace", "export", path(&trace), "--format", "csv", "-o", "-"]).ended(0);
    let bytes = Bytes(ran.out.len() as f64);
    let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&format!("; {bytes} as csv")), "{told}");
}
