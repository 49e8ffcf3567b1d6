//! What a simulation of disks found: times by policy and cache size, agreement with measured times, and absorbed writes.

use serde::{Deserialize, Serialize};

/// Times of a group of requests, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedTimes {
    /// Requests.
    pub requests: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 90 % are at most this.
    pub p90_ns: u64,
    /// 99 % are at most this.
    pub p99_ns: u64,
    /// Longest.
    pub max_ns: u64,
}

/// Times of all requests, of reads and of writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedOperations {
    /// Both.
    pub all: SimulatedTimes,
    /// Reads.
    pub read: SimulatedTimes,
    /// Writes.
    pub write: SimulatedTimes,
}

/// Mean parts of a request's time, in nanoseconds; what overlaps counts in each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedParts {
    /// In the host's queue.
    pub queue_ns: f64,
    /// At the disk, waiting for the mechanism or for room in its buffer.
    pub wait_ns: f64,
    /// Controller.
    pub overhead_ns: f64,
    /// On the bus or waiting for it.
    pub bus_ns: f64,
    /// Seek and settling.
    pub seek_ns: f64,
    /// Rotation.
    pub rotation_ns: f64,
    /// Medium.
    pub transfer_ns: f64,
}

/// One combination of policies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedCell {
    /// The host's order of requests.
    pub scheduler: String,
    /// Write cache at the disk: `none`, `immediate` or `nvram`.
    pub cache: String,
    /// Order in which it is written to the medium: `fcfs` or `satf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destage: Option<String>,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// Whether the disk reads ahead.
    pub read_ahead: bool,
    /// Time at the disk (issue to completion).
    pub physical: SimulatedOperations,
    /// Time in queue and at the disk.
    pub elapsed: SimulatedOperations,
    /// Where the time goes.
    pub parts: SimulatedParts,
    /// Bytes the host wrote.
    pub written_bytes: u64,
    /// Bytes overwritten in the disk's buffer, which never went to the medium.
    pub absorbed_bytes: u64,
    /// Bytes programmed into flash for every byte written, of a solid-state drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_amplification: Option<f64>,
    /// Distribution of physical times: `[nanoseconds, share of requests that took at most this]`.
    pub physical_distribution: Vec<[f64; 2]>,
    /// The drive, where drives are compared or devices have different ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<String>,
    /// The array that stands for every device: `raid0:DISKS:CHUNK`, `raid1:DISKS` or `raid5:DISKS:CHUNK`; absent: a drive alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// Commands that a disk takes at once, where it is more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Mean share of the time in which a drive has a command; absent in files of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Against the recorded times, where every trace was simulated on a drive of its own; otherwise it is told once for all cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<SimulationAgreement>,
    /// Energy that all drives took, in joules, where their files tell it; a disk that writes its cache by itself counts as busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_j: Option<f64>,
}

/// How far simulated physical times are from the recorded ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulationAgreement {
    /// Requests compared.
    pub requests: u64,
    /// Mean of the recorded times.
    pub measured_mean_ns: f64,
    /// Mean of the simulated times.
    pub simulated_mean_ns: f64,
    /// Root mean square distance of the distributions; 0 in files of before it was kept.
    #[serde(default)]
    pub rms_ns: f64,
    /// Root mean square distance of the distributions as a share of the measured mean; blind to single requests.
    pub demerit: f64,
    /// Requests soon after another, predicted one by one from the recorded state of the disk: how many.
    pub paired_requests: u64,
    /// Median of their absolute errors.
    pub paired_median_ns: f64,
    /// Share of them within a millisecond.
    pub paired_within_1ms: f64,
    /// Distribution of the recorded times, as in a cell.
    pub measured_distribution: Vec<[f64; 2]>,
    /// Distribution of the simulated times of the same requests, in the first combination.
    pub simulated_distribution: Vec<[f64; 2]>,
}

impl SimulationAgreement {
    /// Largest demerit of a drive that is called calibrated: Ruemmler & Wilkes' full models (IEEE Computer 1994) are within 6 %, and 4 %
    /// leaves room for less than that.
    pub const DEMERIT_MOST: f64 = 0.04;

    /// Least share of requests within a millisecond of a drive that is called calibrated: without the angle of the platter, which the
    /// demerit does not see, it is 12 to 23 %.
    pub const WITHIN_1MS_LEAST: f64 = 0.8;
}

/// One size of a write cache at the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostCachePoint {
    /// Its size.
    pub cache_bytes: u64,
    /// Share of the intervals with writes in which it takes all of them (figure 17 of Ruemmler & Wilkes 1993).
    pub intervals: f64,
    /// Share of the bytes written that it takes (figure 18, total).
    pub total: f64,
    /// Share of the bytes written that overwrite bytes in it (figure 18, overwrites).
    pub overwrites: f64,
}

/// What a non-volatile cache at the host of each given size absorbs, emptied at the end of every interval: an exact
/// simulation of caches that fill in the order of first writes. The summary of a trace asks the wider question of how
/// much an interval writes ([`Absorption`](crate::trace_summary::Absorption)), whose shares are lower bounds of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostCacheAbsorption {
    /// Which writes: `all`, `metadata` or `user_data`.
    pub writes: String,
    /// Length of an interval.
    pub interval_s: f64,
    /// Intervals with such writes.
    pub intervals: u64,
    /// By size.
    pub points: Vec<HostCachePoint>,
}

/// The result of `ioscape simulate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// The drive.
    pub drive: String,
    /// How far its parameters can be trusted.
    pub drive_status: String,
    /// The trace, as named.
    pub trace: String,
    /// Devices of the trace that were simulated.
    pub devices: Vec<String>,
    /// When requests came: `queued`, `issued` or `closed`.
    pub arrivals: String,
    /// Requests simulated in the first cell, or of all traces where each has a drive of its own; other cells have as many but for
    /// discards, which not every drive takes.
    pub requests: u64,
    /// All combinations, in the order asked.
    pub cells: Vec<SimulatedCell>,
    /// Against the recorded times, when the trace has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<SimulationAgreement>,
    /// Writes absorbed at the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absorption: Vec<HostCacheAbsorption>,
    /// What was stated and is not part of this simulation: keys of drives' files, discards of the trace, energy that no file tells,
    /// think times of a closed system that the trace does not tell. Empty in files of before it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}
