//! What is said about workloads that were not measured: predictions, comparisons and their validation.

use crate::range::{fraction, not_negative};
use crate::{Access, Measurement, Parameter, Verdict, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The predicted performance of one workload on one system (self-scaling paper, section 9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Name of the workload in its set, such as `database`; absent for one given by its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The system: the evaluation's target, or the name of the result file where several systems are asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// The workload.
    pub workload: Workload,
    /// Bytes per second, all processes together.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// Range that holds nine of ten measurements of such a workload, in bytes per second: low and high.
    #[serde(deserialize_with = "not_negative")]
    pub interval90: [f64; 2],
    /// Requests per second.
    #[serde(deserialize_with = "not_negative")]
    pub iops: f64,
    /// Mean response time by Little's law: requests in flight over request rate.
    #[serde(deserialize_with = "not_negative")]
    pub response_time_ns: f64,
    /// Name of the region that holds the workload's `unique_bytes`, or with other memory a set that was served like it; after `group, ` one
    /// of the evaluation in a small control group.
    pub region: String,
    /// Whether some parameter lies outside the range that was measured: then the interval is a guess.
    pub extrapolated: bool,
    /// What else is predicted of an application whose trace was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationForecast>,
}

/// Where the time of a traced application goes on a system, and how much memory it needs there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ApplicationForecast {
    /// From its beginning to its end, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// What that time is made of; the parts add up to `elapsed_s`.
    pub parts: Vec<TimePart>,
    /// Share of the bytes read that the caches hold.
    #[serde(deserialize_with = "fraction")]
    pub read_hit_frac: f64,
    /// 90 % interval of that share: by how much parts of the trace differ, and how well the evaluation knows the size of its caches.
    /// Absent where the trace's file does not tell how much its parts differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_hit_interval90: Option<[f64; 2]>,
    /// Share of the bytes written that storage gets.
    #[serde(deserialize_with = "fraction")]
    pub written_through_frac: f64,
    /// 90 % interval of that share, from the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_through_interval90: Option<[f64; 2]>,
    /// How memory matters; absent where no cache of the size of the system's memory was found, where that is unknown, or where the access passes the file
    /// cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryForecast>,
}

/// One part of an application's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimePart {
    /// What is done: `reads from memory`, `reads from storage`, `computing` and so on.
    pub name: String,
    /// For how long, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub seconds: f64,
}

/// An application's throughput by the memory of the system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryForecast {
    /// Bytes of memory, file cache included, and the throughput in bytes per second with them.
    pub curve: Vec<(f64, f64)>,
    /// Least memory with which it reaches 90 % of the throughput that any memory gives, in bytes; the curve's first, or less, where that
    /// is enough already.
    #[serde(deserialize_with = "not_negative")]
    pub for_90_percent_bytes: f64,
    /// 90 % interval of that memory, in bytes, from what makes the shares of hits uncertain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_90_percent_interval90: Option<[f64; 2]>,
}

impl MemoryForecast {
    /// Whether so many bytes of memory are no more than the least that was looked at: less may do as well.
    pub fn is_least(&self, bytes: f64) -> bool {
        // Whole bytes are told, of a curve that has fractions of them.
        self.curve.first().is_some_and(|(least, _)| bytes <= least + 1.0)
    }
}

/// One workload on two systems (self-scaling paper, figure 17).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the workload in its set; absent for one given by its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The workload.
    pub workload: Workload,
    /// The two systems: the ratio is the first's throughput over the second's.
    pub systems: [String; 2],
    /// Predicted throughput of each, in bytes per second.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: [f64; 2],
    /// Throughput of the first over that of the second.
    #[serde(deserialize_with = "not_negative")]
    pub ratio: f64,
    /// Range that holds the measured ratio nine times of ten: low and high.
    #[serde(deserialize_with = "not_negative")]
    pub interval90: [f64; 2],
    /// Whether the range that holds the ratio 99 times of 100, and so half as wide again as the interval, leaves 1 out.
    pub significant: bool,
    /// How the first compares with the second; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether one of the predictions is extrapolated; the interval is a guess then, and no verdict follows from it.
    pub extrapolated: bool,
    /// Bytes per second for one unit of money, of each system; absent without prices.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub throughput_per_price: Option<[f64; 2]>,
}

impl Comparison {
    /// Whether its interval is a guess, from which no verdict follows: a prediction is extrapolated, and the two models do not err alike to the
    /// last, as those of a system and itself do.
    pub fn is_guess(&self) -> bool {
        let [low, high] = self.interval90;
        self.extrapolated && high > low * 1.001
    }

    /// Throughput for one unit of money of the first over that of the second, with its 90 % interval; `None` without prices.
    pub fn price_ratio(&self) -> Option<(f64, [f64; 2])> {
        let [first, second] = self.throughput_per_price?;
        let at = first / second;
        let times = at / self.ratio;
        Some((at, self.interval90.map(|end| end * times)))
    }
}

