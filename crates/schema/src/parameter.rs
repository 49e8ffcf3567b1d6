//! The workload parameters by name.

use serde::{Deserialize, Serialize};

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

    /// Returns whether the parameter is best shown on a logarithmic axis.
    pub fn is_logarithmic(self) -> bool {
        matches!(self, Self::UniqueBytes | Self::SizeMean | Self::ProcessNum | Self::QueueDepth)
    }
}

crate::words!(Parameter, "parameter", UniqueBytes => "unique_bytes", SizeMean => "size_mean",
    ReadFrac => "read_frac", SeqFrac => "seq_frac", ProcessNum => "process_num",
    QueueDepth => "queue_depth");
