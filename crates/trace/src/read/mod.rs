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

pub use format::Format;
pub(crate) use parquet::{SORTED, TABLES};
pub use reader::{BATCH, Reader, open};
pub use source::{ReadSeek, Source};

/// How a trace is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The format, when the content shall not decide.
    pub format: Option<Format>,
    /// Leave broken records out and count them in [`ioscape_schema::TraceInfo::skipped`] instead of failing.
    pub skip_bad: bool,
}
