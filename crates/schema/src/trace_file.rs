//! Traces as files: what was written, and what is known of it.

use crate::TraceInfo;
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
    /// Rows that read, as far as the source tells.
    pub reads: u64,
    /// Bytes of all requests that move data.
    pub bytes: u64,
    /// From the first arrival to the last.
    pub span_ns: u64,
    /// Size of the file.
    pub file_bytes: u64,
    /// What holds for the trace as a whole.
    pub info: TraceInfo,
}
