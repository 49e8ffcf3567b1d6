//! The result of a disk simulation: times by policy and cache size, agreement with measured times,
//! and absorbed writes.

use serde::{Deserialize, Serialize};

/// What a simulated solid-state drive holds when a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filled {
    /// Nothing, as it left the factory: for long no garbage to collect, and reads need no flash.
    Empty,
    /// Every page was written once, in order: what a trace reads was written before the trace
    /// began.
    #[default]
    Full,
    /// Pages were written at random for long: the cost of garbage collection has settled.
    SteadyState,
}

impl Filled {
    /// Returns its word in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Full => "full",
            Self::SteadyState => "steady-state",
        }
    }
}

/// Times of a group of requests, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedTimes {
    /// Number of requests.
    pub requests: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Longest.
    pub max_ns: u64,
}

/// Times of all requests, of the reads and of the writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedOperations {
    /// Reads and writes together.
    pub all: SimulatedTimes,
    /// Reads.
    pub read: SimulatedTimes,
    /// Writes.
    pub write: SimulatedTimes,
}

/// Mean parts of a request's time, in nanoseconds. Parts that overlap count in each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedParts {
    /// Time in the host's queue.
    pub queue_ns: f64,
    /// Time at the disk spent waiting for the mechanism or for room in the disk's buffer.
    pub wait_ns: f64,
    /// Controller overhead.
    pub overhead_ns: f64,
    /// Time on the bus or waiting for it.
    pub bus_ns: f64,
    /// Seek time, including settling.
    pub seek_ns: f64,
    /// Rotational latency.
    pub rotation_ns: f64,
    /// Transfer time at the medium.
    pub transfer_ns: f64,
}

/// Results for one combination of policies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedCell {
    /// The host's I/O scheduler; `no host queue` for a solid-state drive.
    pub scheduler: String,
    /// Write cache at the disk: `none`, `immediate`, `volatile` or `nvram`; of a solid-state drive
    /// `write buffer`.
    pub cache: String,
    /// Order in which the write cache is destaged to the medium: `fcfs` or `satf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destage: Option<String>,
    /// Size of the write cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// Whether the disk reads ahead.
    pub read_ahead: bool,
    /// Time at the disk (issue to completion).
    pub physical: SimulatedOperations,
    /// Time in the queue and at the disk (arrival to completion).
    pub elapsed: SimulatedOperations,
    /// Where the time goes.
    pub parts: SimulatedParts,
    /// Bytes the host wrote.
    pub written_bytes: u64,
    /// Bytes overwritten in the disk's buffer and so never written to the medium.
    pub absorbed_bytes: u64,
    /// Bytes programmed into flash per byte written; solid-state drives only, absent where the spare
    /// flash of one is assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_amplification: Option<f64>,
    /// Blocks of flash that garbage collection erased; solid-state drives only, absent in older
    /// files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_blocks: Option<u64>,
    /// Distribution of physical times: `[nanoseconds, fraction of requests that took at most
    /// this]`.
    pub physical_distribution: Vec<[f64; 2]>,
    /// The drive, when drives are compared or devices have different drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<String>,
    /// The array simulated for every device: `raid0:DISKS:CHUNK`, `raid1:DISKS` or
    /// `raid5:DISKS:CHUNK`; absent for a single drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// Commands that a disk accepts at once, if more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Mean fraction of the time that a drive is busy with a command; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// That fraction of the busiest of several drives; absent for one drive and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization_most: Option<f64>,
    /// Agreement with the recorded times, when every trace had its own drive; otherwise the
    /// simulation states it once for all cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<SimulationAgreement>,
    /// Energy used by all drives, in joules, if their files state power; a disk that is destaging
    /// its cache counts as busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_j: Option<f64>,
}

/// How closely the simulated physical times of one device match the recorded ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceAgreement {
    /// The device.
    pub device: String,
    /// Requests compared.
    pub requests: u64,
    /// Root mean square distance between the distributions as a fraction of the measured mean.
    pub demerit: f64,
    /// Number of requests that were each predicted from the recorded state of the disk.
    pub paired_requests: u64,
    /// Fraction of these predictions within a millisecond.
    pub paired_within_1ms: f64,
}

