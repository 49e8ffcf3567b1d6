//! What the bytes of requests are: noise that no storage can merge, or blocks that can be checked.

use super::buffer::Stamp;
use ioscape_schema::Request;
use std::ops::Range;

/// Fills what is written and looks at what was read, outside of the response time.
pub(crate) trait Content {
    /// What is kept of a request while it is in flight.
    type Flight: Default + Send;

    /// Whether anything is checked; where not, nothing of it is left in the hot loop.
    const CHECKS: bool;

    /// Makes `buffer`, the bytes of `request`, ready for it.
    fn prepare(&mut self, request: &Request, buffer: &mut [u8], flight: &mut Self::Flight);

    /// Looks at `buffer` when the request is done.
    fn conclude(&mut self, request: &Request, buffer: &[u8], flight: &Self::Flight);

    /// Something else than a write is about to change `range`.
    fn disturb(&mut self, range: &Range<u64>);

    /// It is done.
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
