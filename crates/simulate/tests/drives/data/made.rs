//! Requests with a drive's simulated times, in the form of a trace.

use super::io;
use ioscape_schema::{Io, IoFlags, Op};
use ioscape_simulate::{Arrivals, Configuration, Job, Parameters, jobs, simulate};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// Random requests over the whole drive, one at a time with pauses; `writes` sets the share of
/// synchronous writes.
pub fn scattered(truth: &Parameters, count: u64, writes: u64) -> Vec<Job> {
    scattered_below(u64::MAX, truth, count, writes)
}

/// As [`scattered`], but only within the drive's first `most` blocks.
pub fn scattered_below(most: u64, truth: &Parameters, count: u64, writes: u64) -> Vec<Job> {
    let drive = truth.build().unwrap();
    let mut dice = Pcg64Mcg::new(11);
    let blocks = most.min(drive.mechanism.layout.blocks() - 16);
    let mut at = 0;
    let rows: Vec<Io> = (0..count)
        .map(|_| {
            let op = if dice.next_u64() % 100 < writes { Op::Write } else { Op::Read };
            let len = 512 * (1 + dice.next_u64() % 16) as u32;
            let offset = dice.next_u64() % blocks * 512;
            at += 1_000_000 + dice.next_u64() % 9_000_000;
            Io { flags: IoFlags::SYNC, ..io(op, offset, len, at) }
        })
        .collect();
    timed(truth, jobs(&rows, &[0], &drive).unwrap())
}

/// The jobs with the drive's times for them, served one at a time.
pub fn timed(truth: &Parameters, mut all: Vec<Job>) -> Vec<Job> {
    let drive = truth.build().unwrap();
    let disk = drive.buffer.usual();
    let closed = Configuration { disk, arrivals: Arrivals::Closed, ..Configuration::default() };
    let run = simulate(&drive, &all, &closed);
    for (job, row) in all.iter_mut().zip(&run.rows) {
        job.io = Io { queued_ns: row.io.issued_ns, ..row.io };
    }
    all
}
