//! Rows of sources that say little: one time, or an arrival and how long the answer took.

use ioscape_schema::{Io, Request};

/// A row of a source that gives one time only.
pub(crate) fn at(time_ns: u64, request: Request, device: u16) -> Io {
    answered(time_ns, 0, request, device)
}

/// A row of a source that gives an arrival and how long the answer took.
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
