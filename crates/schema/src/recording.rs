//! How to read the kernel's events that were recorded and are not yet a trace.

use crate::TraceInfo;
use serde::{Deserialize, Serialize};

/// How to read what is recorded, and what is known of it from the beginning: as JSON behind [`RECORDING_MARK`](crate::text::RECORDING_MARK) the
/// first line of each file of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordingSource {
    /// Text of `events/header_page`.
    pub header_page: String,
    /// Texts of the `format` files of the events that are recorded.
    pub formats: Vec<String>,
    /// The numbers of the disks, in the order of the devices of `info`.
    pub devices: Vec<u32>,
    /// The disks; its beginning is what to add to the events' clock to have nanoseconds since 1970.
    pub info: TraceInfo,
    /// When the recording began, on the events' clock.
    pub begins_ns: u64,
    /// The process that records.
    pub recorder: u32,
}
