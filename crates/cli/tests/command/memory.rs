//! Memory that is not available: for the requests, in the control group, locked.

use crate::common::started::Started;
use crate::common::{Ran, ioscape, path, run, scratch_of, shim, skipped, user_or_skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the command in a shell under a limit.
fn limited(limit: &str, arguments: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit {limit}; exec \"$0\" \"$@\""));
    shell.arg(ioscape(&[]).get_program()).args(arguments);
    shell
}

/// A short job, which can finish, and threads with requests of 16 MiB each.
const LARGE: &str = "[[job]]\nname = \"finished\"\nunique_bytes = \"1M\"\nseconds = 0.1\n\
    [[job]]\nname = \"large\"\nunique_bytes = \"32M\"\nsize_mean = \"16M\"\nsize_dist = \"fixed\"\nprocesses = 64\n\
    workers = \"threads\"\nseconds = 0.1\n";

/// The same short job, and processes that need little memory for their requests, but each some of
/// its own.
const MANY: &str = "[[job]]\nname = \"finished\"\nunique_bytes = \"1M\"\nseconds = 0.1\n\
    [[job]]\nname = \"many\"\nunique_bytes = \"4M\"\nsize_mean = \"4k\"\nprocesses = 200\nseconds = 0.1\n";

/// A shim between the command and the C library: allocations fail once the file `NONE_IF` exists.
const SHIM: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
    static int none(void) { const char *file = getenv(\"NONE_IF\"); return file && !access(file, F_OK); }\n\
    void *malloc(size_t n) {\n  static void *(*real)(size_t);\n\
      if (!real) real = (void *(*)(size_t))dlsym(RTLD_NEXT, \"malloc\");\n  return none() ? 0 : real(n);\n}\n\
    void *realloc(void *p, size_t n) {\n  static void *(*real)(void *, size_t);\n\
      if (!real) real = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, \"realloc\");\n  return none() ? 0 : real(p, n);\n}\n";

/// Process limits, in KiB above the least with which the program starts, up to a small trace's.
const BEYOND: [u32; 6] = [0, 500, 2_000, 8_000, 24_000, 64_000];
/// Precision in KiB to which that minimum is found.
const STEP: u32 = 256;

fn jobs(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("jobs.toml");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn no_memory_for_the_requests_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(folder.path(), LARGE);
    let words = ["run", path(folder.path()), path(&jobs)];
    let ran = Ran::of(limited("-v 800000", &words)).ended(1).says(&["memory"]);
    assert!(ran.out.contains("finished"), "{}", ran.out);
    assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn no_command_is_aborted_where_memory_ends() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| path(&folder.path().join(name)).to_owned();
    let (trace, result, page) = (place("a.csv"), place("r.json"), place("p.html"));
    let row = |n: u64| format!("{n}000000,{},{},4096\n", n % 2, n * 7919 % 2_000_000 * 4096);
    let rows: String = (0..50_000).map(row).collect();
    fs::write(&trace, format!("queued_ns,is_write,offset_bytes,length_bytes\n{rows}")).unwrap();
    run(&["evaluate", "sim:hp-730", "--points", "60", "-o", &result]).ended(0);
    let commands: [&[&str]; 4] = [
        &["report", &result, "-o", &page],
        &["trace", "analyze", &trace],
        &["trace", "import", &trace, "-o", &place("o.parquet")],
        &["evaluate", "sim:hp-730", "--points", "60", "-o", &place("e.json")],
    ];
    let least = least();
    let mut ran_out = 0;
    for (words, kib) in commands.iter().flat_map(|words| BEYOND.map(|more| (words, least + more))) {
        let ran = Ran::of(limited(&format!("-v {kib}"), words));
        let is_told = ran.code == Some(1) && ran.err.contains("memory ran out");
        ran_out += u32::from(is_told);
        assert!(
            ran.code == Some(0) || is_told,
            "{words:?} with {kib} KiB ended with {:?}: {}",
            ran.code,
            ran.err
        );
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new(), "{words:?} {kib}");
    }
    assert!(ran_out >= 4, "the limits are too wide: {ran_out}");
}

#[test]
fn a_folder_goes_even_where_no_memory_is_left_for_the_end() {
    let (folder, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some(library) = shim::made(folder.path(), SHIM) else { return };
    let (result, none) = (folder.path().join("r.json"), folder.path().join("none"));
    let campaign = ["campaign", "run", "aged-reads", path(place.path()), "--max-file-size", "4M"];
    let words = [&campaign[..], &["--rounds", "100", "-o", path(&result)]].concat();
    let mut command = shim::before(&library, &words);
    command.env("NONE_IF", &none);
    let started = Started::spawn(command).until(|_| result.exists());
    fs::write(&none, "").unwrap();
    started.end().ended(1).says(&["memory ran out"]);
    assert_eq!(scratch_of(place.path()), Vec::<PathBuf>::new());
    let text = fs::read_to_string(&result).unwrap();
    assert!(text.contains("\"campaign\""), "what was measured is kept");
}

/// The smallest limit, in KiB, at which the program starts. Slightly below it, the program says
/// that memory is short; far below, the kernel does not load it.
fn least() -> u32 {
    let version = |kib: u32| Ran::of(limited(&format!("-v {kib}"), &["--version"]));
    let (mut enough, mut too_little, mut last_failed) = (2_000_000, 0, version(0));
    while enough - too_little > STEP {
        let between = (too_little + enough) / 2;
        match version(between) {
            Ran { code: Some(0), .. } => enough = between,
            failed => (too_little, last_failed) = (between, failed),
        }
    }
    // Not run again: within a page of the least, chance decides whether the program starts.
    last_failed.ended(1).says(&["memory ran out", "ulimit -v"]);
    enough
}

#[test]
fn a_control_group_whose_memory_runs_out_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(folder.path(), MANY);
    let ran = run(&["run", path(folder.path()), path(&jobs), "--memory", "16M"]);
    // A refusal of the workload itself would be a mistake in this test.
    if ran.code == Some(2) && !ran.err.contains("this workload") {
        return skipped(&format!("no memory group: {}", ran.err));
    }
    let ran = ran.ended(1).says(&["memory ran out", "--memory"]);
    assert!(ran.out.contains("finished"), "{}", ran.out);
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
