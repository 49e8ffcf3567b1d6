//! What a program tells the kernel about its accesses to come.

use serde::{Deserialize, Serialize};

/// What the program tells the kernel about its accesses to come (`posix_fadvise`, of a mapping also `madvise`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Nothing, as most programs do.
    #[default]
    Normal,
    /// `POSIX_FADV_RANDOM`: the kernel does not read ahead.
    Random,
    /// `POSIX_FADV_SEQUENTIAL`: the kernel reads further ahead.
    Sequential,
}

crate::words::words!(Advice, "advice", Advice::Normal => "normal", Advice::Random => "random",
    Advice::Sequential => "sequential");
