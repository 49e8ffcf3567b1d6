//! What the simulated disk has really done since it was started or last reset.

use serde::{Deserialize, Serialize};

/// Counters of the disk, which its file `stat` shows in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Reads answered.
    pub reads: u64,
    /// Writes answered.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Parts of requests that did not begin at the arm's position.
    pub seeks: u64,
    /// Parts of requests that began at the arm's position.
    pub sequential: u64,
    /// Requests that the device cache served.
    pub cache_hits: u64,
    /// Requests that failed by an order.
    pub faults: u64,
    /// Requests to make writes durable.
    pub syncs: u64,
    /// Service time of all arms together, in nanoseconds.
    pub busy_ns: u64,
    /// Total lateness of answers, in nanoseconds: waking up, copying, and the system call.
    pub late_ns: u64,
}
