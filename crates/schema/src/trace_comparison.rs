//! Two traces side by side: what changed in the workload from the first to the second.

use crate::{ConditionResult, TraceSummary};
use serde::{Deserialize, Serialize};

/// The result of `trace compare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceComparison {
    /// Everything that each trace holds: the first, the second.
    pub traces: [TraceSummary; 2],
    /// The windows of time of each, whose scatter the intervals follow from.
    pub windows: [WindowCount; 2],
    /// Whether the workload changed.
    pub verdict: Change,
    /// Figures, as ratios of the second trace's to the first's.
    pub figures: Vec<FigureChange>,
    /// Distributions, and shares of the requests.
    pub distributions: Vec<DistributionChange>,
    /// What counts as alike: ratios from `1 / (1 + margin)` to `1 + margin`, and distances up to `margin`.
    pub margin: f64,
    /// Where it cannot be told: how many times as long both traces would have to be to tell a change of the margin; absent where some of what
    /// is compared is too rare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_as_long: Option<f64>,
    /// Whether a condition that was given is met by figures, by their number from 0; absent without one, or where nothing can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionResult>,
}

/// Windows of equal length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowCount {
    /// How many.
    pub count: u64,
    /// Their length.
    pub width_ns: u64,
}

/// Whether something changed. Chance is ruled out at 5 % over everything that is compared together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It changed, and not by chance.
    Changed,
    /// If it changed, then by less than the margin.
    Alike,
    /// The interval allows both.
    #[default]
    CannotBeTold,
}

impl Change {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Alike => "alike",
            Self::CannotBeTold => "cannot be told",
        }
    }
}

/// A figure of a trace that has a value for every window of time.
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
    /// Mean number of requests that an arriving one finds on its disk, itself included.
    QueueLengthMean,
}

impl TraceFigure {
    /// All, in the order of tables.
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

    /// Whether it has no meaning where a trace tells no completions.
    pub fn needs_times(self) -> bool {
        matches!(self, Self::ReadElapsedNsMean | Self::WriteElapsedNsMean | Self::QueueLengthMean)
    }
}

/// How a figure changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureChange {
    /// Which; its unit is in its name.
    pub name: TraceFigure,
    /// Of the first trace and of the second.
    pub values: [f64; 2],
    /// The second trace's over the first's.
    pub ratio: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// What follows, over everything that is compared together.
    pub verdict: Change,
}

/// A distribution over the requests of a trace, or a share of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceDistribution {
    /// The share of requests that read.
    Reads,
    /// The share of requests that begin where the one before on their disk ended.
    Sequential,
    /// Sizes of reads.
    ReadBytes,
    /// Sizes of writes.
    WriteBytes,
    /// Times of reads from arrival to completion.
    ReadElapsedNs,
    /// Times of writes from arrival to completion.
    WriteElapsedNs,
    /// Times between arrivals, whatever their disk.
    InterArrivalNs,
    /// Distances from the end of one request to the beginning of the next on its disk, forwards or backwards.
    DistanceBytes,
    /// Requests that an arriving one finds on its disk, itself included.
    QueueLength,
}

impl TraceDistribution {
    /// All, in the order of tables.
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

    /// Whether it has no meaning where a trace tells no completions.
    pub fn needs_times(self) -> bool {
        matches!(self, Self::ReadElapsedNs | Self::WriteElapsedNs | Self::QueueLength)
    }
}

/// How a distribution changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistributionChange {
    /// Which; the unit of its values is in its name.
    pub name: TraceDistribution,
    /// The largest difference of the shares of requests that lie at or below a value (Kolmogorov and Smirnov's distance, looked for at
    /// the quantiles 0.1, 0.25, 0.5, 0.75 and 0.9 of each trace); of a share, the difference.
    pub distance: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// The value at which the shares differ most; absent for a share of the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The shares there, of the first trace and of the second.
    pub shares: [f64; 2],
    /// What follows, over everything that is compared together.
    pub verdict: Change,
}
