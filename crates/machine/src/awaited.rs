//! Pipes as inputs: a program that writes late is waited for, which is said, and an interruption ends the wait.

use crate::{interrupt, terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the first byte may take before it is said what is waited for.
const SILENCE: Duration = Duration::from_secs(2);
/// How often an interruption is looked for.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A file, pipe or device whose bytes may come late.
pub(crate) struct Awaited {
    file: File,
    name: PathBuf,
    stop: Arc<AtomicBool>,
    /// Whether a byte has come, or the wait for it was told.
    begun: bool,
}

/// The user did not want to wait any longer.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
struct Interrupted;

/// Whether an error of [`Awaited`] is an interruption; its kind is not that of a call to be made again.
pub(crate) fn is_interruption(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Interrupted>())
}

/// Opens a file to read; of a named pipe that no program writes to yet, without waiting for one.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?;
    let was = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, was & !OFlags::NONBLOCK)?;
    Ok(file.into())
}

impl Awaited {
    pub(crate) fn new(file: File, name: &Path) -> Self {
        Self { file, name: name.to_owned(), stop: interrupt::flag(), begun: false }
    }

    /// Waits until there is something to read, or the end.
    fn wait(&mut self) -> io::Result<()> {
        let since = Instant::now();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other(Interrupted));
            }
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&LOOK)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            if !self.begun && since.elapsed() > SILENCE {
                self.begun = true;
                let name = self.name.display();
                terminal::tell(&format!(
                    "waiting for what a program writes to {name}; Ctrl-C ends the wait"
                ));
            }
        }
    }
}

impl Read for Awaited {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        self.begun = true;
        self.file.read(into)
    }
}
