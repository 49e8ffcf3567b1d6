//! The files of a trace: opened once, and whatever they are, readable as the formats need it.

use crate::failure::Failure;
use ioscape_machine::interrupt;
use ioscape_trace::{Source, needs_file};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What standard input is called.
const STDIN: &str = "standard input";
/// First bytes that tell whether a format needs a file.
const HEAD: u64 = 4;
/// Bytes copied at once.
const BLOCK: usize = 1 << 18;

/// Open files of one trace.
pub struct Files(Vec<Named>);

struct Named {
    name: String,
    bytes: Bytes,
}

enum Bytes {
    /// A regular file, which can be read again and from its end.
    File(File),
    /// A pipe or a device, which is read once; `None` after that.
    Stream(Option<Box<dyn Read + Send>>),
}

impl Files {
    /// Opens the files; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be opened, a directory, and standard input named twice.
    pub fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(Failure::Misuse("-: standard input can be read only once".to_owned()));
        }
        paths.iter().map(named).collect::<Result<_, _>>().map(Self)
    }

    /// Makes all files readable again, for commands that read a trace twice: what comes through a pipe is kept in a
    /// temporary file without a name.
    ///
    /// # Errors
    /// A pipe that cannot be read, or no room for its bytes.
    pub fn keep(&mut self) -> Result<(), Failure> {
        for named in &mut self.0 {
            if let Bytes::Stream(stream) = &mut named.bytes
                && let Some(stream) = stream.take()
            {
                named.bytes = Bytes::File(spooled(&named.name, stream)?);
            }
        }
        Ok(())
    }

    /// Bytes of all files; `None` where a pipe is among them.
    pub fn bytes(&self) -> Option<u64> {
        let length = |named: &Named| match &named.bytes {
            Bytes::File(file) => file.metadata().ok().map(|about| about.len()),
            Bytes::Stream(_) => None,
        };
        self.0.iter().map(length).sum()
    }

    /// The files from their beginnings; what is read of them is added to `read`.
    ///
    /// # Errors
    /// A file that cannot be read, and a pipe that was read before.
    pub fn sources(&mut self, read: &Arc<AtomicU64>) -> Result<Vec<Source>, Failure> {
        let source = |named: &mut Named| {
            let Named { name, bytes } = named;
            let failed = |e: io::Error| Failure::Failed(format!("cannot read {name}: {e}"));
            if let Bytes::Stream(stream) = bytes {
                let mut stream = stream
                    .take()
                    .ok_or_else(|| Failure::Failed(format!("{name} can be read only once")))?;
                let mut head = Vec::new();
                stream.by_ref().take(HEAD).read_to_end(&mut head).map_err(failed)?;
                let is_file = needs_file(&head);
                let whole = Box::new(io::Cursor::new(head).chain(stream));
                if !is_file {
                    let counted = Counted { inner: whole, read: Arc::clone(read) };
                    return Ok(Source::stream(name.clone(), counted));
                }
                *bytes = Bytes::File(spooled(name, whole)?);
            }
            let Bytes::File(file) = bytes else {
                return Err(Failure::Failed(format!("{name} can be read only once")));
            };
            let inner = file.try_clone().map_err(failed)?;
            Ok(Source::file(name.clone(), Counted { inner, read: Arc::clone(read) }))
        };
        self.0.iter_mut().map(source).collect()
    }
}

fn named(path: &PathBuf) -> Result<Named, Failure> {
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { STDIN.to_owned() } else { path.display().to_string() };
    let failed = |e: io::Error| Failure::Misuse(format!("cannot read trace {name}: {e}"));
    let mut file = if is_stdin {
        File::from(io::stdin().as_fd().try_clone_to_owned().map_err(failed)?)
    } else {
        File::open(path).map_err(failed)?
    };
    let about = file.metadata().map_err(failed)?;
    if about.is_dir() {
        return Err(Failure::Misuse(format!("{name} is a directory: name the traces in it")));
    }
    // Standard input may be a file of which something was read before: only the rest is the trace.
    let is_file = about.is_file() && file.stream_position().is_ok_and(|at| at == 0);
    let bytes = if is_file { Bytes::File(file) } else { Bytes::Stream(Some(Box::new(file))) };
    Ok(Named { name, bytes })
}

/// The bytes of a pipe in a temporary file without a name.
fn spooled(name: &str, mut stream: Box<dyn Read + Send>) -> Result<File, Failure> {
    let stop = interrupt::flag();
    let failed = |e: io::Error| {
        Failure::Failed(format!(
            "cannot keep {name} in a temporary file of {}: {e}",
            std::env::temp_dir().display()
        ))
    };
    let mut file = tempfile::tempfile().map_err(failed)?;
    let mut block = vec![0; BLOCK];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted("interrupted: nothing was done".to_owned()));
        }
        match stream.read(&mut block) {
            Ok(0) => return Ok(file),
            Ok(count) => file.write_all(&block[..count]).map_err(failed)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Failure::Failed(format!("cannot read {name}: {e}"))),
        }
    }
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
