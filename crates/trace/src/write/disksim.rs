//! DiskSim's ASCII requests: `time_ms devno blkno bcount flags`, 512-byte blocks, flag 1 to read.

use super::encode::Encode;
use crate::error::Error;
use ioscape_schema::{Io, Op, TraceInfo};
use std::io::{self, Write};

/// Bytes of a block.
const BLOCK: u64 = 512;

/// Writer of the text.
pub(super) struct Ascii<W> {
    out: W,
}

impl<W: Write> Ascii<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes the whole blocks that cover the request.
    fn row(&mut self, io: &Io) -> io::Result<()> {
        if !io.moves_data() {
            return Ok(());
        }
        let (first, end) = (io.request.offset / BLOCK, io.end().div_ceil(BLOCK));
        let flags = u8::from(io.request.op == Op::Read);
        let (ms, rest) = (io.queued_ns / 1_000_000, io.queued_ns % 1_000_000);
        writeln!(self.out, "{ms}.{rest:06} {} {first} {} {flags:x}", io.device, end - first)
    }
}

impl<W: Write + Send> Encode for Ascii<W> {
    fn rows(&mut self, rows: &[Io], _more: &[u64], _info: &TraceInfo) -> Result<(), Error> {
        rows.iter().try_for_each(|io| self.row(io)).map_err(Error::Write)
    }

    /// A line always transfers blocks.
    fn holds(&self, io: &Io) -> bool {
        io.moves_data()
    }

    fn finish(mut self: Box<Self>, _info: &TraceInfo) -> Result<(), Error> {
        self.out.flush().map_err(Error::Write)
    }
}
