//! Every command that reads a trace does so alike: from a file, from standard input, from a pipe,
//! and in a named format.

use assert_cmd::Command;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The commands, with what each needs besides the trace, the key of its result, and its option for
/// the input format.
const COMMANDS: [(&[&str], &str, &str); 7] = [
    (&["trace", "analyze"], "trace_summary", "--format"),
    (&["trace", "characterize"], "trace_characterization", "--format"),
    (&["trace", "import", "-o", "OUT.parquet"], "trace_files", "--format"),
    (&["trace", "export", "--format", "csv", "-o", "OUT.csv"], "trace_files", "--input-format"),
    (&["trace", "replay", "--buffered", "--as-fast-as-possible"], "trace_replay", "--format"),
    (&["simulate", "--drive", "hp-c2200a"], "simulation", "--format"),
    (&["calibrate", "--drive", "hp-c2200a", "--rounds", "0", "--keep-skews"], "", "--format"),
];

/// 400 requests in MSR's format, 40 ms apart, on two disks of one host.
fn trace() -> String {
    let mut text = String::new();
    for n in 0..400u64 {
        let op = if n % 3 == 0 { "Read" } else { "Write" };
        let (time, offset) = (128_166_372_000_000_000 + n * 400_000, n * 7919 % 300 * 8192);
        let _ = writeln!(text, "{time},host,{},{op},{offset},8192,200000", u64::from(n % 4 == 3));
    }
    text
}

/// How the trace is passed to the command.
#[derive(Clone, Copy, Debug)]
enum Way {
    File,
    Stdin,
    Fifo,
    StdinFile,
}

/// Runs a command on the trace `bytes`.
fn run(
    folder: &Path,
    words: &[&str],
    more: &[&str],
    way: Way,
    bytes: &[u8],
) -> assert_cmd::assert::Assert {
    let file = folder.join("host.trace");
    std::fs::write(&file, bytes).expect("the trace is written");
    let is_replay = words[1] == "replay";
    let mut command = Command::cargo_bin("ioscape").expect("the command is built");
    let place = match way {
        Way::File => file,
        Way::Stdin => PathBuf::from("-"),
        Way::StdinFile => PathBuf::from("/dev/stdin"),
        Way::Fifo => folder.join("fifo"),
    };
    let (first, rest) = words.split_at(if words[0] == "trace" { 2 } else { 1 });
    let rest = rest.iter().map(|word| word.replace("OUT", &folder.join("out").to_string_lossy()));
    command.current_dir(folder).args(first).arg(&place);
    if is_replay {
        command.arg(".");
    }
    command.args(rest).args(more);
    match way {
        Way::File => command.assert(),
        Way::Stdin => command.write_stdin(bytes).assert(),
        Way::StdinFile => command.pipe_stdin(folder.join("host.trace")).expect("a file").assert(),
        Way::Fifo => {
            let made = std::process::Command::new("mkfifo").arg(&place).status();
            assert!(made.expect("mkfifo runs").success());
            let (to, bytes) = (place.clone(), bytes.to_vec());
            let writer = std::thread::spawn(move || std::fs::write(to, bytes));
            let done = command.assert();
            writer.join().expect("the writer ends").expect("the pipe takes the trace");
            std::fs::remove_file(place).expect("the pipe is removed");
            done
        }
    }
}

/// The part of the output that must be the same however the trace is passed.
fn told(assert: assert_cmd::assert::Assert, key: &str) -> Value {
    let done = assert.success();
    let out = &done.get_output().stdout;
    if key.is_empty() {
        return Value::from(String::from_utf8_lossy(out).into_owned());
    }
    let document: Value = serde_json::from_slice(out).expect("a document");
    match key {
        "trace_replay" => document[key]["kinds"][0]["ios"].clone(),
        // Names depend on where the trace came from.
        "trace_summary" => document[key]["ios"].clone(),
        "trace_characterization" => document[key]["overall"].clone(),
        "simulation" => document[key]["cells"].clone(),
        _ => document[key].clone(),
    }
}

fn json(key: &str) -> &'static [&'static str] {
    if key.is_empty() { &[] } else { &["--json"] }
}

#[test]
fn every_command_reads_files_pipes_and_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = trace();
    for (words, key, format) in COMMANDS {
        let run = |way, more: &[&str]| {
            let more = [json(key), more].concat();
            told(run(folder.path(), words, &more, way, text.as_bytes()), key)
        };
        let file = run(Way::File, &[]);
        assert!(!file.is_null(), "{words:?}");
        for way in [Way::Stdin, Way::Fifo, Way::StdinFile] {
            assert_eq!(run(way, &[]), file, "{words:?}, {way:?}");
        }
        assert_eq!(run(Way::Stdin, &[format, "msr"]), file, "{words:?} {format}");
    }
}

#[test]
fn every_command_takes_the_same_choice_of_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = trace();
    for (words, key, _) in COMMANDS {
        let run = |more: &[&str]| {
            let more = [json(key), more].concat();
            told(run(folder.path(), words, &more, Way::File, text.as_bytes()), key)
        };
        let some = run(&["--disk", "host_0", "--to", "12s"]);
        assert_eq!(run(&["--device", "0", "--to", "12000ms"]), some, "{words:?}");
        assert_ne!(run(&["--disk", "host_0"]), some, "{words:?}");
    }
}

#[test]
fn every_command_refuses_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = trace();
    let broken = text.replacen("Write", "Erase", 1);
    for (words, _, format) in COMMANDS {
        for (more, bytes, code, sentence) in [
            (&[][..], "no trace\n", 2, "is of no known trace format: name it with --format"),
            (&[format, "nonsense"], &text, 2, "no such format: known are"),
            (&["--disk", "nowhere"], &text, 2, "the trace has no such disk, but host_0, host_1"),
            (&["--from", "1h"], &text, 2, "no request of the trace is within --from"),
            (&[], &broken, 1, "line 2: the type \"Erase\" cannot be; --skip-bad"),
        ] {
            for way in [Way::File, Way::Stdin] {
                let done = run(folder.path(), words, more, way, bytes.as_bytes());
                let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
                assert!(told.contains(sentence), "{words:?} {more:?} {way:?}: {told}");
                assert_eq!(done.get_output().status.code(), Some(code), "{words:?} {more:?}");
            }
        }
        run(folder.path(), words, &["--skip-bad"], Way::File, broken.as_bytes()).success();
        let twice = [words, &["-"][..]].concat();
        if words[1] != "export" && words[1] != "replay" {
            let done = run(folder.path(), &twice, &[], Way::Stdin, text.as_bytes()).code(2);
            let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
            assert!(told.contains("only once"), "{words:?}: {told}");
        }
    }
}

#[test]
fn parquet_is_read_through_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["trace", "import", "-o", "OUT.parquet"];
    run(folder.path(), &words, &[], Way::File, trace().as_bytes()).success();
    let packed = std::fs::read(folder.path().join("out.parquet")).expect("the trace");
    for (words, key, _) in COMMANDS {
        let run = |way| told(run(folder.path(), words, json(key), way, &packed), key);
        assert_eq!(run(Way::Stdin), run(Way::File), "{words:?}");
    }
}
