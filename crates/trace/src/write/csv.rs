//! This project's own rows as text, for people and for programs that read no other format.

use super::encode::Encode;
use crate::columns::{self, ALL};
use crate::error::Error;
use ioscape_schema::text::TRACE_MARK;
use ioscape_schema::{Io, TraceInfo};
use std::borrow::Cow;
use std::io::Write;

/// Writer of the text.
pub(super) struct Csv<W> {
    out: W,
    more: &'static [&'static str],
    /// The tables as written before the first row; `None` until then.
    begun: Option<String>,
}

impl<W: Write> Csv<W> {
    /// Writes to `out`, with additional columns of these names.
    pub fn new(out: W, more: &'static [&'static str]) -> Self {
        Self { out, more, begun: None }
    }

    /// Writes the tables, as far as known, and the header.
    fn begin(&mut self, info: &TraceInfo) -> Result<(), Error> {
        let (json, names) = (tables(info)?, [&ALL, self.more].concat().join(","));
        writeln!(self.out, "{TRACE_MARK}{json}\n{names}").map_err(Error::Write)?;
        self.begun = Some(json);
        Ok(())
    }

    fn row(&mut self, io: &Io, more: &[u64], info: &TraceInfo) -> std::io::Result<()> {
        let device = info.devices.get(usize::from(io.device)).map_or("", |d| &d.name);
        let command = info.commands.get(io.command as usize).map_or("", String::as_str);
        for (column, name) in ALL.iter().enumerate() {
            if column > 0 {
                self.out.write_all(b",")?;
            }
            match *name {
                columns::DEVICE => self.out.write_all(quoted(device).as_bytes())?,
                columns::COMMAND => self.out.write_all(quoted(command).as_bytes())?,
                columns::FLAGS => self.out.write_all(columns::flag_names(io.flags).as_bytes())?,
                columns::TYPE => {
                    self.out.write_all(columns::TYPES[io.io_type as usize].as_bytes())?;
                }
                _ => write!(self.out, "{}", columns::get(column, io))?,
            }
        }
        for at in 0..self.more.len() {
            write!(self.out, ",{}", more.get(at).unwrap_or(&0))?;
        }
        self.out.write_all(b"\n")
    }
}

/// The tables in one line. Names are written as in the rows, or they would not match.
fn tables(info: &TraceInfo) -> Result<String, Error> {
    let mut told = info.clone();
    let devices = told.devices.iter_mut().map(|device| &mut device.name);
    devices.chain(&mut told.commands).for_each(|name| *name = in_one_line(name).into_owned());
    serde_json::to_string(&told).map_err(|e| Error::Write(e.into()))
}

/// Makes a name fit on one line.
fn in_one_line(name: &str) -> Cow<'_, str> {
    match name.contains(['\n', '\r']) {
        true => name.replace(['\n', '\r'], " ").into(),
        false => name.into(),
    }
}

/// Quotes a name that could be taken for several fields or lines.
fn quoted(name: &str) -> Cow<'_, str> {
    if !name.contains([',', '"', '\n', '\r']) && name.trim() == name {
        return name.into();
    }
    format!("\"{}\"", in_one_line(name).replace('"', "\"\"")).into()
}

impl<W: Write + Send> Encode for Csv<W> {
    fn rows(&mut self, rows: &[Io], more: &[u64], info: &TraceInfo) -> Result<(), Error> {
        if self.begun.is_none() {
            self.begin(info)?;
        }
        let mut more = more.chunks(self.more.len().max(1));
        let mut row = |io| self.row(io, more.next().unwrap_or(&[]), info);
        rows.iter().try_for_each(&mut row).map_err(Error::Write)
    }

    fn finish(mut self: Box<Self>, info: &TraceInfo) -> Result<(), Error> {
        if self.begun.is_none() {
            self.begin(info)?;
        }
        // What was learned from the whole trace comes after its rows.
        let last = tables(info)?;
        if self.begun.as_ref() != Some(&last) {
            writeln!(self.out, "{TRACE_MARK}{last}").map_err(Error::Write)?;
        }
        self.out.flush().map_err(Error::Write)
    }
}
