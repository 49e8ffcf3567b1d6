//! The roles of a twin's measurements, so that its drive can be fitted again without the target.

use serde::{Deserialize, Serialize};

/// The roles of a twin's measurements. The long runs, with their courses over time, come last and
/// are not counted here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwinKept {
    /// The target, as the user named it.
    pub target: String,
    /// Capacity of the target in bytes.
    pub capacity_bytes: u64,
    /// Assumed size of the write buffer in bytes.
    pub write_buffer_bytes: u64,
    /// Number of measurements that the drive is fitted to; they come first.
    pub fitted: u64,
    /// Number of measurements that the drive is judged by.
    pub judging: u64,
    /// Number of measurements taken before all others.
    pub first: u64,
    /// Number of measurements that repeat these workloads after all others.
    pub again: u64,
    /// Number of judging workloads that were measured once more.
    pub repeated: u64,
}
