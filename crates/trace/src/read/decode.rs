//! What every format's decoder provides: rows in its own time, and facts about the trace as a
//! whole.

use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};

/// The most rows in one batch.
pub const BATCH: usize = 8192;

/// Eighteen years in nanoseconds. No first request comes that long after the beginning of its
/// trace, and no Unix time since 1988 is that small.
const LATE_NS: u64 = 1 << 59;

/// What a decoder's times count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// Nanoseconds since 1970; the first row becomes the beginning.
    Unix,
    /// The beginning of the trace, which the decoder knows.
    Start,
    /// Some clock of the machine. The first row becomes the beginning.
    Clock {
        /// What to add to the clock to get nanoseconds since 1970, if the trace records it.
        unix_offset_ns: Option<i64>,
    },
}

impl Epoch {
    /// Guesses the epoch of columns that do not record it from their first time: programs that
    /// write tables often use Unix time.
    pub fn of_first(queued_ns: u64) -> Self {
        if queued_ns < LATE_NS { Self::Start } else { Self::Unix }
    }
}

/// A decoder of one format.
pub(crate) trait Decode: Send {
    /// Appends some rows, roughly in the order of arrival. Returns `false` when there are no more
    /// and none was appended.
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error>;

    /// Returns the tables as far as they are known; complete after the last row.
    fn info(&self) -> &TraceInfo;

    /// Returns what the times of the rows count from; known after the first rows.
    fn epoch(&self) -> Epoch;

    /// Returns the name of a file that names no disk and so counts as one disk; known after the
    /// first rows.
    fn namesake(&self) -> Option<&str> {
        None
    }

    /// Whether the rows are known to come in the order of arrival.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Whether this program wrote the file, with all that its rows show.
    fn is_own(&self) -> bool {
        false
    }

    /// Tells the decoder that only rows that arrive from `from_ns` until before `to_ns` are wanted,
    /// counted from the beginning of the trace. If it `is_alone`, no other decoder contributes to
    /// the trace. A decoder may skip other rows unread, but may also deliver them.
    fn narrow(&mut self, _from_ns: Option<u64>, _to_ns: Option<u64>, _is_alone: bool) {}
}
