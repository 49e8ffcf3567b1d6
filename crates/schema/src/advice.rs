//! Advice of a program to the kernel about its coming accesses.

use serde::{Deserialize, Serialize};

/// Advice to the kernel about coming accesses (`posix_fadvise`; for a mapping also `madvise`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// No advice, as in most programs.
    #[default]
    Normal,
    /// `POSIX_FADV_RANDOM`: the kernel does not read ahead.
    Random,
    /// `POSIX_FADV_SEQUENTIAL`: the kernel reads further ahead.
    Sequential,
}

crate::words!(Advice, "advice", Normal => "normal", Random => "random", Sequential => "sequential");
