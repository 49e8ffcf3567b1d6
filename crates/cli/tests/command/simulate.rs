//! The simulation commands end to end, on a small trace of our own.

use super::common::{data, path, program, run, skipped};
use ioscape_schema::Document;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A trace in MSR's format: 600 requests of 8 KB, 40 ms apart, each recorded as taking 20 ms.
fn trace(folder: &Path) -> PathBuf {
    let mut text = String::new();
    for n in 0..600u64 {
        let op = if n % 3 == 0 { "Read" } else { "Write" };
        let (time, offset) = (128_166_372_000_000_000 + n * 400_000, n * 7919 % 30_000 * 8192);
        let _ = writeln!(text, "{time},host,0,{op},{offset},8192,200000");
    }
    let path = folder.join("host_0.csv");
    std::fs::write(&path, text).expect("a trace can be written");
    path
}

/// The document that a command prints about a trace.
fn told_of(command: &[&str], trace: &Path) -> Document {
    let run = program().args(command).arg(trace).arg("--json").assert().success();
    serde_json::from_slice(&run.get_output().stdout).expect("a document")
}

fn simulate(trace: &Path, more: &[&str]) -> Document {
    told_of(&[&["simulate", "--drive", "hp-c2200a"], more].concat(), trace)
}

#[test]
fn a_sweep_gives_the_same_result_with_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let sweep =
        ["--sweep", "cache=none,immediate,8k..32k", "--sweep", "destage=fcfs,satf", "--threads"];
    let run = |threads| {
        let document = simulate(&trace, &[&sweep[..], &[threads]].concat());
        document.simulation().expect("a simulation").clone()
    };
    let (one, many) = (run("1"), run("3"));
    assert_eq!(one, many);
    assert_eq!((one.cells.len(), one.requests), (2 + 3 * 2, 600));
    assert!(one.cells[2].physical.write.mean_ns < one.cells[0].physical.write.mean_ns);
}

#[test]
fn rows_and_page_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let (rows, page) = (folder.path().join("rows.csv"), folder.path().join("page.html"));
    let places = ["--rows", rows.to_str().expect("plain"), "--html", page.to_str().expect("plain")];
    simulate(&trace, &places);
    let text = std::fs::read_to_string(&rows).expect("rows");
    assert_eq!(text.lines().count(), 602);
    let mut lines = text.lines();
    let tables = lines.next().expect("the tables");
    assert!(tables.starts_with("# ioscape trace {\"format\":\"simulation\""), "{tables}");
    let names = "queued_ns,issued_ns,completed_ns,device,partition,is_write,offset_bytes,length_bytes,flags,io_type,\
                 queue_length,process_id,command,error,row,wait_ns,overhead_ns,bus_ns,seek_ns,rotation_ns,\
                 transfer_ns,cached";
    assert_eq!(lines.next(), Some(names));
    let text = std::fs::read_to_string(&page).expect("a page");
    assert!(text.contains("Physical times by policy"));
}

