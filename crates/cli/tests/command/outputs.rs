//! Outputs: nothing but our own results is destroyed, and measurements are not lost when they
//! cannot be written.

use crate::common::{Ran, ioscape, path, read, refused, run, scratch_of, user_or_skip};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Stdio;

/// A user other than the one who runs the tests.
const NOBODY: u32 = 65_534;

/// A short measurement in `folder` that writes a result.
fn measured(folder: &Path, more: &[&str]) -> Ran {
    run(&[&["run", path(folder), "--unique-bytes", "1M", "--seconds", "100ms"], more].concat())
}

/// A trace in a widely used format.
fn iolog(folder: &Path) -> String {
    let file = folder.join("a.iolog");
    let text = "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf write 8192 4096\nf close\n";
    fs::write(&file, text).expect("a trace");
    path(&file).to_owned()
}

fn mode(file: &Path) -> u32 {
    file.metadata().expect("a file").mode() & 0o7777
}

/// Checks that standard output is one document, and that the summary, which contains this word, is
/// on standard error.
fn is_one_document(ran: &Ran, summary: &str) {
    let found: serde_json::Value = serde_json::from_str(&ran.out).expect("one document alone");
    assert_eq!(found["schema"], "ioscape/1");
    assert!(ran.err.contains(summary), "{}", ran.err);
}

#[test]
fn devices_are_written_through() {
    let folder = tempfile::tempdir().expect("a folder");
    measured(folder.path(), &["-o", "/dev/null"]).ended(0);
    assert!(Path::new("/dev/null").metadata().expect("it is there").file_type().is_char_device());
    let both = measured(folder.path(), &["-o", "/dev/stdout", "--html", "/dev/null"]).ended(0);
    is_one_document(&both, "B/s");
    let device = Path::new("/dev/stdout").symlink_metadata().expect("it is there");
    assert!(device.is_symlink(), "still what it was");
    let link = folder.path().join("log.json");
    symlink("/dev/stdout", &link).expect("a link");
    is_one_document(&measured(folder.path(), &["-o", path(&link)]).ended(0), "B/s");
    let twice = measured(folder.path(), &["-o", path(&link), "--json"]).ended(2);
    twice.says(&["both want standard output"]);
    let mut command = ioscape(&["trace", "analyze", &iolog(folder.path()), "-o", "-"]);
    let ran = Ran::of({
        command.current_dir(folder.path());
        command
    })
    .ended(0);
    is_one_document(&ran, "Requests");
    assert!(!folder.path().join("-").exists());
    let metrics = measured(folder.path(), &["--openmetrics", "-"]).ended(0).says(&["B/s"]);
    assert!(metrics.out.ends_with("# EOF\n"), "{}", metrics.out);
}

#[test]
fn standard_output_takes_one_output_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (place, trace) = (path(folder.path()), iolog(folder.path()));
    let commands: [(&[&str], [&str; 2]); 4] = [
        (&["run", place, "-o", "-", "--json"], ["-o -", "--json"]),
        (&["run", place, "-o", "-", "--html", "/dev/stdout"], ["-o -", "--html /dev/stdout"]),
        (&["trace", "analyze", &trace, "--state", "-", "--json"], ["--state -", "--json"]),
        (&["evaluate", "sim:hp-730", "-o", "-", "--html", "-"], ["-o -", "--html -"]),
    ];
    for (words, options) in commands {
        refused(words, &[&options[..], &["both want standard output"]].concat());
    }
}

#[test]
fn a_full_device_is_no_success_and_the_result_is_elsewhere() {
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = ioscape(&["run", path(folder.path()), "--unique-bytes", "1M"]);
    command.args(["--seconds", "100ms", "-o", "/dev/full"]).env("TMPDIR", temporary.path());
    let ran = Ran::of(command).ended(1).says(&["/dev/full", "No space left", "is in"]);
    assert!(ran.out.contains("B/s"), "the summary is printed: {}", ran.out);
    let rescued = scratch_of(temporary.path());
    assert_eq!(rescued.len(), 1, "{rescued:?}");
    assert!(read(&rescued[0]).contains("\"measurements\""));
    assert!(ran.err.contains(path(&rescued[0])), "it is named: {}", ran.err);
    assert!(Path::new("/dev/full").metadata().unwrap().file_type().is_char_device());
}

#[test]
fn a_pipe_is_written_through() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            let mut text = String::new();
            fs::File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
            text
        })
    };
    measured(folder.path(), &["-o", path(&pipe)]).ended(0);
    assert!(reader.join().expect("a reader").contains("\"measurements\""));
    assert!(pipe.metadata().expect("it is there").file_type().is_fifo());
}

