//! The result of replaying a trace on a real target: how late it was, and how long requests took.

use crate::{Access, Distribution, Io, ResponseTime, VerifyReport};
use serde::{Deserialize, Serialize};

/// When requests are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayTiming {
    /// At their arrival times in the trace, at this multiple of its speed.
    Speed(f64),
    /// As soon as fewer than the limit are in flight.
    #[default]
    AsFastAsPossible,
}

/// How the addresses of a trace that is larger than the target are mapped into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayFit {
    /// Addresses beyond the end continue from the beginning; distances are preserved.
    #[default]
    Wrap,
    /// All addresses are scaled by one factor; sequential requests do not stay sequential.
    Scale,
}

crate::words!(ReplayFit, "way to fit", Wrap => "wrap", Scale => "scale");

/// A request as issued to the target, and how it was changed for that.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placed {
    /// The request, with its place and size on the target and its times from the first arrival.
    pub io: Io,
    /// Whether it went to another place than in the trace.
    pub moved: bool,
    /// Whether it was made larger, to bounds that direct I/O takes.
    pub rounded: bool,
    /// Whether it was shortened because the target is too small for it.
    pub cut: bool,
}

impl From<Io> for Placed {
    fn from(io: Io) -> Self {
        Self { io, ..Self::default() }
    }
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayedKind {
    /// `read`, `write`, `flush` (as `fdatasync`) or `discard` (as `fallocate`, including zeroing).
    pub kind: String,
    /// Completed requests.
    pub ios: u64,
    /// Bytes moved or discarded.
    pub bytes: u64,
    /// Response time from issue to completion, in nanoseconds.
    pub response_time_ns: ResponseTime,
}

/// The result of `ioscape trace replay`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceReplay {
    /// The trace, as the user named it.
    pub trace: String,
    /// The file or device used.
    pub target: String,
    /// Size of the target.
    pub target_bytes: u64,
    /// Total size of the trace's devices, each up to the last byte touched.
    pub trace_bytes: u64,
    /// When requests were issued.
    pub timing: ReplayTiming,
    /// The access mode.
    pub access: Access,
    /// Largest number of requests in flight.
    pub in_flight: u32,
    /// How addresses beyond the target were mapped.
    pub fit: ReplayFit,
    /// Requests that went to another place than in the trace because the target is smaller.
    pub moved: u64,
    /// Requests that were made larger, to bounds that direct I/O takes.
    pub rounded: u64,
    /// Requests that were shortened because the target is smaller than they are.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub cut: u64,
    /// Discards that the target does not support and that were skipped.
    pub refused: u64,
    /// Requests by kind, for the kinds that occurred.
    pub kinds: Vec<ReplayedKind>,
    /// Time from the first arrival to the last, at the requested speed.
    pub span_ns: u64,
    /// Time from the first issue to the last completion.
    pub elapsed_ns: u64,
    /// Delay of issue after the due time; absent if requests were issued as fast as possible, or if
    /// the trace's arrivals are in steps of more than a millisecond. Bins double from a microsecond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_ns: Option<Distribution>,
    /// Mean time from arrival to completion of the same requests in the trace; absent if not
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_mean_ns: Option<f64>,
    /// Result of verifying the data, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyReport>,
}

impl TraceReplay {
    /// Returns the completed requests of all kinds.
    pub fn ios(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.ios).sum()
    }
}
