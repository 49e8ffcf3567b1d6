//! The rate of a long-running workload: its course in equal time steps, and what it shows.

use crate::bounded::Bounded;
use crate::range::not_negative;
use serde::{Deserialize, Serialize};

/// What the course of a rate shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CourseKind {
    /// One rate from beginning to end.
    Steady,
    /// A first rate, then a lower one: a credit or a cache was used up.
    Burst,
    /// It changed at first and became steady.
    Settled,
    /// It was still changing, or the course is too short or too noisy.
    CannotBeTold,
}

/// A part of a course with a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoursePhase {
    /// Beginning, in seconds from the start of the course.
    #[serde(deserialize_with = "not_negative")]
    pub from_s: f64,
    /// End, in seconds from the start of the course.
    #[serde(deserialize_with = "not_negative")]
    pub until_s: f64,
    /// Mean rate in bytes per second with its 95 % interval, without disturbed parts.
    pub bytes_per_s: Bounded,
}

/// The course of a long-running workload and what it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// Length of a step, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub step_s: f64,
    /// Bytes per second in each step.
    #[serde(deserialize_with = "not_negative")]
    pub bytes_per_s: Vec<f64>,
    /// What the course shows.
    pub kind: CourseKind,
    /// Its parts, each with a constant rate. If their meaning cannot be told, they are given
    /// uninterpreted.
    pub phases: Vec<CoursePhase>,
    /// Parts during which something else used the device, as start and end in seconds. Afterwards
    /// the earlier rate continued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed_s: Vec<[f64; 2]>,
    /// For a burst: bytes moved beyond the final rate before it held, with a 95 % interval. This is
    /// the credit, or the part of the cache that was not emptied meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit_bytes: Option<Bounded>,
    /// For a burst: bytes moved faster than the final rate allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_bytes: Option<Bounded>,
    /// Credit regained while idle, in bytes per second with a 95 % interval; absent if not
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_bytes_per_s: Option<Bounded>,
    /// The findings in words.
    #[serde(default)]
    pub sentences: Vec<String>,
}
