//! The workload parameters by name.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One of the five parameters of the workload model, or the queue depth, which applies only to
/// asynchronous requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// Size of the set.
    UniqueBytes,
    /// Mean request size.
    SizeMean,
    /// Fraction of reads.
    ReadFrac,
    /// Fraction of sequential requests.
    SeqFrac,
    /// Number of processes.
    ProcessNum,
    /// Requests that each process keeps in flight.
    QueueDepth,
}

impl Parameter {
    /// The five parameters of the papers, in their order.
    pub const ALL: [Self; 5] =
        [Self::UniqueBytes, Self::SizeMean, Self::ReadFrac, Self::SeqFrac, Self::ProcessNum];

    /// The five parameters and the queue depth.
    pub const WITH_DEPTH: [Self; 6] = [
        Self::UniqueBytes,
        Self::SizeMean,
        Self::ReadFrac,
        Self::SeqFrac,
        Self::ProcessNum,
        Self::QueueDepth,
    ];

    /// Returns the papers' name in snake case, as in result files.
    pub fn name(self) -> &'static str {
        match self {
            Self::UniqueBytes => "unique_bytes",
            Self::SizeMean => "size_mean",
            Self::ReadFrac => "read_frac",
            Self::SeqFrac => "seq_frac",
            Self::ProcessNum => "process_num",
            Self::QueueDepth => "queue_depth",
        }
    }

    /// Returns whether the parameter is best shown on a logarithmic axis.
    pub fn is_logarithmic(self) -> bool {
        matches!(self, Self::UniqueBytes | Self::SizeMean | Self::ProcessNum | Self::QueueDepth)
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