#[test]
fn simulated_rows_are_a_trace_like_any_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let rows = folder.path().join("rows.parquet");
    let simulated = simulate(&trace, &["--rows", rows.to_str().expect("plain")]);
    let cell = &simulated.simulation().expect("a simulation").cells[0];
    let document = told_of(&["trace", "analyze"], &rows);
    let summary = document.trace_summary().expect("a summary");
    assert_eq!((summary.info.format.as_str(), summary.ios), ("simulation", 600));
    assert_eq!(summary.info.notes["simulated drive"], "hp-c2200a");
    let document = told_of(&["trace", "characterize"], &rows);
    let found = document.trace_characterization().expect("a characterization");
    assert!(
        (found.overall.workload.read_frac - 1.0 / 3.0).abs() < 0.01,
        "{}",
        found.overall.workload.read_frac
    );
    // A drive explains its own times: every request takes as long as simulated before.
    let again = simulate(&rows, &[]);
    let agreement = again.simulation().and_then(|s| s.agreement.as_ref()).expect("an agreement");
    assert_eq!((agreement.requests, agreement.demerit), (600, 0.0));
    assert_eq!(agreement.measured_mean_ns, cell.physical.all.mean_ns);
    let run = program()
        .arg("calibrate")
        .arg(&rows)
        .args(["--drive", "hp-c2200a", "--rounds", "0", "--keep-skews"])
        .assert();
    let told = String::from_utf8_lossy(&run.success().get_output().stderr).into_owned();
    // The second half begins with the arm elsewhere than the model assumes.
    assert!(told.contains("fit, first half (fitted): demerit 0.00 %"), "{told}");
    assert_eq!(told.matches("median 0.000 ms, 100.0 % within 1 ms").count(), 4, "{told}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("host_0.csv");
    let line = "128166372000000000,host,0,Read,999999995904,4096,200000\n";
    std::fs::write(&trace, line).expect("a trace can be written");
    for (drive, word) in [("hp-c2200a", "beyond"), ("no-such-drive", "hp-c2200a")] {
        run(&["simulate", path(&trace), "--drive", drive]).ended(2).says(&[word]);
    }
}

/// Fits a drive to a trace of requests of 20 ms each; returns trace, drive, and output.
fn calibrated(folder: &Path, rounds: &str) -> (PathBuf, PathBuf, String) {
    let (trace, fitted) = (trace(folder), folder.join("fitted.toml"));
    let run = program()
        .arg("calibrate")
        .arg(&trace)
        .args(["--drive", "hp-c2200a", "--rounds", rounds, "--keep-skews", "-o"])
        .arg(&fitted)
        .assert()
        .success();
    let told = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    (trace, fitted, told)
}

#[test]
fn a_fitted_drive_is_a_drive_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (trace, fitted, told) = calibrated(folder.path(), "1");
    assert!(told.contains("held out") && told.contains("paired error"), "{told}");
    let drive = fitted.to_str().expect("a plain path");
    program().arg("simulate").arg(&trace).args(["--drive", drive]).assert().success();
}

#[test]
fn a_solid_state_drive_takes_a_trace_and_nothing_meant_for_disks() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let found = cells(&trace, &["--drive", "generic-ssd"]);
    let [cell] = found.as_slice() else { panic!("one cell") };
    assert!(cell.write_amplification.is_some_and(|times| (1.0..1.1).contains(&times)));
    // Two pages on two dies: command, sense, channel and link.
    assert!((cell.physical.read.mean_ns - 67_680.0).abs() < 1.0, "{:?}", cell.physical.read);
    let words = ["simulate", path(&trace), "--drive", "generic-ssd", "--cache", "immediate"];
    run(&words).ended(2).says(&["--cache is for disks"]);
}

/// A trace in our own columns: 200 writes of 4 KiB, each followed by a flush; then a discard.
fn flushed_writes(folder: &Path) -> PathBuf {
    let mut text = String::from("# ioscape trace {\"format\":\"made\",\"devices\":[]}\n");
    text.push_str("queued_ns,is_write,offset_bytes,length_bytes,flags\n");
    for n in 0..200u64 {
        let at = n * 10_000_000;
        let _ = writeln!(text, "{at},1,{},4096,", n * 4096);
        let _ = writeln!(text, "{at},1,0,0,flush");
    }
    text.push_str("2000000000,1,0,409600,discard\n");
    let path = folder.join("flushed.csv");
    std::fs::write(&path, text).expect("a trace can be written");
    path
}

