//! Processes of the benchmark: each is forked, performs its step and executes the smallest program,
//! which exits.
//!
//! So every step pays for creating a process and starting a program, as the commands of 1990 did,
//! but not for the size and start-up of this program. The original's commands did their work after
//! `exec`; these do it before.
#![expect(unsafe_code, reason = "gives the processes of a run no input and no output")]

use crate::case::Program;
use crate::pace::pace_ns;
use crate::today::{Executable, forked};
use ioscape_machine::shared::Shared;
use ioscape_schema::toolchain::Toolchain;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::Command;
use std::sync::atomic::Ordering;

/// One of this many processes runs the fixed computation, which takes less than a thousandth of the
/// run; there are about four hundred processes.
const TRIES_ONE_OF: u64 = 8;

/// The most processes that do.
const TRIES: usize = 50;

/// Performs the step that the words name; `None` if there is no such step.
pub(super) type Step = fn(&Steps, &[&str]) -> Option<io::Result<()>>;

/// What the steps of a run need.
pub(crate) struct Steps {
    step: Step,
    pub(super) tools: &'static dyn Toolchain,
    ending: Executable,
    /// The number of processes that ended so far, and the times of the fixed computation in some of
    /// them.
    tried: Shared,
}

impl Steps {
    /// Creates the steps of a program. If the smallest program does not exist for this architecture
    /// or is not executable here, steps end in that program itself.
    ///
    /// # Errors
    /// There is no memory for files.
    pub(super) fn of(program: &Program, step: Step) -> io::Result<Self> {
        let ending = match Executable::smallest() {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Executable::of(program)?,
            found => found?,
        };
        let tried = Shared::new(1, 1 + TRIES)?;
        Ok(Self { step, tools: program.toolchain, ending, tried })
    }

    /// Returns the size of the smallest program, if steps end in it.
    pub(super) fn smallest_bytes(&self) -> Option<u64> {
        match &self.ending {
            Executable::File(file) => Some(file.metadata().ok()?.len()),
            Executable::Path { .. } => None,
        }
    }

    /// Returns the nanoseconds of the fixed computation in each process that ran it.
    pub(super) fn paces_ns(&self) -> Vec<u64> {
        let words = self.tried.report(0)[1..].iter().map(|word| word.load(Ordering::Acquire));
        words.filter(|&ns| ns > 0).collect()
    }

    /// Runs the fixed computation in a process whose step is done, if it is its turn. All other
    /// processes of the run wait for this one, so none slows it.
    fn try_pace(&self) {
        let words = self.tried.report(0);
        let ended = words[0].fetch_add(1, Ordering::Relaxed);
        let slot = usize::try_from(ended / TRIES_ONE_OF).ok().and_then(|at| words.get(1 + at));
        if let Some(slot) = slot.filter(|_| ended.is_multiple_of(TRIES_ONE_OF)) {
            slot.store(pace_ns(), Ordering::Release);
        }
    }

    /// Performs a step in its own process, in `folder`, and waits for it.
    pub(super) fn spawn(&self, folder: &str, words: &[&str]) -> io::Result<()> {
        let status = forked(|| match self.here(folder, words) {
            Ok(()) => {
                self.try_pace();
                self.ending.execute();
                127
            }
            Err(error) => {
                // Standard error may be closed; the exit code also reports the failure.
                let _ =
                    write(libc::STDERR_FILENO, &format!("ioscape: {}: {error}\n", words.join(" ")));
                1
            }
        })?;
        if status == 0 {
            return Ok(());
        }
        let name = words.first().unwrap_or(&"");
        Err(io::Error::other(format!("the step {name} ended with {status:#x}")))
    }

    fn here(&self, folder: &str, words: &[&str]) -> io::Result<()> {
        if !folder.is_empty() {
            std::env::set_current_dir(folder)?;
        }
        (self.step)(self, words).unwrap_or_else(|| Err(io::Error::other("there is no such step")))
    }
}

/// Writes to a descriptor that stays open.
fn write(fd: i32, text: &str) -> io::Result<()> {
    // SAFETY: the descriptor is a standard one, and is not closed here.
    let mut file = ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(fd) });
    file.write_all(text.as_bytes())
}

/// Writes a step's output without the standard library's locks, which another thread may have held
/// when this process was forked.
pub(super) fn say(text: &str) -> io::Result<()> {
    write(libc::STDOUT_FILENO, text)
}

/// Redirects input and output of this process and its children to `/dev/null`.
pub(super) fn quiet() -> io::Result<()> {
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    for fd in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: both are descriptors of this process, which does not use the standard ones
        // otherwise.
        if unsafe { libc::dup2(nothing.as_raw_fd(), fd) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Runs an external command.
pub(super) fn wait(command: &mut Command, name: &str) -> io::Result<()> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("the step {name} ended with {status}")))
    }
}
