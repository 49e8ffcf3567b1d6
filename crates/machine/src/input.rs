//! Inputs: files, pipes and standard input, opened once and read as often as their readers need.

use crate::awaited::{Awaited, is_interruption};
use crate::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What standard input is called.
const STDIN: &str = "standard input";
/// First bytes that tell whether a reader needs a file.
const HEAD: u64 = 4;
/// First bytes of a pipe by which its content is told before all of it is kept.
const BEGINNING: u64 = 64 << 10;
/// Bytes copied at once.
const BLOCK: usize = 1 << 18;
/// Largest file that is read as a text, in bytes.
const TEXT_MOST: u64 = 256 << 20;

/// One input, open.
pub struct Input {
    name: PathBuf,
    bytes: Bytes,
}

enum Bytes {
    /// A regular file, which can be read again and from its end.
    File(File),
    /// A pipe or a device, which is read once; `None` after that.
    Stream(Option<Box<dyn Read + Send>>),
}

/// The bytes of an input from its beginning.
pub enum Readable {
    /// To be read in any order.
    File(Counted<WholeFile>),
    /// To be read in one pass.
    Stream(Counted<Box<dyn Read + Send>>),
}

impl Input {
    /// Opens all of `paths`; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be opened, a directory, and a file or standard input named twice.
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
        // Standard input may be a file of which something was read before: only the rest counts.
        let is_file = about.is_file() && file.stream_position().is_ok_and(|at| at == 0);
        let bytes = match is_file {
            true => Bytes::File(file),
            false => Bytes::Stream(Some(Box::new(Awaited::new(file, &name)))),
        };
        Ok(Self { name, bytes })
    }

    /// Its path, or words for standard input.
    pub fn name(&self) -> String {
        self.name.display().to_string()
    }

    /// Its length in bytes; `None` of a pipe.
    pub fn length(&self) -> Option<u64> {
        match &self.bytes {
            Bytes::File(file) => file.metadata().ok().map(|about| about.len()),
            Bytes::Stream(_) => None,
        }
    }

    /// The first bytes of what is no file and so cannot be read twice, before [`Self::keep`]; `None` of a file.
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

    /// Makes it readable more than once: what comes through a pipe is kept in a temporary file without a name.
    ///
    /// # Errors
    /// A pipe that cannot be read, no room for its bytes, or an interruption.
    pub fn keep(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        if let Bytes::Stream(stream) = &mut self.bytes
            && let Some(stream) = stream.take()
        {
            self.bytes = Bytes::File(spooled(&self.name, stream, stop)?);
        }
        Ok(())
    }

    /// The bytes from the beginning; what is read of them is added to `read`. `needs_file` says by the first bytes of a
    /// pipe whether they are of use only in a file.
    ///
    /// # Errors
    /// A file that cannot be read, a pipe that was read before, and what [`Self::keep`] can meet.
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

/// The bytes of a pipe in a temporary file without a name, which may take half of the space that is free.
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

/// A file that is not taken for a shorter one when another program shortens it meanwhile.
pub struct WholeFile {
    file: File,
    /// In bytes, when it was opened.
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

/// Counts what is read.
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

/// All bytes of a file that begins with `mark`; of any other, which may be endless, as many as the mark has.
///
/// # Errors
/// It cannot be read; of kind [`io::ErrorKind::Interrupted`] where the user did not want to wait for a pipe.
pub fn read_marked(path: &Path, mark: &[u8]) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (Awaited::new(crate::awaited::open(path)?, path), Vec::new());
    Read::by_ref(&mut file).take(mark.len() as u64).read_to_end(&mut bytes).map_err(told)?;
    if bytes == mark {
        file.read_to_end(&mut bytes).map_err(told)?;
    }
    Ok(bytes)
}

/// Reads a file as a text; no endless one, and none that is no text from the beginning.
///
/// # Errors
/// It cannot be read, is no text, or is larger than any text that belongs here; of kind [`io::ErrorKind::Interrupted`] where
/// the user did not want to wait for a pipe.
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

/// An interruption by its kind, which readers in between would take for a reason to go on.
fn told(error: io::Error) -> io::Error {
    match is_interruption(&error) {
        true => io::ErrorKind::Interrupted.into(),
        false => error,
    }
}
