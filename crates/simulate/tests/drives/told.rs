//! The report on a fitted drive: which of its numbers no request determines, and why it is not
//! calibrated.

use crate::data::io;
use crate::data::made::{scattered, scattered_below, timed};
use ioscape_schema::{Io, IoFlags, Op};
use ioscape_simulate::calibrate::{Fitted, Search, calibrate, verdict};
use ioscape_simulate::drive::Status;
use ioscape_simulate::layout::TrackRun;
use ioscape_simulate::{Job, Parameters, drives, jobs};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

#[test]
fn skews_that_too_few_requests_tell_are_said_to_be_the_starts() {
    let truth = drives::find("hp-c2247a").unwrap();
    assert!(truth.zones.len() > 1);
    let jobs = scattered(&truth, 40, 40);
    let search = Search { rounds: 1, ..Search::default() };
    let fitted = calibrate(&truth, &jobs, search, &mut |_, _| true).unwrap();
    assert_eq!(fitted.parameters.zones, truth.zones);
    let (_, lines) = verdict(&truth, fitted, [&jobs, &jobs]).unwrap();
    assert!(
        lines.iter().any(|line| line.starts_with("the skews are those of the start")),
        "{lines:?}"
    );
}

/// The rotation time, 60,000 / 5400 ms, is not a whole number of nanoseconds, but the fitted one
/// is.
#[test]
fn skews_of_a_right_start_that_enough_requests_tell_are_not_said_to_be_the_starts() {
    let truth = drives::find("hp-c2247a").unwrap();
    let jobs = scattered(&truth, 20_000, 40);
    let search = Search { rounds: 0, ..Search::default() };
    let fitted = calibrate(&truth, &jobs, search, &mut |_, _| true).unwrap();
    assert_eq!(fitted.parameters.zones, truth.zones);
    assert_eq!(fitted.skews_left, None);
}

#[test]
fn zones_whose_skews_no_request_tells_are_named() {
    let truth = drives::find("hp-97560").unwrap();
    let blocks = truth.build().unwrap().mechanism.layout.blocks();
    let mut start = truth.clone();
    for zone in &mut start.zones {
        (zone.track_skew, zone.cylinder_skew) = (20, 40);
    }
    // Only the first quarter of the drive is used.
    let jobs = scattered_below(blocks / 4, &truth, 6000, 40);
    let search = Search { rounds: 0, ..Search::default() };
    let fitted = calibrate(&start, &jobs, search, &mut |_, _| true).unwrap();
    let zones = &fitted.parameters.zones;
    assert_eq!((&zones[0], &zones[1..]), (&truth.zones[0], &start.zones[1..]));
    let said = "the skews or angles of some zones (1, 2, counted from 0) are those of the start";
    assert!(fitted.skews_left.is_some_and(|left| left.starts_with(said)));
}

#[test]
fn skews_of_one_zone_that_no_request_tells_are_said_to_be_the_starts() {
    let truth = drives::find("hp-c2200a").unwrap();
    let search = Search { rounds: 0, ..Search::default() };
    // On one track: fewer requests than a phase needs, then enough to determine the rotation time.
    let row = |n: u64| io(Op::Write, n * 37 % 100 * 256, 256, n * 10_000_000);
    for (count, longer) in [(39, 1.0), (1200, 1.004)] {
        let rows: Vec<Io> = (0..count).map(row).collect();
        let on_one_track = timed(&truth, jobs(&rows, &[0], &truth.build().unwrap()).unwrap());
        let mut start = truth.clone();
        (start.rotation_ms, start.zones[0].track_skew) = (longer * truth.rotation_ms, 20);
        let fitted = calibrate(&start, &on_one_track, search, &mut |_, _| true).unwrap();
        let off = fitted.parameters.rotation_ms / truth.rotation_ms - 1.0;
        assert!(off.abs() < 0.0005, "{count}: {off}");
        assert_eq!(fitted.parameters.zones, start.zones, "{count}");
        let said = fitted.skews_left.expect("nothing tells them");
        assert!(said.starts_with("the skews are those of the start"), "{said}");
    }
}

