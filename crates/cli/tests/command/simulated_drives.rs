//! How a drive behaves through the command: a bus shared by several, drives as large as today's,
//! parts of a description that are ignored, and energy.

use crate::common::started::Started;
use crate::common::{data, path, run, skipped};
use crate::trace_analysis::peak_kib;
use ioscape_schema::{Document, Simulation};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The result of simulating a trace.
fn simulated(trace: &Path, options: &[&str]) -> Simulation {
    let ran = run(&[&["simulate", path(trace), "--json"], options].concat()).ended(0);
    let document: Document = serde_json::from_str(&ran.out).expect("a document");
    document.simulation().expect("a simulation").clone()
}

/// A file of rows in our own columns.
fn rows(folder: &Path, rows: impl Iterator<Item = String>) -> PathBuf {
    let mut text = String::from("queued_ns,device,is_write,offset_bytes,length_bytes\n");
    for row in rows {
        let _ = writeln!(text, "{row}");
    }
    let file = folder.join("made.csv");
    std::fs::write(&file, text).expect("a trace can be written");
    file
}

#[test]
fn disks_on_one_bus_wait_for_one_another() {
    let folder = tempfile::tempdir().expect("a folder");
    // Two disks are asked for 64 KiB at the same moment; their bus carries about 1 MB/s.
    let row =
        |n: u64| format!("{},{},0,{},65536", n / 2 * 400_000_000, n % 2, n * 7919 % 3000 * 65536);
    let trace = rows(folder.path(), (0..200).map(row));
    let of = |options: &[&str]| {
        let found = simulated(&trace, &[&["--drive", "hp-c2200a"], options].concat());
        (found.cells[0].elapsed.all.mean_ns, found.cells[0].parts.bus_ns)
    };
    let ((own, own_bus), (shared, shared_bus)) = (of(&[]), of(&["--shared-bus"]));
    // One waits while the other's 64 KiB cross the bus, minus the time between their accesses.
    assert!(shared_bus - own_bus > 10e6, "{shared_bus} ns on the bus for {own_bus}");
    assert!(shared - own > 10e6, "{shared} ns for {own}");
}

#[test]
fn the_time_before_the_first_request_is_no_time_of_the_drive() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |begins_ns: u64, options: &[&str]| {
        let row =
            |n: u64| format!("{},0,0,{},4096", begins_ns + n * 20_000_000, n * 7919 % 3000 * 4096);
        let trace = rows(folder.path(), (0..200).map(row));
        let found = simulated(&trace, &[&["--drive", "generic-hdd"], options].concat());
        let cell = &found.cells[0];
        (cell.utilization.expect("a share"), cell.energy_j.expect("an energy"))
    };
    // An hour later the platter is at another angle: the mean wait differs by a few percent.
    let alike = |a: (f64, f64), b: (f64, f64)| {
        assert!((a.0 / b.0 - 1.0).abs() < 0.05 && (a.1 / b.1 - 1.0).abs() < 0.02, "{a:?} {b:?}");
    };
    let at_once = of(0, &[]);
    assert!(at_once.0 > 0.1, "{at_once:?}");
    alike(of(3_600_000_000_000, &[]), at_once);
    let half = of(0, &["--from", "2s"]);
    alike((half.0, 2.0 * half.1), at_once);
}

#[test]
fn a_solid_state_drive_is_known_however_its_table_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = rows(folder.path(), std::iter::once("0,0,0,0,4096".to_owned()));
    let shipped = include_str!("../../../../drives/generic-ssd.toml");
    let drive = folder.path().join("mine.toml");
    for header in ["[flash] # chips", "[ flash ]", "[\"flash\"]"] {
        std::fs::write(&drive, shipped.replace("\n[flash]\n", &format!("\n{header}\n")))
            .expect("a drive can be written");
        let found = simulated(&trace, &["--drive", path(&drive)]);
        assert_eq!(found.cells[0].cache, "write buffer", "{header}");
    }
}

#[test]
fn chunks_larger_than_a_disk_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = rows(folder.path(), std::iter::once("0,0,0,0,4096".to_owned()));
    let array = ["--drive", "hp-97560", "--array", "raid5:3:2G", "--wrap"];
    let ran = run(&[&["simulate", path(&trace)], &array[..]].concat()).ended(2);
    ran.says(&["raid5:3", "a disk of hp-97560 holds no whole chunk"]);
}

