//! Long runs on drives with known rate limits and write buffers must recover their limits.

use super::*;
use crate::command::Command;
use crate::ssd::{Filled, Limit, Model, Only, Parameters, SECTOR_BYTES, Ssd, find};
use ioscape_schema::{CourseKind, IoFlags, Stop, Warning, WarningKind};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;

const SET: u64 = 64 << 20;
const SECONDS: f64 = 20.0;

/// A drive of 200 to 300 MB/s with these limits.
pub(super) fn limited(limits: Vec<Limit>) -> Parameters {
    let mut p = find("generic-ssd").expect("it is shipped");
    p.filled = Filled::Full;
    (p.flash.channels, p.flash.dies_per_channel) = (8, 4);
    (p.flash.cell_page_bytes, p.flash.planes_per_die) = (Some(16384), None);
    (p.flash.program_ms, p.flash.erase_ms, p.flash.suspend_ms) = (0.4, 0.0, Some(0.0));
    p.controller.link_bytes_per_s = 3e8;
    p.controller.link_from_host_bytes_per_s = Some(2e8);
    p.limits = limits;
    super::fit::sized(p, SET, 1.0)
}

/// A drive that keeps its state from one course to the next.
struct Going<'a> {
    ssd: Ssd<'a>,
    now_ns: u64,
    dice: Pcg64Mcg,
    /// The transfers before the first course, and when they began.
    before: Before,
    since_ns: u64,
    /// How much longer than asked each rest lasts, as with a flush.
    flush_s: f64,
    /// How long it is idle before every course.
    idle_s: f64,
}

impl<'a> Going<'a> {
    fn new(model: &'a Model) -> Self {
        let (ssd, dice, before) = (Ssd::new(model), Pcg64Mcg::new(7), Before::default());
        Self { ssd, now_ns: 0, dice, before, since_ns: 0, flush_s: 0.0, idle_s: 0.0 }
    }

    /// Writes a set, one large request after the other, and rests for a second.
    fn lay_out(&mut self, bytes: u64) {
        let (begun, each) = (self.now_ns, 1 << 20);
        for offset in (0..bytes).step_by(each) {
            let sector = u64::from(SECTOR_BYTES);
            let (block, count) = (offset % SET / sector, each as u64 / sector);
            let command = Command { block, count, write: true, synchronous: true };
            self.now_ns = self.ssd.act(self.now_ns, command, IoFlags::empty()).completed_ns;
        }
        self.now_ns += 1_000_000_000;
        (self.since_ns, self.before) = (begun, Before { bytes, is_all: true });
    }

    fn one(&mut self, at_ns: u64, workload: &Workload) -> u64 {
        let places = workload.unique_bytes / workload.size_mean;
        let sectors = workload.size_mean / u64::from(SECTOR_BYTES);
        let block = self.dice.next_u64() % places * sectors;
        let write = workload.read_frac == 0.0;
        let command = Command { block, count: sectors, write, synchronous: true };
        self.ssd.act(at_ns, command, IoFlags::empty()).completed_ns
    }
}

impl Endure for Going<'_> {
    type Error = Infallible;

    fn course(&mut self, workload: &Workload, seconds: f64) -> Result<Ran<Infallible>, Infallible> {
        self.now_ns += (self.idle_s * 1e9) as u64;
        let (begun, mut measurement) =
            (self.now_ns, Measurement::empty(workload.clone(), Stop::TimeCap));
        let end = begun + (seconds * 1e9) as u64;
        let mut flying: BinaryHeap<_> =
            (0..workload.queue_depth).map(|_| Reverse(self.one(begun, workload))).collect();
        let (step, mut next, mut moved) = ((end - begun) / 500, begun, Vec::new());
        while let Some(Reverse(at)) = flying.pop() {
            while next < at.min(end) {
                next += step;
                moved.push([(next - begun) as f64 / 1e9, measurement.bytes as f64]);
            }
            if at >= end {
                break;
            }
            measurement.ios += 1;
            measurement.bytes += workload.size_mean;
            flying.push(Reverse(self.one(at, workload)));
        }
        self.now_ns = flying.into_iter().map(|Reverse(at)| at).max().unwrap_or(end).max(end);
        let since_s = (begun - self.since_ns) as f64 / 1e9;
        Ok(Ran { measurement, moved, since_s, cut_off: None })
    }

    fn rest(&mut self, seconds: f64) -> Result<(), Infallible> {
        self.now_ns += ((seconds + self.flush_s) * 1e9) as u64;
        Ok(())
    }
}

