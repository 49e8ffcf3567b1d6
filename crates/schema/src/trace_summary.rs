//! What an analysis of a block trace found: the tables and figures of Ruemmler & Wilkes 1993, and those of today.

use crate::{Distribution, IoType, Op, TraceInfo, Warning};
use serde::{Deserialize, Serialize};

/// The whole result of `trace analyze`; tables and figures named in the comments are those of Ruemmler & Wilkes,
/// "UNIX disk access patterns", 1993.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceSummary {
    /// Name the user gave the trace: its file names.
    pub name: String,
    /// Where the trace comes from, its devices and commands.
    pub info: TraceInfo,
    /// What the terminal's summary breaks the load down by.
    #[serde(default)]
    pub by: Breakdown,
    /// Number of requests analysed.
    pub ios: u64,
    /// Arrival of the first, from the beginning of the trace.
    pub first_ns: u64,
    /// Last completion, from the beginning of the trace.
    pub last_ns: u64,
    /// Block size of the figures that count blocks, in bytes.
    pub block_bytes: u64,
    /// Requests and bytes by partition (Table 3).
    pub partitions: Vec<PartitionShare>,
    /// Time at the device and time including the queue (Table 4, Figure 1); absent where the trace tells no completions.
    #[serde(default, skip_serializing_if = "OpTimes::is_empty")]
    pub response_times: OpTimes,
    /// Each disk by itself (Tables 5 and 7, Figures 2, 3, 5, 9 and 10).
    pub disks: Vec<DiskSummary>,
    /// What was read and written (Table 6, Figure 7); absent where the trace tells neither flags nor types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<TypeShare>,
    /// Requests that begin and end at multiples of sectors, pages, database blocks and RAID chunks; older results lack it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alignment: Vec<AlignedShare>,
    /// Time between two arrivals, whatever their disks, in nanoseconds (Figure 6).
    pub inter_arrival_ns: Distribution,
    /// Where requests begin relative to the end of the one before on their disk, all disks together (Figure 9).
    pub distances: Distances,
    /// Sequential requests of all disks together (Table 7).
    pub sequential: Sequential,
    /// Requests over time at the finest resolution kept (Figures 3, 4 and 8; tail latencies).
    pub over_time: Timeline,
    /// The same by hour of the clock, empty when the trace is too long for it.
    pub hourly: Timeline,
    /// The same by day.
    pub daily: Timeline,
    /// Transfer sizes by type (Figure 11).
    pub transfer_sizes: Vec<SizesOfType>,
    /// Blocks written again (Figure 12).
    pub overwrites: Overwrites,
    /// How few blocks take how many of the writes (Figure 13).
    pub popularity: Popularity,
    /// Non-volatile memory that would absorb the writes of 30 seconds (Figures 17 and 18).
    pub absorption: Vec<Absorption>,
    /// Distinct bytes touched, over time and in all.
    pub working_set: WorkingSet,
    /// Miss ratio of an LRU cache of any size.
    pub miss_ratio: MissRatio,
    /// How bursty arrivals are at each time scale.
    pub burstiness: Burstiness,
    /// Who issued what, the busiest first.
    pub processes: Vec<ProcessShare>,
    /// Response times over time.
    pub latency_map: Option<HeatMap>,
    /// Addresses over time, one picture per disk.
    pub address_maps: Vec<AddressMap>,
    /// Warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// What a load is broken down by.
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

crate::words::words!(Breakdown, "breakdown", Breakdown::Process => "process", Breakdown::Disk => "disk", Breakdown::Partition => "partition");

/// Requests and bytes of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Requests.
    pub ios: u64,
    /// Those that read.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written; a discard moves none.
    pub write_bytes: u64,
}

impl Load {
    /// Fraction of requests that are reads; 0 without requests.
    pub fn read_frac(&self) -> f64 {
        if self.ios == 0 { 0.0 } else { self.reads as f64 / self.ios as f64 }
    }

    /// Requests that do not read.
    pub fn writes(&self) -> u64 {
        self.ios.saturating_sub(self.reads)
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
    /// Name of the partition, empty when the source tells none.
    pub name: String,
    /// Requests and bytes.
    #[serde(flatten)]
    pub load: Load,
}

/// Both times of a request, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// From issue to completion: the disk works on it.
    pub physical_ns: Distribution,
    /// From arrival to completion: queueing included.
    pub elapsed_ns: Distribution,
}

