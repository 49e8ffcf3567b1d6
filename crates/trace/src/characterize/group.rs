//! The five parameters of one group of requests.

use super::position::{Fit, RequestPosition};
use crate::analyze::blocks::{BlockSize, touched};
use crate::analyze::log_histogram::{FineHistogram, LogHistogram};
use crate::analyze::sketch::Sketch;
use crate::analyze::unpaired::ONE_IN;
use ioscape_schema::TraceTraits;
use ioscape_schema::workload::SIZE_MEAN_MAX;
use ioscape_schema::{
    Access, Io, IoFlags, ModelFit, Op, RequestCounts, SizeDistribution, Workload,
};
use rustc_hash::FxHashSet;

/// The most blocks counted exactly, in about 300 MB.
const MOST_EXACT: usize = 1 << 24;

/// The counts of a group.
#[derive(Clone, Debug, Default)]
pub struct Group {
    sizes: LogHistogram<6>,
    reads: u64,
    follow: u64,
    could_follow: u64,
    runs: FineHistogram,
    changes: u64,
    exact: Option<FxHashSet<u64>>,
    blocks: Sketch,
    block_bytes: u64,
    processes: Sketch,
    told: bool,
    /// Requests with a known completion, and the sum of their times.
    timed: u64,
    elapsed_ns: u128,
    /// Time with requests in flight that move data, and with any.
    busy: Busy,
    busy_or_flushing: Busy,
    first_ns: Option<u64>,
    /// Flushes, and writes past the drive's cache.
    syncs: u64,
    /// Writes since the last flush, less one for each flush after them.
    unflushed: u64,
    /// Whether a flush came after the last write.
    is_flushing: bool,
    /// Writes that waited for the medium: with FUA, or one for each flush before the next write.
    durable: u64,
}

/// The time in which something was in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    ns: u64,
    end_ns: u64,
}

impl Busy {
    /// Takes in a request, which arrived no earlier than those before it.
    fn add(&mut self, io: &Io) {
        self.ns += io.completed_ns.saturating_sub(self.end_ns.max(io.queued_ns));
        self.end_ns = self.end_ns.max(io.completed_ns).max(io.queued_ns);
    }
}

impl Group {
    /// A group whose distinct blocks are counted exactly, in a table, up to 16 Mi.
    pub fn exact() -> Self {
        Self { exact: Some(FxHashSet::default()), ..Self::default() }
    }

    /// Number of requests.
    pub fn requests(&self) -> u64 {
        self.sizes.count()
    }

    /// When the first request arrived, and when the last one was complete.
    pub fn span_ns(&self) -> [u64; 2] {
        let last_ns = self.busy_or_flushing.end_ns;
        [self.first_ns.unwrap_or(last_ns), last_ns]
    }

    /// Takes in a flush that moves no data.
    pub fn flush(&mut self, io: &Io) {
        self.first_ns = self.first_ns.or(Some(io.queued_ns));
        self.busy_or_flushing.add(io);
        self.syncs += 1;
        self.flushed();
    }

    /// Counts the write that waits for a flush: processes that each wait for their own write two at
    /// once, and then flush two times.
    fn flushed(&mut self) {
        self.durable += u64::from(self.unflushed > 0);
        self.unflushed = self.unflushed.saturating_sub(1);
        self.is_flushing = true;
    }

    /// Notes whether a request that moves data waited for the medium.
    fn note_medium(&mut self, io: &Io) {
        let writes = io.request.op == Op::Write;
        let waits = writes && io.flags.contains(IoFlags::FUA);
        self.durable += u64::from(waits);
        if io.flags.contains(IoFlags::FLUSH) {
            self.flushed();
        }
        if writes && std::mem::take(&mut self.is_flushing) {
            self.unflushed = 0;
        }
        self.unflushed += u64::from(writes && !waits);
        self.syncs += u64::from(writes && io.flags.intersects(IoFlags::FUA | IoFlags::FLUSH));
    }

    /// Takes in a request that moves data.
    pub fn update(&mut self, io: &Io, place: RequestPosition, size: BlockSize) {
        let op = io.request.op;
        self.sizes.add(u64::from(io.request.len));
        self.reads += u64::from(op == Op::Read);
        self.follow += u64::from(place.follows);
        self.could_follow += u64::from(place.before.is_some());
        if place.ended_run > 0 {
            self.runs.add(place.ended_run);
        }
        self.changes += u64::from(place.before.is_some_and(|before| before != op));
        self.block_bytes = size.bytes();
        for key in touched(io, size) {
            self.blocks.add(key);
            if let Some(blocks) = &mut self.exact {
                blocks.insert(key);
            }
        }
        // Beyond this, the estimate must suffice.
        if self.exact.as_ref().is_some_and(|blocks| blocks.len() > MOST_EXACT) {
            self.exact = None;
        }
        self.told |= io.process != 0;
        self.processes.add(u64::from(io.process));
        if io.is_timed() {
            self.timed += 1;
            self.elapsed_ns += u128::from(io.elapsed_ns());
        }
        self.first_ns = self.first_ns.or(Some(io.queued_ns));
        self.busy.add(io);
        self.busy_or_flushing.add(io);
        self.note_medium(io);
    }

