//! Misuse: one clear sentence, exit code 2, nothing touched.

use super::common::{path, program, refused, run};
use ioscape_schema::{Document, Measurement, SCHEMA, Stop, Workload};
use predicates::prelude::*;

#[test]
fn bad_sizes_and_fractions() {
    refused(&["run", "--unique-bytes", "-1"], &["-1", "size"]);
    refused(&["run", "--size-mean", "4kk"], &["4kk", "size"]);
    refused(&["run", "--unique-bytes", "0"], &["0", "size"]);
    refused(&["run", "--read-frac", "1.5"], &["1.5", "0 to 1"]);
    refused(&["run", "--engine", "spdk"], &["spdk", "psync"]);
    refused(&["run", "--size-mean", "1M", "--unique-bytes", "64k"], &["size_mean", "unique_bytes"]);
    refused(&["run", "--queue-depth", "8"], &["queue_depth", "io_uring"]);
    refused(&["run", "--engine", "mmap", "--direct-above", "64k"], &["direct_above", "psync"]);
    refused(&["evaluate", ".", "--engine", "mmap", "--direct"], &["mmap", "direct"]);
    refused(&["evaluate", "sim:any", "--direct-above", "64k"], &["--direct-above", "simulated"]);
    refused(&["evaluate", "sim:any", "--clients", "2"], &["--clients", "simulated"]);
    refused(&["evaluate", ".", "--budget", "soon"], &["soon", "duration"]);
    refused(&["evaluate", ".", "--engine", "psyncc"], &["psync, io_uring, mmap or dontcache"]);
    refused(&["trace", "replay", "t.csv", ".", "--size", "1"], &["--size", "4k"]);
}

#[test]
fn workloads_described_twice() {
    refused(&["run", "jobs.toml", "--direct"], &["jobs.toml", "leave it out"]);
    refused(
        &["predict", "r.json", "--workloads", "paper", "--read-frac", "1"],
        &["paper", "leave it out"],
    );
    let twice = ["vxbench", "-w", "read", "f", "-i", "direct_above =4k", "--direct-above", "8k"];
    refused(&twice, &["direct_above", "given twice"]);
}

#[test]
fn keys_of_jobs_that_a_command_does_not_follow() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let jobs = folder.path().join("jobs.toml");
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    [&a, &b].iter().for_each(|one| std::fs::create_dir(one).expect("a directory"));
    std::fs::write(&jobs, "[[job]]\nname = \"one\"\nread_frac = 0.5\nverify = true\n")
        .expect("a file");
    refused(&["ab", path(&jobs), path(&jobs)], &["one", "verify", "ioscape ab"]);
    refused(&["ab", path(&a), path(&b), "--jobs", path(&jobs)], &["one", "verify"]);
    refused(&["run", path(&jobs), path(&a), "--clients", "2"], &["one", "several clients"]);
}

#[test]
fn targets_that_cannot_be_used() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let missing = folder.path().join("nowhere");
    refused(&["evaluate", path(&missing)], &["nowhere"]);
    let file = folder.path().join("precious");
    std::fs::write(&file, "precious").expect("a file");
    refused(&["evaluate", path(&file)], &["precious", "--destroy-data"]);
    refused(&["run", path(&file)], &["precious", "--destroy-data"]);
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "precious");
    refused(&["evaluate", "/dev/null", "--destroy-data"], &["/dev/null"]);
    refused(&["vxbench", "--diagnose", "/nowhere"], &["/nowhere: does not exist"]);
    refused(&["evaluate", path(folder.path()), "--max-unique-bytes", "100000T"], &["free space"]);
    refused(&["run", path(folder.path()), "--unique-bytes", "100000T"], &["PiB", "free space"]);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(left.len(), 1, "nothing is left behind: {left:?}");
}

