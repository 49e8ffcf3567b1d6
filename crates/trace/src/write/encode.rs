//! What a format that is written does with rows.

use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};

/// A format that is written.
pub(super) trait Encode: Send {
    /// Writes some rows; `info` holds the tables as far as they are known. `more` holds the values of the further columns,
    /// row after row; formats without further columns leave them out.
    fn rows(&mut self, rows: &[Io], more: &[u64], info: &TraceInfo) -> Result<(), Error>;

    /// Whether the format has a place for the row; one that has none is left out.
    fn holds(&self, _io: &Io) -> bool {
        true
    }

    /// Writes what comes last.
    fn finish(self: Box<Self>, info: &TraceInfo) -> Result<(), Error>;
}