/// How closely simulated physical times match the recorded ones: those of the device with the most
/// requests compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulationAgreement {
    /// Every device with requests compared, those with the most first; empty if the trace has one
    /// device, and in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceAgreement>,
    /// Requests compared.
    pub requests: u64,
    /// Mean of the recorded times.
    pub measured_mean_ns: f64,
    /// Mean of the simulated times.
    pub simulated_mean_ns: f64,
    /// Root mean square distance between the distributions; 0 in older files.
    #[serde(default)]
    pub rms_ns: f64,
    /// Root mean square distance between the distributions as a fraction of the measured mean; it
    /// does not see errors of single requests.
    pub demerit: f64,
    /// Number of requests that closely follow another one and were each predicted from the recorded
    /// state of the disk.
    pub paired_requests: u64,
    /// Median absolute error of these predictions.
    pub paired_median_ns: f64,
    /// Fraction of these predictions within a millisecond.
    pub paired_within_1ms: f64,
    /// Distribution of the recorded times, in the form used by a cell.
    pub measured_distribution: Vec<[f64; 2]>,
    /// Distribution of the simulated times of the same requests, in the first combination.
    pub simulated_distribution: Vec<[f64; 2]>,
}

impl SimulationAgreement {
    /// Largest demerit of a drive that counts as calibrated. The full models of Ruemmler & Wilkes
    /// (IEEE Computer 1994) are within 6 %; 4 % leaves less room than that.
    pub const DEMERIT_MOST: f64 = 0.04;

    /// Smallest fraction of requests within a millisecond for a drive that counts as calibrated. A
    /// model without the angle of the platter, which the demerit does not see, reaches 12 to 23 %.
    pub const WITHIN_1MS_LEAST: f64 = 0.8;
}

/// Results for one size of a write cache at the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostCachePoint {
    /// Size of the cache.
    pub cache_bytes: u64,
    /// Fraction of the intervals with writes in which the cache absorbs all of them (figure 17 of
    /// Ruemmler & Wilkes 1993).
    pub intervals: f64,
    /// Fraction of the written bytes that the cache absorbs (figure 18, total).
    pub total: f64,
    /// Fraction of the written bytes that overwrite bytes in the cache (figure 18, overwrites).
    pub overwrites: f64,
}

/// What a non-volatile cache at the host absorbs, by cache size. The cache is emptied at the end of
/// every interval. This is an exact simulation of caches that fill in the order of first writes.
/// The summary of a trace asks how much an interval writes
/// ([`Absorption`](crate::trace_summary::Absorption)); its fractions are lower bounds of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostCacheAbsorption {
    /// The writes considered: `all`, `metadata` or `user_data`.
    pub writes: String,
    /// Length of an interval.
    pub interval_s: f64,
    /// Intervals with such writes.
    pub intervals: u64,
    /// One point per cache size.
    pub points: Vec<HostCachePoint>,
}

/// The result of `ioscape simulate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// The drive.
    pub drive: String,
    /// How far the drive's parameters can be trusted.
    pub drive_status: String,
    /// The trace, as the user named it.
    pub trace: String,
    /// Devices of the trace that were simulated.
    pub devices: Vec<String>,
    /// The arrival model: `queued`, `issued` or `closed`.
    pub arrivals: String,
    /// Requests simulated in the first cell, or in all traces where each has its own drive. Other
    /// cells have as many, except for discards, which not every drive accepts.
    pub requests: u64,
    /// All combinations, in the order asked.
    pub cells: Vec<SimulatedCell>,
    /// Agreement with the recorded times, if the trace has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<SimulationAgreement>,
    /// Writes absorbed at the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorption: Vec<HostCacheAbsorption>,
    /// What the inputs state but this simulation leaves out: keys of drive files, discards in the
    /// trace, energy that no file states, and think times of a closed system that the trace does
    /// not record. Empty in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}
