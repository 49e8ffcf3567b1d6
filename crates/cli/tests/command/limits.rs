//! Limits, signals and other programs: each fault ends in one sentence and the right exit code, and
//! leaves nothing behind.

use crate::common::started::{Started, signal};
use crate::common::{
    Ran, cannot_record, ioscape, path, read, run, scratch_of, skipped, user_or_skip,
};
use ioscape_schema::Document;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const TINY: &str = "title = \"tiny\"\nrounds = 1\n[base]\nworkload = \"write\"\nfile_size = \"16k\"\niosize = \"4k\"\n\
    [[vary]]\nname = \"files\"\nvalues = [1]\n[[method]]\nname = \"buffered\"\n";

/// The command in a shell that first runs `before`.
fn after(before: &str, arguments: &[&str]) -> Command {
    let program = ioscape(&[]).get_program().to_owned();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{before}; exec \"$0\" \"$@\"")).arg(program).args(arguments);
    shell
}

fn ran_after(before: &str, arguments: &[&str]) -> Ran {
    Ran::of(after(before, arguments))
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
        ran_after(limit, &short(folder.path()))
            .ended(1)
            .says(&["Too many open files", "ulimit -n"]);
        nothing_left(folder.path());
    }
}

/// The soft limit is 1024 on most systems; two files for each of 512 threads exceed it.
#[test]
fn as_many_files_are_open_as_the_hard_limit_allows() {
    let folder = tempfile::tempdir().unwrap();
    let threads = ["--workers", "threads", "--processes", "64", "--size-mean", "4k"];
    let words = [&short(folder.path())[..], &threads].concat();
    ran_after("ulimit -S -n 64", &words).ended(0);
    let file = folder.path().join("file");
    let amount = "iosize=4k,iocount=2,nthreads=64,remove";
    ran_after("ulimit -S -n 64", &["vxbench", "-w", "write", "-i", amount, path(&file)]).ended(0);
    nothing_left(folder.path());
}

#[test]
fn a_limit_of_the_file_size_is_told_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["does not fit", "the limit of file sizes (ulimit -f)"];
    ran_after("ulimit -f 100", &short(folder.path())).ended(2).says(&words);
    nothing_left(folder.path());
    let words = ["File too large", "ulimit -f", "at byte"];
    let file = folder.path().join("file");
    let vxbench = ["vxbench", "-w", "write", "-i", "iosize=64k,iocount=16", path(&file)];
    ran_after("ulimit -f 100", &vxbench).ended(1).says(&words);
    nothing_left(folder.path());
}

#[test]
fn a_reader_that_goes_away_is_a_failure_where_only_it_would_have_had_the_result() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let unread = |words: &[&str]| {
        let mut command = ioscape(words);
        command.env("TMPDIR", elsewhere.path());
        let mut child = Started::spawn(command);
        drop(child.0.stdout.take());
        child.end()
    };
    for more in [&[][..], &["--json"]] {
        let ran = unread(&[&short(folder.path())[..], more].concat()).ended(1);
        let ran = ran.says(&["the reader of the output is gone", "instead"]);
        let rescued = scratch_of(elsewhere.path());
        assert!(rescued.len() == 1 && ran.err.contains(path(&rescued[0])), "{rescued:?}");
        assert!(read(&rescued[0]).contains("\"measurements\""));
        fs::remove_file(&rescued[0]).unwrap();
    }
    let result = elsewhere.path().join("r.json");
    unread(&[&short(folder.path())[..], &["-o", path(&result)]].concat()).ended(0);
    unread(&["report", path(&result)]).ended(0);
    nothing_left(folder.path());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1, "the result alone");
}

#[test]
fn a_full_standard_output_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let before = format!("export TMPDIR={}; exec > /dev/full", path(elsewhere.path()));
    let ran = ran_after(&before, &short(folder.path()));
    let ran = ran.ended(1).says(&["standard output", "No space left", "instead"]);
    nothing_left(folder.path());
    let rescued = scratch_of(elsewhere.path());
    assert!(rescued.len() == 1 && ran.err.contains(path(&rescued[0])), "{rescued:?} {}", ran.err);
    assert!(read(&rescued[0]).contains("\"measurements\""));
}