/// The status and the report of a drive that is treated as fitted to these requests.
fn told(truth: &Parameters, jobs: &[Job]) -> (Status, Vec<String>) {
    let fitted = Fitted { parameters: truth.clone(), skews_left: None, rotation_untold: false };
    let (first, second) = jobs.split_at(jobs.len() / 2);
    let (kept, lines) = verdict(truth, fitted, [first, second]).unwrap();
    (kept.status, lines)
}

#[test]
fn what_no_request_tells_is_said() {
    let truth = drives::find("hp-c2247a").unwrap();
    let says = |lines: &[String], what: &str| lines.iter().any(|line| line.starts_with(what));
    let (status, lines) = told(&truth, &scattered(&truth, 1000, 40));
    assert_eq!(status, Status::Calibrated);
    assert!(!lines.iter().any(|line| line.contains("as at the start")), "{lines:?}");
    let short = "short seeks are those of the start, moved by +0.000 ms at one cylinder: only ";
    assert!(says(&lines, short), "500 random requests hardly seek so near: {lines:?}");
    let sum = "of seeks and the controller's times before and after the medium only the sum";
    assert!(says(&lines, sum), "{lines:?}");
    let (status, lines) = told(&truth, &scattered(&truth, 1000, 0));
    assert_eq!(status, Status::Calibrated);
    assert!(says(&lines, "times of writes are as at the start"), "{lines:?}");
    assert!(!says(&lines, "times of reads"), "{lines:?}");
    // Sequential blocks: no request shows how long a seek takes.
    let mut jobs = scattered(&truth, 1000, 40);
    for (job, at) in jobs.iter_mut().zip((0..).step_by(16)) {
        (job.io.request.offset, job.command.block) = (at * 512, at);
    }
    let jobs = timed(&truth, jobs);
    let (status, lines) = told(&truth, &jobs);
    assert_eq!(status, Status::NotCalibrated, "{lines:?}");
    assert!(says(&lines, "the seek curve is as at the start"), "{lines:?}");
    assert!(says(&lines, "not calibrated: only "), "{lines:?}");
}

/// Requests to blocks that `next` chooses from the previous block, each issued the chosen number of
/// nanoseconds after the previous completion.
fn served(
    truth: &Parameters,
    count: u64,
    mut next: impl FnMut(u64, u64) -> (u64, u64),
) -> Vec<Job> {
    let (mut block, mut at) = (0, 0);
    let row = |n: u64| {
        let (place, gap_ns) = next(n, block);
        (block, at) = (place, at + gap_ns);
        Io { flags: IoFlags::SYNC, ..io(Op::Write, block * 512, 1024, at) }
    };
    let rows: Vec<Io> = (0..count).map(row).collect();
    timed(truth, jobs(&rows, &[0], &truth.build().unwrap()).unwrap())
}

#[test]
fn far_seeks_after_a_rest_do_not_make_a_drive_calibrated() {
    let truth = drives::find("hp-97560").unwrap();
    let half = truth.build().unwrap().mechanism.layout.blocks() / 2;
    let mut dice = Pcg64Mcg::new(6);
    // Bursts of ten requests near one another, each burst a second after the last one and far away.
    let jobs = served(&truth, 2000, |n, _| {
        let place = n / 10 % 2 * half + dice.next_u64() % 20_000;
        let rest_ns = if n.is_multiple_of(10) { 1_000_000_000 } else { 0 };
        (place, rest_ns + 2_000_000)
    });
    let (status, lines) = told(&truth, &jobs);
    assert_eq!(status, Status::NotCalibrated, "{lines:?}");
    let said = "not calibrated: only 0 of the held-out requests seek over a tenth";
    assert!(lines.iter().any(|line| line.starts_with(said)), "{lines:?}");
    // The fit uses these requests all the same.
    assert!(!lines.iter().any(|line| line.starts_with("the seek curve is")), "{lines:?}");
}

