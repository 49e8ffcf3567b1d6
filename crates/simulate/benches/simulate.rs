//! Requests simulated a second on one core: the plain disk, and the whole model with caches and a scheduler; and the time
//! of the sweep behind figure 16 of Ruemmler & Wilkes (1993), where the trace is at hand.
//!
//! `cargo bench -p ioscape-simulate --bench simulate`. Fastest of several rounds, since other programs only slow it down.
//! DiskSim 4.0 simulates 0.08 to 0.35 million requests a second on a core of the same kind (a million synthetic requests on
//! an Atlas 10K, and hplajw).
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use ioscape_schema::{Io, Op, Request};
use ioscape_simulate::cache::{Destage, Freeing};
use ioscape_simulate::schedule::{Queue, Waiting};
use ioscape_simulate::{
    Command, Configuration, Disk, DiskOptions, SCHEDULERS, Scheduler, SimulatedTrace, WriteCache,
    drives, jobs, simulate_into,
};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::hint::black_box;
use std::time::Instant;

#[path = "../tests/drives/data/mod.rs"]
mod data;

const REQUESTS: u64 = 2_000_000;
const ROUNDS: usize = 7;

/// Half reads, half writes of 8 KB at random places, one every 40 ms on average.
fn rows() -> Vec<Io> {
    let mut dice = Pcg64Mcg::new(1);
    let mut now = 0;
    let row = |_| {
        now += dice.next_u64() % 80_000_000;
        let op = if dice.next_u64() & 1 == 0 { Op::Read } else { Op::Write };
        let request = Request { op, offset: dice.next_u64() % 150_000 * 8192, len: 8192 };
        Io { request, queued_ns: now, issued_ns: now, completed_ns: now, ..Io::default() }
    };
    (0..REQUESTS).map(row).collect()
}

fn main() {
    let Some(drive) = drives::find("hp-97560").and_then(|p| p.build().ok()) else { return };
    let Ok(jobs) = jobs(&rows(), &[0], &drive) else { return };
    let cache = WriteCache::Nvram {
        bytes: 128 << 10,
        destage: Destage::Satf,
        freeing: Freeing::WholeWrite,
    };
    let whole = Configuration {
        disk: DiskOptions { read_ahead: true, cache, queue_depth: 1 },
        scheduler: Scheduler::CScan,
        ..Configuration::default()
    };
    for (name, options) in [("plain disk, FCFS", Configuration::default()), ("whole model", whole)]
    {
        let (mut fastest, mut run) = (f64::INFINITY, SimulatedTrace::default());
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            simulate_into(&drive, black_box(&jobs), &options, &mut run);
            black_box(&run);
            fastest = fastest.min(begun.elapsed().as_secs_f64());
        }
        println!("{name:<20} {:>6.2} million requests/s", REQUESTS as f64 / fastest / 1e6);
    }
    figure_16();
    queues();
}

/// Four policies with ten sizes each, a week of both disks of hplajw, one thread.
fn figure_16() {
    let Some(rows) = data::hplajw() else { return };
    let Some(drive) = drives::find("hp-c2200a").and_then(|p| p.build().ok()) else { return };
    let Ok(jobs) = jobs(&rows, &[0, 1], &drive) else { return };
    let mut run = SimulatedTrace::default();
    let begun = Instant::now();
    for kilobytes in (3..13).map(|power| 1u64 << power) {
        let nvram = |destage| WriteCache::Nvram {
            bytes: kilobytes << 10,
            destage,
            freeing: Freeing::WholeWrite,
        };
        let caches =
            [WriteCache::None, WriteCache::Immediate, nvram(Destage::Fcfs), nvram(Destage::Satf)];
        for cache in caches {
            let disk = DiskOptions { read_ahead: false, cache, queue_depth: 1 };
            let options =
                Configuration { disk, scheduler: Scheduler::CScan, ..Configuration::default() };
            simulate_into(&drive, &jobs, &options, &mut run);
            black_box(&run);
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("figure 16            {seconds:>6.2} s for 40 simulations of {} requests", jobs.len());
}

/// A disk that always has as many requests waiting: the time of a choice, the simulation of the access included.
fn queues() {
    let Some(drive) = drives::find("hp-97560").and_then(|p| p.build().ok()) else { return };
    for (name, scheduler) in SCHEDULERS {
        let mut line = format!("{name:<20}");
        for length in [10, 1000, 100_000] {
            let mut dice = Dice(Pcg64Mcg::new(5));
            let mut disk = Disk::new(&drive, DiskOptions::default());
            let (mut queue, mut now_ns) = (Queue::new(scheduler), 0);
            while queue.len() < length {
                queue.push(dice.waiting(now_ns));
            }
            let rounds = if length > 1000 { 20_000 } else { 200_000 };
            let begun = Instant::now();
            for _ in 0..rounds {
                let Some(next) = queue.pop(now_ns, &disk) else { return };
                now_ns = disk.serve(now_ns, next.command).completed_ns;
                queue.push(dice.waiting(now_ns));
            }
            let each_ns = begun.elapsed().as_secs_f64() * 1e9 / f64::from(rounds);
            line += &format!("  {length:>6} waiting {each_ns:>8.0} ns");
        }
        println!("{line}");
    }
}

/// Random reads and writes of 8 KB.
struct Dice(Pcg64Mcg);

impl Dice {
    fn waiting(&mut self, arrival_ns: u64) -> Waiting {
        let bits = self.0.next_u64();
        let (block, write) = (bits % 150_000 * 16, bits >> 63 == 1);
        let command = Command { block, count: 16, write, synchronous: true };
        Waiting { row: 0, arrival_ns, command }
    }
}
