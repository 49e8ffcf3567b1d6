//! The ring buffer of Linux's tracefs, read raw (`per_cpu/cpu*/trace_pipe_raw`): pages of events,
//! one stream per CPU.

pub(crate) mod decoder;
pub(crate) mod layout;
mod page;
pub(crate) mod part;
mod parts;

pub use layout::{Layout, LayoutError};
pub use part::Part;
pub use parts::Parts;

use crate::error::Error;
use crate::read::{Reader, Source};
use ioscape_schema::TraceInfo;

/// Opens a recording: each CPU's pages, their layout, and what the recorder knows of the trace.
///
/// `info` names the devices in the order of `devices`, their numbers (major times 2^20 plus minor).
/// Adding its `started_unix_ns` to the trace's clock gives nanoseconds since 1970. Lost events that
/// the pages report are added to `info.lost_by_cpu`.
///
/// # Errors
/// Pages that cannot be read.
pub fn open(
    layout: Layout,
    cpus: Vec<Source>,
    devices: &[u32],
    info: TraceInfo,
) -> Result<Reader, Error> {
    let part = Part { cpus, lost_by_cpu: info.lost_by_cpu.clone(), ..Part::default() };
    Parts::new(layout, devices, info).begin(part)
}