/// Times of reads, of writes, and of both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpTimes {
    /// Reads.
    pub read: Times,
    /// Writes.
    pub write: Times,
    /// Both.
    pub all: Times,
}

impl OpTimes {
    /// Whether no time is known.
    pub fn is_empty(&self) -> bool {
        self.all.elapsed_ns.is_empty()
    }
}

/// One disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskSummary {
    /// Index of the device.
    pub device: u16,
    /// Its name.
    pub name: String,
    /// Requests and bytes.
    pub load: Load,
    /// Requests in the queue at an arrival, itself included, recomputed from the times (Table 5, Figure 2); like all figures of
    /// queues and idle times absent where the trace tells no completions.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub queue_length: Distribution,
    /// Fraction of arrivals that found the disk idle: a queue of 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_frac: Option<f64>,
    /// Mean queue length seen by reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_mean_read: Option<f64>,
    /// Mean queue length seen by writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_mean_write: Option<f64>,
    /// Mean queue length by day, from the first day on; absent on days without requests (Figure 3).
    pub daily_queue_mean: Vec<Option<f64>>,
    /// Requests whose recorded queue length equals the recomputed one; absent when none is recorded.
    pub queue_agreement: Option<QueueAgreement>,
    /// Idle periods, in nanoseconds.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub idle_ns: Distribution,
    /// Fraction of the time with no request in the queue or at the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_time_frac: Option<f64>,
    /// Mean number of requests in the queue and at the disk while there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_mean: Option<f64>,
    /// Where a request begins relative to the end of the one before (Figure 9).
    pub distances: Distances,
    /// Sequential requests (Table 7).
    pub sequential: Sequential,
    /// Numbers of writes with no read between them (Figure 10).
    pub write_groups: Runs,
    /// Numbers of writes that follow each other within 30 ms (Figure 10).
    pub write_bursts: Runs,
    /// Fraction of writes that write the same bytes as the write before.
    pub rewrite_frac: f64,
}

/// How often recorded and recomputed queue lengths agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueAgreement {
    /// Requests with a recorded queue length.
    pub recorded: u64,
    /// Those where it equals the recomputed one.
    pub equal: u64,
}

/// Signed distances from the end of one request to the beginning of the next, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// Number of distances.
    pub count: u64,
    /// The most frequent distances of whole KiB within 256 KiB, in KiB, with their counts; the first is the largest peak.
    pub peaks: Vec<(i64, u64)>,
    /// Distances by sign and logarithm: upper bound in bytes (negative ones: lower bound), count; in order.
    pub bins: Vec<(f64, u64)>,
}

/// Requests that begin where the one before on the disk ended, or the interleave after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sequential {
    /// Reads that begin where the request before ended.
    pub adjacent_reads: u64,
    /// Writes that do.
    pub adjacent_writes: u64,
    /// The file system's interleave in bytes, as given or as found; 0 without one.
    pub interleave_bytes: u64,
    /// Reads that begin that much further.
    pub interleaved_reads: u64,
    /// Writes that do.
    pub interleaved_writes: u64,
}

/// Runs of requests: how long they are and how many requests are in runs of each length.
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

/// Requests of one operation that are aligned to a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignedShare {
    /// Read or write.
    pub op: Op,
    /// The size, a power of two.
    pub unit_bytes: u64,
    /// Requests that move data.
    pub ios: u64,
    /// Those that begin and end at multiples of the size.
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
    /// Requests flagged synchronous.
    pub sync: u64,
    /// Requests flagged asynchronous.
    #[serde(rename = "async")]
    pub asynchronous: u64,
    /// Requests that did not come through a file system.
    pub raw: u64,
}

/// Numbers by equal steps of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Width of a step.
    pub step_ns: u64,
    /// Beginning of the first step, from the beginning of the trace; negative when the step began before it.
    pub start_ns: i64,
    /// The steps, without gaps.
    pub steps: Vec<TimeStep>,
}

/// One step of time, by arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeStep {
    /// Requests and bytes.
    #[serde(flatten)]
    pub load: Load,
    /// Mean elapsed time in nanoseconds; absent without requests, and where the trace tells no completions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_mean_ns: Option<f64>,
    /// Longest elapsed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_max_ns: Option<f64>,
    /// Median of the elapsed time; quantiles are kept for the finest timeline only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_p50_ns: Option<f64>,
    /// 99th percentile of the elapsed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_p99_ns: Option<f64>,
    /// 99.9th percentile of the elapsed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_p999_ns: Option<f64>,
}

