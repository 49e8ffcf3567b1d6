//! Damaged, truncated or ambiguous traces: unread parts are reported, and nothing is guessed.

use super::common::program;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// Runs `ioscape trace analyze` with these arguments on the trace `bytes`.
fn analyze(words: &[&str], name: &str, bytes: &[u8]) -> assert_cmd::assert::Assert {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(name), bytes).expect("the trace is written");
    let mut command = program();
    command.current_dir(folder.path()).args(["trace", "analyze"]).args(words).arg(name).assert()
}

/// The number of requests analyzed, and all doubts.
fn found(words: &[&str], name: &str, bytes: &[u8]) -> (u64, String) {
    let done = analyze(&[&["--json"], words].concat(), name, bytes).success();
    let document: Value = serde_json::from_slice(&done.get_output().stdout).expect("a document");
    let doubts = document["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let doubts: Vec<&str> = doubts.iter().filter_map(|doubt| doubt["message"].as_str()).collect();
    (document["trace_summary"]["ios"].as_u64().unwrap_or(0), doubts.join("\n"))
}

/// What the command says when it fails with this exit code.
fn refused(words: &[&str], name: &str, bytes: &[u8], code: i32) -> String {
    let done = analyze(words, name, bytes).code(code);
    let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(!told.contains("panicked") && told.trim().lines().count() == 1, "{told}");
    told
}

/// `count` requests in MSR's format that do not compress well.
fn msr(count: u64) -> String {
    let mut text = String::new();
    for n in 0..count {
        let x = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let time = 128_166_372_000_000_000 + n * 10_000;
        let _ = writeln!(text, "{time},host,0,Read,{},4096,{}", x % (1 << 40), x % 100_000);
    }
    text
}

/// 400 SRT records, and where the first one begins.
fn srt() -> (Vec<u8>, usize) {
    let mut bytes = b"$$TR_IOREC-1.3 (x)\0\nversion = 1.3;\n\x0c".to_vec();
    let header = bytes.len();
    for n in 0..400u32 {
        let words = [56, 1, n, 0, 100, 9000, 8192, n * 32, 0, 0, 0, 1, 1 << 16, 1];
        words.iter().for_each(|word: &u32| bytes.extend(word.to_be_bytes()));
    }
    (bytes, header)
}

#[test]
fn a_damaged_size_of_srt_swallows_no_other_record() {
    let (whole, header) = srt();
    for (record, size) in [(100, 4000u32), (100, 60), (100, 16), (397, 500), (398, 2000)] {
        let mut bytes = whole.clone();
        bytes[header + record * 56..][..4].copy_from_slice(&size.to_be_bytes());
        let told = refused(&[], "w.srt", &bytes, 1);
        assert!(told.contains(&format!("record {}", record + 1)), "{size}: {told}");
        let (ios, doubts) = found(&["--skip-bad"], "w.srt", &bytes);
        assert_eq!(ios, 399, "{size}: {doubts}");
        assert!(doubts.contains("56 bytes were passed over"), "{size}: {doubts}");
    }
}

#[test]
fn records_of_srt_that_are_no_requests_are_counted() {
    let (mut bytes, header) = srt();
    for record in [7, 8, 200] {
        bytes[header + record * 56 + 4..][..4].copy_from_slice(&0x0004_7777u32.to_be_bytes());
    }
    let (ios, doubts) = found(&[], "w.srt", &bytes);
    assert_eq!(
        (ios, doubts.as_str()),
        (397, "3 records are of no known kind, of which damaged ones may be; they have no row")
    );
}

#[test]
fn after_a_broken_record_of_srt_the_next_whole_one_is_found() {
    let (mut bytes, header) = srt();
    assert_eq!(found(&[], "w.srt", &bytes), (400, String::new()));
    bytes[header + 100 * 56..][..4].copy_from_slice(&[0xff; 4]);
    assert!(refused(&[], "w.srt", &bytes, 1).contains("record 101"));
    let (ios, doubts) = found(&["--skip-bad"], "w.srt", &bytes);
    assert_eq!(ios, 399, "{doubts}");
    assert!(
        doubts.contains("1 broken records were left out")
            && doubts.contains("56 bytes were passed over"),
        "{doubts}"
    );
}

/// The bytes as compressed by a program; `None`, and a message, if there is no such program.
fn packed(program: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t");
    std::fs::write(&path, bytes).expect("the bytes are written");
    let done = std::process::Command::new(program).arg("-c").arg(&path).output();
    match done {
        Ok(done) if done.status.success() => Some(done.stdout),
        _ => {
            eprintln!("SKIPPED: {program} cannot be run");
            None
        }
    }
}

#[test]
fn what_is_packed_is_read_up_to_the_damage() {
    let text = msr(60_000);
    for program in ["gzip", "bzip2", "xz", "zstd"] {
        let Some(whole) = packed(program, text.as_bytes()) else { continue };
        let cut = &whole[..whole.len() / 2];
        let told = refused(&[], "t.packed", cut, 1);
        assert!(told.contains("--skip-bad reads up to there"), "{program}: {told}");
        let (ios, doubts) = found(&["--skip-bad"], "t.packed", cut);
        assert!((10_000..50_000).contains(&ios), "{program}: {ios}");
        assert!(
            doubts.contains("is cut off at compressed byte") && doubts.contains("cannot be told"),
            "{program}: {doubts}"
        );
        let told = refused(&["--skip-bad"], "t.packed", &whole[..64], 2);
        assert!(told.contains("cut off at compressed byte 64"), "{program}: {told}");
        let mut broken = whole.clone();
        broken[whole.len() / 2..][..64].fill(0xa5);
        // gzip has only one checksum, at its end: before that, it may decompress to nonsense.
        let (ios, doubts) = found(&["--skip-bad"], "t.packed", &broken);
        assert!((10_000..55_000).contains(&ios), "{program}: {ios} {doubts}");
        assert!(doubts.contains("damaged") && doubts.contains("wrong"), "{program}: {doubts}");
    }
}

/// The MSR trace as Parquet written by this program.
fn parquet(count: u64) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.csv"), msr(count)).expect("the trace is written");
    let mut command = program();
    command.current_dir(folder.path()).args(["trace", "import", "t.csv", "-o", "t.parquet"]);
    command.assert().success();
    std::fs::read(folder.path().join("t.parquet")).expect("the trace")
}

