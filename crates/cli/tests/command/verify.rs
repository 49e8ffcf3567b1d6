//! `--verify` finds nothing if nothing is wrong; what another program corrupts is found, located
//! and reported.

use crate::common::{Ran, ioscape, path, run, scratch_of};
use ioscape_schema::{Document, Outcome, VerifyKind, VerifyReport};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

fn report(json: &str) -> VerifyReport {
    let document: Document = serde_json::from_str(json).expect("a result");
    let found = match document.outcome {
        Some(Outcome::Measurements(runs)) => runs[0].verify.clone(),
        Some(Outcome::Vxbench(vxbench)) => vxbench.runs[0].verify.clone(),
        Some(Outcome::TraceReplay(replay)) => replay.verify.clone(),
        _ => None,
    };
    found.expect("it was verified")
}

fn assert_sound(json: &str) {
    let report = report(json);
    assert_eq!((report.wrong_blocks(), report.findings.len()), (0, 0), "{report:?}");
    assert!(report.read_back_blocks > 0, "{report:?}");
}

#[test]
fn runs_vxbench_and_replays_find_nothing_where_nothing_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.parquet");
    let place = path(folder.path());
    let options = ["--verify", "--unique-bytes", "2M", "--seconds", "200ms", "--json"];
    let workload = ["run", place, "--processes", "2", "--rows", path(&rows)];
    assert_sound(&run(&[&workload[..], &options[..]].concat()).ended(0).out);
    let file = folder.path().join("file");
    let sub = "iosize=8k,iocount=200,nthreads=2,truncup";
    let vxbench = ["vxbench", "-w", "rand_mixed", "-i", sub, "--verify", "--json", path(&file)];
    assert_sound(&run(&vxbench).ended(0).out);
    let fast = ["--as-fast-as-possible", "--in-flight", "4", "--buffered"];
    let replay = ["trace", "replay", path(&rows), place, "--verify", "--json"];
    assert_sound(&run(&[&replay[..], &fast[..]].concat()).ended(0).out);
}

#[test]
fn what_cannot_be_verified_is_misuse() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, [1; 65536]).unwrap();
    run(&["vxbench", "-w", "read", "--verify", path(&file)]).ended(2).says(&["writes nothing"]);
    let append = ["vxbench", "-w", "write", "-i", "iocount=2", "-o", "append", "--verify"];
    run(&[&append[..], &["--destroy-data", path(&file)][..]].concat())
        .ended(2)
        .says(&["append", "place"]);
    let null = ["run", path(folder.path()), "--engine", "null", "--verify"];
    run(&null).ended(2).says(&["null"]);
    assert_eq!(std::fs::read(&file).unwrap(), [1; 65536]);
}

/// Runs reads of 4 KiB while another program repeatedly writes `bytes` at byte `offset` of the
/// scratch file.
fn spoiled(folder: &Path, bytes: &[u8], offset: u64) -> Ran {
    let workload = ["run", path(folder), "--verify", "--unique-bytes", "1M", "--size-mean", "4k"];
    let how = ["--size-dist", "fixed", "--read-frac", "1", "--seconds", "500ms", "--json"];
    let mut command = ioscape(&[&workload[..], &how[..]].concat());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    while child.try_wait().expect("a child").is_none() {
        for scratch in scratch_of(folder) {
            let file = File::options().write(true).open(scratch);
            // The file may just have been removed at the end of the run.
            let _ = file.and_then(|file| file.write_all_at(bytes, offset));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = child.wait_with_output().expect("it ended");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: ended.status.code(), out: text(&ended.stdout), err: text(&ended.stderr) }
}

fn found(ran: Ran, kind: VerifyKind, offset: u64) {
    let ran = ran.ended(1).says(&["verification failed", kind.word(), &format!("byte {offset}")]);
    let report = report(&ran.out);
    assert!(report.count(kind) >= 1, "{report:?}");
    let first = &report.findings[0];
    assert_eq!((first.kind, first.offset), (kind, offset), "{report:?}");
}

#[test]
fn a_byte_that_another_program_changes_is_found() {
    let folder = tempfile::tempdir().unwrap();
    found(
        spoiled(folder.path(), &[0x55, 0xAA, 0x55, 0xAA], 20480 + 1000),
        VerifyKind::Corrupt,
        20480,
    );
}

#[test]
fn a_block_that_another_program_empties_is_found() {
    let folder = tempfile::tempdir().unwrap();
    found(spoiled(folder.path(), &[0; 4096], 20480), VerifyKind::Lost, 20480);
}
