//! Inputs: files, pipes and standard input, opened once and read as often as needed.

use crate::awaited::{Awaited, is_interruption};
use crate::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Display name of standard input.
const STDIN: &str = "standard input";
/// Number of first bytes that tell whether a reader needs a file.
const HEAD: u64 = 4;
/// Number of first bytes of a pipe that identify its content before all of it is kept.
const BEGINNING: u64 = 64 << 10;
/// Bytes copied at once.
const BLOCK: usize = 1 << 18;
/// Largest file read as text, in bytes.
const TEXT_MOST: u64 = 256 << 20;

/// One input, open.
pub struct Input {
    name: PathBuf,
    bytes: Bytes,
}

enum Bytes {
    /// A regular file, which can be read repeatedly and from its end.
    File(File),
    /// A pipe or a device, which can be read once; `None` after that.
    Stream(Option<Box<dyn Read + Send>>),
}

/// The bytes of an input from its beginning.
pub enum Readable {
    /// Can be read in any order.
    File(Counted<WholeFile>),
    /// Can be read in one pass only.
    Stream(Counted<Box<dyn Read + Send>>),
}

impl Input {
    /// Opens all of `paths`; `-` is standard input.
    ///
    /// # Errors
    /// A file cannot be opened or is a directory, or a file or standard input is named twice.
    pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Self>, Error> {
        let again = (1..paths.len()).find(|&at| paths[..at].contains(&paths[at]));
        if let Some(path) = again.map(|at| &paths[at]) {
            return Err(match path.as_os_str() == "-" {
                true => once(path),
                false => Error::target(path, "is named twice: name each file once"),
            });
        }
        paths.iter().map(|path| Self::open(path)).collect()
    }

    fn open(path: &Path) -> Result<Self, Error> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { PathBuf::from(STDIN) } else { path.to_owned() };
        let failed = |e: io::Error| Error::target(&name, format!("cannot be read: {e}"));
        let mut file = match is_stdin {
            true => File::from(io::stdin().as_fd().try_clone_to_owned().map_err(failed)?),
            false => crate::awaited::open(path).map_err(failed)?,
        };
        let about = file.metadata().map_err(failed)?;
        if about.is_dir() {
            return Err(Error::target(&name, "is a directory: name the files in it"));
        }
        // Standard input may be a file that was partly read before: only the remainder counts.
        let is_file = about.is_file() && file.stream_position().is_ok_and(|at| at == 0);
        let bytes = match is_file {
            true => Bytes::File(file),
            false => Bytes::Stream(Some(Box::new(Awaited::new(file, &name)))),
        };
        Ok(Self { name, bytes })
    }

    /// Returns its path, or a phrase for standard input.
    pub fn name(&self) -> String {
        self.name.display().to_string()
    }

    /// Returns its length in bytes; `None` for a pipe.
    pub fn length(&self) -> Option<u64> {
        match &self.bytes {
            Bytes::File(file) => file.metadata().ok().map(|about| about.len()),
            Bytes::Stream(_) => None,
        }
    }

    /// Returns the first bytes of an input that is not a file and cannot be read twice, before
    /// [`Self::keep`]; `None` for a file.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn beginning(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let Bytes::Stream(stream) = &mut self.bytes else { return Ok(None) };
        let mut rest = stream.take().ok_or_else(|| once(&self.name))?;
        let mut head = Vec::new();
        let done = rest.by_ref().take(BEGINNING).read_to_end(&mut head);
        done.map_err(|e| unread(&self.name, e))?;
        *stream = Some(Box::new(io::Cursor::new(head.clone()).chain(rest)));
        Ok(Some(head))
    }

    /// Makes the input readable more than once: data from a pipe is kept in an unnamed temporary
    /// file.
    ///
    /// # Errors
    /// A pipe cannot be read, there is no room for its bytes, or the user interrupts.
    pub fn keep(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        if let Bytes::Stream(stream) = &mut self.bytes
            && let Some(stream) = stream.take()
        {
            self.bytes = Bytes::File(spooled(&self.name, stream, stop)?);
        }
        Ok(())
    }

    /// Returns the bytes from the beginning, and adds the number of bytes read to `read`.
    /// `needs_file` decides from a pipe's first bytes whether its content needs to be in a file.
    ///
    /// # Errors
    /// A file cannot be read or a pipe was read before; also the errors of [`Self::keep`].
    pub fn read(
        &mut self,
        needs_file: impl Fn(&[u8]) -> bool,
        read: &Arc<AtomicU64>,
        stop: &AtomicBool,
    ) -> Result<Readable, Error> {
        let failed = |e: io::Error| unread(&self.name, e);
        if let Bytes::Stream(stream) = &mut self.bytes {
            let mut stream = stream.take().ok_or_else(|| once(&self.name))?;
            let mut head = Vec::new();
            stream.by_ref().take(HEAD).read_to_end(&mut head).map_err(failed)?;
            let is_file = needs_file(&head);
            let whole = Box::new(io::Cursor::new(head).chain(stream));
            if !is_file {
                return Ok(Readable::Stream(Counted { inner: whole, read: Arc::clone(read) }));
            }
            self.bytes = Bytes::File(spooled(&self.name, whole, stop)?);
        }
        let Bytes::File(file) = &self.bytes else { return Err(once(&self.name)) };
        let file = file.try_clone().map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let inner = WholeFile { file, length };
        Ok(Readable::File(Counted { inner, read: Arc::clone(read) }))
    }
}

