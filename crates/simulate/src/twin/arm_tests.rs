//! A disk with one arm, behind a file system in user space, is measured for as long as a real one;
//! its twin must match the mean times of its requests.

use super::*;
use crate::command::Command;
use crate::ssd::{Parameters, Ssd};
use ioscape_schema::statistics::{mean, variance};
use ioscape_schema::{Access, IoFlags, Op, Request, Stop};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const SET: u64 = 64 << 20;
const KIB: u64 = 1024;
/// Overhead, shortest seek, extra time of the longest seek, and half a rotation, in milliseconds;
/// transfer rate in bytes per millisecond.
const OVERHEAD: f64 = 0.1;
const SEEK: [f64; 2] = [0.5, 3.5];
const ROTATION: f64 = 1.0;
const RATE: f64 = 40e3;
/// Mean square root of the distance between two random places, as a share of the disk.
const MEAN_ROOT: f64 = 8.0 / 15.0;
/// Time in milliseconds, and rate in bytes per millisecond, of the path to the disk and back: for
/// reads and for writes.
const WAY: [(f64, f64); 2] = [(0.068, 1.4e6), (0.072, 1.1e6)];
/// Extra time of a synchronous write, in milliseconds.
const SYNCHRONOUS: f64 = 0.05;

/// The disk, measured with this seed; without `seconds` every request takes its mean time, which is
/// then known exactly.
struct Arm {
    seed: u64,
    seconds: Option<f64>,
}

/// Service time of a request; `root` is the square root of its distance from the arm as a share of
/// the disk.
fn service_ms(root: f64, bytes: u64) -> f64 {
    OVERHEAD + SEEK[0] + SEEK[1] * root + ROTATION + bytes as f64 / RATE
}

/// Time that the path adds if nothing else is in flight.
fn way_ms(write: bool, bytes: u64) -> f64 {
    let (each, rate) = WAY[usize::from(write)];
    each + bytes as f64 / rate
}

