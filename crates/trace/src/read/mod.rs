//! Traces in: bytes of any known format become rows in the order of their arrival.

mod csv;
mod decode;
mod decompress;
mod detect;
mod events;
mod format;
mod formats;
mod input;
mod lines;
mod order;
mod ordered;
mod parquet;
mod reader;
mod source;
mod srt;
mod tables;
mod text;

pub(crate) use decode::{Decode, Epoch};
pub(crate) use events::{Event, Kind, Pairing, event_kind, rwbs};
pub use format::Format;
pub(crate) use input::Input;
pub(crate) use parquet::{SORTED, TABLES};
pub use reader::{BATCH, Reader, open};
pub(crate) use source::input_of;
pub use source::{ReadSeek, Source};
pub(crate) use tables::{Sink, Tables};

/// How a trace is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The format, when the content shall not decide.
    pub format: Option<Format>,
    /// Leave broken records out and count them in [`ioscape_schema::TraceInfo::skipped`] instead of failing.
    pub skip_bad: bool,
}
