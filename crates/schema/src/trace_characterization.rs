//! A block trace expressed as five-parameter workloads, and how well they describe it.

use crate::range::{fraction, not_negative};
use serde::{Deserialize, Serialize};

/// A trace expressed as five-parameter workloads: the result of `trace characterize`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceCharacterization {
    /// The trace, as the user named it: its file names.
    pub name: String,
    /// All requests.
    pub overall: TraceTraits,
    /// The requests of each disk, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<TraceTraits>,
    /// The requests of each process, busiest first, if the trace records processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<TraceTraits>,
    /// The requests that arrived in each time window, if windows were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<TraceTraits>,
}

/// Five parameters, and how well they describe the requests they were derived from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceTraits {
    /// What the requests have in common: a disk, a process, a window.
    pub name: String,
    /// The workload: the five parameters, the nearest size distribution, and the think time.
    #[serde(flatten)]
    pub workload: crate::Workload,
    /// 1 minus the largest of the three distances: at 1 the requests follow the model exactly, at 0
    /// not at all.
    #[serde(deserialize_with = "fraction")]
    pub goodness: f64,
    /// Largest difference between the cumulative distributions of the observed sizes and of the
    /// workload's size distribution.
    pub size_distance: f64,
    /// The same for the lengths of sequential runs, which the model takes as geometric.
    pub run_distance: f64,
    /// Distance of the fraction of read/write changes between successive requests from the model's
    /// 2 r (1 - r).
    pub mix_distance: f64,
    /// Number of requests that move data.
    pub requests: u64,
    /// Bytes they move.
    pub bytes: u64,
    /// Number of distinct processes that issued them; 0 if the trace does not record processes.
    pub processes_seen: u64,
    /// Mean elapsed time of a request in nanoseconds; absent if the trace does not record
    /// completions.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub response_time_ns: Option<f64>,
    /// Time from the first arrival to the last completion in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// Number of flushes of the drive's cache and of writes past it (FUA).
    #[serde(default)]
    pub syncs: u64,
    /// Time in which nothing but flushes was in flight, in seconds. It counts as think time unless the
    /// access is dsync.
    #[serde(default, deserialize_with = "not_negative")]
    pub flush_s: f64,
}
