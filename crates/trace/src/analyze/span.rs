//! The number of requests, and the times of the first and the last.

use super::accumulate::Accumulate;
use ioscape_schema::Io;
use serde::{Deserialize, Serialize};

/// The trace from its first request to its last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// Number of requests.
    pub ios: u64,
    /// The first arrival.
    pub first_ns: Option<u64>,
    /// The last arrival.
    pub last_arrival_ns: u64,
    /// The last completion.
    pub last_ns: u64,
    /// Requests that completed with an error.
    pub errors: u64,
}

impl Accumulate for Span {
    #[inline]
    fn update(&mut self, io: &Io) {
        self.ios += 1;
        self.first_ns = self.first_ns.or(Some(io.queued_ns));
        self.last_arrival_ns = io.queued_ns;
        self.last_ns = self.last_ns.max(io.completed_ns).max(io.queued_ns);
        self.errors += u64::from(io.error != 0);
    }

    fn merge(&mut self, later: Self) {
        self.ios += later.ios;
        self.first_ns = self.first_ns.or(later.first_ns);
        self.last_arrival_ns = self.last_arrival_ns.max(later.last_arrival_ns);
        self.last_ns = self.last_ns.max(later.last_ns);
        self.errors += later.errors;
    }
}
