//! The one row type of the project: an I/O is an I/O, whether measured, read from a trace or simulated.

use serde::{Deserialize, Serialize};

/// What a request does to its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Bytes move from the system to the process.
    Read,
    /// Bytes move from the process to the system.
    Write,
}

/// One request as a workload issues it: an operation on `len` bytes at byte `offset` of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Read or write.
    pub op: Op,
    /// First byte, from the beginning of the set.
    pub offset: u64,
    /// Length in bytes, at least 1.
    pub len: u32,
}

/// One completed request with its times (Q, D and C of the block layer's event names).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Io {
    /// What was asked.
    pub request: Request,
    /// Number of the issuing process, from 0.
    pub process: u32,
    /// When the request entered the queue.
    pub queued_ns: u64,
    /// When it was issued to the device or system; not before `queued_ns`.
    pub issued_ns: u64,
    /// When it completed; not before `issued_ns`.
    pub completed_ns: u64,
}
