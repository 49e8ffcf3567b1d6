//! Helpers shared by the tests of sessions: a small set, short runs, and a simple generator.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub use ioscape_machine::testing::skipped;
use ioscape_machine::{Error, Target, TargetOptions};
use ioscape_measure::{RunOptions, Session, SessionOptions};
use ioscape_schema::{Measurement, Op, Request, SizeDistribution, Workload};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Uniform 4 KiB requests over a set, with a given probability of reads.
pub struct Uniform {
    state: u64,
    blocks: u64,
    reads_below: u64,
}

impl Uniform {
    /// The stream of one process.
    pub fn new(process: u32, unique_bytes: u64, read_frac: f64) -> Self {
        let state = (u64::from(process) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { state, blocks: unique_bytes / 4096, reads_below: (read_frac * 1024.0) as u64 }
    }

    /// The next request.
    pub fn next(&mut self) -> Request {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let place = (u128::from(self.state) * u128::from(self.blocks)) >> 64;
        let op = if self.state & 1023 < self.reads_below { Op::Read } else { Op::Write };
        Request { op, offset: place as u64 * 4096, len: 4096 }
    }
}

/// Half reads, half writes of 4 KiB in 1 MiB.
pub fn workload() -> Workload {
    Workload {
        unique_bytes: 1 << 20,
        size_mean: 4096,
        size_distribution: SizeDistribution::Fixed,
        seq_frac: 0.0,
        ..Workload::default()
    }
}

/// Short runs that stop early, however noisy the machine is.
pub fn quick() -> RunOptions {
    RunOptions {
        min_s: 0.06,
        cap_s: 0.12,
        warm_min_s: 0.04,
        warm_cap_s: 0.1,
        ..RunOptions::default()
    }
}

/// A session on a scratch file in a new directory.
pub fn session() -> (TempDir, Session) {
    let dir = tempfile::tempdir().unwrap();
    let session = session_in(dir.path());
    (dir, session)
}

/// A session on a scratch file in this directory.
pub fn session_in(dir: &Path) -> Session {
    let options = TargetOptions { write_needed: true, ..TargetOptions::default() };
    let target = Target::open(dir, &options).unwrap();
    Session::new(target, SessionOptions::default()).unwrap()
}

/// A session on this file, whose data it may destroy.
pub fn session_on(file: &Path) -> Session {
    let options = TargetOptions { destroy_data: true, write_needed: true };
    let target = Target::open(file, &options).unwrap();
    Session::new(target, SessionOptions::default()).unwrap()
}

/// Calls `tried` on a file system in memory, mounted with these options; returns whether one could
/// be mounted.
pub fn in_memory(options: &str, tried: fn(&Path)) -> bool {
    let place = tempfile::tempdir().unwrap();
    let mount = ["-t", "tmpfs", "-o", options, "tmpfs"];
    let mounted = Command::new("mount").args(mount).arg(place.path()).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return false;
    }
    let tried = std::panic::catch_unwind(|| tried(place.path()));
    // Workers that other tests have just forked may hold a file there a moment longer.
    let unmounted = Command::new("umount").arg("-l").arg(place.path()).status();
    assert!(unmounted.unwrap().success());
    tried.unwrap();
    true
}

/// Runs `workload` with uniform requests.
pub fn run(session: &mut Session, workload: &Workload) -> Result<Measurement, Error> {
    run_with(session, workload, &quick())
}

/// Runs `workload` with uniform requests and these options.
pub fn run_with(
    session: &mut Session,
    workload: &Workload,
    options: &RunOptions,
) -> Result<Measurement, Error> {
    let (set, read_frac) = (workload.unique_bytes, workload.read_frac);
    session.run(workload, 4096, options, |process| {
        let mut uniform = Uniform::new(process, set, read_frac);
        move || uniform.next()
    })
}

/// Returns the measurement; `None` if this machine cannot do it, which is printed.
pub fn possible(measured: Result<Measurement, Error>) -> Option<Measurement> {
    match measured {
        Ok(m) => Some(m),
        Err(error) if error.is_misuse() => {
            skipped(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}
