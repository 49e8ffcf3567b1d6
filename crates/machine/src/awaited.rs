//! Pipes as inputs: waits for a slow writer, tells the user so, and ends the wait on an
//! interruption.

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

/// Time to wait for the first byte before telling the user.
const SILENCE: Duration = Duration::from_secs(2);
/// Interval between checks for an interruption.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A file, pipe or device whose bytes may arrive late.
pub(crate) struct Awaited {
    file: File,
    name: PathBuf,
    stop: Arc<AtomicBool>,
    /// Whether a byte has arrived, or the wait for it was reported.
    begun: bool,
}

/// The user did not want to wait any longer.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
struct Interrupted;

/// Returns whether an error of [`Awaited`] is an interruption. Its kind is not the one for which
/// callers retry.
pub(crate) fn is_interruption(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Interrupted>())
}

/// Opens a file for reading; for a named pipe without a writer, it does not wait for one.
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

    /// Waits until there is something to read, or the end of the input.
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