pub(super) fn endured(parameters: &Parameters) -> Endured {
    let model = parameters.build().expect("the drive can be built");
    let (found, Ok(())) = endure(&mut Going::new(&model), SET, false, SECONDS, Before::default());
    found
}

/// The long runs on a drive after this many bytes were written.
fn endured_after(parameters: &Parameters, bytes: u64) -> Endured {
    let model = parameters.build().expect("the drive can be built");
    let mut drive = Going::new(&model);
    drive.lay_out(bytes);
    let before = drive.before;
    let (found, Ok(())) = endure(&mut drive, SET, false, SECONDS, before);
    found
}

/// A drive whose user interrupts after some courses, or in the middle of the next, while others may use the processors during all of them.
struct Cut<'a> {
    going: Going<'a>,
    courses: usize,
    in_the_middle: bool,
    /// Whether the load by others disturbed the courses; absent if there is none.
    load: Option<bool>,
}

impl Endure for Cut<'_> {
    type Error = &'static str;

    fn course(
        &mut self,
        workload: &Workload,
        seconds: f64,
    ) -> Result<Ran<&'static str>, &'static str> {
        let is_last = self.courses == 0;
        if is_last && !self.in_the_middle {
            return Err("interrupted");
        }
        self.courses = self.courses.saturating_sub(1);
        let share = if is_last { 0.5 } else { 1.0 };
        let Ok(Ran { mut measurement, moved, since_s, .. }) =
            self.going.course(workload, share * seconds);
        let load = Warning::new(WarningKind::LoadByOthers, "others kept the processors busy");
        measurement.warnings.extend(self.load.map(|_| load));
        measurement.disturbed = self.load == Some(true);
        Ok(Ran { measurement, moved, since_s, cut_off: is_last.then_some("interrupted") })
    }

    fn rest(&mut self, seconds: f64) -> Result<(), &'static str> {
        let Ok(()) = self.going.rest(seconds);
        Ok(())
    }
}

fn cut(
    parameters: &Parameters,
    courses: usize,
    in_the_middle: bool,
    load: Option<bool>,
) -> (Endured, bool) {
    let model = parameters.build().expect("the drive can be built");
    let mut drive = Cut { going: Going::new(&model), courses, in_the_middle, load };
    let before = Before { bytes: 1 << 20, is_all: false };
    let (found, ended) = endure(&mut drive, SET, false, SECONDS, before);
    (found, ended.is_err())
}

pub(super) fn bytes(rate: f64, credit: f64, only: Option<Only>) -> Limit {
    Limit { operations_per_s: None, bytes_per_s: Some(rate), only, credit }
}

/// The directions of the limits found.
fn only(found: &Endured) -> Vec<Option<Only>> {
    found.limits.iter().map(|limit| limit.only).collect()
}

fn off(found: &Limit, truth: &Limit) -> f64 {
    let rate = |limit: &Limit| limit.bytes_per_s.or(limit.operations_per_s).unwrap_or(0.0);
    let [rate, credit] = [rate(found) / rate(truth), found.credit / truth.credit];
    (rate - 1.0).abs().max((credit - 1.0).abs())
}

#[test]
fn a_limit_of_bytes_with_credit_is_found_again() {
    let truth = bytes(2.5e7, 5e8, None);
    let found = endured(&limited(vec![truth]));
    assert_eq!(only(&found), [None], "{:#?}", found.summary);
    assert!(off(&found.limits[0], &truth) < 0.02, "{:?}", found.limits);
}

