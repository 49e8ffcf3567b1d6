//! How requests reach the kernel: one module per engine, and the loop that drives the engines with
//! one request at a time.

pub(crate) mod buffer;
pub(crate) mod content;
pub(crate) mod discovered;
pub(crate) mod dontcache;
pub(crate) mod fault;
pub(crate) mod mmap;
pub(crate) mod null;
pub(crate) mod psync;
pub(crate) mod uring;

pub(crate) use fault::{Action, Fault, action};

use crate::worker::rows::Keep;
use crate::worker::stream::Stream;
use ioscape_machine::clock::Clock;
use ioscape_schema::Request;

/// An engine that carries out one request after another.
pub(crate) trait Perform {
    /// Does the preparation that does not count towards the response time.
    #[inline]
    fn prepare(&mut self, _request: &Request) {}

    /// Reads the clock around [`Self::perform`]. A system call keeps the order of both.
    #[inline]
    fn now(clock: &Clock) -> u64 {
        clock.raw()
    }

    /// Carries out the whole request, in several calls if the kernel transfers less at a time.
    fn perform(&mut self, request: &Request) -> Result<(), Fault>;

    /// Checks what the request transferred, which does not count towards the response time either.
    #[inline]
    fn conclude(&mut self, _request: &Request) {}
}

/// Issues requests from `source` until the conductor stops the run: the hot loop of all engines but `io_uring`.
pub(crate) fn drive<E: Perform, S: FnMut() -> Request, K: Keep>(
    engine: &mut E,
    source: &mut S,
    stream: &mut Stream<'_, K>,
) -> Result<(), Fault> {
    while stream.goes_on() {
        let request = source();
        stream.think_before(&request);
        engine.prepare(&request);
        let issued = E::now(&stream.clock);
        engine.perform(&request)?;
        let completed = E::now(&stream.clock);
        stream.record(&request, issued, completed);
        engine.conclude(&request);
        stream.think(1);
    }
    Ok(())
}
