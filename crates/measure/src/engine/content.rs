//! The contents of requests: noise that cannot be deduplicated, or blocks that can be verified.

use super::buffer::Stamp;
use ioscape_schema::Request;
use std::ops::Range;

/// Fills the buffer before a write and checks it after a read, both outside of the response time.
pub(crate) trait Content {
    /// What to remember about a request while it is in flight.
    type Flight: Default + Send;

    /// Whether anything is checked. If not, the hot loop contains no trace of it.
    const CHECKS: bool;

    /// Prepares `buffer`, the bytes of `request`, before the request is issued.
    fn prepare(&mut self, request: &Request, buffer: &mut [u8], flight: &mut Self::Flight);

    /// Checks `buffer` when the request is done.
    fn conclude(&mut self, request: &Request, buffer: &[u8], flight: &Self::Flight);

    /// Announces that something other than a write is about to change `range`.
    fn disturb(&mut self, range: &Range<u64>);

    /// Says that the change of `range` is done.
    fn disturbed(&mut self, range: &Range<u64>);
}

impl Content for Stamp {
    type Flight = ();

    const CHECKS: bool = false;

    #[inline]
    fn prepare(&mut self, request: &Request, buffer: &mut [u8], (): &mut ()) {
        Stamp::prepare(self, request, buffer);
    }

    #[inline]
    fn conclude(&mut self, _request: &Request, _buffer: &[u8], (): &()) {}

    #[inline]
    fn disturb(&mut self, _range: &Range<u64>) {}

    #[inline]
    fn disturbed(&mut self, _range: &Range<u64>) {}
}
