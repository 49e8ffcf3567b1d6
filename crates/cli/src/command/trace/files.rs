//! Trace files: opened for reading with a count of what was read, and written whole or not at all.

use crate::failure::Failure;
use ioscape_trace::{OutFormat, Source, Writer};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 20;

/// Files to read, and how far they are read.
pub struct Inputs {
    /// The files as sources of a trace.
    pub sources: Vec<Source>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes read so far.
    pub read: Arc<AtomicU64>,
}

/// Opens the files; `-` is standard input.
///
/// # Errors
/// A file that cannot be opened.
pub fn open(paths: &[PathBuf]) -> Result<Inputs, Failure> {
    let read = Arc::new(AtomicU64::new(0));
    let mut inputs = Inputs { sources: Vec::new(), bytes: 0, read: Arc::clone(&read) };
    for path in paths {
        let name = path.display().to_string();
        if name == "-" {
            let counted = Counted { inner: io::stdin(), read: Arc::clone(&read) };
            inputs.sources.push(Source::stream("standard input", counted));
            continue;
        }
        let failed = |e: io::Error| Failure::Misuse(format!("cannot read {name}: {e}"));
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Failure::Misuse(format!("{name} is a directory: name the traces in it")));
        }
        inputs.bytes += metadata.len();
        let counted = Counted { inner: file, read: Arc::clone(&read) };
        // A pipe cannot be sought; it is read once.
        inputs.sources.push(if metadata.is_file() {
            Source::file(name, counted)
        } else {
            Source::stream(name, counted)
        });
    }
    Ok(inputs)
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
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
        crate::output::check_writable(path)?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let failed = |e: io::Error| Failure::of_write(&path.display().to_string(), &e);
        let permissions = std::fs::Permissions::from_mode(0o666);
        let file = tempfile::Builder::new()
            .permissions(permissions)
            .tempfile_in(folder)
            .map_err(failed)?;
        let buffered = BufWriter::with_capacity(BUFFER, file.reopen().map_err(failed)?);
        let writer = Writer::new(format, buffered).map_err(|e| Failure::Failed(e.to_string()))?;
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
