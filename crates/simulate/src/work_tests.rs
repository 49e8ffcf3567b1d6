//! Tests of what is told of combinations that were simulated on one trace.

use super::*;
use crate::array::Array;
use crate::catalog::Target;
use crate::cell::Batch;
use crate::combinations::{CacheChoice, Sweep};
use crate::ssd::Filled;
use crate::summary::Compared;
use crate::testing::{One, constant, io};
use crate::{Arrivals, SimulatedRequest};
use ioscape_schema::{Device, Io, IoFlags, Op};
use std::sync::Arc;

/// No files at all.
const NOWHERE: One = One("", "");

fn shipped(drive: &str) -> Vec<Setup> {
    Setup::all(&[drive.to_owned()], None, &NOWHERE).unwrap()
}

/// Simulates rows of at most two devices to their end.
fn simulated<'a>(
    setups: &'a [Setup],
    choices: &'a Choices,
    fitting: Fitting,
    rows: Vec<Io>,
) -> Simulated<'a> {
    let mut all = AtWork::all(setups, choices, fitting, true).unwrap();
    let batch = Batch { rows, devices: Arc::from(vec![Device::default(); 2]) };
    assert!(all.iter_mut().all(|at| at.take(&batch)));
    let count = all.len();
    Simulated::of(setups, Ok(all), count).unwrap()
}

/// The summary of these rows on these drives, or arrays of them.
fn kept_of(setups: &[Setup], array: &str, rows: Vec<Io>) -> SimulatedCell {
    let choices = Choices { array: Array::parse(array).ok(), ..Choices::default() };
    simulated(setups, &choices, Fitting::default(), rows).first().unwrap().kept()
}

/// How many of a hundred reads are compared with their recorded times; every tenth has no
/// completion, and one goes to `offset`.
fn compared(fitting: Fitting, offset: u64) -> Option<u64> {
    let row = |n: u64| {
        let at = n * 50_000_000;
        let offset = if n == 7 { offset } else { n * 409_600 };
        let completed_ns = at + if n.is_multiple_of(10) { 0 } else { 20_000_000 };
        Io { completed_ns, ..io(Op::Read, offset, 4096, at) }
    };
    let (setups, choices) = (shipped("hp-97560"), Choices::default());
    let found = simulated(&setups, &choices, fitting, (0..100).map(row).collect());
    found.first().unwrap().compared(Some(true)).agreement.map(|found| found.requests)
}

/// The summary of 400 writes of 4 to 32 KiB to two devices in turn, on these drives or arrays.
fn kept([first, others]: [Target; 2], array: &str) -> SimulatedCell {
    let named = vec![("0".to_owned(), first)];
    let setups = [Setup { named, others: Some(others), ..Setup::default() }];
    let row = |n: u64| {
        let (at, len) = (n * 5_000_000, 4096 << (n % 4));
        Io { device: (n % 2) as u16, ..io(Op::Write, n / 2 * 32_768, len, at) }
    };
    kept_of(&setups, array, (0..400).map(row).collect())
}

#[test]
fn the_host_wrote_what_the_trace_tells_whatever_stands_for_its_devices() {
    let disk = |sector_bytes| {
        let mut parameters = crate::drives::find("hp-97560").unwrap();
        parameters.sector_bytes = sector_bytes;
        Target::Disk(Box::new(parameters.build().unwrap()))
    };
    let written = 100 * ((4 + 8 + 16 + 32) << 10);
    for array in ["none", "raid1:2", "raid5:3"] {
        for sectors in [[512, 512], [512, 4096], [4096, 512]] {
            let found = kept(sectors.map(disk), array).written_bytes;
            assert_eq!(found, written, "{array}, sectors of {sectors:?} bytes");
        }
    }
}

#[test]
fn every_drive_of_a_mirror_counts_in_what_goes_to_the_flash_for_a_byte_of_the_host() {
    let flash = || {
        let mut parameters = crate::ssd::find("generic-ssd").unwrap();
        parameters.capacity_bytes = 64 << 20;
        Target::Flash(Box::new(parameters.build().unwrap()))
    };
    let of = |array| kept([flash(), flash()], array).write_amplification;
    assert_eq!([of("none"), of("raid1:4")], [Some(1.0), Some(4.0)]);
}