    /// Returns the workload closest to the requests, and how close it is by `fit`; `going_on` has
    /// the lengths of the sequential runs that have not ended. A window that the trace outlasts is
    /// `lasting_ns` long, and its last requests are followed by pauses, too.
    pub fn finish(
        &self,
        name: String,
        fit: Fit,
        going_on: impl Iterator<Item = u64>,
        lasting_ns: Option<u64>,
    ) -> TraceTraits {
        let requests = self.requests();
        if requests == 0 {
            return TraceTraits { name, ..TraceTraits::default() };
        }
        let count = requests as f64;
        let read_frac = self.reads as f64 / count;
        let seq_frac = self.follow as f64 / self.could_follow.max(1) as f64;
        let size_mean = (self.sizes.mean().round() as u64).clamp(1, SIZE_MEAN_MAX);
        let response = self.elapsed_ns as f64 / self.timed.max(1) as f64;
        let [first_ns, last_ns] = self.span_ns();
        let span_ns = last_ns - first_ns;
        let time_ns = lasting_ns.unwrap_or(span_ns);
        let flush_ns = self.busy_or_flushing.ns.saturating_sub(self.busy.ns);
        let process_num = self.process_num(time_ns.saturating_sub(flush_ns));
        // A closed workload: processes x time = requests x response + pauses x think.
        let pauses = if lasting_ns.is_some() { count } else { count - f64::from(process_num) };
        let (time, flush_ns) = (time_ns as f64, flush_ns as f64);
        // With dsync each write includes its flush.
        let (access, flushed) = match self.is_dsync() {
            true => (Access::Dsync, flush_ns),
            false => (Access::Direct, 0.0),
        };
        let paused = (f64::from(process_num) * (time - flushed) - count * response).max(0.0);
        let think = if pauses > 0.0 { paused / pauses } else { 0.0 };
        let mut workload = Workload {
            unique_bytes: self.unique_bytes().max(size_mean),
            size_mean,
            read_frac,
            seq_frac,
            process_num,
            think_time_ns: think as u64,
            access,
            ..Workload::default()
        };
        let counts = self.counts(going_on);
        let mut found = fit(&counts, &workload);
        workload.size_distribution = found.size_distribution;
        let sum = u128::from(requests) * u128::from(size_mean);
        // Several sizes may have an equally exact mean, but the mean is not the largest of them.
        if self.sizes.most() == size_mean && self.sizes.sum() == sum {
            (workload, found) = exactly(workload, found, fit, &counts);
        }
        TraceTraits {
            name,
            workload,
            goodness: found.goodness(),
            size_distance: found.size_distance,
            run_distance: found.run_distance,
            mix_distance: found.mix_distance,
            requests,
            bytes: u64::try_from(self.sizes.sum()).unwrap_or(u64::MAX),
            processes_seen: if self.told { self.processes.estimate().round() as u64 } else { 0 },
            response_time_ns: (self.timed > 0).then_some(response),
            elapsed_s: span_ns as f64 / 1e9,
            syncs: self.syncs,
            flush_s: flush_ns / 1e9,
        }
    }

    /// Returns how many processes make the load in `time_ns`: as many as there were requests in
    /// flight, rounded, but no fewer than have the time for all requests.
    fn process_num(&self, time_ns: u64) -> u32 {
        let in_flight = match self.busy.ns {
            _ if self.lacks_completions() => 0,
            0 => 0,
            busy_ns => (self.elapsed_ns as f64 / busy_ns as f64).round() as u128,
        };
        // Those without a completion take as long as the others.
        let all_ns = self.elapsed_ns.saturating_mul(self.requests().into());
        let all_ns = all_ns / u128::from(self.timed.max(1));
        // Of requests that go on beyond a window, the rest is no part of its load.
        let least = all_ns.div_ceil(u128::from(time_ns.max(self.busy.ns).max(1)));
        in_flight.max(least).clamp(1, 4096) as u32
    }

    /// Whether most requests waited for the medium.
    fn is_dsync(&self) -> bool {
        2 * self.durable > self.requests()
    }

    /// The share of reads, which reached the device, in a workload whose access passes them through
    /// the file cache; `None` where the access does not, or next to nothing was read.
    pub fn cached_reads(&self) -> Option<f64> {
        let is_met = self.is_dsync() && self.reads.saturating_mul(ONE_IN) > self.requests();
        is_met.then(|| self.reads as f64 / self.requests() as f64)
    }

    /// Whether so many requests lack their completion that it cannot be told how many were in
    /// flight together.
    pub fn lacks_completions(&self) -> bool {
        let [missing, requests] = [self.requests() - self.timed, self.requests()];
        missing.saturating_mul(ONE_IN) > requests
    }

    /// Number of requests with a known completion.
    pub fn timed(&self) -> u64 {
        self.timed
    }

    fn unique_bytes(&self) -> u64 {
        let blocks = match &self.exact {
            Some(blocks) => blocks.len() as f64,
            None => self.blocks.estimate(),
        };
        (blocks.round() * self.block_bytes as f64) as u64
    }

    fn counts(&self, going_on: impl Iterator<Item = u64>) -> RequestCounts {
        let mut runs = self.runs.clone();
        going_on.for_each(|length| runs.add(length));
        RequestCounts {
            requests: self.requests(),
            reads: self.reads,
            followers: self.follow,
            pairs: self.could_follow,
            changes: self.changes,
            sizes: self.sizes.bins().collect(),
            runs: runs.bins().collect(),
        }
    }
}

/// Returns the workload with the one size of all requests as it is, and its fit, if nothing fits
/// better; otherwise the given ones.
fn exactly(
    workload: Workload,
    found: ModelFit,
    fit: Fit,
    counts: &RequestCounts,
) -> (Workload, ModelFit) {
    let is_fixed = |one: &ModelFit| one.size_distribution == SizeDistribution::Fixed;
    if !is_fixed(&found) {
        return (workload, found);
    }
    let exact = workload.clone().with_exact_size();
    let nearer = fit(counts, &exact);
    let is_exact = is_fixed(&nearer) && nearer.size_distance == 0.0;
    if is_exact { (exact, nearer) } else { (workload, found) }
}
