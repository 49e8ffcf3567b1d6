//! How to replay a trace: speed, requests in flight, access.

use ioscape_schema::Access;

/// How to replay.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// Multiple of the trace's speed; absent: as fast as possible.
    pub speed: Option<f64>,
    /// The most requests in flight; at least 1.
    pub in_flight: u32,
    /// Whether requests bypass the file cache or go through it.
    pub access: Access,
    /// Length of the largest request that transfers data, in bytes.
    pub largest: u32,
    /// Whether any request writes.
    pub writes: bool,
    /// The most requests to keep one by one; 0 keeps none.
    pub rows_most: usize,
}
