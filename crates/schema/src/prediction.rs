//! Statements about workloads that were not measured: predictions, comparisons and their
//! validation.

use crate::range::{fraction, not_negative};
use crate::{Access, MARGIN, Measurement, Parameter, Verdict, Workload, is_near_one};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The predicted performance of one workload on one system (self-scaling paper, section 9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Name of the workload in its set, such as `database`; absent for a workload given by its
    /// parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The system: the evaluation's target, or the name of the result file if there are several
    /// systems.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// The workload.
    pub workload: Workload,
    /// Throughput in bytes per second, all processes together.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// Range that holds nine of ten measurements of such a workload, low and high in bytes per
    /// second.
    #[serde(deserialize_with = "not_negative")]
    pub interval90: [f64; 2],
    /// Requests per second.
    #[serde(deserialize_with = "not_negative")]
    pub iops: f64,
    /// Mean response time by Little's law: requests in flight over request rate.
    #[serde(deserialize_with = "not_negative")]
    pub response_time_ns: f64,
    /// Name of the region that holds the workload's `unique_bytes` or, with other memory, a set
    /// served in the same way. After `group, `: a region of the evaluation in a small control
    /// group.
    pub region: String,
    /// Whether some parameter lies outside the measured range, other memory contradicts the
    /// evaluation, only a part of an application was seen, or more than a tenth of its time was
    /// spent in `fsync` on what may be other storage: the interval is then a guess.
    pub extrapolated: bool,
    /// Further predictions for an application whose trace was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationForecast>,
}

/// Where a traced application's time goes on a system, and how much memory it needs there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ApplicationForecast {
    /// Elapsed time from start to end, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// The parts of that time; they add up to `elapsed_s`.
    pub parts: Vec<TimePart>,
    /// Fraction of the read bytes that hit in the caches.
    #[serde(deserialize_with = "fraction")]
    pub read_hit_frac: f64,
    /// 90 % interval of that fraction, from how much parts of the trace differ and how well the
    /// evaluation knows its cache sizes. Absent if the trace's file does not record how much its
    /// parts differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_hit_interval90: Option<[f64; 2]>,
    /// Fraction of the written bytes that reach storage.
    #[serde(deserialize_with = "fraction")]
    pub written_through_frac: f64,
    /// 90 % interval of that fraction, from the same sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_through_interval90: Option<[f64; 2]>,
    /// How throughput depends on memory. Absent if no cache of about the memory's size was found,
    /// if the memory size is unknown, or if the access bypasses the file cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryForecast>,
}

/// One part of an application's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimePart {
    /// The activity: `reads from memory`, `reads from storage`, `computing` and so on.
    pub name: String,
    /// Its duration, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub seconds: f64,
}

/// An application's throughput as a function of the system's memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryForecast {
    /// Points (bytes of memory including the file cache, throughput in bytes per second).
    pub curve: Vec<(f64, f64)>,
    /// Smallest memory, in bytes, that gives 90 % of the throughput with unlimited memory. If the
    /// curve's first point is already enough, this is that point or less.
    #[serde(deserialize_with = "not_negative")]
    pub for_90_percent_bytes: f64,
    /// 90 % interval of that memory, in bytes, from the uncertainty of the hit ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_90_percent_interval90: Option<[f64; 2]>,
}

impl MemoryForecast {
    /// Returns whether this is no more than the smallest memory considered: less may also be
    /// enough.
    pub fn is_least(&self, bytes: f64) -> bool {
        // The curve has fractions of bytes, but results state whole bytes.
        self.curve.first().is_some_and(|(least, _)| bytes <= least + 1.0)
    }
}

