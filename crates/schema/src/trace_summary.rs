//! The analysis of a block trace: the tables and figures of Ruemmler & Wilkes 1993, and modern
//! ones.

pub use crate::trace_blocks::{
    Absorption, MissRatio, MissRatioCurve, Overwrites, Popularity, WorkingSet, WorkingSetWindows,
};
use crate::{Distribution, IoType, Op, TraceInfo, Warning};
use serde::{Deserialize, Serialize};

/// The result of `trace analyze`. Tables and figures named in the comments are those of Ruemmler &
/// Wilkes, "UNIX disk access patterns", 1993.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceSummary {
    /// The trace, as the user named it: its file names.
    pub name: String,
    /// Origin of the trace, with its devices and commands.
    pub info: TraceInfo,
    /// Category by which the terminal summary breaks down the load.
    #[serde(default)]
    pub by: Breakdown,
    /// Number of requests analysed.
    pub ios: u64,
    /// Arrival of the first request, from the beginning of the trace.
    pub first_ns: u64,
    /// Last completion, from the beginning of the trace.
    pub last_ns: u64,
    /// Block size of the figures that count blocks, in bytes.
    pub block_bytes: u64,
    /// Requests and bytes by partition (Table 3).
    pub partitions: Vec<PartitionShare>,
    /// Time at the device and time including the queue (Table 4, Figure 1); absent if the trace
    /// does not record completions.
    #[serde(default, skip_serializing_if = "OpTimes::is_empty")]
    pub response_times: OpTimes,
    /// Each disk separately (Tables 5 and 7, Figures 2, 3, 5, 9 and 10).
    pub disks: Vec<DiskSummary>,
    /// What was read and written (Table 6, Figure 7); absent if the trace records neither flags nor
    /// types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<TypeShare>,
    /// Requests aligned to sectors, pages, database blocks and RAID chunks; missing in older
    /// results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alignment: Vec<AlignedShare>,
    /// Time between two arrivals on any disk, in nanoseconds (Figure 6); absent if arrivals are in
    /// steps of more than 0.1 ms. Absent, like all figures that relate requests to others, if the trace holds
    /// only slow ones.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub inter_arrival_ns: Distribution,
    /// Start of a request relative to the end of the previous one on its disk, over all disks
    /// (Figure 9); like all figures of places absent if the trace has object numbers.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub distances: Distances,
    /// Sequential requests on all disks together (Table 7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential: Option<Sequential>,
    /// Requests over time at the finest resolution kept (Figures 3, 4 and 8; tail latencies).
    pub over_time: Timeline,
    /// The same by hour of the clock; empty if the trace is too long for it.
    pub hourly: Timeline,
    /// The same by day.
    pub daily: Timeline,
    /// Transfer sizes by type (Figure 11).
    pub transfer_sizes: Vec<SizesOfType>,
    /// Overwrites of blocks (Figure 12); absent, like all figures of writes, without writes or if
    /// the trace does not record operations.
    #[serde(default, skip_serializing_if = "Overwrites::is_empty")]
    pub overwrites: Overwrites,
    /// How concentrated the writes are on few blocks (Figure 13).
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub popularity: Popularity,
    /// Non-volatile memory that absorbs the writes of 30 seconds (Figures 17 and 18); absent if the
    /// trace is shorter than a minute and may not hold a whole interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorption: Vec<Absorption>,
    /// Distinct bytes touched, over time and in total.
    #[serde(default, skip_serializing_if = "WorkingSet::is_empty")]
    pub working_set: WorkingSet,
    /// Miss ratio of an LRU cache of any size.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub miss_ratio: MissRatio,
    /// Burstiness of arrivals at each time scale; if arrivals are in coarse steps, only
    /// for windows of a step or more.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub burstiness: Burstiness,
    /// Load by process, busiest first.
    pub processes: Vec<ProcessShare>,
    /// Response times over time.
    pub latency_map: Option<HeatMap>,
    /// Addresses over time, one map per disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub address_maps: Vec<AddressMap>,
    /// Warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl TraceSummary {
    /// Returns whether the trace is at least twice as long as the window that a figure refers to.
    ///
    /// A pair of requests is seen only if both are in the trace. Of pairs half the trace apart one
    /// in two is seen, of those its full length apart none, so a short trace shows only short
    /// distances. A trace twice as long also holds at least one whole clock interval.
    pub fn is_long_enough_for(&self, window_ns: u64) -> bool {
        self.last_ns.saturating_sub(self.first_ns) >= window_ns.saturating_mul(2)
    }
}

/// Category by which a load is broken down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breakdown {
    /// Partitions of disks.
    #[default]
    Partition,
    /// Disks.
    Disk,
    /// Processes.
    Process,
}

crate::words!(Breakdown, "breakdown", Process => "process", Disk => "disk", Partition => "partition");

