//! What an output format does with rows.

use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};

/// An output format.
pub(super) trait Encode: Send {
    /// Writes some rows; `info` holds the tables as far as known. `more` holds the values of the
    /// additional columns, row by row; formats without such columns ignore them.
    fn rows(&mut self, rows: &[Io], more: &[u64], info: &TraceInfo) -> Result<(), Error>;

    /// Whether the format can represent the row; a row that it cannot is left out.
    fn holds(&self, _io: &Io) -> bool {
        true
    }

    /// Writes what comes at the end.
    fn finish(self: Box<Self>, info: &TraceInfo) -> Result<(), Error>;
}