#[test]
fn block_devices_and_folders_are_no_outputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = iolog(folder.path());
    let refused = run(&["trace", "import", &trace, "-o", path(folder.path())]);
    refused.ended(2).says(&["is a directory"]);
    let devices = fs::read_dir("/dev").expect("devices").flatten().map(|entry| entry.path());
    let is_block =
        |p: &std::path::PathBuf| p.metadata().is_ok_and(|m| m.file_type().is_block_device());
    match devices.into_iter().find(is_block) {
        Some(device) => {
            let refused = run(&["trace", "import", &trace, "--force", "-o", path(&device)]);
            refused.ended(2).says(&["block device"]);
        }
        None => crate::common::skipped("no block device here"),
    }
}

#[test]
fn what_is_no_result_needs_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = iolog(folder.path());
    let precious = folder.path().join("thesis.tex");
    fs::write(&precious, "precious").unwrap();
    let name = path(&precious);
    let result = path(&folder.path().join("r.json")).to_owned();
    measured(folder.path(), &["-o", &result]).ended(0);
    let commands: [&[&str]; 8] = [
        &["trace", "import", &trace, "-o", name],
        &["trace", "export", &trace, "--format", "disksim", "-o", name],
        &["trace", "characterize", &trace, "--jobs", name],
        &["trace", "analyze", &trace, "--html", name],
        &["report", &result, "-o", name],
        &["evaluate", path(folder.path()), "-o", name],
        &["run", path(folder.path()), "--fio-iolog", name],
        &["os", "--only", "getpid", "--quick", "-o", name],
    ];
    for command in commands {
        run(command).ended(2).says(&["thesis.tex", "--force"]);
        assert_eq!(read(&precious), "precious", "{command:?}");
    }
    run(&["trace", "import", &trace, "--force", "-o", name]).ended(0);
    assert_ne!(fs::read(&precious).unwrap(), b"precious");
}

#[test]
fn a_result_is_replaced_by_no_output_of_another_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let (place, trace) = (path(folder.path()), iolog(folder.path()));
    let in_folder = |name: &str| path(&folder.path().join(name)).to_owned();
    let (result, rows, jobs) = (in_folder("r"), in_folder("t.csv"), in_folder("j.toml"));
    run(&["trace", "analyze", &trace, "-o", &result]).ended(0);
    run(&["trace", "import", &trace, "-o", &rows]).ended(0);
    run(&["trace", "characterize", &trace, "--jobs", &jobs]).ended(0);
    let before = [&result, &rows, &jobs].map(|file| read(Path::new(file)));
    let commands: [(&[&str], &str); 10] = [
        (&["report", &result, "-o", &rows], "--csv >"),
        (&["report", &result, "-o", &jobs], "holds a job file, and a page"),
        (&["run", place, "--fio-iolog", &result], "holds a result, and a file for another program"),
        (&["run", place, "--fio-iolog", &rows], "holds a trace, and a file for another program"),
        (&["run", place, "--openmetrics", &result], "holds a result, and a file of metrics"),
        (&["run", place, "--rows", &rows, "-o", &jobs], "holds a job file, and a result"),
        (&["trace", "import", &trace, "-o", &result], "holds a result, and a trace"),
        (&["trace", "analyze", &trace, "--state", &result], "holds a result, and the state of an"),
        (&["calibrate", &trace, "--drive", "hp-97560", "-o", &jobs], "and a fitted drive"),
        (&["twin", place, "-o", &jobs], "holds a job file, and a fitted drive"),
    ];
    for (command, why) in commands {
        run(command).ended(2).says(&[why]);
    }
    assert_eq!([&result, &rows, &jobs].map(|file| read(Path::new(file))), before);
}

#[test]
fn results_of_ours_are_replaced_and_keep_mode_and_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = iolog(folder.path());
    for (name, command) in [
        ("t.parquet", &["trace", "import", &trace][..]),
        ("t.csv", &["trace", "import", &trace]),
        ("r.json", &["trace", "analyze", &trace]),
    ] {
        let file = folder.path().join(name);
        let all = [command, &["-o", path(&file)]].concat();
        run(&all).ended(0);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let is_root = file.metadata().unwrap().uid() == 0;
        if is_root {
            chown(&file, Some(NOBODY), Some(NOBODY)).expect("root may");
        }
        let before = file.metadata().unwrap();
        run(&all).ended(0);
        let after = file.metadata().unwrap();
        assert_eq!(mode(&file), 0o600, "{name}");
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()), "{name}");
        assert_ne!(after.ino(), before.ino(), "{name} is a new file, whole from the beginning");
    }
    let page = folder.path().join("p.html");
    for _ in 0..2 {
        let result = folder.path().join("r.json");
        run(&["report", path(&result), "-o", path(&page)]).ended(0);
    }
    let jobs = folder.path().join("j.toml");
    for _ in 0..2 {
        run(&["trace", "characterize", &trace, "--jobs", path(&jobs)]).ended(0);
    }
    assert_eq!(scratch_of(folder.path()).len(), 0, "no temporary file is left");
}

