//! Reads the live counters, slice by slice.

use super::options::Mark;
use ioscape_machine::shared::Shared;
use std::time::Instant;

/// The state of the counters at the beginning and at the last reading.
pub(super) struct Sampler<'a> {
    shared: &'a Shared,
    begin: Instant,
    last: Instant,
    first: u64,
    moved: u64,
}

impl<'a> Sampler<'a> {
    /// Starts now.
    pub(super) fn new(shared: &'a Shared) -> Self {
        let now = Instant::now();
        let [read, written] = shared.moved();
        Self { shared, begin: now, last: now, first: read + written, moved: read + written }
    }

    /// Bytes per second since the last call.
    pub(super) fn rate(&mut self) -> f64 {
        let now = Instant::now();
        let [read, written] = self.shared.moved();
        let seconds = now.duration_since(self.last).as_secs_f64();
        let bytes = (read + written).saturating_sub(self.moved);
        (self.last, self.moved) = (now, read + written);
        bytes as f64 / seconds.max(1e-9)
    }

    /// Seconds since the beginning.
    pub(super) fn elapsed_s(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// The bytes moved up to the last call of [`Self::rate`].
    pub(super) fn mark(&self) -> Mark {
        let at_s = self.last.duration_since(self.begin).as_secs_f64();
        Mark { at_s, bytes: self.moved.saturating_sub(self.first) }
    }
}
