//! Trace files written whole or not at all.

use crate::failure::Failure;
use crate::outputs::RESULT;
use ioscape_machine::output::Names;
use ioscape_machine::output::{Destination, Draft};
use ioscape_schema::text::inert;
use ioscape_schema::{Device, Io, TraceInfo};
use ioscape_trace::{OutFormat, Writer};
use std::io::BufWriter;
use std::path::Path;

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 20;

/// Rows beside a result, by the name of their argument.
pub const ROWS: &str = "--rows";

/// Most requests that a command keeps in memory, to write them as rows when all is done.
pub const ROWS_MOST: usize = 1 << 22;

/// Note that counts the requests for which there was no room; a reader of the trace makes a warning of it.
const WITHOUT_ROOM: &str = "requests after the last row";

/// What holds for the rows of real I/O, on one device that is called as its target: of `bytes` bytes, and with `lacking`
/// requests after the last row.
pub fn info_of_target(target: &Path, bytes: u64, lacking: u64) -> TraceInfo {
    let name = inert(&target.display().to_string()).into_owned();
    let device = Device { name, capacity_bytes: Some(bytes), ..Device::default() };
    let lacks = (lacking > 0).then(|| (WITHOUT_ROOM.to_owned(), lacking.to_string()));
    TraceInfo {
        format: "measurement".to_owned(),
        devices: vec![device],
        notes: lacks.into_iter().collect(),
        ..TraceInfo::default()
    }
}

/// Writes rows in the order of arrival as a whole trace.
///
/// # Errors
/// The name ends with neither `.csv` nor `.parquet`, or the place cannot be written.
pub fn write_rows(place: Destination, rows: &[Io], info: &TraceInfo) -> Result<(), Failure> {
    let failed = |e: ioscape_trace::Error| Failure::Failed(e.to_string());
    let format = format_of_rows(place.path())?;
    let (file, mut writer) = Output::with_columns(place, format, &[])?;
    writer.rows(rows, info).map_err(failed)?;
    writer.finish(info).map_err(failed)?;
    file.keep().map(drop)
}

/// The format of the rows that a command writes beside its result, by the ending of the name.
///
/// # Errors
/// The name ends with neither `.csv` nor `.parquet`.
pub fn format_of_rows(path: &Path) -> Result<OutFormat, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(OutFormat::Csv),
        Some("parquet") => Ok(OutFormat::Parquet),
        _ => Err(Failure::Misuse(format!(
            "--rows {}: the name must end with .csv or .parquet",
            path.display()
        ))),
    }
}

/// A trace file being written: it takes its name only when it is whole.
pub struct Output {
    destination: Destination,
    draft: Draft,
}

impl Output {
    /// Vets `path` beside what else the command reads and writes, and begins a trace there.
    ///
    /// # Errors
    /// The path is refused or cannot be written.
    pub fn new(names: Names, path: &Path, format: OutFormat) -> Result<(Self, Writer), Failure> {
        let opened = names.writes(RESULT, [path]).open()?.take(RESULT);
        let destination = opened.ok_or_else(|| Failure::Failed("nothing to write".to_owned()))?;
        Self::with_columns(destination, format, &[])
    }

    /// Begins a trace with further columns of these names behind those of a trace.
    ///
    /// # Errors
    /// The destination cannot be written.
    pub fn with_columns(
        destination: Destination,
        format: OutFormat,
        more: &'static [&'static str],
    ) -> Result<(Self, Writer), Failure> {
        let name = destination.path().display().to_string();
        let failed = |e| Failure::of_write(&name, &e);
        // Some formats go back to what they wrote.
        let draft = destination.begin_seekable().map_err(failed)?;
        let file = draft.file().try_clone().map_err(failed)?;
        let writer = Writer::with_columns(format, BufWriter::with_capacity(BUFFER, file), more)
            .map_err(|e| Failure::Failed(e.to_string()))?;
        Ok((Self { destination, draft }, writer))
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        self.destination.path()
    }

    /// Gives the file its name; its size in bytes.
    ///
    /// # Errors
    /// The destination cannot be written.
    pub fn keep(self) -> Result<u64, Failure> {
        let Self { mut destination, draft } = self;
        let kept = destination.keep(draft);
        kept.map_err(|e| Failure::of_write(&destination.path().display().to_string(), &e))
    }
}