#[test]
fn a_help_that_cannot_be_printed_is_a_failure() {
    for words in [&["--help"][..], &["--version"], &["completions", "bash"], &["schema"]] {
        ran_after("exec > /dev/full", words).ended(1).says(&["standard output", "No space left"]);
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
    ran_after("ulimit -f 4", &words).ended(1).says(&["p.html", "File too large"]);
    assert_eq!(read(&page), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no part of a page is left");
}

#[test]
fn closed_descriptors_are_no_files_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let (place, elsewhere) = (folder.path(), tempfile::tempdir().unwrap());
    let result = elsewhere.path().join("r.json");
    let words = [&short(place)[..], &["-o", path(&result)]].concat();
    ran_after("exec <&- >&- 2>&-", &words).ended(0);
    let document: Document = serde_json::from_str(&read(&result)).expect("the result alone");
    assert_eq!(document.measurements().map(Vec::len), Some(1));
    nothing_left(place);
}

#[test]
fn a_closed_standard_output_loses_nothing() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let before = format!("export TMPDIR={}; exec >&-", path(elsewhere.path()));
    let evaluate = ["evaluate", "sim:hp-730", "--points", "60", "--json"];
    let characterize = ["characterize", "--json", "--", "true"];
    for words in [&short(folder.path())[..], &evaluate, &characterize] {
        let told =
            ran_after(&before, words).ended(1).says(&["standard output", "closed", "instead"]);
        let rescued = scratch_of(elsewhere.path());
        let (named, others) = rescued.split_first().expect("a result");
        assert!(told.err.contains(path(named)) && others.is_empty(), "{rescued:?}: {}", told.err);
        fs::remove_file(named).unwrap();
    }
    let result = elsewhere.path().join("r.json");
    ran_after(&before, &[&evaluate[..4], &["-o", path(&result)]].concat()).ended(0);
    assert!(result.exists());
    for words in [&["--help"][..], &["schema"], &["report", path(&result), "--csv"]] {
        ran_after(&before, words).ended(1).says(&["standard output", "closed"]);
    }
    ran_after("exec 1</dev/null", &["--help"])
        .ended(1)
        .says(&["standard output", "open for writing"]);
    let refused = ran_after(&before, &["report", path(&result), "-o", "-"]);
    refused.ended(2).says(&["not open for writing"]);
    nothing_left(folder.path());
}

#[test]
fn a_summary_that_standard_error_does_not_take_is_kept_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    for error in ["2>&-", "2>/dev/full"] {
        let before = format!("export TMPDIR={}; exec {error}", path(elsewhere.path()));
        ran_after(&before, &["characterize", "--", "true"]).ended(1);
        let rescued = scratch_of(elsewhere.path());
        assert!(read(&rescued[0]).contains("\"characterization\""));
        fs::remove_file(&rescued[0]).unwrap();
    }
}

#[test]
fn without_a_folder_for_temporary_files_another_is_found() {
    let home = tempfile::tempdir().unwrap();
    let before = format!("export TMPDIR=/nowhere/at/all HOME={}", path(home.path()));
    let evaluate = ["evaluate", "sim:hp-730", "--points", "60", "--json"];
    let ran = ran_after(&before, &evaluate).ended(0);
    assert!(ran.out.contains("\"evaluation\""), "{}", ran.out);
    nothing_left(home.path());
}

/// Runs the command after `before` in a mount namespace of its own, which only root may create;
/// otherwise says why not.
fn apart(before: &str, arguments: &[&str]) -> Option<Ran> {
    let may = |one: &mut Command| one.output().is_ok_and(|ended| ended.status.success());
    if !may(Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"])) {
        skipped("no mount namespace can be made: it needs root");
        return None;
    }
    let mut shell = Command::new("unshare");
    let line = format!("set -e; {before}; exec \"$0\" \"$@\"");
    let program = ioscape(&[]).get_program().to_owned();
    shell.args(["-m", "sh", "-c", &line]).arg(program).args(arguments);
    Some(Ran::of(shell))
}

const READ_ONLY: &str = "mount -t tmpfs -o ro none /tmp";

#[test]
fn a_read_only_folder_for_temporary_files_loses_nothing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (place, home) = (folder.path().join("place"), folder.path().join("home"));
    fs::create_dir(&place).and_then(|()| fs::create_dir(&home)).unwrap();
    let before = format!("{READ_ONLY}; unset TMPDIR; export HOME={}", path(&home));
    let Some(ran) = apart(&before, &short(&place)) else { return };
    ran.ended(0);
    let evaluate = ["evaluate", "sim:hp-730", "--points", "60", "--json"];
    let ran = apart(&format!("{before}; exec > /dev/full"), &evaluate).expect("as before");
    let ran = ran.ended(1).says(&["standard output", "instead"]);
    let rescued = scratch_of(&home);
    assert!(rescued.len() == 1 && ran.err.contains(path(&rescued[0])), "{rescued:?} {}", ran.err);
    // Input that must be read twice and comes through a pipe needs a place.
    let (text, trace) = (place.join("a.csv"), place.join("a.parquet"));
    fs::write(&text, "queued_ns,is_write,offset_bytes,length_bytes\n1,0,4096,4096\n").unwrap();
    run(&["trace", "import", path(&text), "-o", path(&trace)]).ended(0);
    let piped = format!("{before}; exec < /dev/null; cat {} | \"$0\" \"$@\"; exit", path(&trace));
    let ran = apart(&piped, &["trace", "analyze", "-"]).expect("as before");
    ran.ended(1).says(&["temporary file", "Read-only file system"]);
    for file in [text, trace] {
        fs::remove_file(file).unwrap();
    }
    nothing_left(&place);
}

