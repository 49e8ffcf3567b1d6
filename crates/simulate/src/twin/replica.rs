//! Runs workloads on a simulated solid-state drive as on a real one: each completed request is
//! replaced by the next.

use super::Measure;
use crate::command::Command;
use crate::ssd::{Model, SECTOR_BYTES, Ssd};
use ioscape_schema::tally::Counters;
use ioscape_schema::{Access, IoFlags, Measurement, Op, Request, Stop, Workload};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;

/// Makes the request source of a workload, which gives a process's next request.
pub type Requests<'r> = dyn Fn(&Workload) -> Box<dyn FnMut(usize) -> Request> + 'r;

/// Most pages that a run touches, and its fewest and most requests; a quarter as many again warm
/// up.
const PAGES: u64 = 6_000;
const REQUESTS: [u64; 2] = [48, 3000];
/// Writes are counted once the write buffer has been full, just as a real run begins once the rate
/// is steady. A drive that programs as fast as it is written to never fills its buffer; for it,
/// this limits the preceding writes, in multiples of the buffer and in pages.
const FILLS: u64 = 16;
const FILL_PAGES_MOST: u64 = 1 << 17;

/// A drive that is simulated in place of a real one.
pub struct Replica<'a> {
    model: &'a Model,
    requests: &'a Requests<'a>,
    /// Divisor of the number of requests.
    shorter: u64,
}

impl<'a> Replica<'a> {
    /// A replica of this drive, with these request sources.
    pub fn new(model: &'a Model, requests: &'a Requests<'a>) -> Self {
        Self { model, requests, shorter: 1 }
    }

    /// The same replica with only one in `shorter` requests, for a rough figure.
    pub fn shorter(self, shorter: u64) -> Self {
        Self { shorter, ..self }
    }

    /// Measures a workload on the simulated drive.
    pub fn told(&self, workload: &Workload) -> Measurement {
        let mut counters = [Counters::new(), Counters::new()];
        let elapsed_ns = self.run(workload, |request, elapsed_ns| {
            counters[request.op as usize].add(u64::from(request.len), elapsed_ns);
        });
        measurement(workload, counters, elapsed_ns)
    }

    /// Returns only the throughput of a workload, in bytes per second, which is all that a fit
    /// needs.
    pub fn bytes_per_s(&self, workload: &Workload) -> f64 {
        let mut bytes = 0;
        let elapsed_ns = self.run(workload, |request, _| bytes += u64::from(request.len));
        rate(bytes, elapsed_ns)
    }

    /// Runs a workload and calls `each` with every counted request and its response time; returns
    /// the elapsed time.
    fn run(&self, workload: &Workload, mut each: impl FnMut(Request, u64)) -> u64 {
        let mut run = Run::new(self.model, workload, (self.requests)(workload));
        let [warm, counted] = self.lengths(workload);
        for _ in 0..warm {
            run.step();
        }
        self.fill(&mut run, workload);
        let begun_ns = run.now_ns();
        for _ in 0..counted {
            let (request, elapsed_ns) = run.step();
            each(request, elapsed_ns);
        }
        run.now_ns() - begun_ns
    }

    fn page_bytes(&self) -> u64 {
        self.model.page_blocks * u64::from(SECTOR_BYTES)
    }

    /// The numbers of warm-up requests and of counted requests.
    fn lengths(&self, workload: &Workload) -> [u64; 2] {
        let pages = workload.size_mean.div_ceil(self.page_bytes()).max(1);
        let [least, most] = REQUESTS.map(|requests| requests / self.shorter);
        let counted = (PAGES / self.shorter / pages)
            .clamp(least, most)
            .max(4 * u64::from(workload.queue_depth));
        [counted / 4, counted]
    }

    /// Runs until the buffer has been full, or gains so little that it never will be.
    fn fill(&self, run: &mut Run, workload: &Workload) {
        if workload.read_frac >= 1.0 {
            return;
        }
        let room = self.model.buffer_pages as u64;
        let most = (FILLS * room).min(FILL_PAGES_MOST) * self.page_bytes();
        let (mut written, mut look) = (0, room * self.page_bytes());
        while written < most && !run.ssd.is_buffer_full() {
            let (request, _) = run.step();
            written += if request.op == Op::Write { u64::from(request.len) } else { 0 };
            if written >= look {
                if FILLS * run.ssd.buffered_pages() * self.page_bytes() < written {
                    break;
                }
                look *= 2;
            }
        }
    }
}

impl Measure for Replica<'_> {
    type Error = Infallible;

    fn measure(&mut self, workload: &Workload) -> Result<Measurement, Infallible> {
        Ok(self.told(workload))
    }
}

/// A drive and the requests in flight.
struct Run<'a> {
    ssd: Ssd<'a>,
    next: Box<dyn FnMut(usize) -> Request>,
    flags: IoFlags,
    /// Completion time and process of each request in flight.
    flying: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<'a> Run<'a> {
    fn new(model: &'a Model, workload: &Workload, next: Box<dyn FnMut(usize) -> Request>) -> Self {
        let through = workload.access == Access::Dsync;
        let flags = if through { IoFlags::FUA } else { IoFlags::empty() };
        let each = workload.queue_depth.max(1) as usize;
        let flying = (0..workload.process_num.max(1) as usize * each)
            .map(|number| Reverse((0, number / each)))
            .collect();
        Self { ssd: Ssd::new(model), next, flags, flying }
    }

    /// When the next request is issued.
    fn now_ns(&self) -> u64 {
        self.flying.peek().map_or(0, |Reverse((at, _))| *at)
    }

    /// Issues the next request when one in flight completes; returns it with its response time.
    fn step(&mut self) -> (Request, u64) {
        let Some(Reverse((now_ns, process))) = self.flying.pop() else { return Default::default() };
        let request = (self.next)(process);
        let sector = u64::from(SECTOR_BYTES);
        let block = request.offset / sector;
        let count = (request.offset + u64::from(request.len)).div_ceil(sector) - block;
        let write = request.op == Op::Write;
        let command = Command { block, count, write, synchronous: true };
        let done = self.ssd.act(now_ns, command, self.flags).completed_ns;
        self.flying.push(Reverse((done, process)));
        (request, done - now_ns)
    }
}

fn elapsed_s(elapsed_ns: u64) -> f64 {
    elapsed_ns.max(1) as f64 / 1e9
}

fn rate(bytes: u64, elapsed_ns: u64) -> f64 {
    bytes as f64 / elapsed_s(elapsed_ns)
}

fn measurement(workload: &Workload, counters: [Counters; 2], elapsed_ns: u64) -> Measurement {
    let [mut all, writes] = counters;
    all.merge(&writes);
    let rate = rate(all.bytes, elapsed_ns);
    Measurement {
        ios: all.ios,
        bytes: all.bytes,
        elapsed_s: elapsed_s(elapsed_ns),
        throughput_bytes_per_s: rate,
        throughput_ci95: [rate; 2],
        response_time_ns: all.response_time(),
        ..Measurement::empty(workload.clone(), Stop::Confident)
    }
}
