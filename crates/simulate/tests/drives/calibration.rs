//! Calibration must recover a drive from its own simulated times.

use crate::data::io;
use crate::data::made::scattered;
use crate::data::random::{self, Dice};
use ioscape_schema::{Io, Op, TraceInfo};
use ioscape_simulate::calibrate::{Search, calibrate, halves, judge};
use ioscape_simulate::layout::Zone;
use ioscape_simulate::seek::SeekCurve;
use ioscape_simulate::{Arrivals, Configuration, Parameters, drives, jobs, one_step, simulate};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// Requests that the drive serves one at a time, a millisecond apart, in the form of a trace.
fn recorded(truth: &Parameters) -> Vec<ioscape_simulate::Job> {
    let drive = truth.build().unwrap();
    let mut dice = Pcg64Mcg::new(4);
    let mut place = 0;
    let rows: Vec<Io> = (0..1200)
        .map(|n| {
            // Mostly near the previous request, so that the skews show; sometimes far.
            let far = dice.next_u64().is_multiple_of(10);
            let reach = if far { 1_300_000 } else { 900 };
            place = (place + dice.next_u64() % reach) % 1_300_000;
            let op = if dice.next_u64().is_multiple_of(3) { Op::Read } else { Op::Write };
            io(op, place * 256, 2048, n * 1_000_000)
        })
        .collect();
    let mut all = jobs(&rows, &[0], &drive).unwrap();
    let closed = Configuration { arrivals: Arrivals::Closed, ..Configuration::default() };
    let run = simulate(&drive, &all, &closed);
    for (job, row) in all.iter_mut().zip(&run.rows) {
        job.io = Io { queued_ns: row.io.issued_ns, ..row.io };
    }
    all
}

#[test]
fn skews_and_costs_are_found_again() {
    let truth = drives::find("hp-c2200a").unwrap();
    let jobs = recorded(&truth);
    let own = judge(&truth.build().unwrap(), &jobs);
    assert!(own.paired.paired_median_ns < 100.0, "the truth explains itself: {:?}", own.paired);
    let mut start = truth.clone();
    (start.zones[0].track_skew, start.zones[0].cylinder_skew) = (20, 70);
    start.controller.write_before_ms += 0.3;
    start.rotation_ms *= 1.004;
    let search = Search { rounds: 3, skews: true, sample: 1200 };
    let fitted = calibrate(&start, &jobs, search, &mut |_, _| true).unwrap().parameters;
    assert_eq!((fitted.zones[0].track_skew, fitted.zones[0].cylinder_skew), (34, 46));
    assert!(
        (fitted.rotation_ms / truth.rotation_ms - 1.0).abs() < 0.0005,
        "{}",
        fitted.rotation_ms
    );
    let fit = judge(&fitted.build().unwrap(), &jobs);
    assert!(fit.paired.within_1ms > 0.97, "{:?}", fit.paired);
}

/// A drive like the HP 97560, but with every fitted parameter changed.
fn changed() -> Parameters {
    let mut truth = drives::find("hp-97560").unwrap();
    truth.rotation_ms = 14.95;
    for (zone, skews) in truth.zones.iter_mut().zip([(10, 23), (12, 5), (7, 31)]) {
        (zone.track_skew, zone.cylinder_skew) = skews;
    }
    truth.zones[1].offset = 17;
    truth.seek =
        SeekCurve::TwoPart { divider: 383, a: 2.8, b: 0.45, c: 8.6, e: 0.0078, short: vec![] };
    truth.controller.read_before_ms = 2.0;
    truth.controller.write_before_ms = 2.6;
    truth.controller.write_after_ms = 0.3;
    truth
}