#[test]
fn a_credit_that_comes_back_within_a_second_is_that_of_a_rate_limit_and_of_no_cache() {
    let found = endured(&limited(vec![bytes(1e8, 1e8, None)]));
    let course = found.measurements[0].sustained.as_deref().expect("a course");
    assert_eq!(course.kind, CourseKind::Burst, "{:#?}", found.summary);
    let said = found.summary.join("\n");
    assert!(!said.contains("as of a cache") && said.contains("token bucket"), "{said}");
}

#[test]
fn a_flush_before_a_rest_is_a_rest_too_and_makes_a_rate_limit_no_cache() {
    // The credit takes a second to come back, and a rest aims at half of it; after a longer flush all of it may be back.
    for (flush_s, expected) in [(0.25, "token bucket"), (0.6, "idle, or flushed, for so long")] {
        let drive = limited(vec![bytes(1e8, 1e8, None)]);
        let model = drive.build().expect("the drive can be built");
        let mut going = Going { flush_s, ..Going::new(&model) };
        let (found, Ok(())) = endure(&mut going, SET, false, SECONDS, Before::default());
        let said = found.summary.join("\n");
        assert!(!said.contains("as of a cache") && said.contains(expected), "{said}");
    }
}

/// A rate limit of bytes with credit in front of a link, and nothing else.
#[derive(Default)]
struct Bucket {
    used: f64,
    now_s: f64,
}

impl Bucket {
    const LINK: f64 = 2e8;
    const RATE: f64 = 1e8;
    const CREDIT: f64 = 5e8;
}

impl Endure for Bucket {
    type Error = Infallible;

    fn course(&mut self, workload: &Workload, seconds: f64) -> Result<Ran<Infallible>, Infallible> {
        let over = Self::LINK - Self::RATE;
        let burst_s = ((Self::CREDIT - self.used) / over).min(seconds);
        let by = |at_s: f64| [at_s, Self::RATE * at_s + over * at_s.min(burst_s)];
        let moved: Vec<[f64; 2]> = (1..=500).map(|n| by(seconds * f64::from(n) / 500.0)).collect();
        let mut measurement = Measurement::empty(workload.clone(), Stop::TimeCap);
        measurement.bytes = by(seconds)[1] as u64;
        measurement.ios = measurement.bytes / workload.size_mean;
        let since_s = self.now_s;
        (self.used, self.now_s) = (self.used + over * burst_s, self.now_s + seconds);
        Ok(Ran { measurement, moved, since_s, cut_off: None })
    }

    fn rest(&mut self, seconds: f64) -> Result<(), Infallible> {
        let used = (self.used - Self::RATE * seconds).max(0.0);
        (self.used, self.now_s) = (used, self.now_s + seconds);
        Ok(())
    }
}

#[test]
fn a_set_of_one_small_request_leaves_open_what_is_limited_and_says_why() {
    let said = |set| {
        let (found, Ok(())) =
            endure(&mut Bucket::default(), set, false, SECONDS, Before::default());
        found.summary.join("\n")
    };
    assert!(said(4096).contains("are limited; requests of one size do not tell"), "{}", said(4096));
    assert!(said(SET).contains("a limit of bytes"), "{}", said(SET));
}

#[test]
fn the_same_limits_follow_from_what_was_kept() {
    let found = endured(&limited(vec![bytes(2.5e7, 5e8, None)]));
    let again = Endured::kept(found.measurements.clone(), Before::default());
    assert_eq!((again.measurements, again.summary), (found.measurements, found.summary));
    assert_eq!(again.limits, found.limits);
}

#[test]
fn a_limit_of_writes_is_none_of_reads() {
    let truth = bytes(2.5e7, 5e8, Some(Only::Writes));
    let found = endured(&limited(vec![truth]));
    assert_eq!(only(&found), [Some(Only::Writes)], "{:#?}", found.summary);
    assert!(off(&found.limits[0], &truth) < 0.02, "{:?}", found.limits);
}