/// Requests and bytes of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Number of requests.
    pub ios: u64,
    /// Bytes moved, if the trace does not record operations; otherwise absent: then they are the
    /// sum of the two below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Number of reads. Absent, like the bytes read and written, if the trace does not record
    /// operations (a warning of kind `operations_unknown` says so).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Bytes read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes written; a discard moves none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes: Option<u64>,
}

impl Load {
    /// Returns the fraction of reads; `None` without requests, or if operations are not recorded.
    pub fn read_frac(&self) -> Option<f64> {
        self.reads.filter(|_| self.ios > 0).map(|reads| reads as f64 / self.ios as f64)
    }

    /// Returns the requests that do not read; `None` if operations are not recorded.
    pub fn writes(&self) -> Option<u64> {
        self.reads.map(|reads| self.ios.saturating_sub(reads))
    }

    /// Returns the bytes moved, whatever the operation.
    pub fn moved(&self) -> u64 {
        let parts = [self.read_bytes, self.write_bytes].into_iter().flatten();
        self.bytes.unwrap_or_else(|| parts.fold(0, u64::saturating_add))
    }

    /// Removes what is known about reads and writes; the bytes moved stay.
    pub fn forget_operations(&mut self) {
        self.bytes = Some(self.moved());
        (self.reads, self.read_bytes, self.write_bytes) = (None, None, None);
    }
}

/// One partition of one disk (Table 3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartitionShare {
    /// Index of the device.
    pub device: u16,
    /// Name of the device.
    pub disk: String,
    /// Number of the partition.
    pub partition: u16,
    /// Name of the partition; empty if the source does not name it.
    pub name: String,
    /// Requests and bytes.
    #[serde(flatten)]
    pub load: Load,
}

/// Both times of a request, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// From issue to completion: service time. Absent if the trace does not record issue times.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub physical_ns: Distribution,
    /// From arrival to completion: includes queueing. Absent if more than one request in a hundred
    /// has no arrival in an event trace.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub elapsed_ns: Distribution,
}

/// Times of reads, of writes, and of both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpTimes {
    /// Reads; absent, like the writes, if the trace does not record operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Times>,
    /// Writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Times>,
    /// Both.
    pub all: Times,
}

impl OpTimes {
    /// Returns whether no time is known.
    pub fn is_empty(&self) -> bool {
        self.all.elapsed_ns.is_empty() && self.all.physical_ns.is_empty()
    }
}

/// One disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskSummary {
    /// Index of the device.
    pub device: u16,
    /// Name of the device.
    pub name: String,
    /// Requests and bytes.
    pub load: Load,
    /// Queue length at an arrival, itself included, recomputed from the times (Table 5, Figure 2).
    /// Absent, like all figures of queues and idle times, if the trace does not record completions.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub queue_length: Distribution,
    /// Fraction of arrivals that found the disk idle: a queue of 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_frac: Option<f64>,
    /// Mean queue length seen by reads; absent without reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_mean_read: Option<f64>,
    /// Mean queue length seen by writes; absent without writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_mean_write: Option<f64>,
    /// Mean queue length by day, from the first day; absent on days without requests (Figure 3).
    pub daily_queue_mean: Vec<Option<f64>>,
    /// Requests whose recorded queue length equals the recomputed one; absent if none is recorded.
    pub queue_agreement: Option<QueueAgreement>,
    /// Idle periods, in nanoseconds.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub idle_ns: Distribution,
    /// Fraction of the time from the first arrival to the last completion with no request in the
    /// queue or at the disk; absent with a single request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_time_frac: Option<f64>,
    /// Mean number of requests in the queue and at the disk while there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_mean: Option<f64>,
    /// Start of a request relative to the end of the previous one (Figure 9).
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub distances: Distances,
    /// Sequential requests (Table 7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential: Option<Sequential>,
    /// Runs of writes without a read in between (Figure 10); absent without writes.
    #[serde(default, skip_serializing_if = "Runs::is_empty")]
    pub write_groups: Runs,
    /// Runs of writes that follow one another within 30 ms (Figure 10); absent if arrivals are in
    /// steps of more than 3 ms.
    #[serde(default, skip_serializing_if = "Runs::is_empty")]
    pub write_bursts: Runs,
    /// Fraction of writes that cover the same bytes as the previous write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrite_frac: Option<f64>,
}

/// How often recorded and recomputed queue lengths agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueAgreement {
    /// Requests with a recorded queue length.
    pub recorded: u64,
    /// Requests for which it equals the recomputed one.
    pub equal: u64,
}

/// Signed distances from the end of one request to the beginning of the next, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// Number of distances.
    pub count: u64,
    /// The most frequent whole-KiB distances within 256 KiB, in KiB, with their counts, largest
    /// peak first.
    pub peaks: Vec<(i64, u64)>,
    /// Distances by sign and logarithm, in order: upper bound in bytes (lower bound for negative
    /// ones), count.
    pub bins: Vec<(f64, u64)>,
}

