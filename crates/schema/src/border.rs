//! A border between two levels of the storage hierarchy, on the axis of `unique_bytes`.

use crate::bounded::Bounded;
use crate::range::not_negative;
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
    #[serde(deserialize_with = "not_negative")]
    pub unique_bytes: f64,
    /// The border is not below this, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub low: f64,
    /// The border is not above this, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub high: f64,
    /// Throughput just before the border over that well behind it.
    #[serde(default, deserialize_with = "not_negative")]
    pub ratio: f64,
    /// Whether everything behind it still came from memory: a border of the processor's caches, not of storage. Such a
    /// border makes no region.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_memory: bool,
    /// How much slower sets beyond it were measured to be; nothing where none was measured on one of its sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<Slower>,
}

impl Border {
    /// Whether both may lie at the same size, each known to its bounds and a tenth beyond.
    pub fn meets(&self, other: &Self) -> bool {
        self.low <= NEAR * other.high && other.low <= NEAR * self.high
    }
}

/// How much slower a set well beyond a border is than the largest one measured before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slower {
    /// Throughput before it over that beyond it, with its bounds.
    pub times: Bounded,
    /// The set beyond it, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub unique_bytes: f64,
}

/// One number of regions, and how probable it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelCount {
    /// Regions by the size of the set, 1 or more.
    pub regions: u32,
    /// 0 to 1, given everything that was measured.
    #[serde(deserialize_with = "not_negative")]
    pub probability: f64,
    /// Where levels then most probably end for reads, in bytes, ascending.
    #[serde(default)]
    pub read_borders: Vec<f64>,
    /// The same for writes.
    #[serde(default)]
    pub write_borders: Vec<f64>,
}

/// Bounds count a place as theirs up to this factor beyond them.
const NEAR: f64 = 1.1;

impl LevelCount {
    /// Probability from which on a border or a number of regions is said without doubt.
    pub const SURE: f64 = 0.95;

    /// Where levels then most probably end, in bytes, ascending; half reads, half writes count as reads.
    pub fn borders(&self, operation: BorderOperation) -> &[f64] {
        match operation {
            BorderOperation::Write => &self.write_borders,
            _ => &self.read_borders,
        }
    }

    /// Whether a level then ends within these bounds in bytes.
    pub fn has_border(&self, operation: BorderOperation, bounds: [f64; 2]) -> bool {
        self.borders(operation).iter().any(|at| Self::is_within(*at, bounds))
    }

    /// Whether a place in bytes counts as one within these bounds.
    pub fn is_within(at: f64, [low, high]: [f64; 2]) -> bool {
        at < high * NEAR && at > low / NEAR
    }
}
