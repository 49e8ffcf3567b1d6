//! What the measurements of a twin are, so that its drive can be looked for again without the target.

use serde::{Deserialize, Serialize};

/// Which of the measurements of a twin are what; those that ran for long, with their courses, come last and are not counted here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinKept {
    /// The target, as it was named.
    pub target: String,
    /// Bytes that it holds.
    pub capacity_bytes: u64,
    /// Bytes of the write buffer that was assumed.
    pub write_buffer_bytes: u64,
    /// Measurements that the drive is fitted to; they come first.
    pub fitted: u64,
    /// Measurements that it is judged by.
    pub judging: u64,
    /// Measurements before all others.
    pub first: u64,
    /// The same workloads, measured after all others.
    pub again: u64,
    /// Workloads that judge the drive, measured once more.
    pub repeated: u64,
}
