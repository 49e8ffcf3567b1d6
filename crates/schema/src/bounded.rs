//! A value with its error bounds.

use crate::range::not_negative;
use serde::{Deserialize, Serialize};

/// A value with its error bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounded {
    /// Best estimate.
    #[serde(deserialize_with = "not_negative")]
    pub value: f64,
    /// Lower bound.
    #[serde(deserialize_with = "not_negative")]
    pub low: f64,
    /// Upper bound.
    #[serde(deserialize_with = "not_negative")]
    pub high: f64,
}