fn once(name: &Path) -> Error {
    Error::target(name, "can be read only once")
}

/// Copies a pipe into an unnamed temporary file, which may take half of the free space.
fn spooled(
    name: &Path,
    mut stream: Box<dyn Read + Send>,
    stop: &AtomicBool,
) -> Result<File, Error> {
    let failed = |e| Error::io("keep in a temporary file what comes from", name, e);
    let mut file = tempfile::tempfile().map_err(failed)?;
    let mut room = match rustix::fs::fstatvfs(&file) {
        Ok(space) => space.f_bavail.saturating_mul(space.f_frsize) / 2,
        Err(_) => u64::MAX,
    };
    let mut block = vec![0; BLOCK];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        match stream.read(&mut block) {
            Ok(0) => return Ok(file),
            Ok(count) if count as u64 > room => {
                let place = std::env::temp_dir();
                let why = format!("more than half of the free space of {}", place.display());
                return Err(failed(io::Error::new(io::ErrorKind::StorageFull, why)));
            }
            Ok(count) => {
                room -= count as u64;
                file.write_all(&block[..count]).map_err(failed)?;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(unread(name, e)),
        }
    }
}

fn unread(name: &Path, error: io::Error) -> Error {
    match is_interruption(&error) {
        true => Error::Interrupted,
        false => Error::io("read", name, error),
    }
}

/// A file that reports an error if another program truncates it meanwhile, instead of seeming
/// shorter.
pub struct WholeFile {
    file: File,
    /// Length in bytes when it was opened.
    length: u64,
}

impl Read for WholeFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        let is_end = count == 0 && !into.is_empty();
        if is_end && self.file.metadata()?.len() < self.length {
            return Err(io::Error::other("another program shortened it while it was read"));
        }
        Ok(count)
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Counts the bytes read.
pub struct Counted<R> {
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

/// Returns all bytes of a file that begins with `mark`. From any other file, which may be endless,
/// it returns only as many bytes as the mark has.
///
/// # Errors
/// The file cannot be read. The kind is [`io::ErrorKind::Interrupted`] if the user did not want to
/// wait for a pipe.
pub fn read_marked(path: &Path, mark: &[u8]) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (Awaited::new(crate::awaited::open(path)?, path), Vec::new());
    Read::by_ref(&mut file).take(mark.len() as u64).read_to_end(&mut bytes).map_err(told)?;
    if bytes == mark {
        file.read_to_end(&mut bytes).map_err(told)?;
    }
    Ok(bytes)
}

/// Reads a file as text. Endless files and files that do not begin as text are refused.
///
/// # Errors
/// The file cannot be read, is not text, or is larger than any expected text. The kind is
/// [`io::ErrorKind::Interrupted`] if the user did not want to wait for a pipe.
pub fn read_text(path: &Path) -> io::Result<String> {
    let no_text = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
    let mut file = Awaited::new(crate::awaited::open(path)?, path);
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(4096).read_to_end(&mut bytes).map_err(told)?;
    if bytes.contains(&0) {
        return Err(no_text("it holds binary data, not text"));
    }
    file.take(TEXT_MOST).read_to_end(&mut bytes).map_err(told)?;
    if bytes.len() as u64 > TEXT_MOST {
        return Err(no_text("it is larger than 256 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| no_text("it holds bytes that are not UTF-8"))
}

/// Reduces an interruption to its kind; intermediate readers would take the full error as a reason
/// to retry.
fn told(error: io::Error) -> io::Error {
    match is_interruption(&error) {
        true => io::ErrorKind::Interrupted.into(),
        false => error,
    }
}
