//! Rows in the order of arrival: a window sorts what a source tells a little out of order.

use super::decode::Epoch;
use ioscape_schema::{Io, TraceInfo};

/// Rows that may come before an earlier one.
const WINDOW: usize = 1 << 16;

/// The window.
#[derive(Default)]
pub(crate) struct Order {
    waiting: Vec<Io>,
    base_ns: Option<u64>,
    latest_ns: u64,
    /// Rows that came later than the window could mend.
    pub late: u64,
}

impl Order {
    /// Where new rows are appended.
    pub fn waiting(&mut self) -> &mut Vec<Io> {
        &mut self.waiting
    }

    /// Whether rows may leave.
    pub fn full(&self) -> bool {
        self.waiting.len() >= 2 * WINDOW
    }

    /// Moves rows that are in order to `out`: all of them `at_end`, else all but the window. Their times become relative
    /// to the beginning, which the first row decides.
    pub fn release(&mut self, out: &mut Vec<Io>, at_end: bool, epoch: Epoch) {
        if !self.waiting.is_sorted_by_key(|io| io.queued_ns) {
            self.waiting.sort_by_key(|io| io.queued_ns);
        }
        let count = if at_end { self.waiting.len() } else { self.waiting.len() - WINDOW };
        let Some(first) = self.waiting.first() else { return };
        let base =
            *self.base_ns.get_or_insert(if epoch == Epoch::Start { 0 } else { first.queued_ns });
        out.reserve(count);
        for mut io in self.waiting.drain(..count) {
            self.late += u64::from(io.queued_ns < self.latest_ns);
            self.latest_ns = self.latest_ns.max(io.queued_ns);
            io.queued_ns = io.queued_ns.saturating_sub(base);
            io.issued_ns = io.issued_ns.saturating_sub(base).max(io.queued_ns);
            io.completed_ns = io.completed_ns.saturating_sub(base).max(io.issued_ns);
            out.push(io);
        }
    }

    /// Fills in when the trace began, once the first row is known.
    pub fn date(&self, info: &mut TraceInfo, epoch: Epoch) {
        let base = self.base_ns.and_then(|b| i64::try_from(b).ok());
        match (epoch, base) {
            (Epoch::Unix, Some(base)) => info.started_unix_ns = Some(base),
            (Epoch::Clock { unix_offset_ns: Some(offset) }, Some(base)) => {
                info.started_unix_ns = offset.checked_add(base);
            }
            _ => {}
        }
    }
}
