//! `ioscape twin` on a directory: its output can be simulated, and it leaves nothing behind.

use crate::common::started::{Started, signal};
use crate::common::{Ran, ioscape, path, read, roomy_memory, run, scratch_of, shim, skipped};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Few and short measurements, enough for a fit.
const SHORT: [&str; 6] = ["--unique-bytes", "16M", "--workloads", "2", "--seconds", "20ms"];

/// Makes a twin of a directory, with its measurements on standard output, if it can be measured.
fn made(folder: &Path, drive: &str) -> Option<Ran> {
    let made = run(&[&["twin", path(folder), "-o", drive, "--json"], &SHORT[..]].concat());
    if is_impossible(&made) {
        return None;
    }
    let made = made.ended(0);
    assert!(made.out.contains("\"measurements\""), "what was measured: {}", made.out);
    Some(made)
}

/// Whether the command said that there is no io_uring or no direct access here.
fn is_impossible(ran: &Ran) -> bool {
    let why = ran.err.lines().find(|line| line.starts_with("ioscape: ")).unwrap_or_default();
    let is_named = ["io_uring", "O_DIRECT"].iter().any(|what| why.contains(what));
    let is_refused = matches!(ran.code, Some(1 | 2)) && is_named;
    if is_refused {
        skipped(why);
    }
    is_refused
}

#[test]
fn a_twin_of_a_directory_is_a_drive_that_is_simulated_and_evaluated() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| path(&folder.path().join(name)).to_owned();
    let (drive, system, trace) = (place("mine.toml"), place("system.toml"), place("trace.csv"));
    let Some(made) = made(folder.path(), &drive) else { return };
    made.says(&["fitted to", "2 unseen workloads: throughput off by", "not calibrated"]);
    assert!(scratch_of(folder.path()).is_empty());
    let text = read(Path::new(&drive));
    assert!(
        text.starts_with("# Fitted by ioscape twin.") && text.contains("not-calibrated"),
        "{text}"
    );
    fs::write(
        &trace,
        "queued_ns,is_write,offset_bytes,length_bytes\n0,0,0,4096\n9000000,1,8192,4096\n",
    )
    .unwrap();
    run(&["simulate", &trace, "--drive", &drive]).ended(0);
    let shipped = include_str!("../../../../systems/generic-nvme.toml");
    fs::write(&system, shipped.replace("\"generic-ssd\"", &format!("{drive:?}"))).unwrap();
    let target = format!("sim:{system}");
    run(&["evaluate", &target, "--dry-run", "--max-unique-bytes", "128M"]).ended(0);
    // The second time it replaces its own file, but not one of the user's.
    fs::write(&drive, "name = \"by hand\"\n").unwrap();
    run(&[&["twin", path(folder.path()), "-o", &drive], &SHORT[..]].concat()).ended(2);
}

#[test]
#[ignore = "two fits; the full run has it"]
fn the_same_twin_is_found_again_in_what_was_measured_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| path(&folder.path().join(name)).to_owned();
    let (drive, kept, same) = (place("mine.toml"), place("kept.json"), place("same.toml"));
    let Some(made) = made(folder.path(), &drive) else { return };
    let said: Vec<&str> = made.err.lines().filter(|line| line.contains("unseen")).collect();
    fs::write(&kept, &made.out).unwrap();
    let again = run(&["twin", "--from", &kept, "-o", &same, "--json"]).ended(0).says(&said);
    assert_eq!(read(Path::new(&same)), read(Path::new(&drive)));
    let [before, now] = [&made.out, &again.out]
        .map(|out| serde_json::from_str::<serde_json::Value>(out).expect("a document"));
    for key in ["measurements", "twin", "environment", "seed"] {
        assert_eq!(before[key], now[key], "{key}");
    }
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mut full = ioscape(&["twin", "--from", &kept, "-o", &same, "--json"]);
    full.stdout(fs::File::create("/dev/full").unwrap()).env("TMPDIR", elsewhere.path());
    Ran::of(full).ended(1).says(&["standard output", "No space left", "instead"]);
    assert_eq!(scratch_of(elsewhere.path()).len(), 1, "the measurements");
}

