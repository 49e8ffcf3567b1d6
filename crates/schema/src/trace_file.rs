//! Trace files: what was written and what is known about them.

use crate::trace_lacks::TraceLacks;
use crate::{Io, Op, TraceInfo};
use serde::{Deserialize, Serialize};

/// A trace that was imported, exported or recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceFile {
    /// The file that was written.
    pub path: String,
    /// Format of the file.
    pub format: String,
    /// Number of rows.
    pub rows: u64,
    /// Number of reads; absent if the source does not record operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Total bytes of all requests that move data.
    pub bytes: u64,
    /// Time from the first arrival to the last.
    pub span_ns: u64,
    /// Size of the file.
    pub file_bytes: u64,
    /// Properties of the trace as a whole.
    pub info: TraceInfo,
    /// If the file holds only slow requests: how many, and what they waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<SlowRequests>,
}

/// Requests that took longer than a limit from arrival to completion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowRequests {
    /// The limit.
    pub above_ns: u64,
    /// Number of requests that took longer.
    pub ios: u64,
    /// Number of all requests.
    pub of_ios: u64,
    /// Slow requests that spent more time in the queue than at the device.
    pub mostly_queued: u64,
    /// Slow requests that found nothing else in flight on their device.
    pub alone: u64,
    /// The processes behind which the other slow requests waited, most frequent first. For each
    /// slow request it is the process whose requests were in flight longest during it.
    pub behind: Vec<Behind>,
}

/// A process that slow requests waited behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behind {
    /// Its process number.
    pub process: u32,
    /// Its command; empty if not recorded.
    pub command: String,
    /// Slow requests that waited behind it.
    pub ios: u64,
}

impl TraceFile {
    /// Returns a file without rows.
    pub fn begun() -> Self {
        Self { reads: Some(0), ..Self::default() }
    }

    /// Records the properties of the trace as a whole, which are known at its end. If the trace
    /// does not record operations, the number of reads is unknown.
    pub fn about(&mut self, info: TraceInfo) {
        if TraceLacks::of(&info).operations {
            self.reads = None;
        }
        self.info = info;
    }

    /// Counts the next rows, in order of arrival; `first_ns` keeps the arrival of the first.
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
