//! How a trace is replayed: speed, requests in flight, access.

use ioscape_schema::Access;

/// How to replay.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// So many times the speed of the trace; absent: as fast as possible.
    pub speed: Option<f64>,
    /// Most requests in flight, from 1.
    pub in_flight: u32,
    /// Past the file cache or through it.
    pub access: Access,
    /// Longest request that moves data, in bytes.
    pub largest: u32,
    /// Whether anything is written.
    pub writes: bool,
    /// Most requests that are kept one by one; 0 keeps none.
    pub rows_most: usize,
}
