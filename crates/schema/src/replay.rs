//! What a replay of a trace on a real target found: how late it was, and how long requests took there.

use crate::{Access, Distribution, Io, ResponseTime, VerifyReport};
use serde::{Deserialize, Serialize};

/// When requests are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayTiming {
    /// When they arrived in the trace, at this multiple of its speed.
    Speed(f64),
    /// As soon as fewer than the limit are in flight.
    #[default]
    AsFastAsPossible,
}

/// How the addresses of a trace that is larger than the target are mapped into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayFit {
    /// What lies beyond the end continues from the beginning; distances stay as they are.
    #[default]
    Wrap,
    /// All addresses are scaled by the same factor; sequential requests do not stay sequential.
    Scale,
}

crate::words::words!(ReplayFit, "way to fit", ReplayFit::Wrap => "wrap", ReplayFit::Scale => "scale");

/// A request as it goes to the target, and what became of it on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placed {
    /// The request: its place and size on the target, its times from the first arrival on.
    pub io: Io,
    /// It went to another place than in the trace.
    pub moved: bool,
    /// Its bounds were rounded to what direct I/O needs.
    pub rounded: bool,
    /// It was made shorter: the target has less room than it needs.
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
    /// `read`, `write`, `flush` (as `fdatasync`) or `discard` (zeroing included, as `fallocate`).
    pub kind: String,
    /// Completed requests.
    pub ios: u64,
    /// Bytes they moved or discarded.
    pub bytes: u64,
    /// From issue to completion, in nanoseconds.
    pub response_time_ns: ResponseTime,
}

/// The result of `ioscape trace replay`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceReplay {
    /// The trace, as named.
    pub trace: String,
    /// The file or device that was used.
    pub target: String,
    /// Its size.
    pub target_bytes: u64,
    /// Size that the trace's devices have side by side, up to the last byte touched of each.
    pub trace_bytes: u64,
    /// When requests were issued.
    pub timing: ReplayTiming,
    /// How requests reached the target.
    pub access: Access,
    /// Most requests in flight.
    pub in_flight: u32,
    /// How addresses beyond the target were mapped.
    pub fit: ReplayFit,
    /// Requests that went to another place than in the trace because the target is smaller.
    pub moved: u64,
    /// Requests whose bounds were rounded to what direct I/O needs.
    pub rounded: u64,
    /// Requests that were made shorter because the target is smaller than they are.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub cut: u64,
    /// Discards that the target does not support; they were left out.
    pub refused: u64,
    /// By kind, those that occurred.
    pub kinds: Vec<ReplayedKind>,
    /// From the first arrival to the last, at the speed asked for.
    pub span_ns: u64,
    /// From the first issue to the last completion.
    pub elapsed_ns: u64,
    /// Issue less the time it was due; absent when requests were issued as fast as possible. Bins double from a microsecond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_ns: Option<Distribution>,
    /// Mean time from arrival to completion in the trace, of the same requests; absent when it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_mean_ns: Option<f64>,
    /// What verifying the data found, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyReport>,
}

impl TraceReplay {
    /// Completed requests of all kinds.
    pub fn ios(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.ios).sum()
    }
}
