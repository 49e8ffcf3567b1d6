//! Two traces side by side: what changed in the workload from the first to the second.

use crate::{ConditionResult, TraceSummary};
use serde::{Deserialize, Serialize};

/// The result of `trace compare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceComparison {
    /// Summaries of the first and of the second trace.
    pub traces: [TraceSummary; 2],
    /// The time windows of each trace, whose scatter determines the intervals.
    pub windows: [WindowCount; 2],
    /// Whether the workload changed.
    pub verdict: Change,
    /// Figures, as ratios of the second trace's to the first's.
    pub figures: Vec<FigureChange>,
    /// Changes of distributions and of fractions of the requests.
    pub distributions: Vec<DistributionChange>,
    /// Margin of equality: ratios from `1 / (1 + margin)` to `1 + margin` and distances up to
    /// `margin` count as alike.
    pub margin: f64,
    /// If the verdict is open: how many times longer both traces must be to detect a change as
    /// large as the margin. Absent if part of what is compared is too rare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_as_long: Option<f64>,
    /// The figures that meet the given condition, by number from 0; absent without a condition, or
    /// if nothing can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionResult>,
}

/// Windows of equal length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowCount {
    /// Number of windows.
    pub count: u64,
    /// Length of a window.
    pub width_ns: u64,
}

/// Whether something changed. Chance is ruled out at 5 % over all comparisons together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It changed, and not by chance.
    Changed,
    /// Any change is smaller than the margin.
    Alike,
    /// The interval allows both.
    #[default]
    CannotBeTold,
}

crate::words!(Change, Changed => "changed", Alike => "alike", CannotBeTold => "cannot be told");

/// A figure with a value for every time window of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceFigure {
    /// Requests per second.
    RequestsPerS,
    /// Bytes read per second.
    ReadBytesPerS,
    /// Bytes written per second.
    WriteBytesPerS,
    /// Mean size of a read.
    ReadBytesMean,
    /// Mean size of a write.
    WriteBytesMean,
    /// Mean time of a read from arrival to completion.
    ReadElapsedNsMean,
    /// Mean time of a write from arrival to completion.
    WriteElapsedNsMean,
    /// Mean number of requests on the disk when a request arrives, itself included.
    QueueLengthMean,
}

impl TraceFigure {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::RequestsPerS,
        Self::ReadBytesPerS,
        Self::WriteBytesPerS,
        Self::ReadBytesMean,
        Self::WriteBytesMean,
        Self::ReadElapsedNsMean,
        Self::WriteElapsedNsMean,
        Self::QueueLengthMean,
    ];

    /// Returns whether it is meaningless if a trace does not record completions.
    pub fn needs_times(self) -> bool {
        matches!(self, Self::ReadElapsedNsMean | Self::WriteElapsedNsMean | Self::QueueLengthMean)
    }
}

/// How a figure changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureChange {
    /// The figure; its name includes the unit.
    pub name: TraceFigure,
    /// Values for the first and the second trace.
    pub values: [f64; 2],
    /// The second trace's value over the first's.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub ci95: [f64; 2],
    /// The verdict, with chance ruled out over all comparisons together.
    pub verdict: Change,
}

/// A distribution over the requests of a trace, or a fraction of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceDistribution {
    /// The fraction of reads.
    Reads,
    /// The fraction of requests that begin where the previous one on their disk ended.
    Sequential,
    /// Sizes of reads.
    ReadBytes,
    /// Sizes of writes.
    WriteBytes,
    /// Times of reads from arrival to completion.
    ReadElapsedNs,
    /// Times of writes from arrival to completion.
    WriteElapsedNs,
    /// Times between arrivals, regardless of disk.
    InterArrivalNs,
    /// Distances from the end of a request to the beginning of the next on its disk, in either
    /// direction.
    DistanceBytes,
    /// Number of requests on the disk when a request arrives, itself included.
    QueueLength,
}

impl TraceDistribution {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 9] = [
        Self::Reads,
        Self::Sequential,
        Self::ReadBytes,
        Self::WriteBytes,
        Self::ReadElapsedNs,
        Self::WriteElapsedNs,
        Self::InterArrivalNs,
        Self::DistanceBytes,
        Self::QueueLength,
    ];

    /// Returns whether it is meaningless if a trace does not record completions.
    pub fn needs_times(self) -> bool {
        matches!(self, Self::ReadElapsedNs | Self::WriteElapsedNs | Self::QueueLength)
    }
}

/// How a distribution changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistributionChange {
    /// The distribution; its name includes the unit.
    pub name: TraceDistribution,
    /// The Kolmogorov-Smirnov distance: the largest difference between the fractions of requests at
    /// or below a value, evaluated at the quantiles 0.1, 0.25, 0.5, 0.75 and 0.9 of each trace. For
    /// a fraction, the difference.
    pub distance: f64,
    /// 95 % interval of the distance.
    pub ci95: [f64; 2],
    /// The value at which the distributions differ most; absent for a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The fractions there, for the first and the second trace.
    pub shares: [f64; 2],
    /// The verdict, with chance ruled out over all comparisons together.
    pub verdict: Change,
}