/// Requests of one size at random places on the disk.
fn places(seed: u64) -> impl Fn(&Workload) -> Box<dyn FnMut(usize) -> Request> {
    move |workload| {
        let Workload { size_mean, read_frac, .. } = *workload;
        let mut dice = Pcg64Mcg::new(u128::from(seed_of(workload, seed)) << 1);
        let mut share = move || (dice.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        Box::new(move |_| {
            let [place, read] = [share(), share()];
            let offset = (place * ((SET - size_mean) >> 12) as f64) as u64 * 4096;
            let op = if read < read_frac { Op::Read } else { Op::Write };
            Request { op, offset, len: size_mean as u32 }
        })
    }
}

/// A run of the disk.
struct Run {
    next: Box<dyn FnMut(usize) -> Request>,
    is_exact: bool,
    synchronous_ms: f64,
    /// The arm's position, and when the arm is free.
    stands: u64,
    free_ms: f64,
    /// When each request in flight was sent, in nanoseconds.
    flying: BinaryHeap<Reverse<u64>>,
}

impl Run {
    /// Carries out the next request; returns its bytes and its completion time in milliseconds.
    fn step(&mut self) -> (u64, f64) {
        let Reverse(sent_ns) = self.flying.pop().expect("some are in flight");
        let request = (self.next)(0);
        let bytes = u64::from(request.len);
        let root = match self.is_exact {
            true => MEAN_ROOT,
            false => (request.offset.abs_diff(self.stands) as f64 / SET as f64).sqrt(),
        };
        let way_ms = way_ms(request.op == Op::Write, bytes);
        let arrives_ms = sent_ns as f64 / 1e6 + way_ms / 2.0;
        self.stands = request.offset + bytes;
        self.free_ms = self.free_ms.max(arrives_ms) + service_ms(root, bytes);
        let seen_ms = self.free_ms + way_ms / 2.0 + self.synchronous_ms;
        self.flying.push(Reverse((seen_ms * 1e6) as u64));
        (bytes, seen_ms)
    }
}

impl Measure for Arm {
    type Error = std::convert::Infallible;

    fn measure(&mut self, workload: &Workload) -> Result<Measurement, Self::Error> {
        let is_synchronous = workload.access == Access::Dsync;
        let mut run = Run {
            next: places(self.seed)(workload),
            is_exact: self.seconds.is_none(),
            synchronous_ms: if is_synchronous { SYNCHRONOUS } else { 0.0 },
            stands: 0,
            free_ms: 0.0,
            flying: (0..workload.queue_depth).map(|_| Reverse(0)).collect(),
        };
        // The first requests in flight all arrived at once.
        let warm = 64 + workload.queue_depth;
        let mut last_ms = (0..warm).fold(0.0, |_, _| run.step().1);
        let (begun_ms, lasts_ms) = (last_ms, 1e3 * self.seconds.unwrap_or(10.0));
        let (mut bytes, mut gaps) = (0, Vec::new());
        while last_ms - begun_ms < lasts_ms {
            let (moved, seen_ms) = run.step();
            gaps.push(seen_ms - last_ms);
            (bytes, last_ms) = (bytes + moved, seen_ms);
        }
        let elapsed_s = (last_ms - begun_ms) / 1e3;
        let rate = bytes as f64 / elapsed_s;
        let open = 1.96 * (variance(&gaps) / gaps.len() as f64).sqrt() / mean(&gaps);
        Ok(Measurement {
            ios: gaps.len() as u64,
            bytes,
            elapsed_s,
            throughput_bytes_per_s: rate,
            throughput_ci95: [rate * (1.0 - open), rate * (1.0 + open)],
            ..Measurement::empty(workload.clone(), Stop::Confident)
        })
    }
}

/// The mean milliseconds per request on a drive: one at a time, or all arriving at once.
fn told_ms(drive: &Parameters, kib: u64, write: bool, at_once: bool) -> f64 {
    const EACH: u64 = 64;
    let model = drive.build().expect("the drive can be built");
    let mut ssd = Ssd::new(&model);
    let mut took_ms = |n: u64| {
        let now_ns = if at_once { 0 } else { n * 2_000_000_000 };
        let block = n * 7919 % 127 * 1024;
        let command = Command { block, count: 2 * kib, write, synchronous: true };
        (ssd.act(now_ns, command, IoFlags::empty()).completed_ns - now_ns) as f64 / 1e6
    };
    let all = (0..EACH).map(&mut took_ms);
    if at_once { all.fold(0.0, f64::max) / EACH as f64 } else { all.sum::<f64>() / EACH as f64 }
}

/// The relative errors of such a disk's twin: single reads and writes of three sizes, and reads
/// with many in flight.
fn off(mut disk: Arm) -> [f64; 8] {
    let mut measured = Vec::new();
    let Ok(()) = all(&probes(SET, true), &mut disk, &mut measured);
    let mut twin =
        fit(&measured, &places(disk.seed), &|| false).expect("a drive is found").parameters;
    twin.controller.write_buffer_bytes = 16 << 20;
    let truth = |kib: u64| service_ms(MEAN_ROOT, kib * KIB);
    let single = |kib, write| {
        told_ms(&twin, kib, write, false) / (truth(kib) + way_ms(write, kib * KIB)) - 1.0
    };
    let many = |kib| told_ms(&twin, kib, false, true) / truth(kib) - 1.0;
    let [reads, writes] = [false, true].map(|write| [4, 64, 512].map(|kib| single(kib, write)));
    [reads[0], reads[1], reads[2], writes[0], writes[1], writes[2], many(4), many(64)]
}

/// Checks the twin after three seconds per workload, with places from this seed.
fn is_found(seed: u64) {
    let off = off(Arm { seed, seconds: Some(3.0) });
    assert!(off.iter().all(|off| off.abs() < 0.02), "{seed}: {off:.4?}");
}

#[test]
#[ignore = "two minutes of fits; the full run has it"]
fn an_arm_with_seeks_is_found_to_two_percent_in_three_seconds_a_workload() {
    is_found(1);
}

#[test]
#[ignore = "a minute of fits; the full run has it"]
fn an_arm_with_seeks_is_found_to_two_percent_with_other_places() {
    is_found(2);
    is_found(3);
}

#[test]
fn an_arm_that_always_takes_the_same_is_found_to_two_in_a_thousand() {
    let off = off(Arm { seed: 1, seconds: None });
    assert!(off.iter().all(|off| off.abs() < 0.002), "{off:.4?}");
}