#[test]
fn a_limit_of_operations_is_told_from_one_of_bytes() {
    let truth = operations(100.0, 2000.0);
    let found = endured(&limited(vec![truth]));
    assert_eq!(found.limits.len(), 1, "{:#?}", found.summary);
    assert!(found.limits[0].operations_per_s.is_some(), "{:#?}", found.summary);
    assert!(off(&found.limits[0], &truth) < 0.02, "{:?}", found.limits);
}

/// A limit of operations per second, whatever their size.
pub(super) fn operations(rate: f64, credit: f64) -> Limit {
    Limit { operations_per_s: Some(rate), bytes_per_s: None, only: None, credit }
}

#[test]
fn a_limit_of_bytes_is_found_where_one_of_operations_holds_small_requests() {
    // Cloud volumes have both limits: small writes leave a part of the byte credit to the reads.
    let truth = bytes(1e8, 1e9, None);
    let found = endured(&limited(vec![truth, operations(3500.0, 0.0)]));
    assert_eq!(only(&found), [None], "{:#?}", found.summary);
    assert!(off(&found.limits[0], &truth) < 0.02, "{:?}", found.limits);
    let said = found.summary.join("\n");
    assert!(said.contains("so it is not the number of requests that is limited"), "{said}");
    assert!(said.contains("reads: their burst is the credit that had come back"), "{said}");
}

/// The idle time is as between real courses, when written data are flushed and workers are started.
#[test]
fn credit_that_comes_back_while_a_drive_is_idle_before_reads_makes_them_no_limit_of_their_own() {
    for of_small in [3500.0, 22_500.0] {
        let drive = limited(vec![bytes(1e8, 1e9, None), operations(of_small, 0.0)]);
        let model = drive.build().expect("the drive can be built");
        let mut going = Going { idle_s: 0.5, ..Going::new(&model) };
        let (found, Ok(())) = endure(&mut going, SET, false, SECONDS, Before::default());
        assert_eq!(only(&found), [None], "{of_small}: {:#?}", found.summary);
        let again = Endured::kept(found.measurements.clone(), Before::default());
        assert_eq!(again.limits, found.limits, "how long it was idle is not kept");
    }
}

#[test]
fn a_limit_of_reads_alone_takes_more_credit_than_may_have_come_back_to_writes() {
    // 4.3e8 bytes of the writes' credit come back before reads begin.
    for (credit, is_own) in [(1e9, true), (5e8, false)] {
        let of = |credit, only| bytes(1e8, credit, Some(only));
        let limits = vec![of(1e9, Only::Writes), of(credit, Only::Reads), operations(3500.0, 0.0)];
        let found = endured(&limited(limits));
        let both = [Some(Only::Writes), Some(Only::Reads)];
        assert_eq!(only(&found), both[..1 + usize::from(is_own)], "{:#?}", found.summary);
        let said = found.summary.join("\n").contains("reads: a drive gets no limit of reads alone");
        assert_eq!([said, open(&found, "reads").len() == 1], [!is_own; 2], "{:#?}", found.summary);
        let again = Endured::kept(found.measurements.clone(), Before::default());
        assert_eq!(again.limits, found.limits);
    }
}

#[test]
fn a_drive_without_a_limit_has_none_and_one_rate() {
    let found = endured(&limited(Vec::new()));
    assert!(found.limits.is_empty(), "{:?}", found.limits);
    let kinds: Vec<_> =
        found.measurements.iter().map(|m| m.sustained.as_ref().map(|s| s.kind)).collect();
    assert_eq!(kinds[0], Some(CourseKind::Steady), "{:#?}", found.summary);
    assert_eq!(kinds[2], Some(CourseKind::Steady), "{:#?}", found.summary);
}