/// The share of bytes overwritten in the buffers if the host writes each 4 KiB `times` times.
fn overwritten(setups: &[Setup], array: &str, times: u64) -> f64 {
    let row = |n: u64| io(Op::Write, n / times * 4096, 4096, n * 100_000);
    let found = kept_of(setups, array, (0..2000 * times).map(row).collect());
    found.absorbed_bytes as f64 / found.written_bytes as f64
}

#[test]
fn parity_that_is_written_again_overwrites_nothing_of_the_hosts() {
    let [flash, disk] = ["generic-ssd", "generic-hdd"].map(shipped);
    for array in ["none", "raid0:5", "raid1:2", "raid5:5"] {
        let once = [&flash, &disk].map(|setups| overwritten(setups, array, 1));
        assert_eq!(once, [0.0; 2], "{array}");
        // A page that completes a batch is programmed before it is written again.
        let twice = overwritten(&flash, array, 2);
        assert!((0.35..=0.5).contains(&twice), "{array}: {twice}");
    }
}

/// A hundred reads with these recorded service and think times.
fn reads([service_ns, think_ns]: [u64; 2]) -> Vec<Io> {
    let row = |n: u64| {
        let at = n * (service_ns + think_ns);
        Io { completed_ns: at + service_ns, ..io(Op::Read, n * 409_600, 4096, at) }
    };
    (0..100).map(row).collect()
}

/// Simulated think times in a closed system, for these recorded times, and what was left out.
fn closed(times_ns: [u64; 2], scale_time: Option<f64>) -> (Vec<u64>, Vec<String>) {
    let (setups, fitting) = (shipped("hp-97560"), Fitting { scale_time, wrap: false });
    let choices = Choices { arrivals: Arrivals::Closed, ..Choices::default() };
    let mut found = simulated(&setups, &choices, fitting, reads(times_ns));
    let rows = found.take_rows();
    let pairs = rows.windows(2);
    let thought = pairs.map(|two| two[1].io.queued_ns - two[0].io.completed_ns).collect();
    (thought, found.left_out())
}

#[test]
fn think_times_of_a_closed_system_are_scaled() {
    const MS: u64 = 1_000_000;
    for (factor, think_ns) in [(0.5, 5 * MS), (1.0, 10 * MS), (2.0, 20 * MS)] {
        let (thought, left_out) = closed([10 * MS, 10 * MS], Some(factor));
        assert_eq!(thought, [think_ns; 99], "{factor}");
        assert_eq!(left_out, Vec::<String>::new());
    }
}

#[test]
fn think_times_that_a_trace_does_not_tell_are_named() {
    let (thought, left_out) = closed([0, 10_000_000], None);
    assert_eq!(thought, [10_000_000; 99]);
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    let words = "think times after 100 of 100 requests without a recorded completion";
    assert!(left_out[0].starts_with(words), "{left_out:?}");
}

#[test]
fn what_is_so_on_every_drive_is_noted_once() {
    let drives = ["hp-97560", "generic-hdd"].map(str::to_owned);
    let setups = Setup::all(&drives, None, &NOWHERE).unwrap();
    let choices = Choices { arrivals: Arrivals::Closed, ..Choices::default() };
    let found = simulated(&setups, &choices, Fitting::default(), reads([0, 10_000_000]));
    assert_eq!((found.all.len(), found.notes().len()), (2, 1), "{:?}", found.notes());
    assert!(found.notes()[0].starts_with("Not simulated: think times after 100 of 100"));
}

#[test]
fn recorded_times_are_compared_with_those_of_the_same_load_and_places() {
    let scaled = |factor| Fitting { scale_time: Some(factor), wrap: true };
    assert_eq!(compared(Fitting::default(), 4096), Some(90));
    assert_eq!(compared(scaled(1.0), 4096), Some(90));
    assert_eq!(compared(scaled(0.5), 4096), None);
    assert_eq!(compared(scaled(1.0), 1 << 40), None);
}

/// What was not simulated, and the warnings.
fn told(found: &Simulated<'_>) -> Vec<String> {
    let doubts = found.doubts().into_iter().map(|doubt| doubt.to_string());
    found.notes().into_iter().chain(doubts).collect()
}

/// The requests of each combination of a sweep, in its order, and the remarks on them.
fn varied(drive: &str, sweep: Sweep, wrap: bool, rows: &[Io]) -> (Vec<u64>, Vec<String>) {
    let (setups, fitting) = (shipped(drive), Fitting { wrap, scale_time: None });
    let choices = Choices { sweeps: vec![sweep], ..Choices::default() };
    let found = simulated(&setups, &choices, fitting, rows.to_vec());
    (found.all.iter().map(|at| at.cell.requests()).collect(), told(&found))
}