/// One workload on two systems (self-scaling paper, figure 17).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the workload in its set; absent for a workload given by its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The workload.
    pub workload: Workload,
    /// The two systems; the ratio is the first one's throughput over the second one's.
    pub systems: [String; 2],
    /// Predicted throughput of each, in bytes per second.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: [f64; 2],
    /// Throughput of the first over that of the second.
    #[serde(deserialize_with = "not_negative")]
    pub ratio: f64,
    /// Range that holds the measured ratio nine times out of ten: low and high.
    #[serde(deserialize_with = "not_negative")]
    pub interval90: [f64; 2],
    /// Whether the 99 % range of the ratio, half as wide again as the interval, excludes 1.
    pub significant: bool,
    /// Verdict on the first system against the second; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether one of the predictions is extrapolated: the interval is then a guess and gives no
    /// verdict.
    pub extrapolated: bool,
    /// Bytes per second per unit of money, for each system; absent without prices.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub throughput_per_price: Option<[f64; 2]>,
}

/// Half the range that holds a normal value 99 times out of 100, over half the range that holds it
/// 90 times out of 100.
const RULED_OUT: f64 = 1.566;

impl Prediction {
    /// The range that holds 99 of 100 measurements of such a workload, low and high in bytes per
    /// second: of several predictions compared at once, one in twenty would fail either end of
    /// [`Self::interval90`] by chance.
    pub fn interval99(&self) -> [f64; 2] {
        let at = self.throughput_bytes_per_s;
        self.interval90.map(|end| if at > 0.0 { at * (end / at).powf(RULED_OUT) } else { end })
    }
}

impl Comparison {
    /// Returns it with the verdict that follows from its ratio and interval. The ratio is
    /// significant if the interval, widened to hold it 99 times out of 100, excludes 1 and is not a
    /// guess: several workloads are compared at once, and of a dozen with 90 % intervals one would
    /// differ by chance, which older versions left out of account.
    #[must_use]
    pub fn judged(self) -> Self {
        let [at, low, high] = [self.ratio, self.interval90[0], self.interval90[1]].map(f64::ln);
        let verdict = match self.interval90 {
            _ if self.is_guess() => Verdict::CannotBeTold,
            _ if at > RULED_OUT * (at - low) => Verdict::Faster,
            _ if -at > RULED_OUT * (high - at) => Verdict::Slower,
            ends if is_near_one(ends, MARGIN) => Verdict::NoDifference,
            _ => Verdict::CannotBeTold,
        };
        let significant = matches!(verdict, Verdict::Faster | Verdict::Slower);
        Self { significant, verdict: Some(verdict), ..self }
    }

    /// Returns whether the interval is a guess that gives no verdict. That is so if a prediction is
    /// extrapolated, unless both models err identically, as those of one system compared with
    /// itself do.
    pub fn is_guess(&self) -> bool {
        let [low, high] = self.interval90;
        self.extrapolated && high > low * 1.001
    }

    /// Returns the ratio of throughput per unit of money, first over second, with its 90 %
    /// interval; `None` without prices.
    pub fn price_ratio(&self) -> Option<(f64, [f64; 2])> {
        let [first, second] = self.throughput_per_price?;
        let at = first / second;
        let times = at / self.ratio;
        Some((at, self.interval90.map(|end| end * times)))
    }
}

/// The cheapest of several systems that are fast enough for one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cheapest {
    /// Name of the workload in its set; absent for a workload given by its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The workload.
    pub workload: Workload,
    /// Required throughput, in bytes per second.
    #[serde(deserialize_with = "not_negative")]
    pub at_least_bytes_per_s: f64,
    /// The chosen system, its price and its predicted throughput; absent if none reaches the
    /// requirement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// Systems that would be chosen instead if they reach the requirement, which cannot be told:
    /// those that cost less, or all if none is predicted to reach it. Absent in older results, which
    /// did not look for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rivals: Option<Vec<String>>,
}

/// A system that was chosen for its price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The system.
    pub system: String,
    /// Its price, in the common currency of all prices.
    #[serde(deserialize_with = "not_negative")]
    pub price: f64,
    /// Its predicted throughput, in bytes per second.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// Whether it is certainly the cheapest: the low end of its 99 % interval (90 % in older
    /// results) reaches the requirement, the prediction is not extrapolated, and it has no rivals.
    /// In older results without `rivals`, only the first of these.
    pub sure: bool,
    /// Whether its prediction is extrapolated, so that its interval is a guess; false in older
    /// results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extrapolated: bool,
}