#[test]
fn what_is_no_whole_twin_is_not_searched_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| path(&folder.path().join(name)).to_owned();
    let (kept, drive) = (place("kept.json"), place("mine.toml"));
    let refused = |text: &str, why: &str| {
        fs::write(&kept, text).unwrap();
        let ran = run(&["twin", "--from", &kept, "-o", &drive]).ended(2).says(&[&kept, why]);
        assert_eq!(ran.err.lines().count(), 1, "one sentence: {}", ran.err);
        assert!(!Path::new(&drive).exists());
    };
    let other = include_str!("data/small.ioscape.json");
    refused(other, "does not say which measurements of a twin it holds");
    let mut document: serde_json::Value = serde_json::from_str(other).expect("a document");
    let keys = document.as_object_mut().expect("an object");
    keys.remove("evaluation");
    keys.insert("measurements".to_owned(), serde_json::json!([]));
    let twin = |fitted: u64, again: u64| {
        serde_json::json!({
            "target": "disk", "capacity_bytes": 1 << 30, "write_buffer_bytes": 1 << 24,
            "fitted": fitted, "judging": 0, "first": 0, "again": again, "repeated": 0,
        })
    };
    for (fitted, again, why) in
        [(0, 0, "nothing was measured for a drive"), (40, 3, "0 measurements are left of 43")]
    {
        document["twin"] = twin(fitted, again);
        refused(&document.to_string(), why);
    }
    run(&["twin", "--from", &kept, path(folder.path())]).ended(2).says(&["cannot be used with"]);
    run(&["twin", "--from", &kept, "--sustain"]).ended(2).says(&["cannot be used with"]);
    run(&["twin"]).ended(2).says(&["TARGET"]);
}

#[test]
fn a_twin_of_memory_is_not_taken_for_one_of_a_device() {
    let Some(folder) = roomy_memory() else {
        return skipped("no room in /dev/shm");
    };
    let drive = path(&folder.path().join("mine.toml")).to_owned();
    let words = ["twin", path(folder.path()), "-o", &drive, "--unique-bytes", "1M"];
    let short = ["--workloads", "1", "--seconds", "20ms"];
    let made = run(&[&words[..], &short[..]].concat());
    if is_impossible(&made) {
        return;
    }
    let doubt = "not calibrated: whether this is the twin of a device cannot be told";
    made.ended(0).says(&[doubt]);
    assert!(read(Path::new(&drive)).contains(doubt));
}

#[test]
fn an_option_of_a_drive_is_refused_where_none_is_fitted() {
    let folder = tempfile::tempdir().expect("a folder");
    for option in [["--workloads", "2"], ["--seconds", "20ms"], ["--write-buffer", "1M"]] {
        let words = ["twin", path(folder.path()), "--sustain=2s"];
        run(&[&words[..], &option].concat()).ended(2).says(&[option[0], "-o FILE"]);
    }
    assert!(scratch_of(folder.path()).is_empty());
}

/// Refuses io_uring, as Docker's system call filter does.
const NO_RING: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <sys/syscall.h>\n\
    long syscall(long number, long a, long b, long c, long d, long e, long f) {\n\
      static long (*real)(long, long, long, long, long, long, long);\n\
      if (!real) *(void **)&real = dlsym(RTLD_NEXT, \"syscall\");\n\
      if (number == SYS_io_uring_setup) { errno = EPERM; return -1; }\n\
      return real(number, a, b, c, d, e, f);\n}\n";

#[test]
fn what_cannot_have_many_requests_in_flight_is_refused_before_its_set_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let Some(shim) = shim::made(elsewhere.path(), NO_RING) else { return };
    let words = ["twin", path(folder.path()), "--unique-bytes", "16M", "--verbose"];
    for more in [&["--dry-run"][..], &[], &["--sustain=2s"]] {
        let mut command = shim::before(&shim, &[&words[..], more].concat());
        command.env("TMPDIR", elsewhere.path());
        let ran = Ran::of(command).ended(2).says(&["twin is not possible here", "io_uring"]);
        assert!(!ran.err.contains("set 16 MiB"), "it began: {}", ran.err);
        assert!(scratch_of(elsewhere.path()).is_empty(), "nothing was measured");
    }
    let deep = ["--engine", "io_uring", "--unique-bytes", "16M", "--verbose"];
    let deep = shim::before(&shim, &[&["run", path(folder.path())][..], &deep].concat());
    let ran = Ran::of(deep).ended(2).says(&["the io_uring engine is not possible here", "psync"]);
    assert!(!ran.err.contains("set 16 MiB"), "it began: {}", ran.err);
    assert!(scratch_of(folder.path()).is_empty());
}

#[test]
fn the_share_of_the_free_space_is_told_of_a_directory_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data");
    fs::write(&file, vec![7; 1 << 20]).unwrap();
    let more = ["--destroy-data", "--unique-bytes", "1000T", "--dry-run"];
    let said = |target: &Path| {
        let ran = run(&[&["twin", path(target)], &more[..]].concat()).ended(2);
        ran.says(&["has room for: at most", "give a smaller size"]).err
    };
    assert!(said(folder.path()).contains("half of the free space"));
    assert!(!said(&file).contains("half of the free space"));
}

#[test]
fn a_file_with_data_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data");
    fs::write(&file, vec![7; 1 << 20]).unwrap();
    run(&["twin", path(&file)]).ended(2).says(&["--destroy-data"]);
    assert!(fs::read(&file).unwrap().iter().all(|&b| b == 7));
}

