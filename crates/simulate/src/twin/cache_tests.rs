//! A write cache in front of slower storage, which drains in a rest at the rate to which large
//! writes fall: it must not be taken for a limit of bytes.

use super::*;
use crate::ssd::Only;
use ioscape_schema::{CourseKind, Stop};
use std::convert::Infallible;

const SET: u64 = 100 << 30;
const SECONDS: f64 = 20.0;
const CACHE: f64 = 4e9;
/// Bytes per second into and out of the cache, for large and for small writes.
const LARGE: [f64; 2] = [1e9, 2e8];
const SMALL: [f64; 2] = [1.2e8, 6e6];

/// The cache's state, and the rate of reads.
struct Cached {
    reads: f64,
    held: f64,
    now_s: f64,
}

impl Endure for Cached {
    type Error = Infallible;

    fn course(&mut self, workload: &Workload, seconds: f64) -> Result<Ran<Infallible>, Infallible> {
        let [fast, slow] = match (workload.read_frac < 0.5, workload.size_mean > 4096) {
            (true, true) => LARGE,
            (true, false) => SMALL,
            (false, _) => [self.reads; 2],
        };
        let over = fast - slow;
        let room_s = if over > 0.0 { (CACHE - self.held) / over } else { 0.0 };
        let burst_s = room_s.min(seconds);
        let by = |at_s: f64| [at_s, slow * at_s + over * at_s.min(burst_s)];
        let moved: Vec<[f64; 2]> = (1..=500).map(|n| by(seconds * f64::from(n) / 500.0)).collect();
        let mut measurement = Measurement::empty(workload.clone(), Stop::TimeCap);
        measurement.bytes = by(seconds)[1] as u64;
        measurement.ios = measurement.bytes / workload.size_mean;
        let since_s = self.now_s;
        (self.held, self.now_s) = (self.held + over * burst_s, self.now_s + seconds);
        Ok(Ran { measurement, moved, since_s, cut_off: None })
    }

    fn rest(&mut self, seconds: f64) -> Result<(), Infallible> {
        let held = (self.held - LARGE[1] * seconds).max(0.0);
        (self.held, self.now_s) = (held, self.now_s + seconds);
        Ok(())
    }
}

fn endured(reads: f64) -> Endured {
    endured_after(reads, Before::default())
}

fn endured_after(reads: f64, before: Before) -> Endured {
    let mut cached = Cached { reads, held: 0.0, now_s: 0.0 };
    let (found, Ok(())) = endure(&mut cached, SET, false, SECONDS, before);
    found
}

#[test]
fn a_cache_in_front_of_something_slower_is_no_limit_of_the_bytes_of_writes() {
    let found = endured(4e8);
    let course = found.measurements[0].sustained.as_deref().expect("a course");
    assert_eq!(course.kind, CourseKind::Burst, "{:#?}", found.summary);
    let said = found.summary.join("\n");
    assert!(said.contains("token bucket"), "the rest alone does not tell: {said}");
    assert!(said.contains("or a cache in front of something slower was filled"), "{said}");
    assert!(found.limits.is_empty(), "{:?}", found.limits);
    let again = Endured::kept(found.measurements.clone(), Before::default());
    assert_eq!(again.limits, found.limits);
}

#[test]
fn reads_share_no_limit_where_writes_are_not_known_to_have_one() {
    let found = endured(1.5e8);
    let said = found.summary.join("\n");
    assert!(said.contains("or a cache in front of something slower was filled"), "{said}");
    assert!(!said.contains("share the limit"), "{said}");
}

#[test]
fn no_size_of_a_credit_is_doubted_where_a_cache_explains_as_much() {
    // As much as fitting workloads move before.
    let found = endured_after(4e8, Before { bytes: 30 << 30, is_all: false });
    let said = found.summary.join("\n");
    assert!(said.contains("or a cache in front of something slower was filled"), "{said}");
    assert!(!said.contains("credit may be larger"), "{said}");
    assert!(!said.contains("shares its credit"), "{said}");
}

#[test]
fn a_limit_that_was_said_before_and_does_not_follow_any_more_is_taken_back() {
    let found = endured(1.5e8);
    let mut before = found.measurements.clone();
    let course = before[0].sustained.as_deref_mut().expect("a course");
    let is_of_cache = |said: &String| said.contains("or a cache in front of something slower");
    let at = course.sentences.iter().position(is_of_cache).expect("what is said of a cache");
    course.sentences[at] = "a limit of bytes, of writes: 200 MB/s with a credit of 4 GB".to_owned();
    let shared = "cannot be told: whether reads share the limit, since they held 150 MB/s";
    let moved =
        "at least 30 GiB had been moved before: the credit may be larger by what they used of it";
    for said in [shared, moved] {
        course.sentences.insert(at + 1, said.to_owned());
    }
    let reads = before[2].sustained.as_deref_mut().expect("a course");
    let hidden = "measured after the writes had used up their burst: one of reads that shares its credit does not show";
    reads.sentences.push(hidden.to_owned());
    let again = Endured::kept(before, Before::default());
    assert_eq!((again.measurements, again.summary), (found.measurements, found.summary));
}

#[test]
fn reads_that_hold_the_rate_to_which_writes_fell_make_it_a_limit_of_both() {
    let limits = endured(LARGE[1]).limits;
    let only: Vec<Option<Only>> = limits.iter().map(|limit| limit.only).collect();
    assert_eq!(only, [None], "{limits:?}");
}