#[test]
fn arrays_of_solid_state_drives_are_given_once_and_simulated_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = rows(folder.path(), std::iter::once("0,0,0,0,4096".to_owned()));
    for twice in [
        ["--array", "raid0:2", "--sweep", "array=none,raid5:3"],
        ["--sweep", "array=none", "--sweep", "array=raid5:3"],
    ] {
        for drive in ["generic-ssd", "generic-hdd"] {
            let words = [&["simulate", path(&trace), "--drive", drive], &twice[..]].concat();
            run(&words).ended(2).says(&["array is given twice"]);
        }
    }
    let found = simulated(&trace, &["--drive", "generic-ssd", "--sweep", "array=none,none"]);
    assert_eq!(found.cells.len(), 1);
}

#[test]
fn what_is_chosen_must_suit_every_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace =
        rows(folder.path(), ["0,0,0,0,4096", "9,1,0,0,4096"].map(str::to_owned).into_iter());
    // The shipped drive without its buffer.
    let text = include_str!("../../../../drives/hp-97560.toml");
    let (head, rest) = text.split_once("[buffer]").expect("a buffer");
    let (_, tail) = rest.split_once("[sources]").expect("sources");
    let bare = folder.path().join("bare.toml");
    std::fs::write(&bare, format!("{head}[buffer]\nbytes = 0\n\n[sources]{tail}"))
        .expect("a drive can be written");
    let words = ["simulate", path(&trace), "--drive", "0=hp-97560", "--drive", path(&bare)];
    run(&words).ended(0);
    run(&[&words[..], &["--cache", "immediate"]].concat())
        .ended(2)
        .says(&["immediate reporting needs a buffer"]);
}

#[test]
fn recorded_times_are_compared_with_those_of_the_same_load_and_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text =
        String::from("queued_ns,completed_ns,device,is_write,offset_bytes,length_bytes\n");
    for n in 0..300u64 {
        let (at, offset) = (n * 50_000_000, n * 7919 % 3000 * 4096);
        // One in ten has no completion, and says nothing about times.
        let end = at + if n % 10 == 0 { 0 } else { 20_000_000 };
        let _ = writeln!(text, "{at},{end},0,0,{offset},4096");
    }
    let trace = folder.path().join("timed.csv");
    std::fs::write(&trace, &text).expect("a trace can be written");
    let of = |options: &[&str]| {
        simulated(&trace, &[&["--drive", "hp-97560"], options].concat()).agreement
    };
    let found = of(&[]).expect("an agreement");
    assert_eq!((found.requests, found.measured_mean_ns), (270, 20e6));
    assert_eq!(of(&["--scale-time", "1", "--wrap"]).map(|a| a.requests), Some(270));
    assert_eq!(of(&["--scale-time", "0.5"]), None);
    let _ = writeln!(text, "20000000000,20010000000,0,0,1000000000000,4096");
    std::fs::write(&trace, &text).expect("a trace can be written");
    assert_eq!(of(&["--wrap"]), None);
}

#[test]
fn a_trace_that_is_named_twice_does_not_count_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = rows(folder.path(), std::iter::once("0,0,0,0,4096".to_owned()));
    for words in [&["trace", "analyze"][..], &["simulate", "--drive", "hp-97560"]] {
        run(&[words, &[path(&trace), path(&trace)]].concat()).ended(2).says(&["is named twice"]);
    }
}

#[test]
fn terabytes_are_simulated_in_bounded_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    // Addresses all over a terabyte; three quarters of the requests are writes.
    let row = |n: u64| {
        format!(
            "{},0,{},{},4096",
            n * 20_000_000,
            u8::from(!n.is_multiple_of(4)),
            n * 104_729 % 244_190_646 * 4096
        )
    };
    let trace = rows(folder.path(), (0..200_000).map(row));
    for drive in [&["generic-ssd", "--precondition", "steady-state"][..], &["generic-hdd"]] {
        let result = folder.path().join("r.json");
        let words =
            ["simulate", path(&trace), "--threads", "1", "--force", "-o", path(&result), "--drive"];
        let started = Started::of(&[&words[..], drive].concat());
        let peak = peak_kib(started.0.id());
        started.end().ended(0);
        assert!((1..=300 << 10).contains(&peak), "{peak} KiB with {drive:?}");
        let text = std::fs::read_to_string(&result).expect("a result");
        let document: Document = serde_json::from_str(&text).expect("a document");
        assert_eq!(document.simulation().expect("a simulation").requests, 200_000);
    }
}