/// Interrupts a twin of `folder` so many seconds after the start of its measurement `number`,
/// counted from 1; returns how it ended.
fn cut_off(folder: &Path, elsewhere: &Path, options: &[&str], (number, s): (usize, u64)) -> Ran {
    let words = ["twin", path(folder), "--unique-bytes", "1M", "--verbose"];
    let mut command = ioscape(&[&words[..], options].concat());
    command.env("TMPDIR", elsewhere);
    let mut started = Started::spawn(command);
    started.listen_until(|said| said.matches("set 1 MiB").count() >= number);
    std::thread::sleep(Duration::from_secs(s));
    signal(started.0.id(), "INT");
    started.end()
}

/// The page left by a twin interrupted at the first of these moments at which something was
/// measured; `None` if it cannot run here.
fn interrupted(options: &[&str], moments: &[(usize, u64)]) -> Option<String> {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut tries = moments.iter().map(|at| cut_off(folder.path(), elsewhere.path(), options, *at));
    let ran = tries.find(|ran| ran.code != Some(130) || ran.err.contains("instead"));
    let ran = ran.expect("nothing was measured");
    if is_impossible(&ran) {
        return None;
    }
    let ran = ran.ended(130).says(&["interrupted", "instead"]);
    let kept = scratch_of(elsewhere.path());
    assert!(kept.len() == 1 && ran.err.contains(path(&kept[0])), "{kept:?}: {}", ran.err);
    let drive = elsewhere.path().join("mine.toml");
    run(&["twin", "--from", path(&kept[0]), "-o", path(&drive)]).ended(2);
    assert!(scratch_of(folder.path()).is_empty());
    Some(run(&["report", path(&kept[0])]).ended(0).out)
}

#[test]
fn an_interrupted_twin_keeps_what_was_measured() {
    interrupted(&["--seconds", "400ms"], &[(2, 0)]);
}

#[test]
fn what_held_for_long_before_an_interruption_is_kept_with_its_course() {
    let Some(page) = interrupted(&["--sustain=4s"], &[(2, 0)]) else { return };
    assert!(page.contains("Course"), "{page}");
}

#[test]
fn a_course_that_is_cut_off_is_kept_and_says_so() {
    // On a busy disk, seconds may pass before the first request.
    let moments = [(1, 4), (1, 20), (1, 50)];
    let Some(page) = interrupted(&["--sustain=60s"], &moments) else { return };
    assert!(page.contains("Course") && page.contains("interrupted after"), "{page}");
}

#[test]
fn what_holds_for_long_is_measured_alone_and_its_course_is_on_the_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["twin", path(folder.path()), "--sustain=2s", "--unique-bytes", "16M"];
    let planned = run(&[&words[..], &["--dry-run"]].concat());
    if is_impossible(&planned) {
        return;
    }
    let planned = planned.ended(0);
    assert!(planned.out.contains("2 s each"), "{}", planned.out);
    assert!(scratch_of(folder.path()).is_empty());
    let made = run(&[&words[..], &["--json"]].concat());
    if is_impossible(&made) {
        return;
    }
    let made = made.ended(0);
    let document: serde_json::Value = serde_json::from_str(&made.out).expect("a document");
    let runs = document["measurements"].as_array().expect("measurements");
    assert_eq!(runs.len(), 4, "large and small writes, and reads");
    for one in runs {
        let course = &one["sustained"];
        let rates = course["bytes_per_s"].as_array().expect("a course");
        let sum: f64 = rates.iter().filter_map(serde_json::Value::as_f64).sum();
        let moved = sum * course["step_s"].as_f64().expect("a step");
        let truth = one["bytes"].as_f64().expect("bytes");
        // Those in flight at the end are counted, and in no second of the course.
        let number = |name: &str| one["workload"][name].as_f64().expect("a number");
        let in_flight = number("queue_depth") * number("size_mean");
        assert!(moved < 1.3 * truth && moved > 0.7 * truth - in_flight, "{moved} of {truth}");
        assert!(!course["sentences"].as_array().expect("sentences").is_empty());
    }
    let result = folder.path().join("result.json");
    fs::write(&result, &made.out).unwrap();
    let page = folder.path().join("page.html");
    run(&["report", path(&result), "-o", path(&page)]).ended(0);
    let page = read(&page);
    assert!(page.contains("figure-course-1") && page.contains("Throughput against time"));
    run(&["twin", path(folder.path()), "--json"]).ended(2).says(&["-o FILE"]);
    for size in ["1", "64G"] {
        let given = ["twin", path(folder.path()), "--write-buffer", size, "--dry-run"];
        run(&given).ended(2).says(&["--write-buffer", "4 KiB, one page"]);
    }
}
