//! Memory that cannot be had: for the requests, in the control group, locked.

use crate::common::{Ran, ioscape, path, run, scratch_of, skipped, user_or_skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Runs the command in a shell under a limit.
fn limited(limit: &str, arguments: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit {limit}; exec \"$0\" \"$@\""));
    shell.arg(ioscape(&[]).get_program()).args(arguments);
    shell
}

/// Threads with requests of 16 MiB each.
fn large(folder: &str) -> Vec<&str> {
    let set =
        ["run", folder, "--unique-bytes", "32M", "--size-mean", "16M", "--size-dist", "fixed"];
    let streams = ["--processes", "64", "--workers", "threads", "--seconds", "100ms"];
    [&set[..], &streams[..]].concat()
}

#[test]
fn no_memory_for_the_requests_is_told() {
    let folder = tempfile::tempdir().unwrap();
    Ran::of(limited("-v 800000", &large(path(folder.path())))).ended(1).says(&["memory"]);
    assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_control_group_whose_memory_runs_out_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let set = ["run", path(folder.path()), "--unique-bytes", "4M", "--size-mean", "4k"];
    // The requests need little, but every process some memory of its own.
    let many = ["--processes", "300", "--seconds", "100ms", "--memory", "16M"];
    let ran = run(&[&set[..], &many[..]].concat());
    if ran.code == Some(2) {
        return skipped(&format!("no memory group: {}", ran.err));
    }
    ran.ended(1).says(&["memory ran out", "--memory"]);
    assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn memory_that_may_not_be_locked_is_told() {
    const NOBODY: u32 = 65534;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    if user_or_skip(NOBODY, folder.path()).is_none() {
        return;
    }
    let file = folder.path().join("file");
    let words = ["vxbench", "-w", "write", "-m", "-i", "iosize=1m,iocount=4", path(&file)];
    let mut command = limited("-l 64", &words);
    command.uid(NOBODY).gid(NOBODY);
    Ran::of(command).ended(2).says(&["locked in memory", "ulimit -l"]);
    assert!(!file.exists());
}
