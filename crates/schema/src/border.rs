//! A border between two levels of the storage hierarchy, on the axis of `unique_bytes`.

use serde::{Deserialize, Serialize};

/// Which requests a border of `unique_bytes` holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BorderOperation {
    /// Found by pure reads.
    Read,
    /// Found by pure writes.
    Write,
    /// Found by the mix of the focal vector.
    Mixed,
}

/// A value of `unique_bytes` at which performance changes from one level of the storage hierarchy to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Border {
    /// The requests it was found with.
    pub operation: BorderOperation,
    /// Best estimate, in bytes.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub unique_bytes: f64,
    /// The border is not below this.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub low: f64,
    /// The border is not above this.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub high: f64,
    /// Throughput just before the border over that well behind it.
    #[serde(default, deserialize_with = "crate::range::not_negative")]
    pub ratio: f64,
    /// Whether everything behind it still came from memory: a border of the processor's caches, not of storage. Such a
    /// border makes no region.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_memory: bool,
}
