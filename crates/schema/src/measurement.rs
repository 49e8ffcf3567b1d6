//! What one run of one workload yields.

use crate::range::{fraction, not_negative};
use crate::{Clients, Sustained, VerifyReport, Warning, Witness, Workload};
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The 95 % confidence interval of throughput became narrow enough.
    Confident,
    /// All phases of the workload were carried out.
    PhasesOver,
    /// The time cap was reached first.
    #[default]
    TimeCap,
    /// The user interrupted.
    Interrupted,
}

/// Summary of response times, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseTime {
    /// Arithmetic mean.
    #[serde(deserialize_with = "not_negative")]
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Longest.
    pub max: u64,
}

/// The reads alone or the writes alone of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// Completed requests.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Bytes per second of the whole elapsed time.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// Their response times.
    pub response_time_ns: ResponseTime,
}

/// One workload, measured: how much, how fast, how certain, at what cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the job, where the user gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What was run.
    pub workload: Workload,
    /// Completed requests in the measured part.
    pub ios: u64,
    /// Bytes moved in the measured part.
    pub bytes: u64,
    /// Length of the measured part, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// Bytes per second, all processes together.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// 95 % confidence interval of the throughput in bytes per second: low and high, from batch means.
    pub throughput_ci95: [f64; 2],
    /// Response times of all requests.
    pub response_time_ns: ResponseTime,
    /// Mean response time by Little's law, requests in flight over request rate, in nanoseconds: a cross-check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_littles_law_ns: Option<f64>,
    /// The reads; absent when none was issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Direction>,
    /// The writes; absent when none was issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Direction>,
    /// User seconds of all threads of all workers, kernel helper threads included.
    pub cpu_user_s: f64,
    /// System seconds of the same.
    pub cpu_system_s: f64,
    /// User and system nanoseconds per request.
    pub cpu_ns_per_io: f64,
    /// Share of the elapsed time spent in I/O: one minus what the harness itself needs.
    pub io_time_frac: f64,
    /// Whether removing the I/O would shorten the run more than removing all else (self-scaling paper, section 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_limited: Option<bool>,
    /// Why the run ended.
    pub stop: Stop,
    /// Seconds in which the set was read into the file cache before the warm-up; absent where nothing had to be read.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub fill_s: Option<f64>,
    /// Whether the set was not, or not wholly, read past the file cache before direct reads of it, which would have taken too long: of it a device's
    /// own cache then holds what earlier runs left there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_read_in: bool,
    /// Seconds of warm-up before the measured part.
    #[serde(default, deserialize_with = "not_negative")]
    pub warm_up_s: f64,
    /// Wall seconds the whole point took: layout, flush, filling of the cache, warm-up and measurement.
    #[serde(default, deserialize_with = "not_negative")]
    pub cost_s: f64,
    /// Throughput of the busiest tenth of the run's time slices over its mean: large when stalled, and above 1 by chance too where a
    /// slice has few requests (with two about 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_ratio: Option<f64>,
    /// Bytes the storage layer read for the workers; absent where the kernel does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_read_bytes: Option<u64>,
    /// Share of the set that was in the file cache after the run; absent where it cannot be asked.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "fraction")]
    pub resident_frac: Option<f64>,
    /// What the kernel says in addition to the throughput.
    #[serde(default, skip_serializing_if = "Witness::is_silent")]
    pub witness: Witness,
    /// Processors that other programs kept busy in user mode during the measured part, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpu: Option<f64>,
    /// Whether load by others, stolen time or drift disturbed the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
    /// What verifying its data found, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyReport>,
    /// The clients, where several ran the workload at the same time: each ran it with a set of its own, and everything else here is
    /// their sum. Quantiles of response times are those of the client with the longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Clients>,
    /// The course of the run, and what it shows, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained: Option<Box<Sustained>>,
    /// Warnings about this run.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl Measurement {
    /// A measurement of nothing yet, to be filled in.
    pub fn empty(workload: Workload, stop: Stop) -> Self {
        Self { workload, stop, ..Self::default() }
    }

    /// Requests per second.
    pub fn iops(&self) -> f64 {
        if self.elapsed_s > 0.0 { self.ios as f64 / self.elapsed_s } else { 0.0 }
    }

    /// Half the width of the confidence interval over the throughput; infinite without throughput.
    pub fn relative_error(&self) -> f64 {
        let [low, high] = self.throughput_ci95;
        if self.throughput_bytes_per_s > 0.0 {
            (high - low) / 2.0 / self.throughput_bytes_per_s
        } else {
            f64::INFINITY
        }
    }

    /// Share of read bytes served without the storage layer; absent without reads or counters.
    pub fn read_hit_frac(&self) -> Option<f64> {
        let read = self.read.filter(|r| r.bytes > 0)?;
        let missed = self.storage_read_bytes? as f64 / read.bytes as f64;
        Some((1.0 - missed).clamp(0.0, 1.0))
    }
}
