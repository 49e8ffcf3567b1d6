//! Two results of one kind compared by what they measured.

use crate::range::not_negative;
use crate::{Environment, Workload};
use serde::{Deserialize, Serialize};

/// What a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Bytes per second: more is faster.
    Throughput,
    /// Operations per second: more is faster.
    Rate,
    /// Nanoseconds per operation: less is faster.
    Time,
}

impl Metric {
    /// The word of conditions and tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Rate => "rate",
            Self::Time => "time",
        }
    }

    /// Whether more of it is faster.
    pub fn more_is_faster(self) -> bool {
        self != Self::Time
    }
}

/// How a second system compares with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Slower, and not by chance.
    Slower,
    /// Faster, and not by chance.
    Faster,
    /// The whole interval lies within the margin of equality.
    NoDifference,
    /// The interval holds 1 and reaches further than the margin.
    CannotBeTold,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::NoDifference => "no difference",
            Self::CannotBeTold => "cannot be told",
        }
    }
}

/// What the interval of a row rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Both documents hold the same measurement: nothing can differ.
    SameMeasurement,
    /// The scatter of rounds or processes.
    Rounds,
    /// A single run on one side or both: its own interval and what runs usually differ by.
    SingleRun,
    /// Rounds of both in turns, compared pair by pair; the interval holds whenever the test was stopped.
    Interleaved,
}

/// Whether the interval of a ratio spans so much that its ends tell nothing, as after one or two rounds.
pub fn is_wide(ends: [f64; 2]) -> bool {
    ends[1] > 100.0 * ends[0]
}

/// One row that both documents have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRow {
    /// Name of the row; absent for a workload that is given by its parameters alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The workload; absent where rows are something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// What `values` count.
    pub metric: Metric,
    /// The figure of the second system and that of the first.
    #[serde(deserialize_with = "not_negative")]
    pub values: [f64; 2],
    /// Rounds or processes behind each.
    pub rounds: [u32; 2],
    /// Every round of the second and of the first, in the order taken; absent where the documents hold them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<[Vec<f64>; 2]>,
    /// The second system's figure over the first's.
    #[serde(deserialize_with = "not_negative")]
    pub ratio: f64,
    /// Its 95 % interval: low and high.
    #[serde(deserialize_with = "not_negative")]
    pub ci95: [f64; 2],
    /// What the interval rests on.
    pub basis: Basis,
    /// How the second system is; chance is ruled out over all rows together.
    pub verdict: Verdict,
}

/// Whether a condition that a comparison had to keep was kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConditionResult {
    /// The condition under which the comparison fails, as it was given: `throughput < 0.95`.
    pub fail_if: String,
    /// The rows that meet it, and not by chance, by their number from 0.
    pub met_by: Vec<u32>,
    /// Names of rows that the other system has and that were measured here without a figure, where the condition is on what is slower: these fail it
    /// too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}

/// A row that one document has and the other has not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoneRow {
    /// Name of the row.
    pub name: String,
    /// The system that has it.
    pub system: String,
    /// Why the other has not, as far as its document tells; empty where it does not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// Two documents of one kind, row by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredComparison {
    /// Key of the documents' outcome, such as `campaign`.
    pub kind: String,
    /// The second system and the first: ratios are the second's figures over the first's.
    pub systems: [String; 2],
    /// Their machines, in the same order.
    pub environments: [Environment; 2],
    /// Every shared row.
    pub rows: Vec<MeasuredRow>,
    /// How many rows only the second and only the first has.
    pub only_in: [u32; 2],
    /// Those rows, the second's first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lone: Vec<LoneRow>,
    /// What of the two systems is known to differ and changes what their rows show, one sentence for each difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// The margin of equality: ratios from `1 / (1 + margin)` to `1 + margin` count as no difference.
    pub margin: f64,
    /// Whether the condition was kept; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionResult>,
}