/// Requests that begin where the previous one on the disk ended, or one interleave further.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sequential {
    /// Reads that begin where the previous request ended.
    pub adjacent_reads: u64,
    /// Writes that begin where the previous request ended.
    pub adjacent_writes: u64,
    /// The file system's interleave in bytes, as given or as detected; 0 without one.
    pub interleave_bytes: u64,
    /// Reads that begin one interleave further.
    pub interleaved_reads: u64,
    /// Writes that begin one interleave further.
    pub interleaved_writes: u64,
}

/// Runs of requests: their lengths and the number of requests in runs of each length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// Number of runs.
    pub runs: u64,
    /// Requests in them.
    pub ios: u64,
    /// The longest run.
    pub longest: u64,
    /// Fraction of requests that continue a run: all but the first of each.
    pub following_frac: f64,
    /// Fraction of requests in runs of one.
    pub single_frac: f64,
    /// Fraction of requests in runs of 20 or more.
    pub in_20_frac: f64,
    /// Fraction of requests in runs of 50 or more.
    pub in_50_frac: f64,
    /// Fraction of requests in runs of 100 or more.
    pub in_100_frac: f64,
    /// Requests by length of their run: upper bound of the length, requests.
    pub bins: Vec<(f64, u64)>,
}

impl Runs {
    /// Returns whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.runs == 0
    }
}

/// Requests of one operation by alignment to a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignedShare {
    /// Read or write.
    pub op: Op,
    /// The size, a power of two.
    pub unit_bytes: u64,
    /// Requests that move data.
    pub ios: u64,
    /// Requests that begin and end at multiples of the size.
    pub aligned: u64,
}

/// Requests of one type and operation (Table 6, Figure 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeShare {
    /// What the blocks hold.
    pub io_type: IoType,
    /// Read or write.
    pub op: Op,
    /// Requests.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Requests flagged synchronous; absent, like the two below, if the trace does not record these
    /// flags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<u64>,
    /// Requests flagged asynchronous.
    #[serde(default, rename = "async", skip_serializing_if = "Option::is_none")]
    pub asynchronous: Option<u64>,
    /// Requests that bypassed the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<u64>,
}

/// Figures over equal time steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Width of a step.
    pub step_ns: u64,
    /// Beginning of the first step relative to that of the trace; negative if the step began
    /// earlier.
    pub start_ns: i64,
    /// The steps, without gaps.
    pub steps: Vec<TimeStep>,
}

/// One time step, by arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeStep {
    /// Requests and bytes.
    #[serde(flatten)]
    pub load: Load,
    /// Mean elapsed time in nanoseconds; absent without requests, or if completions are not
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_mean_ns: Option<f64>,
    /// Longest elapsed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_max_ns: Option<f64>,
    /// Median of the elapsed time; only the finest timeline keeps quantiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_p50_ns: Option<f64>,
    /// 99th percentile of the elapsed time of 100 requests or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_p99_ns: Option<f64>,
    /// 99.9th percentile of the elapsed time of 1,000 requests or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_p999_ns: Option<f64>,
}

/// Sizes of one type and operation (Figure 11).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizesOfType {
    /// What the blocks hold.
    pub io_type: IoType,
    /// Read or write; absent if the trace does not record operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Op>,
    /// Sizes in bytes.
    pub bytes: Distribution,
}

/// Burstiness of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Burstiness {
    /// Index of dispersion for counts: window width in nanoseconds, variance over mean of the
    /// arrivals in a window; 1 is Poisson.
    pub dispersion: Vec<(u64, f64)>,
    /// Hurst exponent from the growth of the variance with the window; 0.5 means no long memory.
    /// Absent with too few windows.
    pub hurst: Option<f64>,
    /// Squared coefficient of variation of the inter-arrival times; 1 is Poisson.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inter_arrival_scv: Option<f64>,
}

/// Load of one process or command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessShare {
    /// Process number.
    pub process: u32,
    /// Its command; empty if not recorded.
    pub command: String,
    /// Requests and bytes.
    #[serde(flatten)]
    pub load: Load,
    /// Distinct bytes touched, estimated to 3 %.
    pub footprint_bytes: u64,
    /// Mean elapsed time in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_mean_ns: Option<f64>,
}

/// Counts over time and a second, logarithmic axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// Width of a column.
    pub step_ns: u64,
    /// Beginning of the first column.
    pub start_ns: i64,
    /// Upper bounds of the rows.
    pub rows_to: Vec<f64>,
    /// Non-zero counts: column, row, count.
    pub cells: Vec<(u32, u32, u64)>,
}

/// Addresses over time on one disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AddressMap {
    /// Index of the device.
    pub device: u16,
    /// Width of a column.
    pub step_ns: u64,
    /// Beginning of the first column.
    pub start_ns: i64,
    /// Height of a row in bytes; row 0 begins at address 0.
    pub row_bytes: u64,
    /// Cells with requests: column, row, reads, writes.
    pub cells: Vec<(u32, u32, u64, u64)>,
}