#[test]
fn an_output_that_is_an_input_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let in_folder = |name: &str| path(&folder.path().join(name)).to_owned();
    let trace = iolog(folder.path());
    let (result, linked) = (in_folder("r.result"), in_folder("hard"));
    run(&["trace", "analyze", &trace, "-o", &result]).ended(0);
    fs::hard_link(&result, &linked).unwrap();
    let before = (read(Path::new(&result)), read(Path::new(&trace)));
    let same: [(&[&str], &[&str]); 9] = [
        (&["report", &result, "-o", &result], &["r.result"]),
        (&["report", &result, "-o", &linked], &["r.result", "hard"]),
        (&["trace", "export", &trace, "--format", "csv", "-o", &trace], &["a.iolog"]),
        (&["trace", "import", &trace, "-o", &trace], &["a.iolog"]),
        (&["trace", "characterize", &trace, "--jobs", &trace], &["--jobs", "a.iolog"]),
        (
            &["trace", "analyze", &trace, "-o", &in_folder("n"), "--html", &in_folder("n")],
            &["-o", "--html"],
        ),
        (
            &[
                "simulate",
                &trace,
                "--drive",
                "hp-c2490a",
                "--rows",
                &in_folder("x.csv"),
                "-o",
                &in_folder("./x.csv"),
            ],
            &["--rows", "-o"],
        ),
        (&["vxbench", "-w", "read", &trace, "--output", &trace], &["a.iolog"]),
        (&["evaluate", &trace, "--destroy-data", "-o", &trace], &["target", "a.iolog"]),
    ];
    for (command, words) in same {
        let forced = [command, &["--force"][..]].concat();
        run(&forced).ended(2).says(words).says(&["one file"]);
    }
    assert_eq!((read(Path::new(&result)), read(Path::new(&trace))), before);
}

#[test]
fn a_target_that_is_an_input_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (trace, linked) = (folder.path().join("a.spc"), folder.path().join("hard"));
    let rows: String = (0..1000).map(|n| format!("0,{},4096,w,0.{n:03}\n", n * 8)).collect();
    fs::write(&trace, &rows).unwrap();
    fs::hard_link(&trace, &linked).unwrap();
    for target in [&trace, &linked] {
        let words = ["trace", "replay", path(&trace), path(target), "--destroy-data", "--buffered"];
        run(&words).ended(2).says(&["one file with the trace", "name another target"]);
    }
    assert_eq!(read(&trace), rows);
}

#[test]
fn links_of_ours_are_followed_and_the_file_behind_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = iolog(folder.path());
    let (link, real) = (folder.path().join("link"), folder.path().join("real.csv"));
    symlink("real.csv", &link).unwrap();
    for _ in 0..2 {
        run(&["trace", "export", &trace, "--format", "csv", "-o", path(&link)]).ended(0);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert!(read(&real).starts_with("# ioscape trace"));
    }
}

#[test]
fn links_of_others_are_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = iolog(folder.path());
    let (link, real) = (folder.path().join("link"), folder.path().join("real.csv"));
    symlink(&real, &link).unwrap();
    if std::os::unix::fs::lchown(&link, Some(NOBODY), Some(NOBODY)).is_err() {
        return crate::common::skipped("only root can give a link to another user");
    }
    for force in [&[][..], &["--force"]] {
        let command = ["trace", "export", &trace, "--format", "csv", "-o", path(&link)];
        run(&[&command[..], force].concat()).ended(2).says(&["another user"]);
    }
    let logs = ["run", path(folder.path()), "--fio-iolog", path(&link)];
    run(&logs).ended(2).says(&["another user"]);
    assert!(!real.exists() && link.symlink_metadata().unwrap().is_symlink());
}

