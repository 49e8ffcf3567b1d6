//! The result of one run of one workload.

use crate::range::{fraction, not_negative};
use crate::statistics::least_for;
use crate::{Clients, Sustained, VerifyReport, Warning, Witness, Workload};
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The 95 % confidence interval of throughput became narrow enough.
    Confident,
    /// All phases of the workload were executed.
    PhasesOver,
    /// The time cap was reached first.
    #[default]
    TimeCap,
    /// The user interrupted.
    Interrupted,
}

crate::words!(Stop, Confident => "confident", PhasesOver => "phases over", TimeCap => "time cap",
    Interrupted => "interrupted");

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

impl ResponseTime {
    /// Returns the median, the 90th, 99th and 99.9th percentiles and the longest of `ios` requests;
    /// `None` for what so few do not tell ([`least_for`]).
    pub fn told(&self, ios: u64) -> [Option<u64>; 5] {
        let all =
            [(500, self.p50), (900, self.p90), (990, self.p99), (999, self.p999), (0, self.max)];
        all.map(|(of, ns)| (ios >= least_for(of)).then_some(ns))
    }

    /// Returns the 99th percentile of `ios` requests; `None` if they are too few.
    pub fn p99_of(&self, ios: u64) -> Option<u64> {
        self.told(ios)[2]
    }

    /// Returns the 99th percentile of an unknown number of requests; `None` if it is the longest
    /// time, as it is of fewer than 100.
    pub fn p99_below_longest(&self) -> Option<u64> {
        (self.p99 < self.max).then_some(self.p99)
    }
}

/// The reads alone or the writes alone of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// Completed requests.
    pub ios: u64,
    /// Bytes moved by these requests.
    pub bytes: u64,
    /// Bytes per second of the whole elapsed time.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// Response times of these requests.
    pub response_time_ns: ResponseTime,
}

/// One measured workload: its volume, speed, certainty and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the job, if the user gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The workload that was run.
    pub workload: Workload,
    /// Completed requests in the measured part.
    pub ios: u64,
    /// Bytes moved in the measured part.
    pub bytes: u64,
    /// Length of the measured part, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// Throughput in bytes per second, all processes together.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// 95 % confidence interval of the throughput from batch means: low and high, in bytes per
    /// second. Where processes were stopped or had to wait for processors, it may reach up to the
    /// throughput of the remaining time.
    pub throughput_ci95: [f64; 2],
    /// Response times of all requests.
    pub response_time_ns: ResponseTime,
    /// Mean response time in nanoseconds by Little's law (requests in flight over request rate, less
    /// the think time): a cross-check. With pauses and a queue depth above 1 it is the time until
    /// the last request of a queue completes, the most that the mean can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_littles_law_ns: Option<f64>,
    /// The reads; absent if none were issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Direction>,
    /// The writes; absent if none were issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Direction>,
    /// User CPU seconds of all threads of all workers, kernel helper threads included.
    pub cpu_user_s: f64,
    /// System CPU seconds of the same threads.
    pub cpu_system_s: f64,
    /// User and system CPU nanoseconds per request.
    pub cpu_ns_per_io: f64,
    /// Fraction of the elapsed time spent in I/O: one minus the harness's own part.
    pub io_time_frac: f64,
    /// Whether removing the I/O would shorten the run more than removing everything else
    /// (self-scaling paper, section 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_limited: Option<bool>,
    /// Why the run ended.
    pub stop: Stop,
    /// Seconds spent on reading the set into the file cache before the warm-up; absent if nothing
    /// had to be read.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub fill_s: Option<f64>,
    /// Whether reading the whole set past the file cache before direct reads would have taken too
    /// long and was skipped or cut short. A device's own cache then holds what earlier runs left
    /// there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_read_in: bool,
    /// Seconds of warm-up before the measured part.
    #[serde(default, deserialize_with = "not_negative")]
    pub warm_up_s: f64,
    /// Total wall time of the point in seconds: layout, flush, cache fill, warm-up and measurement.
    #[serde(default, deserialize_with = "not_negative")]
    pub cost_s: f64,
    /// Seconds from the end of the previous point of an evaluation to the beginning of this one, for
    /// judging, saving and choosing this point; absent elsewhere and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub deciding_s: Option<f64>,
    /// Throughput of the busiest tenth of the run's time slices over the mean. It is large if the
    /// run stalled, but also above 1 by chance if a slice has few requests (with two, about 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_ratio: Option<f64>,
    /// Seconds for which requests stalled, summed over all requests: the response times that are at
    /// least 50 ms and 100 times the median. Absent without any, and in older results.
    #[serde(
        default,
        skip_serializing_if = "crate::absent::is_default",
        deserialize_with = "not_negative"
    )]
    pub stalled_s: f64,
    /// Bytes that the storage layer read for the workers; absent if the kernel does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_read_bytes: Option<u64>,
    /// Fraction of the set in the file cache after the run; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "fraction")]
    pub resident_frac: Option<f64>,
    /// What the kernel reports besides the throughput.
    #[serde(default, skip_serializing_if = "Witness::is_silent")]
    pub witness: Witness,
    /// Average number of processors that other programs kept busy in user mode during the measured
    /// part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpu: Option<f64>,
    /// Whether other load, stolen time or drift disturbed the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
    /// Result of verifying the data, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyReport>,
    /// The clients, if several ran the workload at the same time. Each had its own set, and all
    /// other figures here are their sums. Only response-time quantiles are those of the client with
    /// the longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Clients>,
    /// The course of the run over time and what it shows, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained: Option<Box<Sustained>>,
    /// Warnings about this run.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl Measurement {
    /// Returns an empty measurement, to be filled in.
    pub fn empty(workload: Workload, stop: Stop) -> Self {
        Self { workload, stop, ..Self::default() }
    }

    /// Returns the requests per second.
    pub fn iops(&self) -> f64 {
        if self.elapsed_s > 0.0 { self.ios as f64 / self.elapsed_s } else { 0.0 }
    }

    /// Returns the seconds of a budget that the point took; 0 where that is not a positive number.
    pub fn spent_s(&self) -> f64 {
        let spent_s = self.cost_s + self.deciding_s.unwrap_or(0.0);
        if spent_s.is_finite() { spent_s.max(0.0) } else { 0.0 }
    }

    /// Returns half the width of the confidence interval over the throughput, as if its lower end
    /// were not cut off at 0; infinite without throughput.
    pub fn relative_error(&self) -> f64 {
        let throughput = self.throughput_bytes_per_s;
        if throughput > 0.0 {
            let [low, high] = self.throughput_ci95;
            (high - throughput).max((high - low) / 2.0) / throughput
        } else {
            f64::INFINITY
        }
    }

    /// Returns the fraction of read bytes served without the storage layer; `None` without reads or
    /// counters.
    pub fn read_hit_frac(&self) -> Option<f64> {
        let read = self.read.filter(|r| r.bytes > 0)?;
        let missed = self.storage_read_bytes? as f64 / read.bytes as f64;
        Some((1.0 - missed).clamp(0.0, 1.0))
    }
}