/// The cheapest of several systems that is fast enough for one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cheapest {
    /// Name of the workload in its set; absent for one given by its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The workload.
    pub workload: Workload,
    /// Throughput that was asked for, in bytes per second.
    #[serde(deserialize_with = "not_negative")]
    pub at_least_bytes_per_s: f64,
    /// The system, its price and what it is predicted to do; absent when none reaches what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// Systems that would be chosen instead if they reach it, which cannot be told: those that cost less, or all where none is
    /// predicted to reach it. Empty in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<String>,
}

/// A system that was chosen for its price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The system.
    pub system: String,
    /// Its price, in the currency that all prices are in.
    #[serde(deserialize_with = "not_negative")]
    pub price: f64,
    /// Its predicted throughput, in bytes per second.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// Whether it surely is the cheapest: even the low end of its 90 % interval reaches what was asked for, that is not extrapolated, and it
    /// has no rivals.
    pub sure: bool,
    /// Whether its prediction is extrapolated, so that its interval is a guess; false in older results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extrapolated: bool,
}

/// How wrong a model is on workloads it had not seen. An error is |predicted - measured| / measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorFigures {
    /// Median over all workloads.
    #[serde(deserialize_with = "not_negative")]
    pub median_error: f64,
    /// 75th percentile.
    #[serde(deserialize_with = "not_negative")]
    pub p75_error: f64,
    /// 90th percentile.
    #[serde(deserialize_with = "not_negative")]
    pub p90_error: f64,
    /// Median without the workloads near a border between regions (figures 15 and 24); absent when none is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enhanced_median_error: Option<f64>,
    /// Share of the single measurements that fall into the 90 % interval; absent for a model without intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval90_coverage: Option<f64>,
}

/// The median error of the workloads whose parameter lies in one range (figure 13).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBin {
    /// From and to of the parameter, in its own unit.
    pub range: [f64; 2],
    /// Workloads in it.
    pub workloads: u32,
    /// Their median error.
    #[serde(deserialize_with = "not_negative")]
    pub median_error: f64,
}

/// One workload of a validation: predicted and measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationPoint {
    /// What the default model said beforehand.
    pub prediction: Prediction,
    /// What was measured.
    pub measurement: Measurement,
    /// The same, measured again; absent when it was measured once.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub repeated_bytes_per_s: Option<f64>,
    /// Every round's throughput in bytes per second, in the order taken; predictions are compared with their median.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "not_negative")]
    pub rounds_bytes_per_s: Vec<f64>,
    /// Whether it lies in the zone of a border between regions.
    pub near_border: bool,
    /// Throughput in bytes per second that every other model predicts, by the model's name.
    #[serde(default)]
    pub models: BTreeMap<String, f64>,
}

impl ValidationPoint {
    /// What predictions are compared with, in bytes per second: the median of the rounds, between the middle two of an even
    /// number their geometric mean.
    pub fn measured_bytes_per_s(&self) -> f64 {
        let mut rounds = self.rounds_bytes_per_s.clone();
        rounds.sort_unstable_by(f64::total_cmp);
        let Some(last) = rounds.len().checked_sub(1) else {
            return self.measurement.throughput_bytes_per_s;
        };
        (rounds[last / 2] * rounds[last - last / 2]).sqrt()
    }
}

/// A validation that is not whole: what it was asked to do and how far it came. The document's `measurements` are then what it
/// measured, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationLog {
    /// What is measured, as the user named it.
    pub target: String,
    /// Random workloads to measure.
    pub workloads: u32,
    /// Rounds in which each is measured.
    pub rounds: u32,
    /// Whether the orthogonal sample is measured, too.
    pub orthogonal: bool,
    /// Memory limit of the workers, in bytes; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
    /// The access that was asked for; absent for the evaluation's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// In what the target differs from the system that was evaluated, as `--what-if` names it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub what_if: Vec<String>,
    /// Time that the whole may take, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub budget_s: f64,
    /// Time that it took so far, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub spent_s: f64,
    /// Which of the steps that follow from the above, the seed and the evaluation each measurement is, from 0.
    #[serde(default)]
    pub steps: Vec<u32>,
    /// Steps that are not possible on the target, and why.
    #[serde(default)]
    pub refused: Vec<RefusedStep>,
}

/// A step of a validation that the target refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedStep {
    /// Its number, from 0.
    pub step: u32,
    /// Why it is not possible.
    pub reason: String,
}

/// Predictions compared with measurements of random workloads (self-scaling paper, section 9, figures 12 to 15).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Workloads that were measured.
    pub workloads: u32,
    /// The default model's errors.
    #[serde(flatten)]
    pub errors: ErrorFigures,
    /// Median difference of the same workload measured twice, in rounds that follow each other, over the first; absent without
    /// repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub repeatability_error: Option<f64>,
    /// Median error of the default model over `repeatability_error`: at 1 it is as good as measuring again.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub error_over_repeatability: Option<f64>,
    /// The same figures for every model: `default`, `product`, `orthogonal`, `single_point`; where something is
    /// exchanged, `as_evaluated`, what is predicted without the exchange.
    #[serde(default)]
    pub models: BTreeMap<String, ErrorFigures>,
    /// The default model's error against each parameter.
    #[serde(default)]
    pub by_parameter: BTreeMap<Parameter, Vec<ErrorBin>>,
    /// Every workload.
    #[serde(default)]
    pub points: Vec<ValidationPoint>,
}
