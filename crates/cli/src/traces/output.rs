//! Trace files that are written whole or not at all.

use crate::failure::Failure;
use crate::outputs::RESULT;
use ioscape_arguments::STANDARD;
use ioscape_machine::output::{Content, Destination, Draft, Names, Outputs};
use ioscape_measure::KeptRows;
use ioscape_schema::TraceInfo;
use ioscape_trace::{OutFormat, Writer};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes gathered before each write.
const BUFFER: usize = 1 << 20;

/// The argument for rows written in addition to a result.
pub const ROWS: &str = "--rows";

/// Most requests that a command keeps in memory in order to write them as rows at the end.
pub const ROWS_MOST: usize = 1 << 22;

/// If [`ROWS`] are requested, writes the rows that were `kept` of `ios` requests on targets of
/// these sizes in bytes; their processes ran `commands`.
///
/// # Errors
/// The name ends in neither `.csv` nor `.parquet`, or the destination cannot be written.
pub fn keep_rows(
    outputs: &mut Outputs,
    targets: &[(&Path, u64)],
    kept: &KeptRows,
    ios: u64,
    commands: &[String],
) -> Result<(), Failure> {
    let Some(destination) = outputs.take(ROWS) else { return Ok(()) };
    let KeptRows { rows, began_unix_ns } = kept;
    let lacking = ios.saturating_sub(rows.len() as u64);
    let named: Vec<_> =
        targets.iter().map(|(path, bytes)| (path.display().to_string(), *bytes)).collect();
    let named = named.iter().map(|(name, bytes)| (&**name, *bytes));
    let info = TraceInfo::of_targets(named, lacking);
    let commands = commands.to_vec();
    let info = TraceInfo { commands, started_unix_ns: *began_unix_ns, ..info };
    let name = destination.path().display().to_string();
    let format = format_of_rows(destination.path())?;
    let (file, mut writer) = Output::with_columns(destination, format, &[])?;
    writer.rows(rows, &info).map_err(|e| Failure::of_trace(&name, e))?;
    writer.finish(&info).map_err(|e| Failure::of_trace(&name, e))?;
    file.keep().map(drop)
}

/// The format of the rows that a command writes in addition to its result, by the extension of the
/// name.
///
/// # Errors
/// The name ends in neither `.csv` nor `.parquet`.
pub fn format_of_rows(path: &Path) -> Result<OutFormat, Failure> {
    OutFormat::of_rows(path).map_err(Failure::Misuse)
}

/// A trace file being written: it gets its name only when it is complete.
pub struct Output {
    destination: Destination,
    draft: Draft,
    written: Arc<AtomicU64>,
}

/// A file, and the number of bytes written to it so far.
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
    /// Checks `path` against the command's other inputs and outputs, and begins a trace there.
    ///
    /// # Errors
    /// The path is refused or cannot be written.
    pub fn new(names: Names, path: &Path, format: OutFormat) -> Result<(Self, Writer), Failure> {
        Self::with_columns(Self::destination(names, path, format)?, format, &[])
    }

    /// Checks `path` against the command's other inputs and outputs.
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

    /// Begins a trace with additional columns of these names after those of a trace.
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

    /// Whether written bytes are passed on at once, as to a pipe.
    pub fn is_through(&self) -> bool {
        self.draft.is_through()
    }

    /// Gives the file its name; returns its size in bytes, or how many bytes were passed on.
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