#[test]
fn a_write_buffer_is_a_credit_of_writes() {
    let mut drive = limited(Vec::new());
    // Four dies that each program 16 KiB in 2 ms, behind a buffer that takes 200 MB/s.
    (drive.flash.channels, drive.flash.dies_per_channel) = (4, 1);
    drive.flash.program_ms = 2.0;
    drive.controller.write_buffer_bytes = 256 << 20;
    let set = 8 << 30;
    let drive = super::fit::sized(drive, set, 1.0);
    let model = drive.build().expect("the drive can be built");
    let (found, Ok(())) = endure(&mut Going::new(&model), set, false, SECONDS, Before::default());
    let course = found.measurements[0].sustained.as_deref().expect("a course");
    assert_eq!(course.kind, CourseKind::Burst, "{:#?}", found.summary);
    assert_eq!(only(&found), [Some(Only::Writes)], "{:#?}", found.summary);
    let programmed = 4.0 * 16384.0 / 2.07e-3;
    let truth = bytes(programmed, f64::from(256 << 20), Some(Only::Writes));
    assert!(off(&found.limits[0], &truth) < 0.1, "{:#?} for {truth:?}", found.summary);
}

#[test]
fn what_ran_to_its_end_before_an_interruption_is_kept_with_its_course_and_its_doubts() {
    let limited = limited(vec![bytes(2.5e7, 5e8, None)]);
    // The courses: writes, writes after a rest, small writes, reads, small reads.
    for (courses, kept) in [(0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 4)] {
        let (found, interrupted) = cut(&limited, courses, false, None);
        assert_eq!((found.measurements.len(), interrupted), (kept, courses < 5), "{courses}");
        assert!(found.measurements.iter().all(|one| one.sustained.is_some()));
        let said = found.summary.join("\n");
        assert_eq!(said.contains("since that was not measured to its end"), courses == 1, "{said}");
        let unshared = "whether reads share the limit";
        assert_eq!(said.contains(unshared), (2..4).contains(&courses), "{courses}: {said}");
        assert_eq!(said.contains("had been moved before"), courses > 0, "{said}");
        assert_eq!(found.limits.len(), usize::from(courses > 2), "{courses}: {said}");
    }
}

#[test]
fn a_course_that_is_cut_off_is_kept_as_far_as_it_went_and_marked() {
    let limited = limited(vec![bytes(2.5e7, 5e8, None)]);
    // Cut off in the middle of writes, writes after a rest, small writes, reads or small reads; the burst ends within 3 s.
    for (courses, kept, said) in [
        (0, 1, "after 10"),
        (1, 1, ""),
        (2, 2, "after 2.5 s"),
        (3, 3, "after 10"),
        (4, 4, "after 2.5 s"),
    ] {
        let (found, interrupted) = cut(&limited, courses, true, None);
        assert_eq!((found.measurements.len(), interrupted), (kept, true), "{courses}");
        let course = |one: &Measurement| one.sustained.as_deref().expect("a course").clone();
        let last = found.measurements.last().map(course).expect("the last");
        let marked = |s: &String| s.starts_with("interrupted after");
        let marks =
            found.measurements.iter().map(course).filter(|c| c.sentences.iter().any(marked));
        assert_eq!(marks.count(), usize::from(!said.is_empty()), "{courses}");
        assert!(last.sentences[0].contains(said), "{courses}: {:?}", last.sentences);
        let not_recovered =
            found.summary.join("\n").contains("since that was not measured to its end");
        assert_eq!(not_recovered, courses < 2, "{courses}: {:#?}", found.summary);
    }
}

/// The sentences that say that it is unknown whether these share a limit.
fn open<'a>(found: &'a Endured, which: &str) -> Vec<&'a String> {
    let said = format!("cannot be told: whether {which} share the limit");
    found.summary.iter().filter(|one| one.contains(&said)).collect()
}

#[test]
fn reads_with_a_burst_of_their_own_do_not_make_a_limit_one_of_both() {
    let of = |only| bytes(2.5e7, 5e8, Some(only));
    let limited = limited(vec![of(Only::Writes), of(Only::Reads)]);
    // The rest after the reads is interrupted, so only their course shows their burst.
    let (found, _) = cut(&limited, 4, false, None);
    let last = found.measurements.last().and_then(|one| one.sustained.as_deref()).expect("reads");
    assert_eq!((last.kind, last.recovered_bytes_per_s), (CourseKind::Burst, None));
    assert_eq!(only(&found), [Some(Only::Writes)], "{:#?}", found.summary);
    assert_eq!(open(&found, "reads").len(), 1, "{:#?}", found.summary);
    // With that rest, the reads have a limit of their own.
    let found = endured(&limited);
    assert_eq!(only(&found), [Some(Only::Writes), Some(Only::Reads)], "{:#?}", found.summary);
    assert!(open(&found, "reads").is_empty() && open(&found, "writes").is_empty());
}