/// Sizes of one type and operation (Figure 11).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizesOfType {
    /// What the blocks hold.
    pub io_type: IoType,
    /// Read or write.
    pub op: Op,
    /// Sizes in bytes.
    pub bytes: Distribution,
}

/// Blocks written again (Figure 12).
///
/// A request of n bytes touches n / block blocks, rounded up, from the block it begins in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overwrites {
    /// Time from one write of a block to its next, in nanoseconds.
    pub delay_ns: Distribution,
    /// Blocks written, each time counted.
    pub block_writes: u64,
    /// Fraction of the overwrites within a second, 30 seconds, an hour.
    pub within_1s: f64,
    /// Within 30 seconds.
    pub within_30s: f64,
    /// Within an hour.
    pub within_1h: f64,
}

/// How writes spread over blocks, the most written first (Figure 13).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Popularity {
    /// Distinct blocks written.
    pub blocks_written: u64,
    /// Share of the block writes that go to the most written n blocks: n, share.
    pub curve: Vec<(u64, f64)>,
    /// Share that goes to 1 % of the written blocks.
    pub top_1_percent_written: f64,
    /// Share that goes to 1 % of all blocks of the devices, when their capacity is told.
    pub top_1_percent_capacity: Option<f64>,
}

/// Non-volatile memory needed for the writes of 30 seconds (Figures 17 and 18).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Absorption {
    /// `all` or `metadata`.
    pub writes: String,
    /// Length of an interval.
    pub interval_ns: u64,
    /// Intervals with at least one such write.
    pub intervals: u64,
    /// Distinct bytes written in an interval, in bytes.
    pub bytes: Distribution,
    /// Fraction of intervals (of those with writes) that fit 100 KiB.
    pub fit_100k: f64,
    /// Fraction that fits 200 KiB.
    pub fit_200k: f64,
    /// Fraction of the written bytes that overwrite bytes written earlier in the same interval.
    pub overwritten_frac: f64,
    /// Cache emptied after each interval: bytes, least share of written bytes taken, and of overwrites (Figure 18).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorbed: Vec<[f64; 3]>,
}

/// Distinct bytes touched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkingSet {
    /// Distinct bytes touched in all, in whole blocks.
    pub bytes: u64,
    /// Distinct bytes read, in whole blocks.
    pub read_bytes: u64,
    /// Distinct bytes written, in whole blocks.
    pub write_bytes: u64,
    /// Distinct bytes touched in each window of time.
    pub over_time: Vec<WorkingSetWindows>,
}

/// Distinct bytes by windows of one width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkingSetWindows {
    /// Width of a window.
    pub window_ns: u64,
    /// Beginning of the first window, from the beginning of the trace.
    pub start_ns: i64,
    /// Distinct bytes touched in each.
    pub bytes: Vec<u64>,
}

/// Miss ratio of an LRU cache by its size, reads and writes alike, every miss allocating.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MissRatio {
    /// The curves: exact where the block table was small enough, and sampled by block (SHARDS).
    pub curves: Vec<MissRatioCurve>,
}

/// One miss-ratio curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MissRatioCurve {
    /// One block in this many is followed; 1 is exact.
    pub one_in: u64,
    /// Distinct blocks followed.
    pub blocks: u64,
    /// Mean absolute error of the miss ratio over all sizes: against the exact curve where there is one, else a bound of it that
    /// holds for nine of ten traces, the mean half width of `interval90`; 0 for the exact curve.
    pub error: f64,
    /// For each point of a sampled curve, between which miss ratios the exact curve lies: for nine of ten traces at every point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval90: Vec<[f64; 2]>,
    /// Cache size in bytes, miss ratio.
    pub points: Vec<(f64, f64)>,
}

/// Burstiness of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Burstiness {
    /// Index of dispersion for counts by window: width in nanoseconds, variance over mean of the arrivals in a window; 1 is Poisson.
    pub dispersion: Vec<(u64, f64)>,
    /// Hurst exponent from the growth of the variance with the window; 0.5 has no long memory. Absent with too few windows.
    pub hurst: Option<f64>,
    /// Squared coefficient of variation of the inter-arrival times; 1 is Poisson.
    pub inter_arrival_scv: f64,
}

/// What one process or command issued.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessShare {
    /// Process number.
    pub process: u32,
    /// Its command, empty when not told.
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
    /// Counts that are not 0: column, row, count.
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
    /// Requests that are not 0: column, row, reads, writes.
    pub cells: Vec<(u32, u32, u64, u64)>,
}
