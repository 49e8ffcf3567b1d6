//! A border between two levels of the storage hierarchy, on the axis of `unique_bytes`.

use crate::bounded::Bounded;
use crate::range::not_negative;
use serde::{Deserialize, Serialize};

/// The requests for which a border of `unique_bytes` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BorderOperation {
    /// Found with reads only.
    Read,
    /// Found with writes only.
    Write,
    /// Found with the read/write mix of the focal vector.
    Mixed,
}

crate::words!(BorderOperation, Read => "read", Write => "write", Mixed => "mixed");

/// A value of `unique_bytes` at which performance changes from one level of the storage hierarchy to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Border {
    /// The requests it was found with.
    pub operation: BorderOperation,
    /// Best estimate, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub unique_bytes: f64,
    /// The border is not below this, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub low: f64,
    /// The border is not above this, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub high: f64,
    /// Throughput just before the border over the throughput well beyond it.
    #[serde(default, deserialize_with = "not_negative")]
    pub ratio: f64,
    /// Whether everything beyond the border is still served from memory: then it is a border of the
    /// processor's caches, not of storage, and makes no region.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_memory: bool,
    /// How much slower the sets beyond the border were measured to be; absent if one of its sides
    /// was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<Slower>,
}

impl Border {
    /// Returns whether both borders may lie at the same size, given their bounds and a tenth beyond
    /// them.
    pub fn meets(&self, other: &Self) -> bool {
        self.low <= NEAR * other.high && other.low <= NEAR * self.high
    }
}

/// How much slower a set well beyond a border is than the largest one measured before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slower {
    /// Throughput before the border over throughput beyond it, with bounds.
    pub times: Bounded,
    /// The set beyond the border, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub unique_bytes: f64,
}

/// One possible number of regions and its probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelCount {
    /// Number of regions on the axis of the set size, 1 or more.
    pub regions: u32,
    /// Probability, 0 to 1, given everything that was measured.
    #[serde(deserialize_with = "not_negative")]
    pub probability: f64,
    /// Most probable ends of the levels for reads, given this number; in bytes, ascending.
    #[serde(default)]
    pub read_borders: Vec<f64>,
    /// The same for writes.
    #[serde(default)]
    pub write_borders: Vec<f64>,
}

/// Factor by which a size may lie beyond bounds and still count as within them.
const NEAR: f64 = 1.1;

impl LevelCount {
    /// Smallest probability at which a border or a number of regions is stated without reservation.
    pub const SURE: f64 = 0.95;

    /// Returns the most probable ends of the levels, in bytes, ascending. A mix of half reads and
    /// half writes counts as reads.
    pub fn borders(&self, operation: BorderOperation) -> &[f64] {
        match operation {
            BorderOperation::Write => &self.write_borders,
            _ => &self.read_borders,
        }
    }

    /// Returns whether a level ends within these bounds, in bytes.
    pub fn has_border(&self, operation: BorderOperation, bounds: [f64; 2]) -> bool {
        self.borders(operation).iter().any(|at| Self::is_within(*at, bounds))
    }

    /// Returns whether a size in bytes counts as within these bounds.
    pub fn is_within(at: f64, [low, high]: [f64; 2]) -> bool {
        at < high * NEAR && at > low / NEAR
    }
}
