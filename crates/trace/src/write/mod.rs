//! Writes traces: rows become a file in another program's format, or in this project's own.

mod arrow;
mod column;
mod csv;
mod disksim;
mod encode;
mod fio;
mod oracle;
mod parquet;

use crate::error::Error;
use encode::Encode;
use ioscape_schema::{Io, TraceInfo};
use std::io::{Seek, Write};
use std::path::Path;
use std::str::FromStr;

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutFormat {
    /// This project's typed columns; loses nothing.
    Parquet,
    /// The same columns as a stream for a pipe, with names of devices and commands; loses what is
    /// known only at the end.
    Arrow,
    /// This project's rows as text; loses nothing.
    Csv,
    /// fio's iolog, version 3: arrival, device, operation, offset and length.
    FioLog,
    /// DiskSim's ascii requests: arrival, device, block, count and operation.
    DiskSim,
    /// libCacheSim's oracleGeneral: second, sector, size and next access.
    OracleGeneral,
}

/// All formats with their names.
const NAMES: [(OutFormat, &str); 6] = [
    (OutFormat::Parquet, "parquet"),
    (OutFormat::Arrow, "arrow"),
    (OutFormat::Csv, "csv"),
    (OutFormat::FioLog, "fio-iolog"),
    (OutFormat::DiskSim, "disksim"),
    (OutFormat::OracleGeneral, "oracle-general"),
];

impl OutFormat {
    /// The name, as in `--format`.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    /// Whether its writer seeks back to earlier output, which a pipe does not allow.
    pub fn goes_back(self) -> bool {
        self == Self::OracleGeneral
    }

    /// The format of a trace by its file name extension; Parquet if the extension is unknown.
    pub fn of_name(path: &Path) -> Self {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_deref().and_then(std::ffi::OsStr::to_str) {
            Some("csv") => Self::Csv,
            Some("arrow" | "arrows") => Self::Arrow,
            _ => Self::Parquet,
        }
    }

    /// The format of the rows that a command writes besides its result, by file name extension.
    ///
    /// # Errors
    /// The name ends with neither `.csv` nor `.parquet`.
    pub fn of_rows(path: &Path) -> Result<Self, String> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(format!("--rows {}: the name must end with .csv or .parquet", path.display())),
        }
    }
}

impl FromStr for OutFormat {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = NAMES.map(|(_, name)| name).join(", ");
        NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(format, _)| *format)
            .ok_or_else(|| format!("no such format to write: known are {known}"))
    }
}

/// An output for rows that, for formats that need it, can be overwritten.
pub trait WriteSeek: Write + Seek + Send {}

impl<T: Write + Seek + Send> WriteSeek for T {}

/// A trace being written.
pub struct Writer {
    encoder: Box<dyn Encode>,
}

impl Writer {
    /// Begins a trace in `out`, which should be buffered.
    pub fn new(format: OutFormat, out: impl WriteSeek + 'static) -> Result<Self, Error> {
        Self::with_columns(format, out, &[])
    }

    /// Does the same with additional integer columns after those of the schema, in this project's
    /// formats; readers of traces skip them. Their names must not be in the schema.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn with_columns(
        format: OutFormat,
        out: impl WriteSeek + 'static,
        more: &'static [&'static str],
    ) -> Result<Self, Error> {
        let encoder: Box<dyn Encode> = match format {
            OutFormat::Parquet => Box::new(parquet::Columns::new(out, more)?),
            OutFormat::Arrow => Box::new(arrow::Stream::new(out, more)),
            OutFormat::Csv => Box::new(csv::Csv::new(out, more)),
            OutFormat::FioLog => Box::new(fio::FioLog::new(out)),
            OutFormat::DiskSim => Box::new(disksim::Ascii::new(out)),
            OutFormat::OracleGeneral => Box::new(oracle::OracleGeneral::new(out)),
        };
        Ok(Self { encoder })
    }

    /// Whether the format can represent a request. All formats can if it moves bytes; others may be
    /// left out.
    pub fn holds(&self, io: &Io) -> bool {
        self.encoder.holds(io)
    }

    /// Writes rows, in order of arrival; `info` holds all devices and commands that they name.
    ///
    /// # Errors
    /// The file cannot be written, or a row cannot be represented in this format.
    pub fn rows(&mut self, rows: &[Io], info: &TraceInfo) -> Result<(), Error> {
        self.encoder.rows(rows, &[], info)
    }

    /// Does the same with the values of the additional columns, row by row; missing values are 0.
    pub fn rows_with(&mut self, rows: &[Io], more: &[u64], info: &TraceInfo) -> Result<(), Error> {
        self.encoder.rows(rows, more, info)
    }

    /// Ends the trace; the file is complete only then.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self, info: &TraceInfo) -> Result<(), Error> {
        self.encoder.finish(info)
    }
}
