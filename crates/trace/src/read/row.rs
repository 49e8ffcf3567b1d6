//! Rows of sources that record little: a single time, or an arrival and a response time.

use ioscape_schema::{Io, Request};

/// Returns a row of a source that records a single time.
pub(crate) fn at(time_ns: u64, request: Request, device: u16) -> Io {
    answered(time_ns, 0, request, device)
}

/// Returns a row of a source that records an arrival and a response time.
pub(crate) fn answered(time_ns: u64, response_ns: u64, request: Request, device: u16) -> Io {
    Io {
        request,
        queued_ns: time_ns,
        issued_ns: time_ns,
        completed_ns: time_ns.saturating_add(response_ns),
        device,
        ..Io::default()
    }
}