/// Errors of a model on workloads it had not seen. An error is |predicted - measured| / measured.
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
    /// Median without the workloads near a border between regions (figures 15 and 24); absent if
    /// none are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enhanced_median_error: Option<f64>,
    /// Fraction of the individual measurements that fall into the 90 % interval; absent for a model
    /// without intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval90_coverage: Option<f64>,
}

/// The median error of the workloads whose parameter lies in one range (figure 13).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBin {
    /// Lower and upper end of the parameter's range, in its own unit.
    pub range: [f64; 2],
    /// Number of workloads in the range.
    pub workloads: u32,
    /// Their median error.
    #[serde(deserialize_with = "not_negative")]
    pub median_error: f64,
}

/// One workload of a validation: predicted and measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationPoint {
    /// What the default model predicted beforehand.
    pub prediction: Prediction,
    /// What was measured.
    pub measurement: Measurement,
    /// Throughput measured again; absent if the workload was measured once.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub repeated_bytes_per_s: Option<f64>,
    /// Throughput of every round in bytes per second, in order; predictions are compared with the
    /// median. As in the evaluation, time in which others kept processes that compute from the
    /// processors does not count ([`Measurement::judged_bytes_per_s`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "not_negative")]
    pub rounds_bytes_per_s: Vec<f64>,
    /// Whether it is close to a border between regions.
    pub near_border: bool,
    /// Throughput predicted by every other model, in bytes per second, by the model's name.
    #[serde(default)]
    pub models: BTreeMap<String, f64>,
}

impl ValidationPoint {
    /// Returns the value that predictions are compared with, in bytes per second: the median of the
    /// rounds. For an even number it is the geometric mean of the middle two.
    pub fn measured_bytes_per_s(&self) -> f64 {
        let mut rounds = self.rounds_bytes_per_s.clone();
        rounds.sort_unstable_by(f64::total_cmp);
        let Some(last) = rounds.len().checked_sub(1) else {
            return self.measurement.judged_bytes_per_s();
        };
        (rounds[last / 2] * rounds[last - last / 2]).sqrt()
    }
}

/// Progress of an incomplete validation: its settings and how far it came. The document's
/// `measurements` are then its measurements so far, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationLog {
    /// The measured target, as the user named it.
    pub target: String,
    /// Number of random workloads to measure.
    pub workloads: u32,
    /// Number of rounds for each workload.
    pub rounds: u32,
    /// Whether the orthogonal sample is also measured.
    pub orthogonal: bool,
    /// Memory limit of the workers, in bytes; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
    /// The access mode requested; absent for the evaluation's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// How the target differs from the evaluated system, as `--what-if` names it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub what_if: Vec<String>,
    /// Time budget of the whole validation, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub budget_s: f64,
    /// Time spent so far, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub spent_s: f64,
    /// The step number of each measurement, from 0. The steps follow from the settings above, the
    /// seed and the evaluation.
    #[serde(default)]
    pub steps: Vec<u32>,
    /// Steps that are impossible on the target, and why.
    #[serde(default)]
    pub refused: Vec<RefusedStep>,
}

/// A step of a validation that was impossible on the target.
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
    /// The measured target, as the user named it; empty in older results.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// Number of workloads measured.
    pub workloads: u32,
    /// The default model's errors.
    #[serde(flatten)]
    pub errors: ErrorFigures,
    /// Median relative difference between two measurements of one workload in successive rounds;
    /// absent without repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub repeatability_error: Option<f64>,
    /// Median error of the default model over `repeatability_error`: at 0.85 the model is as good
    /// as measuring once more (with three rounds; with two at 0.87).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub error_over_repeatability: Option<f64>,
    /// The same figures for every model: `default`, `product`, `orthogonal`, `single_point`. If
    /// something is exchanged, `as_evaluated` is the prediction without the exchange.
    #[serde(default)]
    pub models: BTreeMap<String, ErrorFigures>,
    /// The default model's error by parameter.
    #[serde(default)]
    pub by_parameter: BTreeMap<Parameter, Vec<ErrorBin>>,
    /// Every workload.
    #[serde(default)]
    pub points: Vec<ValidationPoint>,
}
