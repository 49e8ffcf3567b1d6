//! Comparison of two results of one kind by their measured figures.

use crate::range::not_negative;
use crate::{Environment, Workload};
use serde::{Deserialize, Serialize};

/// What a row measures.
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
    /// Returns whether a larger figure means faster.
    pub fn more_is_faster(self) -> bool {
        self != Self::Time
    }
}

crate::words!(Metric, Throughput => "throughput", Rate => "rate", Time => "time");

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
    /// The interval includes 1 and reaches beyond the margin.
    CannotBeTold,
    /// The condition does not ask about the metric of this row.
    NotAsked,
}

crate::words!(Verdict, Slower => "slower", Faster => "faster", NoDifference => "no difference",
    CannotBeTold => "cannot be told", NotAsked => "not asked");

/// What the interval of a row is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Both documents hold the same measurement: nothing can differ.
    SameMeasurement,
    /// The scatter of rounds or processes.
    Rounds,
    /// A single run on one side or both: its own interval and the usual difference between runs.
    SingleRun,
    /// Rounds of both in turn, compared pair by pair; the interval holds whenever the test was
    /// stopped.
    Interleaved,
}

/// Returns whether the interval of a ratio is too wide for its ends to say anything, as after one
/// or two rounds.
pub fn is_wide(ends: [f64; 2]) -> bool {
    ends[1] > 100.0 * ends[0]
}

/// One row present in both documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRow {
    /// Name of the row; absent for a workload given only by its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The workload; absent if the rows are not workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// The metric of `values`.
    pub metric: Metric,
    /// The second system's figure and the first system's; with several runs, their medians.
    #[serde(deserialize_with = "not_negative")]
    pub values: [f64; 2],
    /// Number of rounds or processes behind each figure.
    pub rounds: [u32; 2],
    /// Every round of the second and of the first system, in order; absent if the documents hold
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<[Vec<f64>; 2]>,
    /// The second system's figure over the first's. If `basis` is `interleaved` it is the geometric
    /// mean of the pairs' ratios, which may differ from the quotient of `values`.
    #[serde(deserialize_with = "not_negative")]
    pub ratio: f64,
    /// 95 % interval of the ratio: low and high.
    #[serde(deserialize_with = "not_negative")]
    pub ci95: [f64; 2],
    /// What the interval is based on.
    pub basis: Basis,
    /// The verdict on the second system; chance is ruled out over all rows together.
    pub verdict: Verdict,
}

/// A limit of a metric's ratio, as the options of comparisons give it: `throughput < 0.95`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioLimit<'a> {
    /// The word before the sign.
    pub metric: &'a str,
    /// Whether ratios below the limit are beyond it, rather than those above.
    pub below: bool,
    /// The limit, from 1e-6 to 1e6.
    pub ratio: f64,
}

impl<'a> RatioLimit<'a> {
    /// Reads a word, `<` or `>`, and a ratio; `None` if the text is something else.
    pub fn read(text: &'a str) -> Option<Self> {
        let at = text.find(['<', '>'])?;
        let ratio: f64 = text[at + 1..].trim().parse().ok()?;
        let (metric, below) = (text[..at].trim(), text[at..].starts_with('<'));
        (1e-6..=1e6).contains(&ratio).then_some(Self { metric, below, ratio })
    }
}

/// Whether a required condition held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConditionResult {
    /// The failure condition as given: `throughput < 0.95`.
    pub fail_if: String,
    /// Rows that meet the failure condition, and not by chance, by number from 0.
    pub met_by: Vec<u32>,
    /// Names of rows that have a figure in the other system but were measured here without one. If
    /// the condition is about being slower, these rows fail it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}

/// A row that only one document has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoneRow {
    /// Name of the row.
    pub name: String,
    /// The system that has it.
    pub system: String,
    /// Why the other system lacks it, if its document says so; otherwise empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// Two documents of one kind, row by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredComparison {
    /// Outcome key of the documents, such as `campaign`; `ab` for the arms of one document.
    pub kind: String,
    /// The second system and the first; ratios are the second's figures over the first's.
    pub systems: [String; 2],
    /// Their machines, in the same order.
    pub environments: [Environment; 2],
    /// Every shared row.
    pub rows: Vec<MeasuredRow>,
    /// Number of rows that only the second, and only the first system has.
    pub only_in: [u32; 2],
    /// Those rows, the second's first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lone: Vec<LoneRow>,
    /// Known differences between the two systems that affect the rows, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// The margin of equality: ratios from `1 / (1 + margin)` to `1 + margin` count as no difference.
    pub margin: f64,
    /// Whether the condition held; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionResult>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_ratios_are_read_and_others_refused() {
        let read = RatioLimit::read;
        assert_eq!(read("a<0.95"), Some(RatioLimit { metric: "a", below: true, ratio: 0.95 }));
        assert_eq!(read(" b > 2 "), Some(RatioLimit { metric: "b", below: false, ratio: 2.0 }));
        for bad in ["", "a", "a < x", "a > 0", "a > 1e7", "a <> 1", "a < 1 > 2", "a < nan"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
