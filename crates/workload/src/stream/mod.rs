//! Streams: the endless sequence of requests that a process issues.
//!
//! The model (self-scaling paper, section 5; Unix I/O paper, section 5):
//!
//! - All processes share the set. Each has its own thread of addresses, so "the previous request"
//!   is that of the same process. Process p starts at about p / `process_num` of the set.
//! - A request is a read with probability `read_frac`, whatever the previous one was.
//! - With probability `seq_frac` it starts where the previous request, read or write, ended. The
//!   set wraps around: a request that does not fit before the end starts at 0 and counts
//!   as sequential.
//! - Otherwise its offset is uniform over all offsets at which it fits: the papers' LRU-stack
//!   model, whose average access depth is half the set. By chance this can be where the
//!   previous request ended, which only matters for sets of few granules.
//!
//! If reads and writes differ (`Workload::by_operation`), each has its own sizes and its own thread
//! of addresses. The thread of writes starts half a process's share of the set further on. The
//! kinds alternate as a Markov chain with the requested shares of reads and of changes.
//!
//! The phases of an application (`Workload::phases`) replace all of this: see `phased`.

mod chance;
mod phased;

use crate::alias::AliasTable;
use crate::sizes::{Grid, granular, probabilities};
pub(crate) use chance::generator;
use chance::{CERTAIN, threshold};
use ioscape_schema::{ByOperation, Op, Request, Workload};
use phased::Phased;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::sync::Arc;

/// The requests of one process: an endless, deterministic sequence.
///
/// It is cheap to clone, and the clone continues with the same requests.
#[derive(Clone, Debug)]
pub struct Stream {
    rng: Pcg64Mcg,
    align: u64,
    set: u64,
    /// Probability that the next request is a read, after a read and after a write.
    read_after: [u64; 2],
    /// The kind of the last request, as an index.
    last: usize,
    /// The threads of addresses of reads and of writes; if both share one, only the first is used.
    threads: [Thread; 2],
    /// 0 if reads and writes share the first thread, 1 if each has its own.
    apart: usize,
    /// The phases, if the workload has any; nothing above is used then.
    phased: Option<Box<Phased>>,
}

/// A thread of addresses: where the next request begins if it is sequential, and the sizes of
/// requests.
#[derive(Clone, Debug)]
struct Thread {
    sizes: Arc<AliasTable>,
    next: u64,
    /// Probability that the next request follows: certain for the first one, which begins at the
    /// thread's start.
    follow: u64,
    seq: u64,
}

/// Returns the size tables of a workload's reads and writes.
fn tables(workload: &Workload, grid: &Grid) -> [Arc<AliasTable>; 2] {
    match &workload.by_operation {
        Some(own) => [Op::Read, Op::Write]
            .map(|op| Arc::new(AliasTable::new(&granular(&own.of(op).sizes, grid)))),
        None => {
            let both = AliasTable::new(&probabilities(workload.size_distribution, grid));
            let both = Arc::new(both);
            [Arc::clone(&both), both]
        }
    }
}

/// Returns the probabilities that a request is a read, after a read and after a write; and that a
/// read, and a write, is sequential.
fn thresholds(workload: &Workload) -> [[u64; 2]; 2] {
    let of = |own: &ByOperation| {
        let reads = own.read_after(workload.read_frac);
        [reads, [own.read.seq_frac, own.write.seq_frac]]
    };
    let whatever_before = [[workload.read_frac; 2], [workload.seq_frac; 2]];
    let found = workload.by_operation.as_ref().map_or(whatever_before, of);
    found.map(|both| both.map(threshold))
}

impl Stream {
    /// Returns the stream of process number `process` (from 0) of a valid workload.
    ///
    /// An invalid workload yields some stream within its set instead of a panic. Building the table
    /// of sizes takes a few milliseconds; [`streams`] shares one table among all processes.
    pub fn new(workload: &Workload, seed: u64, process: u32) -> Self {
        let grid = Grid::new(workload);
        Self::with_sizes(workload, &grid, tables(workload, &grid), seed, process)
    }

    fn with_sizes(
        workload: &Workload,
        grid: &Grid,
        sizes: [Arc<AliasTable>; 2],
        seed: u64,
        process: u32,
    ) -> Self {
        let process_num = u128::from(workload.process_num.max(1));
        let halves = u128::from(process) % process_num * 2;
        let place =
            |half: u128| (u128::from(grid.set) * (halves + half) / (2 * process_num)) as u64;
        let [read_after, seq] = thresholds(workload);
        let mut half = 0;
        let threads = sizes.map(|sizes| {
            let thread =
                Thread { sizes, next: place(half), follow: CERTAIN, seq: seq[half as usize] };
            half += 1;
            thread
        });
        let apart = usize::from(workload.by_operation.is_some());
        // The first request behaves as if it came after one of the more frequent kind.
        let last = usize::from(workload.read_frac < 0.5);
        Self {
            rng: generator(seed, process),
            align: grid.align,
            set: grid.set,
            read_after,
            last,
            threads,
            apart,
            phased: Phased::new(workload, grid, seed, process).map(Box::new),
        }
    }

    /// Returns the next request in a few nanoseconds, without allocation or division.
    #[inline]
    pub fn request(&mut self) -> Request {
        if let Some(phased) = &mut self.phased {
            return phased.request();
        }
        let coins = self.rng.next_u64();
        let is_write = usize::from(coins >> 32 >= self.read_after[self.last]);
        self.last = is_write;
        let thread = &mut self.threads[is_write & self.apart];
        let len = u64::from(thread.sizes.draw(self.rng.next_u64()));
        let start = if coins & (CERTAIN - 1) < thread.follow {
            if len <= self.set - thread.next { thread.next } else { 0 }
        } else {
            let places = self.set - len + 1;
            ((u128::from(self.rng.next_u64()) * u128::from(places)) >> 64) as u64
        };
        thread.follow = thread.seq;
        thread.next = start + len;
        let op = if is_write == 0 { Op::Read } else { Op::Write };
        Request { op, offset: start * self.align, len: (len * self.align) as u32 }
    }
}

impl Iterator for Stream {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        Some(self.request())
    }
}

/// Returns the seed of the round after `before` others of the same workload. Repeating the same
/// requests would make the rounds agree without being evidence. The seed is far from those of other
/// evaluations, which count up.
pub fn seed_of_round(seed: u64, before: u64) -> u64 {
    seed ^ (before << 32)
}

/// Returns the streams of all processes of a valid workload, ordered by process number.
pub fn streams(workload: &Workload, seed: u64) -> Vec<Stream> {
    let grid = Grid::new(workload);
    let sizes = tables(workload, &grid);
    (0..workload.process_num)
        .map(|process| Stream::with_sizes(workload, &grid, sizes.clone(), seed, process))
        .collect()
}

#[cfg(test)]
mod tests;
