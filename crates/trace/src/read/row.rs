//! Rows of sources that record little: the arrival, alone or with a response time.

use ioscape_schema::{Io, Request};

/// Returns a row of a source that records arrivals alone.
pub(crate) fn at(time_ns: u64, request: Request, device: u16) -> Io {
    answered(time_ns, None, request, device)
}

/// Returns a row of a source that records an arrival and, of most requests, a response time.
pub(crate) fn answered(
    time_ns: u64,
    response_ns: impl Into<Option<u64>>,
    request: Request,
    device: u16,
) -> Io {
    // A completion at the arrival would be one within a step of a coarse clock.
    let completed_ns = response_ns.into().map_or(0, |ns| time_ns.saturating_add(ns));
    Io { request, queued_ns: time_ns, issued_ns: time_ns, completed_ns, device, ..Io::default() }
}