#[test]
fn what_a_description_states_and_is_not_simulated_is_in_the_result() {
    let Some(folder) = data("disk-validation") else { return skipped("no disk-validation data") };
    let trace = folder.join("barracuda.trace");
    let found = simulated(&trace, &["--drive", path(&folder.join("barracuda.diskspecs"))]);
    let named = found.left_out.iter().filter(|what| what.contains("barracuda.diskspecs: "));
    let keys: Vec<&String> = named.collect();
    assert!(keys.iter().any(|what| what.contains("Fast write level (line 49)")), "{keys:?}");
    // The same if every trace device has a drive of its own.
    let own = simulated(&trace, &["--own-drive"]);
    assert_eq!(own.left_out.len(), found.left_out.len(), "{:?}", own.left_out);
    // A drive that is described completely leaves nothing out.
    assert_eq!(
        simulated(&trace, &["--drive", "hp-c2247a", "--wrap"]).left_out,
        Vec::<String>::new()
    );
}

#[test]
fn own_drives_that_are_called_the_same_are_told_apart_by_their_traces() {
    let folder = tempfile::tempdir().expect("a folder");
    let drive = include_str!("../../../../drives/hp-97560.toml");
    let traces = ["disk0.csv", "disk1.csv"].map(|name| {
        let trace = folder.path().join(name);
        let made = rows(folder.path(), std::iter::once("0,0,0,0,4096".to_owned()));
        std::fs::rename(made, &trace).expect("a trace can be named");
        std::fs::write(trace.with_extension("toml"), drive).expect("a drive can be written");
        trace
    });
    let names = |traces: &[PathBuf]| {
        let given = traces.iter().map(|trace| path(trace));
        let words = ["simulate", "--own-drive", "--json"].into_iter().chain(given);
        let ran = run(&words.collect::<Vec<_>>()).ended(0);
        let document: Document = serde_json::from_str(&ran.out).expect("a document");
        let cells = document.simulation().expect("a simulation").cells.iter();
        cells.map(|cell| cell.drive.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    let told = traces.each_ref().map(|trace| format!("hp-97560 ({})", path(trace)));
    assert_eq!(names(&traces), told);
    assert_eq!(names(&traces[..1]), ["hp-97560"]);
}

#[test]
fn energy_is_that_of_all_drives_of_whatever_kind_or_none_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |n: u64| format!("{},{},0,{},8192", n * 40_000_000, n % 2, n * 7919 % 3000 * 8192);
    let trace = rows(folder.path(), (0..200).map(row));
    let of = |first: &str, others: &str| {
        let found = simulated(&trace, &["--drive", &format!("0={first}"), "--drive", others]);
        (found.cells[0].energy_j, found.left_out)
    };
    let alone = |drive: &str| of(drive, drive).0.expect("its power is known");
    let (ssd, disk) = (alone("generic-ssd"), alone("generic-hdd"));
    let (both, left_out) = of("generic-ssd", "generic-hdd");
    let both = both.expect("the power of both is known");
    // Over the same 8 s, during which one drive is mostly idle and the other works.
    assert!(
        both > 0.5 * ssd && both < 0.52 * (ssd + disk) && both > 0.48 * (ssd + disk),
        "{both}: {ssd} {disk}"
    );
    assert_eq!(left_out, Vec::<String>::new());
    let (none, left_out) = of("generic-ssd", "hp-97560");
    assert_eq!((none, left_out), (None, vec!["energy: no power is stated of hp-97560".to_owned()]));
}

/// The demerit in percent, from a line of `calibrate`'s output.
fn demerit(told: &str, of: &str) -> f64 {
    let line =
        told.lines().find(|line| line.starts_with(of)).unwrap_or_else(|| panic!("{of}: {told}"));
    let (_, rest) = line.split_once("demerit ").expect("a demerit");
    rest.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn the_second_disk_of_hplajw_is_explained_or_said_not_to_be_and_why() {
    let Some(folder) = data("hplajw") else { return skipped("no hplajw data") };
    let place = tempfile::tempdir().expect("a folder");
    let (trace, fitted) = (folder.join("ajw.1week.srt"), place.path().join("fitted.toml"));
    let words =
        ["calibrate", path(&trace), "--disk", "1", "--drive", "hp-c2200a", "-o", path(&fitted)];
    let told = run(&words).ended(0).err;
    let held_out = demerit(&told, "fit, second half");
    let text = std::fs::read_to_string(&fitted).expect("a drive");
    if text.contains("status = \"calibrated\"") {
        assert!(held_out <= 4.0 && !told.contains("not calibrated"), "{told}");
    } else {
        assert!(text.contains("status = \"not-calibrated\""), "{text}");
        let why = told.lines().find(|line| line.starts_with("not calibrated: ")).expect("why");
        let known = ["demerit of the held-out requests", "within 1 ms", "soon after another"];
        assert!(known.iter().any(|word| why.contains(word)), "{why}");
    }
}
