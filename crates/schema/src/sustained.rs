//! How the rate of a workload went while it ran for long: its course in equal steps of time, and what follows from that.

use crate::bounded::Bounded;
use crate::range::not_negative;
use serde::{Deserialize, Serialize};

/// What the course of a rate shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CourseKind {
    /// One rate from beginning to end.
    Steady,
    /// One rate, and from some time on a lower one: a credit or a cache was used up.
    Burst,
    /// It changed at first, and was steady from some time on.
    Settled,
    /// It was still changing, or the course is too short or too noisy.
    CannotBeTold,
}

/// A part of a course with one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoursePhase {
    /// Where it begins, in seconds from the beginning of the course.
    #[serde(deserialize_with = "not_negative")]
    pub from_s: f64,
    /// Where it ends, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub until_s: f64,
    /// Its mean rate in bytes per second with its 95 % interval, what was disturbed left out.
    pub bytes_per_s: Bounded,
}

/// The course of a workload that ran for long, and what it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// Length of a step, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub step_s: f64,
    /// Bytes per second in each step.
    #[serde(deserialize_with = "not_negative")]
    pub bytes_per_s: Vec<f64>,
    /// What it shows.
    pub kind: CourseKind,
    /// Its parts, each of one rate; where it cannot be told what they mean, as they are.
    pub phases: Vec<CoursePhase>,
    /// Parts during which something else took a share, from and until in seconds: what came before went on after them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed_s: Vec<[f64; 2]>,
    /// Bytes that were moved beyond the last rate before it held, with a 95 % interval: the credit, or the cache as far as it
    /// was not emptied meanwhile. Only of a burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit_bytes: Option<Bounded>,
    /// Bytes that were moved faster than the last rate allows. Only of a burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_bytes: Option<Bounded>,
    /// Credit that came back while nothing was moved, in bytes per second with a 95 % interval; absent where that was not
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_bytes_per_s: Option<Bounded>,
    /// The same in words.
    #[serde(default)]
    pub sentences: Vec<String>,
}