#[test]
fn those_that_are_too_slow_to_reach_a_limit_leave_open_whether_they_share_it() {
    let truth = bytes(2.5e7, 5e8, None);
    let mut slow = limited(vec![truth]);
    slow.controller.link_bytes_per_s = 1.5e7;
    let found = endured(&slow);
    assert_eq!(found.limits.len(), 1, "{:#?}", found.summary);
    assert!(off(&found.limits[0], &truth) < 0.02, "{:?}", found.limits);
    assert_eq!(open(&found, "reads").len(), 1, "{:#?}", found.summary);
    let mut slow = limited(vec![truth]);
    slow.controller.link_from_host_bytes_per_s = Some(1.5e7);
    let found = endured(&slow);
    assert_eq!(found.limits.len(), 1, "{:#?}", found.summary);
    assert!(off(&found.limits[0], &truth) < 0.02, "{:?}", found.limits);
    assert_eq!(open(&found, "writes").len(), 1, "{:#?}", found.summary);
    assert!(open(&endured(&limited(vec![truth])), "reads").is_empty(), "it is one of both");
}

#[test]
fn what_was_written_before_is_counted_to_the_credit() {
    let truth = bytes(2.5e7, 5e8, None);
    let found = endured_after(&limited(vec![truth]), 200 << 20);
    assert_eq!(found.limits.len(), 1, "{:#?}", found.summary);
    assert!(off(&found.limits[0], &truth) < 0.02, "{:#?}", found.summary);
    let said = found.summary.join("\n");
    assert!(said.contains("had been used before") && !said.contains("may be larger"), "{said}");
    // So many bytes that the credit was used up: only the recovered part shows.
    let found = endured_after(&limited(vec![truth]), 700 << 20);
    let said = found.summary.join("\n");
    assert!(!said.contains("had been used before"), "{said}");
    assert!(found.limits.iter().all(|one| one.credit < 0.5 * truth.credit), "{said}");
}

fn kinds(found: &Endured) -> Vec<CourseKind> {
    found.measurements.iter().filter_map(|m| m.sustained.as_ref()).map(|s| s.kind).collect()
}

/// A file system's own server process computes for our requests: the report mentions that load, but the verdict stands.
#[test]
fn a_load_that_disturbed_nothing_leaves_the_verdict() {
    let (found, _) = cut(&limited(Vec::new()), 9, false, Some(false));
    let large = [0, 2].map(|at| kinds(&found)[at]);
    assert_eq!(large, [CourseKind::Steady; 2], "{:#?}", found.summary);
}

#[test]
fn rates_that_others_may_have_set_are_no_verdict_unless_credit_that_came_back_agrees() {
    let (found, _) = cut(&limited(Vec::new()), 9, false, Some(true));
    assert_eq!(kinds(&found), [CourseKind::CannotBeTold; 4], "{:#?}", found.summary);
    let doubt = "cannot be told: others had the processors";
    assert!(found.summary[0].contains(doubt), "{:#?}", found.summary);
    assert!(!found.summary.join("\n").contains("one rate"), "{:#?}", found.summary);
    let (found, _) = cut(&limited(vec![bytes(2.5e7, 5e8, None)]), 9, false, Some(true));
    assert_eq!(kinds(&found)[0], CourseKind::Burst, "{:#?}", found.summary);
    assert_eq!(kinds(&found)[1..], [CourseKind::CannotBeTold; 3], "{:#?}", found.summary);
    assert!(found.limits.is_empty(), "what is limited is not known: {:?}", found.limits);
}