#[test]
fn flushes_and_discards_act_on_flash_and_of_discards_is_told_on_disks() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = flushed_writes(folder.path());
    let flash = ["simulate", "--drive", "generic-ssd", "--precondition", "empty"];
    let document = told_of(&flash, &trace);
    let simulation = document.simulation().expect("a simulation");
    // Every flushed page takes a whole batch of eight.
    assert_eq!(simulation.requests, 401);
    assert_eq!(simulation.cells[0].write_amplification, Some(8.0));
    let words = ["simulate", path(&trace), "--json", "--drive", "hp-c2247a"];
    let disk = run(&words).ended(0).says(&["Not simulated: 1 discard (hp-c2247a does nothing"]);
    let document: Document = serde_json::from_str(&disk.out).expect("a document");
    assert_eq!(document.simulation().expect("a simulation").requests, 400);
    run(&[&words[..], &["--precondition", "full"]].concat()).ended(2);
}

#[test]
fn options_without_effect_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let cases: [(&str, &[&str], &str); 15] = [
        ("generic-ssd", &["--scheduler", "c-scan"], "--scheduler is for disks"),
        ("generic-ssd", &["--destage", "fcfs"], "--destage is for disks"),
        ("generic-ssd", &["--freeing", "whole"], "--freeing is for disks"),
        ("generic-ssd", &["--cache", "none"], "--cache is for disks"),
        ("hp-c2200a", &["--destage", "satf"], "add --cache nvram:SIZE"),
        ("hp-c2200a", &["--cache", "immediate", "--freeing", "whole"], "add --cache nvram:SIZE"),
        ("hp-c2200a", &["--sweep", "destage=fcfs,satf"], "add --cache nvram:SIZE"),
        ("hp-c2200a", &["--cache", "none", "--sweep", "cache=8k..16k"], "cache is given twice"),
        ("hp-c2200a", &["--cache", "nvram:100"], "sectors have 256 bytes"),
        ("hp-c2200a", &["--array", "raid5:2"], "give 3 to 256 disks"),
        ("generic-ssd", &["--queue-depth", "4"], "--queue-depth is for disks"),
        ("hp-c2200a", &["--device", "0,0"], "given twice"),
        ("hp-c2200a", &["--rows", "rows.txt"], ".csv or .parquet"),
        ("hp-c2204a", &["--cache", "immediate"], "needs a buffer"),
        ("hp-c2204a", &["--read-ahead", "on"], "needs a buffer"),
    ];
    for (drive, options, word) in cases {
        let words = ["simulate", path(&trace), "--drive", drive];
        run(&[&words[..], options].concat()).ended(2).says(&[word]);
    }
    for options in [["--engine", "psync"], ["--workers", "threads"], ["--max-unique-bytes", "1T"]] {
        let run = program().args(["evaluate", "sim:hp-730"]).args(options).assert().code(2);
        assert!(!run.get_output().stderr.is_empty(), "{options:?}");
    }
}

#[test]
fn every_drive_of_disksims_validation_is_as_close_as_disksim_from_its_own_files() {
    let Some(folder) = data("disk-validation") else { return skipped("no disk-validation data") };
    let expected = std::fs::read_to_string(folder.join("EXPECTED.tsv")).expect("DiskSim's figures");
    let mut most: Vec<(&str, f64)> = expected
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|row| (row[1].trim_end_matches(".parv"), row[5].parse().expect("a number")))
        .collect();
    assert_eq!(most.len(), 5);
    // By our measure, DiskSim's own times give 0.094; its script prints 0.090. This is ours.
    for (_, figure) in most.iter_mut().filter(|(drive, _)| *drive == "hp_c2247a") {
        *figure = 0.092;
    }
    // DiskSim's own run leaves this one out; the figure is ours and guards against regressions.
    most.push(("st41601n", 0.078));
    let traces = most.iter().map(|(drive, _)| folder.join(format!("{drive}.trace")));
    let done = program()
        .arg("simulate")
        .args(traces)
        .args(["--own-drive", "--arrivals", "closed", "--scheduler", "fcfs", "--json"])
        .assert()
        .success();
    let document: Document = serde_json::from_slice(&done.get_output().stdout).expect("a document");
    let simulation = document.simulation().expect("a simulation");
    assert_eq!(simulation.devices, most.iter().map(|(drive, _)| *drive).collect::<Vec<_>>());
    for (cell, (drive, most)) in simulation.cells.iter().zip(most) {
        let found = cell.agreement.as_ref().expect("measured times").rms_ns / 1e6;
        assert!(found <= most, "{drive}: {found:.4} ms, DiskSim {most} ms");
    }
    let lonely = tempfile::tempdir().expect("a folder");
    let trace = trace(lonely.path());
    let refused = run(&["simulate", path(&trace), "--own-drive"]);
    refused.ended(2).says(&["no drive lies beside it"]);
}