#[test]
fn near_seeks_do_not_make_a_drive_calibrated_whose_zones_are_at_wrong_angles() {
    let truth = drives::find("hp-97560").unwrap();
    let blocks = truth.build().unwrap().mechanism.layout.blocks();
    let mut dice = Pcg64Mcg::new(6);
    // Most stay on their track of 72 blocks; each is issued late enough that the previous one would
    // be complete even after one more rotation.
    let jobs = served(&truth, 6000, |_, before| {
        let stays = dice.next_u64() % 100 < 85;
        let track = if stays { before / 72 } else { dice.next_u64() % (blocks / 72) };
        (track * 72 + dice.next_u64() % 70, 20_000_000 + dice.next_u64() % 9_000_000)
    });
    assert_eq!(told(&truth, &jobs).0, Status::Calibrated);
    let mut wrong = truth;
    wrong.zones[1].offset += 40;
    let (status, lines) = told(&wrong, &jobs);
    assert_eq!(status, Status::NotCalibrated, "{lines:?}");
    let said = "of the held-out requests that seek over a tenth of the cylinders or more";
    assert!(lines.iter().any(|line| line.contains(said)), "{lines:?}");
}

#[test]
fn long_seeks_that_no_request_tells_are_named() {
    let truth = drives::find("hp-97560").unwrap();
    let blocks = truth.build().unwrap().mechanism.layout.blocks();
    let long = |jobs: &[Job]| {
        let (_, lines) = told(&truth, jobs);
        lines.iter().any(|line| line.starts_with("long seeks are those of the start or"))
    };
    assert!(long(&scattered_below(blocks / 3, &truth, 1000, 40)));
    assert!(!long(&scattered(&truth, 1000, 40)));
}

#[test]
fn requests_of_one_length_do_not_tell_the_rate_of_the_bus() {
    let mut truth = drives::find("hp-c2247a").unwrap();
    let mut jobs = scattered(&truth, 1000, 40);
    for job in &mut jobs {
        (job.io.request.len, job.command.count) = (4096, 8);
    }
    let jobs = timed(&truth, jobs);
    let (_, lines) = told(&truth, &jobs);
    for kind in ["reads", "writes"] {
        let words =
            format!("the bus rate of {kind} is as at the start: all {kind} are about 4 KiB");
        assert!(lines.contains(&words), "{lines:?}");
    }
    truth.bus.to_host_bytes_per_s *= 0.8;
    truth.bus.to_drive_bytes_per_s *= 0.8;
    let search = Search { rounds: 1, skews: false, ..Search::default() };
    let fitted = calibrate(&truth, &jobs, search, &mut |_, _| true).unwrap().parameters;
    let rates = |p: &Parameters| [p.bus.to_host_bytes_per_s, p.bus.to_drive_bytes_per_s];
    assert_eq!(rates(&fitted), rates(&truth));
}

#[test]
fn the_angles_of_track_runs_are_said_to_be_the_starts() {
    let mut truth = drives::find("hp-97560").unwrap();
    let run = TrackRun {
        tracks: truth.cylinders,
        cylinder_step: 1,
        sectors_per_track: 72,
        blocks_per_track: 72,
        ..TrackRun::default()
    };
    (truth.zones, truth.track_runs, truth.blocks) = (Vec::new(), vec![run], None);
    let jobs = scattered(&truth, 200, 40);
    let search = Search { rounds: 0, ..Search::default() };
    let fitted = calibrate(&truth, &jobs, search, &mut |_, _| true).unwrap();
    let (_, lines) = verdict(&truth, fitted, [&jobs, &jobs]).unwrap();
    let said = |what: &str| lines.iter().any(|line| line.starts_with(what));
    assert!(said("the angles of track runs are not fitted"), "{lines:?}");
    assert!(!said("the skews are those of the start"), "{lines:?}");
}