#[test]
fn damaged_parquet_is_one_sentence_and_its_rest_is_counted() {
    let whole = parquet(20_000);
    assert_eq!(found(&[], "t.parquet", &whole).0, 20_000);
    // All kinds of places: pages, and the metadata at the end.
    let end = whole.len();
    for (at, code) in [(end / 2, 1), (end - 40, 2), (end - 6, 2)] {
        let mut broken = whole.clone();
        broken[at..at + 4].iter_mut().for_each(|byte| *byte ^= 0xff);
        let done = analyze(&[], "t.parquet", &broken);
        let output = done.get_output().clone();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!told.contains("panicked"), "{at}: {told}");
        if !output.status.success() {
            assert_eq!(output.status.code(), Some(code), "{at}: {told}");
            assert_eq!(told.trim().lines().count(), 1, "{told}");
        }
    }
    let mut broken = whole.clone();
    broken[4..64].fill(0xff);
    let told = refused(&[], "t.parquet", &broken, 1);
    assert!(told.contains("--skip-bad"), "{told}");
    let done = analyze(&["--skip-bad"], "t.parquet", &broken).code(2);
    let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(told.contains("the trace holds no requests"), "its one group is left out: {told}");
    // A group has 262,144 rows, so the second one is intact.
    let mut broken = parquet(300_000);
    broken[4..64].fill(0xff);
    let (ios, doubts) = found(&["--skip-bad"], "t.parquet", &broken);
    assert!(ios == 300_000 - (1 << 18) && doubts.contains("left out"), "{ios}: {doubts}");
}

#[test]
fn parquet_of_earlier_versions_still_opens() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/sample/unsigned-lz4.parquet");
    let old = std::fs::read(path).expect("the sample");
    // Its tables name the original format, which records neither issue times nor types.
    let doubt = "the format msr does not tell when requests were issued to the device: times at the device (physical) are left out, and response times include the queue\nthe format msr does not tell which requests are synchronous, asynchronous or raw, nor what blocks hold: the table of types is left out";
    assert_eq!(found(&[], "old.parquet", &old), (3, doubt.to_owned()));
}

#[test]
fn lines_that_fit_formats_of_other_units_ask_for_the_format() {
    let text = b"0.0 0 65536 1024 1\n12.5 1 512 512 0\n";
    let told = refused(&[], "five.txt", text, 2);
    assert!(
        told.contains("five.txt is ambiguous")
            && told.contains(
                "replayer (milliseconds and bytes) or disksim (milliseconds and sectors)"
            )
            && told.contains("--format"),
        "{told}"
    );
    assert_eq!(found(&["--format", "disksim"], "five.txt", text).0, 2);
}

#[test]
fn comments_before_the_events_of_blkparse_are_passed_over() {
    let text = b"# recorded on host x, 3 runs\n#\n  8,0    1        1     0.000000000   42  Q   R 8 + 8 [fio]\n\
        8,0    1        2     0.000001000   42  D   R 8 + 8 [fio]\n  8,0    1        3     0.000501000    0  C   R 8 + 8 [0]\n";
    let (ios, doubts) = found(&[], "blk.txt", text);
    assert_eq!(ios, 1);
    assert!(
        doubts.starts_with("the format blkparse does not tell") && doubts.lines().count() == 1,
        "{doubts}"
    );
}

#[test]
fn a_format_without_operations_says_so_first() {
    let record = |n: u32| {
        [
            &n.to_le_bytes()[..],
            &u64::from(n % 7).to_le_bytes(),
            &4096u32.to_le_bytes(),
            &(-1i64).to_le_bytes(),
        ]
        .concat()
    };
    let bytes: Vec<u8> = (0..100).flat_map(record).collect();
    let done = analyze(&[], "t.oracleGeneral", &bytes).success();
    let told = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    let doubt = told.find("does not tell what reads and what writes").expect("the doubt");
    assert!(doubt < told.find("Requests: 100").expect("the numbers"), "{told}");
    assert!(
        told.find("have no response times")
            .is_some_and(|at| at < told.find("Requests:").expect("numbers"))
    );
}