#[test]
fn without_a_home_another_place_is_found() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let before = format!(
        "{READ_ONLY}; mount --bind {} /var/tmp; unset HOME TMPDIR; exec > /dev/full",
        path(folder.path())
    );
    let evaluate = ["evaluate", "sim:hp-730", "--points", "60", "--json"];
    let Some(ran) = apart(&before, &evaluate) else { return };
    let ran = ran.ended(1).says(&["standard output", "instead", "/var/tmp/ioscape-"]);
    let rescued = scratch_of(folder.path());
    assert!(rescued.len() == 1 && !ran.err.contains("HOME"), "{rescued:?}");
    assert!(read(&rescued[0]).contains("\"evaluation\""));
}

#[test]
fn without_a_place_to_save_on_the_way_the_result_comes_at_the_end() {
    let elsewhere = "mount -t tmpfs -o ro none /var/tmp; unset HOME TMPDIR; cd /tmp";
    let evaluate = ["evaluate", "sim:hp-730", "--points", "60", "--json"];
    let Some(ran) = apart(&format!("{READ_ONLY}; {elsewhere}"), &evaluate) else { return };
    let ran = ran.ended(0).says(&["nothing is saved before the end"]);
    assert!(ran.out.contains("\"evaluation\""), "{}", ran.out);
}

#[test]
fn a_thread_that_cannot_be_had_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let place = path(folder.path());
    // No address space for a thread's stack: program and workers start on the kernel's stack.
    let before = "export RUST_MIN_STACK=1099511627776; ulimit -v 8000000";
    let trace = format!("{place}/a.parquet");
    let commands: [&[&str]; 5] = [
        &["client", place],
        &["trace", "record", "--seconds", "1", "-o", &trace],
        &["trace", "record", "-o", &trace, "--", "sleep", "1000"],
        &["trace", "top", "--once"],
        &["trace", "top", "--serve", "127.0.0.1:0"],
    ];
    for words in commands {
        let ran = ran_after(before, words);
        if cannot_record(&ran) {
            continue;
        }
        let ran = ran.ended(1).says(&["cannot start a thread", "ulimit -v"]);
        assert!(ran.err.lines().last().is_some_and(|line| line.starts_with("ioscape: cannot")));
        nothing_left(folder.path());
    }
}

#[test]
fn a_process_or_thread_too_many_is_told_with_the_limit() {
    // A user ID that nobody else uses: the limit covers all processes of a user.
    let user = 64_000 + std::process::id() % 1_000;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    if user_or_skip(user, folder.path()).is_none() {
        return;
    }
    let (trace, campaign) = (folder.path().join("a.spc"), folder.path().join("tiny.toml"));
    fs::write(&trace, "0,8,4096,r,0.0\n0,16,4096,w,0.1\n").unwrap();
    fs::write(&campaign, TINY).unwrap();
    let work = folder.path().join("work");
    let commands: [&[&str]; 7] = [
        &["run", ".", "--unique-bytes", "1M", "--seconds", "0.1", "--processes", "3", "-o", "r"],
        &["run", ".", "--unique-bytes", "1M", "--seconds", "0.1", "--processes", "3"],
        &["evaluate", ".", "--budget", "2s", "--max-unique-bytes", "1M", "-o", "r"],
        &["vxbench", "-w", "write", "-i", "iosize=4k,iocount=8,nthreads=3", "f", "--output", "r"],
        &["campaign", "run", path(&campaign), ".", "-o", "r"],
        &["trace", "analyze", path(&trace)],
        &["trace", "import", path(&trace), "-o", "r"],
    ];
    let mut refused = 0;
    for (limit, words) in (1..=3).flat_map(|limit| commands.map(|words| (limit, words))) {
        fs::create_dir(&work).unwrap();
        fs::set_permissions(&work, fs::Permissions::from_mode(0o777)).unwrap();
        // Shells disagree on the letter.
        let before = format!("ulimit -u {limit} 2>/dev/null || ulimit -p {limit}");
        let attempt = |words: &[&str]| {
            let mut command = after(&before, words);
            command.current_dir(&work).uid(user).gid(user);
            Ran::of(command)
        };
        let mut ran = attempt(words);
        if ran.err.contains("within the budget") {
            // On a busy disk, laying out the sets took all of that time.
            let longer = words.iter().map(|&word| if word == "2s" { "60s" } else { word });
            ran = attempt(&longer.collect::<Vec<_>>());
        }
        let is_told = ran.code == Some(1) && ran.err.contains("(ulimit -u");
        assert!(ran.code == Some(0) || is_told, "{limit} {words:?}: {:?} {}", ran.code, ran.err);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        assert_eq!(scratch_of(&work), Vec::<PathBuf>::new(), "{limit} {words:?}");
        if is_told {
            refused += 1;
            assert!(!work.join("f").exists(), "{limit} {words:?}");
        }
        fs::remove_dir_all(&work).unwrap();
    }
    assert!(refused >= 5, "the limits are too wide: {refused}");
}

#[test]
fn signals_that_ask_to_end_are_obeyed_and_nothing_is_left() {
    for name in ["TERM", "HUP", "INT", "XCPU", "USR1", "USR2"] {
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
    // A late command saves elsewhere and says so; it replaces nothing that it has not seen.
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
