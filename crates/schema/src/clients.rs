//! Clients that ran one workload at the same time on shared storage.

use crate::range::not_negative;
use serde::{Deserialize, Serialize};

/// One client's part in a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// Number of the client, from 0.
    pub rank: u32,
    /// The machine it ran on.
    pub host: String,
    /// Bytes per second.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// 95 % confidence interval of the throughput in bytes per second: low and high.
    pub throughput_ci95: [f64; 2],
    /// Mean response time in nanoseconds.
    #[serde(deserialize_with = "not_negative")]
    pub response_time_mean_ns: f64,
    /// Whether its whole confidence interval lies below 80 % of the median client's throughput.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub straggles: bool,
}

/// How evenly the clients of a measurement were served, and how well they ran together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clients {
    /// Each client, by number.
    pub each: Vec<Client>,
    /// Jain's index of the throughputs: 1 if all are equal, 1 over the number of clients if one
    /// gets everything.
    pub fairness: f64,
    /// Least and greatest throughput of a client over the mean.
    pub spread: [f64; 2],
    /// Longest time from the first to the last client's start of a measured part, in nanoseconds of
    /// one clock.
    pub start_skew_ns: u64,
    /// Possible error of the clocks' offsets from one another, in nanoseconds: half the shortest
    /// round trip.
    pub clock_error_ns: u64,
    /// Seconds spent on agreeing on start times, apart from the clients' own preparation.
    #[serde(deserialize_with = "not_negative")]
    pub coordination_s: f64,
    /// Number of agreed starts: the measured part may consist of several windows.
    pub windows: u32,
}