#[test]
fn a_dry_run_refuses_what_the_run_would() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (target, place) = (path(folder.path()), |name: &str| folder.path().join(name));
    let (runs, evaluated, thesis) = (place("runs.json"), place("e.json"), place("thesis"));
    let measured = vec![Measurement::empty(Workload::default(), Stop::Confident)];
    let outcome = Some(measured.into());
    let document = Document { schema: SCHEMA.into(), outcome, ..Document::default() };
    std::fs::write(&runs, serde_json::to_string(&document).expect("JSON")).expect("a file");
    std::fs::write(&evaluated, include_str!("data/small.ioscape.json")).expect("a file");
    std::fs::write(&thesis, "precious").expect("a file");
    let (runs, evaluated, thesis) = (path(&runs), path(&evaluated), path(&thesis));
    let campaign = ["campaign", "run", "random-reads", target];
    let made = ["--as-root-make", "--fs", "ext4", "--mount", "zfs=x"];
    let commands: [(&[&str], &str); 9] = [
        (&["evaluate", target, "--resume", runs], "no evaluation to continue"),
        (&["evaluate", target, "--resume", evaluated], "--resume"),
        (&["evaluate", target, "--memory", "1"], "8 MiB"),
        (&["evaluate", target, "-o", thesis], "--force"),
        (&[&campaign[..], &["--resume", evaluated]].concat(), "no campaign to continue"),
        (&[&campaign[..], &["-o", thesis]].concat(), "--force"),
        (&[&campaign[..], &made].concat(), "--mount \"zfs=x\""),
        (&["twin", target, "-o", thesis], "--force"),
        (&["twin", target, "--unique-bytes", "100000T"], "has room for"),
    ];
    for (command, why) in commands {
        run(command).ended(2).says(&[why]);
        run(&[command, &["--dry-run"]].concat()).ended(2).says(&[why]);
    }
}

#[test]
fn result_files_of_another_kind() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    for (content, word) in [
        ("", "x.json"),
        ("{\"schema\": \"ioscape/99\"}", "newer"),
        ("{\"fio version\": 3}", "schema"),
        ("{", "x.json"),
    ] {
        let file = folder.path().join("x.json");
        std::fs::write(&file, content).expect("a file");
        refused(&["report", path(&file)], &[word]);
        refused(&["evaluate", path(folder.path()), "--resume", path(&file)], &[word]);
        assert_eq!(std::fs::read_to_string(&file).expect("still there"), content);
    }
}

#[test]
fn bad_job_files_name_line_and_key() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("bad.toml");
    std::fs::write(&file, "[[job]]\nname = \"a\"\nread_frac = 1.5\n").expect("a file");
    refused(&["run", path(folder.path()), path(&file)], &["bad.toml", "line 3", "read_frac"]);
}

#[test]
fn no_job_is_run_where_a_later_one_cannot_be() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let jobs = folder.path().join("jobs.toml");
    for (later, named) in [
        ("unique_bytes = \"900T\"", "does not fit"),
        ("engine = \"null\"\nverify = true", "null engine"),
        ("engine = \"sim\"", "sim engine"),
    ] {
        let first = "[[job]]\nname = \"first\"\nunique_bytes = \"1M\"\n";
        std::fs::write(&jobs, format!("{first}[[job]]\nname = \"later\"\n{later}\n"))
            .expect("a file");
        refused(&["run", path(folder.path()), path(&jobs)], &["job \"later\"", named]);
    }
    // fio could not read a log with a file name in such a directory.
    let spaced = folder.path().join("two words");
    std::fs::create_dir(&spaced).expect("a folder");
    let log = folder.path().join("log");
    refused(&["run", path(&spaced), "--fio-iolog", path(&log)], &["--fio-iolog", "blanks"]);
    assert!(!log.exists() && std::fs::read_dir(&spaced).expect("a folder").count() == 0);
}

#[test]
fn logs_of_several_jobs_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let [jobs, log] = ["jobs.toml", "log"].map(|name| folder.path().join(name));
    let job = |name: &str| format!("[[job]]\nname = \"{name}\"\nunique_bytes = \"1M\"\n");
    std::fs::write(&jobs, job("a") + &job("b")).expect("a file");
    let words = ["run", path(folder.path()), path(&jobs), "--fio-iolog", path(&log)];
    refused(&words, &["--fio-iolog is for one job", "are 2", "--rows"]);
    assert!(!log.exists());
}

#[test]
fn outputs_that_cannot_be_written_are_refused_first() {
    refused(&["evaluate", ".", "-o", "/nowhere/x.json"], &["/nowhere/x.json"]);
}

#[test]
fn help_and_version_are_no_misuse() {
    program().arg("--help").assert().success().stdout(predicate::str::contains("evaluate"));
    program().arg("--version").assert().success();
    program().assert().code(2);
}
