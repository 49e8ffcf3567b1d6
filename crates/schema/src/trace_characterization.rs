//! A block trace as workloads of five parameters, and how well they describe it.

use crate::range::{fraction, not_negative};
use serde::{Deserialize, Serialize};

/// A trace as workloads of five parameters: `trace characterize`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceCharacterization {
    /// Name the user gave the trace: its file names.
    pub name: String,
    /// All requests.
    pub overall: TraceTraits,
    /// Those of each disk, when there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<TraceTraits>,
    /// Those of each process, the busiest first, when the trace tells processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<TraceTraits>,
    /// Those that arrived in each window of time, when windows were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<TraceTraits>,
}

/// Five parameters and how well they describe the requests they were taken from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceTraits {
    /// What the requests have in common: a disk, a process, a window.
    pub name: String,
    /// The workload: the five parameters, the nearest size distribution, and the think time.
    #[serde(flatten)]
    pub workload: crate::Workload,
    /// 1 less the largest of the three distances: 1 is a workload of the model itself, 0 nothing like it.
    #[serde(deserialize_with = "fraction")]
    pub goodness: f64,
    /// Largest difference between the cumulative distributions of the sizes seen and of the workload's size distribution.
    pub size_distance: f64,
    /// The same for the lengths of sequential runs, which are geometric in the model.
    pub run_distance: f64,
    /// How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1 - r).
    pub mix_distance: f64,
    /// Requests that move data.
    pub requests: u64,
    /// Bytes they move.
    pub bytes: u64,
    /// Distinct processes that issued them; 0 when the trace tells none.
    pub processes_seen: u64,
    /// Mean elapsed time of a request in nanoseconds; absent where the trace tells no completions.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub response_time_ns: Option<f64>,
    /// Time from the first arrival to the last completion in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
}
