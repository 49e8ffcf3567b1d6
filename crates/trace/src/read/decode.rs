//! What every format gives: rows in its own time, and what holds for the trace as a whole.

use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};

/// Most rows in one batch.
pub const BATCH: usize = 8192;

/// Eighteen years in nanoseconds: no first request comes so long after the beginning of its trace, and since 1988 no clock is so early.
const LATE_NS: u64 = 1 << 59;

/// What a decoder's times count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// Nanoseconds since 1970; the first row becomes the beginning.
    Unix,
    /// The beginning of the trace, which the decoder knows.
    Start,
    /// Some clock of the machine; the first row becomes the beginning, which is this long before 1970 + that clock.
    Clock {
        /// What to add to the clock to have nanoseconds since 1970, when the trace tells.
        unix_offset_ns: Option<i64>,
    },
}

impl Epoch {
    /// Of columns that do not tell it, by the first time in them: programs that make tables often have times of the clock.
    pub fn of_first(queued_ns: u64) -> Self {
        if queued_ns < LATE_NS { Self::Start } else { Self::Unix }
    }
}

/// A format's decoder.
pub(crate) trait Decode: Send {
    /// Appends some rows, about in the order of arrival; `false` when there are no more and none was appended.
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error>;

    /// The tables as far as they are known; complete after the last row.
    fn info(&self) -> &TraceInfo;

    /// What the times of the rows count from, known after the first rows.
    fn epoch(&self) -> Epoch;

    /// The file, where it names no disk and is taken to be of one; known after the first rows.
    fn namesake(&self) -> Option<&str> {
        None
    }

    /// Whether the rows are known to come in the order of arrival.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Only rows that arrive from one time on and before another are wanted, counted from the beginning of the trace, which no other
    /// decoder has a part in if this one `is_alone`: a decoder that can leaves others out unread. Rows outside may come all the same.
    fn narrow(&mut self, _from_ns: Option<u64>, _to_ns: Option<u64>, _is_alone: bool) {}
}
