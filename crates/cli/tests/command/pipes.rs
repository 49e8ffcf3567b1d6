//! Named pipes as inputs: a program that writes late is waited for, which is said, and Ctrl-C ends the wait.

use crate::common::path;
use crate::common::started::{Started, signal};
use std::path::{Path, PathBuf};
use std::process::Command;
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
        (&["trace", "replay", name, place], name),
        (&["run", place, path(&jobs)], path(&jobs)),
        (&["campaign", "run", name, place], name),
        (&["evaluate", place, "--resume", name], name),
    ] {
        let started = Started::of(words);
        std::thread::sleep(Duration::from_millis(3000));
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
