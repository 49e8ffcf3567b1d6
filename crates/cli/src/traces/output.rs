//! Trace files written whole or not at all.

use crate::failure::Failure;
use crate::outputs::RESULT;
use ioscape_arguments::STANDARD;
use ioscape_machine::output::{Content, Destination, Draft, Names, Outputs};
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::{OutFormat, Writer};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 20;

/// Rows in addition to a result, by the name of their argument.
pub const ROWS: &str = "--rows";

/// Most requests that a command keeps in memory, to write them as rows when all is done.
pub const ROWS_MOST: usize = 1 << 22;

/// Writes the first `rows` of `ios` requests on a target of so many `bytes` where [`ROWS`] are asked for; their processes ran `commands`.
///
/// # Errors
/// The name ends with neither `.csv` nor `.parquet`, or the destination cannot be written.
pub fn keep_rows(
    outputs: &mut Outputs,
    targets: &[(&Path, u64)],
    rows: &[Io],
    ios: u64,
    commands: &[String],
) -> Result<(), Failure> {
    let Some(destination) = outputs.take(ROWS) else { return Ok(()) };
    let lacking = ios.saturating_sub(rows.len() as u64);
    let named: Vec<_> =
        targets.iter().map(|(path, bytes)| (path.display().to_string(), *bytes)).collect();
    let named = named.iter().map(|(name, bytes)| (&**name, *bytes));
    let info = TraceInfo::of_targets(named, lacking);
    let info = TraceInfo { commands: commands.to_vec(), ..info };
    let name = destination.path().display().to_string();
    let format = format_of_rows(destination.path())?;
    let (file, mut writer) = Output::with_columns(destination, format, &[])?;
    writer.rows(rows, &info).map_err(|e| Failure::of_trace(&name, e))?;
    writer.finish(&info).map_err(|e| Failure::of_trace(&name, e))?;
    file.keep().map(drop)
}

/// The format of the rows that a command writes in addition to its result, by the ending of the name.
///
/// # Errors
/// The name ends with neither `.csv` nor `.parquet`.
pub fn format_of_rows(path: &Path) -> Result<OutFormat, Failure> {
    OutFormat::of_rows(path).map_err(Failure::Misuse)
}

/// A trace file being written: it takes its name only when it is whole.
pub struct Output {
    destination: Destination,
    draft: Draft,
    written: Arc<AtomicU64>,
}

/// A file, and the bytes that were written into it so far.
struct Counted {
    file: File,
    written: Arc<AtomicU64>,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.written.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Output {
    /// Vets `path` together with what else the command reads and writes, and begins a trace there.
    ///
    /// # Errors
    /// The path is refused or cannot be written.
    pub fn new(names: Names, path: &Path, format: OutFormat) -> Result<(Self, Writer), Failure> {
        Self::with_columns(Self::destination(names, path, format)?, format, &[])
    }

    /// Vets `path` together with what else the command reads and writes.
    ///
    /// # Errors
    /// The path is refused.
    pub fn destination(
        names: Names,
        path: &Path,
        format: OutFormat,
    ) -> Result<Destination, Failure> {
        let path = if path == Path::new("-") { Path::new(STANDARD) } else { path };
        let names = match format {
            OutFormat::Parquet | OutFormat::Arrow | OutFormat::Csv => {
                names.holding(RESULT, Content::Trace)
            }
            _ => names,
        };
        let opened = names.writes(RESULT, [path]).open()?.take(RESULT);
        opened.ok_or_else(|| Failure::Failed("nothing to write".to_owned()))
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
        let draft = match format.goes_back() {
            true => destination.begin_seekable(),
            false => destination.begin(),
        };
        let draft = draft.map_err(failed)?;
        let written = Arc::new(AtomicU64::new(0));
        let file = draft.file().try_clone().map_err(failed)?;
        let file = Counted { file, written: Arc::clone(&written) };
        let writer = Writer::with_columns(format, BufWriter::with_capacity(BUFFER, file), more)?;
        Ok((Self { destination, draft, written }, writer))
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        self.destination.path()
    }

    /// Whether what is written is passed on at once, as to a pipe.
    pub fn is_through(&self) -> bool {
        self.draft.is_through()
    }

    /// Gives the file its name; its size in bytes, or how many were passed on.
    ///
    /// # Errors
    /// The destination cannot be written.
    pub fn keep(self) -> Result<u64, Failure> {
        let Self { mut destination, draft, written } = self;
        let passed_on = draft.is_through().then(|| written.load(Ordering::Relaxed));
        match destination.keep(draft) {
            Ok(kept) => Ok(passed_on.unwrap_or(kept)),
            Err(e) => Err(Failure::of_write(&destination.path().display().to_string(), &e)),
        }
    }
}