#[test]
fn the_verdict_is_about_the_options_that_were_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let made = folder.path().join("made.csv");
    let options = ["--cache", "nvram:64K", "--destage", "satf", "--scheduler", "satf"];
    let place = made.to_str().expect("plain");
    simulate(&trace, &[&options[..], &["--rows", place]].concat());
    let verdict = |options: &[&str]| {
        let document = simulate(&made, options);
        document.simulation().expect("a simulation").agreement.clone().expect("times")
    };
    let same = verdict(&options);
    assert!(same.demerit < 1e-3, "a trace made with these options: {}", same.demerit);
    assert!(verdict(&[]).demerit > 0.1, "and not with those of the drive");
}

#[test]
fn requests_beyond_a_drive_can_be_wrapped_and_times_scaled() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("host_0.csv");
    let mut lines = String::new();
    for n in 0..50u64 {
        let (time, offset) =
            (128_166_372_000_000_000 + n * 300_000, n * 99_999_995_904 / 4096 * 4096);
        let _ = writeln!(lines, "{time},host,0,Read,{offset},4096,200000");
    }
    std::fs::write(&trace, lines).expect("a trace can be written");
    let words = ["simulate", path(&trace), "--drive", "hp-c2200a"];
    run(&words).ended(2).says(&["--wrap"]);
    let elapsed = |more: &[&str]| {
        let document = simulate(&trace, &[&["--wrap"], more].concat());
        document.simulation().expect("a simulation").cells[0].elapsed.all.mean_ns
    };
    assert!(elapsed(&["--scale-time", "0.1"]) > 3.0 * elapsed(&[]));
    let longer = "128166372000000000,host,0,Read,0,1073741824,200000\n";
    std::fs::write(&trace, longer).expect("a trace can be written");
    for more in [&[][..], &["--wrap"]] {
        let told = run(&[&words[..], more].concat()).ended(2).says(&["beyond"]).err;
        assert!(!told.contains("--wrap"), "longer than the drive: {told}");
    }
}

#[test]
fn a_drive_that_does_not_explain_its_trace_is_not_called_calibrated() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, fitted, told) = calibrated(folder.path(), "0");
    // No disk takes equally long for every request.
    assert!(told.contains("not calibrated: the demerit"), "{told}");
    let text = std::fs::read_to_string(&fitted).expect("a drive");
    assert!(text.contains("status = \"not-calibrated\""), "{text}");
}

#[test]
fn absorption_is_told_when_asked_for_and_rows_are_put_in_order_aloud() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let absorbed =
        |more: &[&str]| simulate(&trace, more).simulation().expect("a simulation").absorption.len();
    assert_eq!((absorbed(&[]), absorbed(&["--absorption"])), (0, 1));
    let is_shown = |more: &[&str]| {
        let words = ["simulate", path(&trace), "--drive", "hp-c2200a"];
        let shown = run(&[&words[..], more].concat()).ended(0).out;
        shown.contains("Writes absorbed at the host")
    };
    assert!(is_shown(&["--absorption"]) && !is_shown(&[]));
    let text = std::fs::read_to_string(&trace).expect("the trace");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(10, 200);
    let swapped = folder.path().join("swapped.csv");
    std::fs::write(&swapped, lines.join("\n")).expect("a trace can be written");
    let told = |trace: &Path| {
        let ran = run(&["simulate", path(trace), "--drive", "hp-c2200a", "--json"]).ended(0);
        let document: Document = serde_json::from_str(&ran.out).expect("a document");
        (ran.err, document.simulation().expect("a simulation").cells.clone())
    };
    let ((quiet, straight), (loud, mended)) = (told(&trace), told(&swapped));
    assert!(!quiet.contains("order") && loud.contains("190 requests were put in"), "{loud}");
    assert_eq!(straight, mended);
}

