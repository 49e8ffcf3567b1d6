//! What the simulated disk has truly done since it was started or last reset.

use serde::{Deserialize, Serialize};

/// Counters of the disk, as its file `stat` gives them in JSON.
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
    /// Parts of requests that did not begin where the arm stood.
    pub seeks: u64,
    /// Parts of requests that began where the arm stood.
    pub sequential: u64,
    /// Requests that the device cache served.
    pub cache_hits: u64,
    /// Requests that failed by order.
    pub faults: u64,
    /// Orders to make writes durable.
    pub syncs: u64,
    /// Service time of all arms together, in nanoseconds.
    pub busy_ns: u64,
    /// By how much later than due answers were given, all together, in nanoseconds: waking up, copying, and the call of the kernel.
    pub late_ns: u64,
}
