//! Traces as files: what was written, and what is known of it.

use crate::trace_lacks::TraceLacks;
use crate::{Io, Op, TraceInfo};
use serde::{Deserialize, Serialize};

/// A trace that was imported, exported or recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceFile {
    /// The file that was written.
    pub path: String,
    /// Format it was written in.
    pub format: String,
    /// Rows.
    pub rows: u64,
    /// Rows that read; absent where the source does not tell operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Bytes of all requests that move data.
    pub bytes: u64,
    /// From the first arrival to the last.
    pub span_ns: u64,
    /// Size of the file.
    pub file_bytes: u64,
    /// What holds for the trace as a whole.
    pub info: TraceInfo,
    /// Where the file holds only slow requests: how many, and what they waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<SlowRequests>,
}

/// Requests that took longer than a limit from arrival to completion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowRequests {
    /// The limit.
    pub above_ns: u64,
    /// How many took longer.
    pub ios: u64,
    /// Of so many requests.
    pub of_ios: u64,
    /// Those that spent more time in the queue than at the device.
    pub mostly_queued: u64,
    /// Those that found nothing else under way on their device.
    pub alone: u64,
    /// Whose requests the others waited behind, the most frequent first: the process whose requests were under way for longest while the
    /// slow one was.
    pub behind: Vec<Behind>,
}

/// A process that slow requests waited behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behind {
    /// Its number.
    pub process: u32,
    /// Its command, empty where it is not told.
    pub command: String,
    /// Slow requests that waited behind it.
    pub ios: u64,
}

impl TraceFile {
    /// A file of no rows yet.
    pub fn begun() -> Self {
        Self { reads: Some(0), ..Self::default() }
    }

    /// Takes in what holds for the trace as a whole, which is known at its end: where it tells no operations, no row is known to read.
    pub fn about(&mut self, info: TraceInfo) {
        if TraceLacks::of(&info).operations {
            self.reads = None;
        }
        self.info = info;
    }

    /// Counts the next rows, in order of arrival; `first_ns` is kept from the first.
    pub fn count(&mut self, first_ns: &mut Option<u64>, rows: &[Io]) {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
        let first = *first_ns.get_or_insert(first.queued_ns);
        self.span_ns = last.queued_ns.saturating_sub(first);
        self.rows += rows.len() as u64;
        for io in rows {
            if let Some(reads) = &mut self.reads {
                *reads += u64::from(io.request.op == Op::Read);
            }
            self.bytes += if io.moves_data() { u64::from(io.request.len) } else { 0 };
        }
    }
}
