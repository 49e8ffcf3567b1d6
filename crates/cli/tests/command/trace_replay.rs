//! `ioscape trace replay`: requests go where and when they should; nothing is overwritten unasked.

use super::common::skipped;
use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use ioscape_schema::{Document, ReplayTiming, TraceReplay, WarningKind};
use predicates::prelude::*;
use std::path::Path;

/// Device, sector, bytes, operation, seconds: two devices, half a second.
const SPC: &str =
    "0,8,4096,r,0.0\n0,16,4096,w,0.1\n1,2100,8192,w,0.2\n1,100000,4096,r,0.4\n0,24,512,w,0.5\n";

fn replay(folder: &Path, words: &[&str]) -> assert_cmd::assert::Assert {
    std::fs::write(folder.join("a.spc"), SPC).unwrap();
    let mut command = Command::new(cargo_bin("ioscape"));
    command.current_dir(folder).args(["trace", "replay", "a.spc"]).args(words).assert()
}

fn document(assert: assert_cmd::assert::Assert) -> Document {
    serde_json::from_slice(&assert.success().get_output().stdout).expect("a document")
}

fn result(document: &Document) -> &TraceReplay {
    document.trace_replay().expect("a replay")
}

fn ios(replay: &TraceReplay, kind: &str) -> u64 {
    replay.kinds.iter().find(|one| one.kind == kind).map_or(0, |one| one.ios)
}

#[test]
fn a_directory_gets_a_scratch_file_and_the_trace_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let found = document(replay(folder.path(), &[".", "--buffered", "--speed", "2", "--json"]));
    let found = result(&found);
    assert_eq!((ios(found, "read"), ios(found, "write"), found.moved), (2, 3, 0));
    assert_eq!((found.timing, found.span_ns), (ReplayTiming::Speed(2.0), 250_000_000));
    assert!(found.elapsed_ns >= 250_000_000, "{}", found.elapsed_ns);
    assert_eq!(found.lateness_ns.as_ref().map(|late| late.count), Some(5));
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "the scratch file is gone");
}

#[test]
fn a_smaller_file_is_wrapped_into_with_a_warning_and_only_when_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("target");
    std::fs::write(&file, vec![0; 1 << 20]).unwrap();
    replay(folder.path(), &["target", "--buffered"])
        .code(2)
        .stderr(predicate::str::contains("--destroy-data"));
    replay(folder.path(), &["target", "--buffered", "--destroy-data", "--size", "1M"])
        .code(2)
        .stderr(predicate::str::contains("--size is that of the scratch file in a directory"));
    assert!(std::fs::read(&file).unwrap().iter().all(|b| *b == 0), "nothing was written");
    let words = ["target", "--buffered", "--as-fast-as-possible", "--destroy-data", "--json"];
    let told = document(replay(folder.path(), &words));
    let found = result(&told);
    assert_eq!((found.timing, found.lateness_ns.is_none()), (ReplayTiming::AsFastAsPossible, true));
    assert_eq!((found.ios(), found.target_bytes), (5, 1 << 20));
    assert!(found.moved > 0);
    assert!(told.warnings.iter().any(|w| w.kind == WarningKind::SetLimited), "{:?}", told.warnings);
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(bytes.len(), 1 << 20, "the file keeps its size");
    assert!(bytes[8192..12288].iter().any(|b| *b != 0), "sector 16 was written");
    assert!(bytes[4096..8192].iter().all(|b| *b == 0), "sector 8 was only read");
}

/// Once, the advice was to leave out an option that a replay does not have, and it came after the
/// scratch file was written.
#[test]
fn a_target_without_direct_io_is_refused_with_the_option_that_helps() {
    let folder = tempfile::tempdir().unwrap();
    // The kernel opens no file there for direct I/O, and nothing writes to this one.
    let target = "/sys/devices/system/cpu/possible";
    if !Path::new(target).exists() {
        return skipped("there is no /sys");
    }
    let told = predicate::str::contains("refuses O_DIRECT: add --buffered");
    let advised = told.and(predicate::str::contains("--direct").not());
    replay(folder.path(), &[target, "--destroy-data"]).code(2).stderr(advised);
}

#[test]
fn much_of_the_free_space_is_written_only_when_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("far.spc"), "0,250000000000,4096,r,0.0\n").unwrap();
    let replay = |words: &[&str]| {
        let mut command = Command::new(cargo_bin("ioscape"));
        command.current_dir(folder.path()).args(["trace", "replay", "far.spc", "."]);
        command.args(["--buffered"]).args(words).assert()
    };
    let refused = replay(&[]).code(2);
    refused.stderr(predicate::str::contains("are free: allow it with --size (up to"));
    let told = "a scratch file of 2 MiB is written first, where";
    replay(&["--size", "2M"]).success().stderr(predicate::str::contains(told));
}

#[test]
fn the_summary_tells_how_late_it_was_and_misuse_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let words = [".", "--buffered", "--disk", "0", "--to", "200ms", "-o", "r.json"];
    replay(folder.path(), &words)
        .success()
        .stdout(predicate::str::contains("Issue delay").and(predicate::str::contains("write")));
    let page = Command::new(cargo_bin("ioscape"))
        .current_dir(folder.path())
        .args(["report", "r.json", "-o", "r.html"])
        .assert();
    page.success();
    assert!(std::fs::read_to_string(folder.path().join("r.html")).unwrap().contains("Issue delay"));
    for (words, told) in [
        (&["."][..], "--disk 7"),
        (&["nowhere"], "does not exist"),
        (&[".", "--speed", "0"], "--speed"),
        (&[".", "--speed", "2", "--as-fast-as-possible"], "--as-fast-as-possible"),
    ] {
        let more: &[&str] = if told == "--disk 7" { &["--disk", "7", "--buffered"] } else { &[] };
        let words = [words, more].concat();
        replay(folder.path(), &words).code(2).stderr(predicate::str::contains(told));
    }
}
