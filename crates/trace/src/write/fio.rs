//! fio's iolog, version 3 (fio's HOWTO): `microseconds file action offset length`, a file for each device.

use super::encode::Encode;
use crate::error::Error;
use ioscape_schema::{Io, IoFlags, Op, TraceInfo};
use std::io::{self, Write};

/// Writer of the text.
pub(super) struct FioLog<W> {
    out: W,
    begun: bool,
    /// Devices that were added and opened.
    opened: usize,
    names: Vec<String>,
    latest_us: u64,
}

impl<W: Write> FioLog<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, begun: false, opened: 0, names: Vec::new(), latest_us: 0 }
    }

    fn open(&mut self, info: &TraceInfo) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            writeln!(self.out, "fio version 3 iolog")?;
        }
        for device in &info.devices[self.opened.min(info.devices.len())..] {
            // The line is cut at blanks.
            let name = device.name.replace(|c: char| c.is_whitespace() || c.is_control(), "_");
            let name = if name.is_empty() { "disk".to_owned() } else { name };
            writeln!(self.out, "{0} {name} add\n{0} {name} open", self.latest_us)?;
            self.names.push(name);
        }
        self.opened = info.devices.len();
        Ok(())
    }

    fn row(&mut self, io: &Io) -> io::Result<()> {
        let us = io.queued_ns / 1000;
        self.latest_us = us;
        if !has_place(io) {
            return Ok(());
        }
        let name = self.names.get(usize::from(io.device)).map_or("disk", String::as_str);
        let (offset, len) = (io.request.offset, io.request.len);
        let action = match io.request.op {
            _ if len == 0 => return writeln!(self.out, "{us} {name} sync 0 0"),
            _ if io.flags.contains(IoFlags::DISCARD) => "trim",
            Op::Read => "read",
            Op::Write => "write",
        };
        writeln!(self.out, "{us} {name} {action} {offset} {len}")
    }
}

/// Of requests without bytes fio takes flushes alone.
fn has_place(io: &Io) -> bool {
    io.request.len > 0 || io.flags.contains(IoFlags::FLUSH)
}

impl<W: Write + Send> Encode for FioLog<W> {
    fn rows(&mut self, rows: &[Io], _more: &[u64], info: &TraceInfo) -> Result<(), Error> {
        self.open(info).map_err(Error::Write)?;
        rows.iter().try_for_each(|io| self.row(io)).map_err(Error::Write)
    }

    fn holds(&self, io: &Io) -> bool {
        has_place(io)
    }

    fn finish(mut self: Box<Self>, info: &TraceInfo) -> Result<(), Error> {
        self.open(info).map_err(Error::Write)?;
        for name in &self.names {
            writeln!(self.out, "{} {name} close", self.latest_us).map_err(Error::Write)?;
        }
        self.out.flush().map_err(Error::Write)
    }
}