/// The root mean square difference of two seek curves, including the controllers' times for reads,
/// over all distances: only the sum is known.
fn apart(one: &Parameters, other: &Parameters) -> f64 {
    let [one, other] = [one, other].map(|p| {
        let controller = p.controller.read_before_ms + p.controller.read_after_ms;
        let table = p.seek.table(p.cylinders).unwrap();
        table[1..].iter().map(|&ns| f64::from(ns) / 1e6 + controller).collect::<Vec<f64>>()
    });
    let squares = one.iter().zip(&other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    (squares / one.len() as f64).sqrt()
}

#[test]
fn a_drive_with_several_zones_is_found_from_a_start_that_is_wrong_in_everything() {
    let mut start = drives::find("hp-97560").unwrap();
    start.rotation_ms = 15.028;
    is_found(&changed(), &start);
}

/// The C2247A has eight zones with different tracks, and measured times for the shortest seeks.
#[test]
fn zones_of_different_tracks_are_found() {
    let start = drives::find("hp-c2247a").unwrap();
    let mut truth = start.clone();
    truth.rotation_ms *= 0.9957;
    for (n, zone) in truth.zones.iter_mut().enumerate() {
        zone.track_skew = (zone.track_skew + 5 + n as u32) % zone.sectors_per_track;
        zone.cylinder_skew = (zone.cylinder_skew + 11 + 2 * n as u32) % zone.sectors_per_track;
    }
    if let SeekCurve::TwoPart { a, b, c, e, .. } = &mut truth.seek {
        (*a, *b, *c, *e) = (*a + 0.5, *b * 1.07, *c + 0.5, *e * 1.1);
    }
    truth.controller.write_before_ms += 0.25;
    is_found(&truth, &start);
}

#[expect(clippy::print_stderr, reason = "the figures are worth seeing")]
fn is_found(truth: &Parameters, start: &Parameters) {
    let found = Found::of(truth, start);
    eprintln!("{found:?}");
    assert!(found.is_good(), "{found:?}");
}

/// How close a fitted drive is to the true one.
#[derive(Debug)]
struct Found {
    /// Relative error of the rotation time.
    rotation: f64,
    /// Zones whose skews or angle are wrong: the found and the true values.
    zones: Vec<[[u32; 3]; 2]>,
    /// Root mean square difference of the seek curves, including the controllers' times, in
    /// milliseconds.
    seeks_ms: f64,
    /// Share of the requests whose simulated time is within 0.1 ms.
    within: f64,
}

impl Found {
    fn of(truth: &Parameters, start: &Parameters) -> Self {
        let jobs = scattered(truth, 20_000, 40);
        let search = Search { rounds: 6, ..Search::default() };
        let fitted = calibrate(start, &jobs, search, &mut |_, _| true).unwrap().parameters;
        let skews = |zone: &Zone| [zone.track_skew, zone.cylinder_skew, zone.offset];
        let both = fitted.zones.iter().zip(&truth.zones);
        let zones = both.map(|(found, told)| [skews(found), skews(told)]);
        let drive = fitted.build().unwrap();
        let predicted = one_step(&drive, drive.buffer.usual(), &jobs);
        let near = predicted
            .iter()
            .zip(&jobs)
            .filter(|(ns, job)| ns.abs_diff(job.io.physical_ns()) <= 100_000);
        Self {
            rotation: (fitted.rotation_ms / truth.rotation_ms - 1.0).abs(),
            zones: zones.filter(|[found, told]| found != told).collect(),
            seeks_ms: apart(&fitted, truth),
            within: near.count() as f64 / jobs.len() as f64,
        }
    }

    fn is_good(&self) -> bool {
        self.rotation < 1e-5 && self.zones.is_empty() && self.seeks_ms < 0.02 && self.within >= 0.99
    }
}

/// A random drive with defects and two to four zones, and a start that is wrong in every fitted
/// parameter but those of the bus.
fn world(seed: u64) -> [Parameters; 2] {
    let dice = &mut Dice::new(seed);
    let truth = random::drive("hp-97560", dice);
    let mut start = truth.clone();
    start.rotation_ms *= 1.0 + dice.between(-0.005, 0.005);
    for zone in &mut start.zones {
        let mut below = || dice.below(u64::from(zone.sectors_per_track)) as u32;
        (zone.track_skew, zone.cylinder_skew, zone.offset) = (below(), below(), 0);
    }
    if let SeekCurve::TwoPart { a, b, c, e, .. } = &mut start.seek {
        *a += dice.between(-0.4, 0.4);
        *c += dice.between(-0.4, 0.4);
        for factor in [b, e] {
            *factor *= dice.between(0.9, 1.1);
        }
    }
    let controller = &mut start.controller;
    for time in [
        &mut controller.read_before_ms,
        &mut controller.write_before_ms,
        &mut controller.read_after_ms,
        &mut start.mechanism.head_switch_ms,
    ] {
        *time = (*time + dice.between(-0.4, 0.4)).max(0.0);
    }
    (controller.write_after_ms, start.mechanism.write_settle_ms) = (0.0, 0.0);
    [truth, start]
}

/// The seeds of the random drives: those of `IOSCAPE_WORLDS=10..20`, or a few by default.
fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("IOSCAPE_WORLDS").ok();
    let told = asked.as_deref().and_then(|text| text.split_once(".."));
    told.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?)).unwrap_or(0..3)
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures are worth seeing")]
fn random_drives_with_zones_and_defects_are_found_from_starts_that_are_wrong_in_all_times() {
    let mut missed = Vec::new();
    for seed in seeds() {
        let [truth, start] = world(seed);
        let found = Found::of(&truth, &start);
        eprintln!("world {seed}, {} zones: {found:?}", truth.zones.len());
        if !found.is_good() {
            missed.push((seed, found));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Guards against a defect: the seek curve made up for writes that settle sooner than at the start.
#[test]
fn what_only_switches_of_tracks_show_is_not_taken_for_seeks() {
    let [truth, start] = world(117);
    is_found(&truth, &start);
}

#[test]
fn a_right_start_is_not_left() {
    let truth = changed();
    let jobs = scattered(&truth, 6_000, 40);
    let search = Search { rounds: 3, ..Search::default() };
    let fitted = calibrate(&truth, &jobs, search, &mut |_, _| true).unwrap();
    assert_eq!(fitted.skews_left, None);
    let fitted = fitted.parameters;
    let [fit, own] = [&fitted, &truth].map(|p| judge(&p.build().unwrap(), &jobs).cost_ns);
    assert!(fit <= own, "{fit} ns after {own}");
    assert!(apart(&fitted, &truth) < 0.02);
    assert_eq!(fitted.zones, truth.zones);
}

/// A drive of 15,000 rotations a minute with two zones.
const FAST: &str = r#"
name = "fast"
title = "Fast"
status = "generic"
sector_bytes = 512
heads = 4
cylinders = 50000
rotation_ms = 4.0
seek = { form = "three-points", single = 0.2, average = 3.5, full = 7.4 }
mechanism = { head_switch_ms = 0.3, write_settle_ms = 0.3 }
controller = { read_before_ms = 0.1, read_after_ms = 0.0, write_before_ms = 0.1, write_after_ms = 0.0 }
bus = { name = "SAS", to_host_bytes_per_s = 600e6, to_drive_bytes_per_s = 600e6, transfer = "overlapped" }
buffer = { bytes = 16777216 }
zones = [
    { first_cylinder = 0, last_cylinder = 24999, sectors_per_track = 1500, track_skew = 120, cylinder_skew = 150 },
    { first_cylinder = 25000, last_cylinder = 49999, sectors_per_track = 1000, track_skew = 80, cylinder_skew = 100 },
]
[sources]
all = "made up"
"#;

/// With other wrong times at the start, its wrong rotation time may cost less than the right one.
#[test]
fn a_wrong_rotation_is_not_kept_for_the_skews_of_the_start() {
    let truth = Parameters::parse(FAST, "fast.toml").unwrap();
    let jobs = scattered(&truth, 3_000, 30);
    let costs = |p: &Parameters| judge(&p.build().unwrap(), &jobs).cost_ns;
    for [average, before_ms, settle_ms, rotation_ms] in
        [[3.8, 0.3, 0.1, 4.02], [3.3, 0.0, 0.4, 3.98]]
    {
        let mut right = truth.clone();
        right.seek = SeekCurve::ThreePoints { single: 0.2, average, full: 7.4 };
        right.controller.read_before_ms = before_ms;
        right.mechanism.write_settle_ms = settle_ms;
        let start = Parameters { rotation_ms, ..right.clone() };
        assert!(costs(&start) <= costs(&right), "{rotation_ms}");
        let search = Search { rounds: 0, ..Search::default() };
        let fitted = calibrate(&start, &jobs, search, &mut |_, _| true).unwrap();
        let off = (fitted.parameters.rotation_ms / truth.rotation_ms - 1.0).abs();
        assert!(off < 1e-5, "{rotation_ms}: {off}");
    }
}

/// The slips of each zone shift its last track by two whole rotations.
#[test]
fn skews_are_found_where_slips_push_them_on() {
    let mut truth = changed();
    let heads = u64::from(truth.heads);
    for zone in &mut truth.zones {
        let cylinders = u64::from(zone.last_cylinder - zone.first_cylinder);
        zone.pushed_tracks = (1..=144).map(|nth| nth * cylinders / 144 * heads).collect();
    }
    let mut start = truth.clone();
    for zone in &mut start.zones {
        (zone.track_skew, zone.cylinder_skew) = (8, 18);
    }
    let jobs = scattered(&truth, 12_000, 40);
    let search = Search { rounds: 0, ..Search::default() };
    let fitted = calibrate(&start, &jobs, search, &mut |_, _| true).unwrap().parameters;
    assert_eq!(fitted.zones, truth.zones);
}

/// A seek table from 1 to 1,961 cylinders; every true seek takes longer than in the start.
#[test]
fn a_table_of_seeks_keeps_its_short_ones() {
    let table = |factor: f64| {
        let points = [
            (1, 1.26),
            (2, 1.47),
            (3, 1.64),
            (4, 1.83),
            (5, 2.64),
            (10, 3.07),
            (50, 4.2),
            (200, 6.4),
            (600, 10.3),
            (1961, 21.0),
        ];
        SeekCurve::Table { points: points.map(|(at, ms)| (at, factor * ms)).to_vec() }
    };
    let mut start = drives::find("hp-97560").unwrap();
    start.seek = table(1.0);
    let truth = Parameters { seek: table(1.06), ..start.clone() };
    let jobs = scattered(&truth, 20_000, 40);
    let search = Search { rounds: 2, skews: false, ..Search::default() };
    let fitted = calibrate(&start, &jobs, search, &mut |_, _| true).unwrap().parameters;
    let times = |p: &Parameters| -> Vec<f64> {
        // Includes the controller's time, which no measurement separates from the arm's.
        let seek_ns = p.seek.table(p.cylinders).unwrap();
        seek_ns.iter().map(|ns| f64::from(*ns) / 1e6 + p.controller.read_before_ms).collect()
    };
    let (found, known) = (times(&fitted), times(&truth));
    for (distance, most) in [(1, 0.15), (2, 0.12), (5, 0.05), (10, 0.05), (99, 0.02), (999, 0.02)] {
        let seek_ms = known[distance] - truth.controller.read_before_ms;
        let off = (found[distance] - known[distance]) / seek_ms;
        assert!(off.abs() < most, "a seek of {distance} cylinders is off by {off}");
    }
}

#[test]
fn requests_without_measured_times_say_nothing() {
    let truth = drives::find("hp-c2247a").unwrap();
    let drive = truth.build().unwrap();
    let mut jobs = scattered(&truth, 1000, 40);
    let whole = judge(&drive, &jobs);
    for job in jobs.iter_mut().skip(5).step_by(10) {
        job.io.completed_ns = job.io.issued_ns;
    }
    let found = judge(&drive, &jobs);
    assert_eq!((whole.free.count, found.free.count), (1000, 900));
    assert!(found.free.demerit < 0.01 && found.paired.within_1ms > 0.99, "{found}");
    let rows: Vec<Io> = jobs.iter().map(|job| job.io).collect();
    let halves = |rows: &[Io]| halves(rows, &TraceInfo::default(), None, &drive);
    let [first, second] = halves(&rows).unwrap();
    let timed = |jobs: &[ioscape_simulate::Job]| jobs.iter().filter(|j| j.io.is_timed()).count();
    assert_eq!([timed(&first), timed(&second)], [450, 450]);
    let mut few = rows;
    few.iter_mut().skip(199).for_each(|io| io.completed_ns = io.issued_ns);
    let why = halves(&few).unwrap_err().to_string();
    assert!(why.contains(" of 1000 requests have measured times: a fit needs 200"), "{why}");
}

#[test]
fn a_search_can_be_stopped() {
    let truth = drives::find("hp-c2200a").unwrap();
    let jobs = recorded(&truth);
    let mut heard = 0;
    let mut step = |_: &str, _: f64| {
        heard += 1;
        false
    };
    let fitted = calibrate(&truth, &jobs, Search::default(), &mut step).unwrap().parameters;
    assert_eq!((fitted, heard), (truth, 1));
}

#[test]
fn a_search_for_skews_asks_all_the_time_whether_it_goes_on() {
    let truth = drives::find("hp-97560").unwrap();
    let jobs = scattered(&truth, 1000, 40);
    let mut heard = Vec::new();
    let mut step = |what: &str, _: f64| {
        heard.push(what.to_owned());
        heard.len() < 3
    };
    let fitted = calibrate(&truth, &jobs, Search::default(), &mut step).unwrap().parameters;
    assert_eq!((fitted, heard), (truth, vec!["rotation_ms and zones".to_owned(); 3]));
}