/// Runs `record` with these additional arguments; returns its output, unless recording is not
/// allowed here.
fn record(folder: &Path, words: &[&str]) -> Option<std::process::Output> {
    let mut command = program();
    let done = command.current_dir(folder).args(["trace", "record", "-o", "t.parquet"]).args(words);
    let done = done.output().expect("it runs");
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    if told.contains("tracefs") {
        eprintln!("SKIPPED: {told}");
        return None;
    }
    Some(done)
}

/// Writes for about four seconds without long pauses, and ends with a write: a part without
/// requests means that the system was slow.
const WRITES: &str = "for i in $(seq 30); do sleep 0.1; dd if=/dev/zero of=f bs=64k count=4 conv=fsync 2>/dev/null; done";

/// Whether the part has requests, all of which were analyzed: if the system stalled, a part of one
/// second may have none.
fn is_analysed_whole(folder: &Path, name: &str) -> bool {
    let mut analyze = program();
    let done = analyze.current_dir(folder).args(["trace", "analyze", name]).output();
    let done = done.expect("it runs");
    let told = String::from_utf8_lossy(&done.stderr);
    let is_empty = told == "ioscape: the trace holds no requests\n";
    assert!(done.status.success() || is_empty, "{name}: {told}");
    done.status.success()
}

#[test]
fn a_recording_in_parts_keeps_the_latest_and_loses_nothing_between_them() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let folder = folder.path();
    let words =
        ["--rotate", "1s", "--keep", "2", "--path", ".", "--json", "--", "sh", "-c", WRITES];
    let Some(done) = record(folder, &words) else { return };
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{told}");
    let document: Value = serde_json::from_slice(&done.stdout).expect("one document");
    let files = document["trace_files"].as_array().expect("files");
    assert_eq!(files.len(), 2, "{files:?}");
    let mut is_analysed = false;
    for file in files {
        let name = file["path"].as_str().expect("a path");
        assert!(name.starts_with("t-2") && name.ends_with("Z.parquet"), "{name}");
        is_analysed |= is_analysed_whole(folder, name);
    }
    assert!(is_analysed, "both parts are empty: {files:?}");
    let left = std::fs::read_dir(folder).expect("the folder").flatten();
    let left = left.filter(|one| one.path().extension().is_some_and(|end| end == "parquet"));
    assert_eq!(left.count(), 2);
}

#[test]
fn a_recording_that_is_killed_keeps_the_parts_that_ended() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let folder = folder.path();
    if record(folder, &["--path", ".", "--", "true"]).is_none() {
        return;
    }
    let program = program();
    let mut command = std::process::Command::new(program.get_program());
    let words = ["trace", "record", "-o", "u.parquet", "--rotate", "1s", "--path", "."];
    let mut recorder = command.current_dir(folder).args(words).spawn().expect("it starts");
    let ended = || -> Option<String> {
        let names = std::fs::read_dir(folder).expect("the folder").flatten();
        let mut names = names.filter_map(|one| one.file_name().into_string().ok());
        names.find(|name| name.starts_with("u-2") && name.ends_with(".parquet"))
    };
    let begun = std::time::Instant::now();
    let name = loop {
        let written = std::fs::File::create(folder.join("f")).and_then(|file| {
            std::io::Write::write_all(&mut &file, &[7; 1 << 16])?;
            file.sync_all()
        });
        written.expect("a file is written");
        if let Some(name) = ended() {
            break name;
        }
        assert!(begun.elapsed().as_secs() < 600, "no part has ended");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    recorder.kill().expect("it is killed");
    recorder.wait().expect("it has ended");
    is_analysed_whole(folder, &name);
}

#[test]
fn slow_requests_are_kept_with_what_they_waited_behind() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let words = ["--latency-above", "1ns", "--path", ".", "--json", "--", "sh", "-c", WRITES];
    let Some(done) = record(folder.path(), &words) else { return };
    let document: Value = serde_json::from_slice(&done.stdout).expect("one document");
    let file = &document["trace_files"][0];
    let [rows, slow, all] = [&file["rows"], &file["slow"]["ios"], &file["slow"]["of_ios"]];
    assert!(rows.as_u64() > Some(0) && rows == slow && slow.as_u64() <= all.as_u64(), "{file}");
    let text = std::fs::read(folder.path().join("t.parquet")).expect("a file");
    assert!(text.windows(14).any(|bytes| bytes == b"behind_process"));
}

#[test]
fn a_recording_says_when_it_has_begun_and_passes_the_exit_code_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(done) = record(folder.path(), &["--", "sh", "-c", "exit 7"]) else { return };
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(told.contains("recording\n"), "{told}");
    assert_eq!(done.status.code(), Some(7), "{told}");
    assert!(folder.path().join("t.parquet").exists(), "the recording is kept");
}