/// The remarks for these two arrays, in both orders.
fn arrayed(drive: &str, arrays: [&str; 2], wrap: bool, rows: &[Io]) -> [Vec<String>; 2] {
    let [one, other] = arrays.map(|array| Array::parse(array).unwrap());
    [[one, other], [other, one]]
        .map(|both| varied(drive, Sweep::Array(both.to_vec()), wrap, rows).1)
}

#[test]
fn a_flush_is_a_request_with_every_cache() {
    let row = |n: u64| match n.is_multiple_of(2) {
        true => io(Op::Write, n * 409_600, 4096, n * 10_000_000),
        false => Io { flags: IoFlags::FLUSH, ..io(Op::Write, 0, 0, n * 10_000_000) },
    };
    let rows: Vec<Io> = (0..200).map(row).collect();
    let (cached, uncached) = (CacheChoice::Volatile(None), CacheChoice::None);
    for both in [[cached, uncached], [uncached, cached]] {
        let told = varied("generic-hdd", Sweep::Cache(both.to_vec()), false, &rows);
        assert_eq!(told, (vec![200; 2], Vec::new()), "{both:?}");
    }
}

#[test]
fn what_is_so_of_one_array_alone_is_noted_of_it_wherever_it_stands() {
    // 10 GB, which eight disks of 1.3 GB hold.
    let rows: Vec<Io> =
        (0..100).map(|n| io(Op::Read, n * 102_400_000, 4096, n * 50_000_000)).collect();
    for notes in arrayed("hp-97560", ["raid0:8", "none"], true, &rows) {
        assert_eq!(notes.len(), 1, "{notes:?}");
        let of_one = notes[0].strip_prefix("hp-97560: ").unwrap();
        assert!(of_one.contains("requests beyond its end were wrapped"), "{notes:?}");
    }
    let discard = Io { flags: IoFlags::DISCARD, ..io(Op::Write, 0, 409_600, 0) };
    let rows = [discard, io(Op::Read, 0, 4096, 1_000_000)];
    for notes in arrayed("generic-ssd", ["raid5:3", "none"], false, &rows) {
        let named = "1 discard (raid5:3:64K of generic-ssd does nothing with such requests)";
        assert_eq!(notes, [format!("Not simulated: {named}")]);
    }
}

#[test]
fn reads_of_drives_that_began_empty_and_hold_nothing_of_them_are_noted() {
    let notes = |filled, array, rows| {
        let setups = Setup::all(&["generic-ssd".to_owned()], filled, &NOWHERE).unwrap();
        let choices = Choices { array: Array::parse(array).ok(), ..Choices::default() };
        told(&simulated(&setups, &choices, Fitting::default(), rows))
    };
    let is_noted = |array, rows, begin: &str| {
        let notes = notes(Some(Filled::Empty), array, rows);
        assert!(notes.len() == 1 && notes[0].starts_with(begin), "{notes:?}");
    };
    let read = || reads([0, 1_000_000]);
    is_noted("none", read(), "generic-ssd: 100 reads of its drives found nothing");
    assert_eq!(notes(None, "none", read()), Vec::<String>::new());
    // Each writes a part of a row, so its old data and parity are read.
    let writes = (0..100).map(|n| io(Op::Write, n * 409_600, 4096, n * 1_000_000)).collect();
    is_noted("raid5:5", writes, "raid5:5:64K of generic-ssd: 200 reads of its drives found");
}

#[test]
fn the_queue_of_the_recorded_host_is_in_no_time_where_requests_come_as_they_were_issued() {
    let row = |n: u64| {
        let at = n * 1_000_000_000;
        let issued_ns = at + 100_000_000;
        let completed_ns = issued_ns + 10_000_000;
        Io { issued_ns, completed_ns, ..io(Op::Read, n * 409_600, 4096, at) }
    };
    let setups = shipped("generic-hdd");
    let choices = Choices { arrivals: Arrivals::Issued, ..Choices::default() };
    let rows: Vec<Io> = (0..2).map(row).collect();
    let found = simulated(&setups, &choices, Fitting::default(), rows);
    let kept = found.first().unwrap().kept();
    assert!(kept.elapsed.all.max_ns < 40_000_000, "{:?}", kept.elapsed.all);
    assert_eq!(kept.parts.queue_ns, 0.0);
    // The two are issued a second apart.
    let busy = kept.utilization.expect("a share");
    let truth = 2.0 * kept.physical.all.mean_ns / 1e9;
    assert!((busy / truth - 1.0).abs() < 0.05, "{busy} for {truth}");
}