/// The cells that a command reports for a trace.
fn cells(trace: &Path, options: &[&str]) -> Vec<ioscape_schema::SimulatedCell> {
    let document = told_of(&[&["simulate"], options].concat(), trace);
    document.simulation().expect("a simulation").cells.clone()
}

#[test]
fn drives_and_arrays_are_compared_in_one_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let drives = ["hp-97560", "generic-hdd", "generic-ssd"];
    let all: Vec<&str> = drives.iter().flat_map(|drive| ["--drive", drive]).collect();
    let found = cells(&trace, &[&all[..], &["--sweep", "array=none,raid5:3"]].concat());
    let names: Vec<_> = found.iter().map(|c| (c.drive.as_deref(), c.array.as_deref())).collect();
    let both = drives.iter().flat_map(|d| [(Some(*d), None), (Some(*d), Some("raid5:3:64K"))]);
    assert_eq!(names, both.collect::<Vec<_>>());
    for (cell, name) in found.iter().zip(names) {
        let busy = cell.utilization.expect("a share");
        assert!(busy > 0.0 && busy <= 1.0, "{name:?}: {busy}");
        assert_eq!(cell.energy_j.is_some(), name.0 != Some("hp-97560"), "{name:?}");
        assert_eq!(cell.elapsed.all.requests, 600);
    }
    // Every drive in the table gives the same result as alone.
    for (at, drive) in drives.iter().enumerate() {
        let alone = cells(&trace, &["--drive", drive]);
        assert_eq!(
            (&alone[0].elapsed, &alone[0].parts),
            (&found[2 * at].elapsed, &found[2 * at].parts)
        );
    }
    // Small writes on RAID-5 cost two successive accesses.
    assert!(found[1].physical.write.mean_ns > 1.3 * found[0].physical.write.mean_ns);
    let text = run(&[&["simulate", path(&trace)], &all[..]].concat()).ended(0).out;
    for word in ["hp-97560 ", "generic-ssd ", "p50", "Busy", "Energy"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn devices_can_have_drives_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    for n in 0..300u64 {
        let time = 128_166_372_000_000_000 + n * 400_000;
        let _ =
            writeln!(text, "{time},host,{},Read,{},8192,200000", n % 2, n * 7919 % 30_000 * 8192);
    }
    let trace = folder.path().join("host_0.csv");
    std::fs::write(&trace, text).expect("a trace can be written");
    let mixed = cells(&trace, &["--drive", "host_0=generic-ssd", "--drive", "hp-97560"]);
    assert_eq!(mixed[0].drive.as_deref(), Some("host_0=generic-ssd, hp-97560"));
    let disk = cells(&trace, &["--drive", "hp-97560"]);
    let (mixed, disk) = (&mixed[0].elapsed.all, &disk[0].elapsed.all);
    assert!(mixed.mean_ns < 0.7 * disk.mean_ns && mixed.p99_ns > disk.p50_ns, "{mixed:?} {disk:?}");
    let refused = run(&["simulate", path(&trace), "--drive", "host_0=generic-ssd"]);
    refused.ended(2).says(&["no drive for device host_1"]);
    for (drives, words) in [
        (["host_0=hp-97560", "host_0=generic-ssd"], "device host_0 is given two drives"),
        (["host_7=hp-97560", "generic-ssd"], "requests are of host_0, host_1"),
    ] {
        let given = ["--drive", drives[0], "--drive", drives[1]];
        run(&[&["simulate", path(&trace)], &given[..]].concat()).ended(2).says(&[words]);
    }
}
