//! How to read recorded kernel events that are not yet a trace.

use crate::TraceInfo;
use serde::{Deserialize, Serialize};

/// How to read recorded events, and what is known about them from the start. It is JSON after
/// [`RECORDING_MARK`](crate::text::RECORDING_MARK) in the first line of each file of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordingSource {
    /// Text of `events/header_page`.
    pub header_page: String,
    /// Texts of the `format` files of the recorded events.
    pub formats: Vec<String>,
    /// Device numbers of the disks, in the order of the devices of `info`.
    pub devices: Vec<u32>,
    /// The disks. Its start time is the offset from the events' clock to nanoseconds since 1970.
    pub info: TraceInfo,
    /// Start of the recording on the events' clock.
    pub begins_ns: u64,
    /// Process id of the recorder.
    pub recorder: u32,
}