#[test]
fn recorded_times_with_a_queue_are_not_compared_where_no_issue_is_told() {
    // Two reads at a time, on a disk that serves one after the other.
    let row = |n: u64| io(Op::Read, n * 409_600, 4096, n / 2 * 100_000_000);
    let (setups, choices) = (shipped("hp-97560"), Choices::default());
    let mut found = simulated(&setups, &choices, Fitting::default(), (0..100).map(row).collect());
    let again = |row: SimulatedRequest| Io { issued_ns: row.io.queued_ns, ..row.io };
    let recorded: Vec<Io> = found.take_rows().into_iter().map(again).collect();
    let found = simulated(&setups, &choices, Fitting::default(), recorded);
    for tells_issue in [Some(false), None] {
        let compared = found.first().unwrap().compared(tells_issue);
        assert_eq!((compared.agreement, compared.queued), (None, 100), "{tells_issue:?}");
    }
    let compared = found.first().unwrap().compared(Some(true));
    assert!(compared.agreement.is_some_and(|found| found.demerit > 0.2));
}

/// Rows that these drives took, compared with the times that these others take.
fn compared_with(setups: [&[Setup]; 2], rows: Vec<Io>) -> Compared {
    let choices = Choices::default();
    let mut found = simulated(setups[0], &choices, Fitting::default(), rows);
    let recorded = found.take_rows().into_iter().map(|row| row.io).collect();
    let found = simulated(setups[1], &choices, Fitting::default(), recorded);
    found.first().unwrap().compared(Some(true))
}

/// Guards against "median error 16.7 ms" of a trace of the drive itself, whose queue serves other requests first.
#[test]
fn requests_at_the_disk_together_are_not_compared_one_by_one() {
    let mut parameters = crate::drives::find("generic-hdd").unwrap();
    (parameters.buffer.write_back, parameters.buffer.read_ahead) = (false, false);
    let others = Some(Target::Disk(Box::new(parameters.build().unwrap())));
    let setups = [Setup { others, ..Setup::default() }];
    let row = |n: u64| {
        let at = n / 3 * 100_000_000 + n % 3 * 1_000_000;
        io(Op::Read, n * 104_729 % 900_000_000 * 4096, 4096, at)
    };
    let compared = compared_with([&setups; 2], (0..300).map(row).collect());
    let agreement = compared.agreement.as_ref().unwrap();
    assert_eq!((agreement.requests, agreement.demerit), (300, 0.0));
    assert_eq!((agreement.paired_requests, compared.together), (0, 300));
    let doubts: Vec<String> = compared.doubts().map(|doubt| doubt.to_string()).collect();
    assert!(doubts.len() == 1 && doubts[0].contains("300 requests were at the disk"), "{doubts:?}");
}

#[test]
fn every_device_is_compared_with_its_own_drive() {
    let disk = |ms| Target::Disk(Box::new(constant(ms)));
    let row = |n: u64| {
        let device = u16::from(n.is_multiple_of(3));
        Io { device, ..io(Op::Read, n * 37 % 20_000 * 512, 512, n * 20_000_000) }
    };
    let each = |named: f64| {
        let named = vec![("1".to_owned(), disk(named))];
        [Setup { named, others: Some(disk(5.0)), ..Setup::default() }]
    };
    let (right, wrong) = (each(9.0), each(5.0));
    let demerits = |setups: &[Setup]| {
        let compared = compared_with([&right, setups], (0..300).map(row).collect());
        let agreement = compared.agreement.unwrap();
        assert_eq!((agreement.requests, agreement.demerit), (200, 0.0));
        let devices = agreement.devices.into_iter();
        devices.map(|one| (one.device, one.requests, one.demerit)).collect::<Vec<_>>()
    };
    let named = |other| [("0".to_owned(), 200, 0.0), ("1".to_owned(), 100, other)];
    assert_eq!(demerits(&right), named(0.0));
    let [_, (_, _, demerit)] = demerits(&wrong)[..] else { panic!("two devices") };
    assert!((demerit - 4.0 / 9.0).abs() < 0.01, "{demerit}");
}