#[test]
fn users_without_privileges_are_told_what_they_may_not_replace() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let trace = iolog(folder.path());
    let foreign = folder.path().join("of-root.csv");
    run(&["trace", "export", &trace, "--format", "csv", "-o", path(&foreign)]).ended(0);
    let Some(user) = user_or_skip(NOBODY, folder.path()) else { return };
    let command = ["trace", "export", &trace, "--format", "csv", "-o", path(&foreign)];
    fs::set_permissions(&foreign, fs::Permissions::from_mode(0o666)).unwrap();
    user.run(&command).ended(2).says(&["of-root.csv", "another user"]);
    let link = folder.path().join("link");
    symlink(folder.path().join("new.csv"), &link).unwrap();
    let through_link = ["trace", "export", &trace, "--format", "csv", "-o", path(&link)];
    user.run(&through_link).ended(2).says(&["symbolic link", "another user"]);
    let own = folder.path().join("own.csv");
    for _ in 0..2 {
        user.run(&["trace", "export", &trace, "--format", "csv", "-o", path(&own)]).ended(0);
        assert_eq!(own.metadata().unwrap().uid(), NOBODY);
    }
    user.run(&["trace", "analyze", &trace, "-o", "/dev/null"]).ended(0);
    user.run(&["trace", "analyze", &trace, "-o", "/dev/stdout"]).ended(0);
}

#[test]
fn results_without_a_name_do_not_replace_one_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let start = || {
        let mut command = ioscape(&["evaluate", "sim:hp-730", "--points", "60"]);
        command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    };
    let all = [start(), start(), start()].map(|child| child.wait_with_output().expect("it ends"));
    for ended in &all {
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.path()).collect();
    let results = left.iter().filter(|p| path(p).ends_with(".ioscape.json")).count();
    assert_eq!((results, left.len()), (3, 6), "{left:?}");
}

/// A link to a device that takes no byte, named like a file of rows.
fn full(folder: &Path) -> String {
    let link = folder.join("full.csv");
    symlink("/dev/full", &link).expect("a link");
    path(&link).to_owned()
}

#[test]
fn what_was_measured_is_told_whatever_becomes_of_further_outputs() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (place, full, trace) = (path(folder.path()), full(folder.path()), iolog(folder.path()));
    let [file, state] = ["file", "state"].map(|name| path(&folder.path().join(name)).to_owned());
    run(&["trace", "analyze", &trace, "--state", &state]).ended(0);
    let short = ["--unique-bytes", "1M", "--seconds", "100ms"];
    let commands: [(&[&str], &str); 7] = [
        (&["run", place, "--rows", &full], "B/s"),
        (&["run", place, "--fio-iolog", "/dev/full"], "B/s"),
        (&["vxbench", "-w", "write", "-i", "iocount=4,iosize=4k", &file, "--rows", &full], "KB/s"),
        (&["trace", "replay", &trace, place, "--buffered", "--rows", &full], "equests"),
        (&["trace", "analyze", &trace, "--state", "/dev/full"], "Requests"),
        (&["trace", "merge", &state, "--state", "/dev/full"], "Requests"),
        (&["simulate", &trace, "--drive", "hp-c2200a", "--rows", &full], "hp-c2200a"),
    ];
    for (words, told) in commands {
        let more = if words[0] == "run" { &short[..] } else { &[] };
        let mut command = ioscape(&[words, more].concat());
        command.env("TMPDIR", elsewhere.path());
        let ran = Ran::of(command).ended(1).says(&["No space left"]);
        assert!(ran.out.contains(told), "{words:?}: {}", ran.out);
    }
    assert!(scratch_of(folder.path()).is_empty());
}

#[test]
fn what_is_no_document_is_kept_elsewhere_too() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let trace = folder.path().join("host_0.csv");
    let row = |n: u64| {
        let (begin, place) = (128_166_372_000_000_000 + n * 400_000, n * 7919 % 30_000 * 8192);
        format!("{begin},host,0,Read,{place},8192,200000\n")
    };
    fs::write(&trace, (0..600).map(row).collect::<String>()).unwrap();
    let fit = ["calibrate", path(&trace), "--drive", "hp-c2200a", "--rounds", "0", "--keep-skews"];
    for output in [&["-o", "/dev/full"][..], &[]] {
        let mut command = ioscape(&[&fit[..], output].concat());
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        command.env("TMPDIR", elsewhere.path()).stdin(Stdio::null()).stdout(full);
        let ended = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.code() == Some(1) && told.contains("No space left"), "{told}");
        let kept = scratch_of(elsewhere.path());
        assert!(kept.len() == 1 && told.contains(path(&kept[0])), "{kept:?}: {told}");
        assert!(read(&kept[0]).starts_with("# Fitted by ioscape calibrate."));
        fs::remove_file(&kept[0]).unwrap();
    }
}
