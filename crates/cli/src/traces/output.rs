//! Trace files written whole or not at all.

use crate::failure::Failure;
use ioscape_trace::{OutFormat, Writer};
use std::io::{self, BufWriter};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 20;

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
    path: PathBuf,
    file: tempfile::NamedTempFile,
}

impl Output {
    /// Makes a temporary file beside `path`, and the writer of a trace into it.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn new(path: &Path, format: OutFormat) -> Result<(Self, Writer), Failure> {
        Self::with_columns(path, format, &[])
    }

    /// The same with further columns of these names behind those of a trace.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn with_columns(
        path: &Path,
        format: OutFormat,
        more: &'static [&'static str],
    ) -> Result<(Self, Writer), Failure> {
        crate::output::check_writable(path)?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let failed = |e: io::Error| Failure::of_write(&path.display().to_string(), &e);
        let permissions = std::fs::Permissions::from_mode(0o666);
        let file = tempfile::Builder::new()
            .permissions(permissions)
            .tempfile_in(folder)
            .map_err(failed)?;
        let buffered = BufWriter::with_capacity(BUFFER, file.reopen().map_err(failed)?);
        let writer = Writer::with_columns(format, buffered, more)
            .map_err(|e| Failure::Failed(e.to_string()))?;
        Ok((Self { path: path.to_path_buf(), file }, writer))
    }

    /// Gives the file its name; its size in bytes.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn keep(self) -> Result<u64, Failure> {
        let Self { path, file } = self;
        let kept = || {
            file.as_file().sync_data()?;
            let bytes = file.as_file().metadata()?.len();
            file.persist(&path).map_err(|e| e.error)?;
            Ok(bytes)
        };
        kept().map_err(|e| Failure::of_write(&path.display().to_string(), &e))
    }
}
