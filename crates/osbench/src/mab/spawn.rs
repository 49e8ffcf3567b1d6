//! Processes of the benchmark: each is forked, does its step and goes over to the smallest program, which ends.
//!
//! So every step pays for making a process and for starting a program, as the commands of 1990 did, and none for the size and the
//! start-up of this program. What the original's commands did after `exec`, these do before it.
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

/// Of so many processes one tries the fixed computation, which takes less than a thousandth of the run; there are some four hundred of them.
const TRIES_ONE_OF: u64 = 8;

/// Most that do.
const TRIES: usize = 50;

/// Does the step that words name; `None` when there is none of this name.
pub(super) type Step = fn(&Steps, &[&str]) -> Option<io::Result<()>>;

/// What the steps of a run are done with.
pub(crate) struct Steps {
    step: Step,
    pub(super) tools: &'static dyn Toolchain,
    ending: Executable,
    /// Processes that ended so far, and what the fixed computation took in some of them.
    tried: Shared,
}

impl Steps {
    /// Those of a program; where there is no smallest program for this architecture, or the system does not execute it, they end in that program itself.
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

    /// Bytes of the smallest program, if steps end in it.
    pub(super) fn smallest_bytes(&self) -> Option<u64> {
        match &self.ending {
            Executable::File(file) => Some(file.metadata().ok()?.len()),
            Executable::Path { .. } => None,
        }
    }

    /// Nanoseconds of the fixed computation in each process that tried it.
    pub(super) fn paces_ns(&self) -> Vec<u64> {
        let words = self.tried.report(0)[1..].iter().map(|word| word.load(Ordering::Acquire));
        words.filter(|&ns| ns > 0).collect()
    }

    /// Tries it in a process whose step is done, if it is that one's turn: all others of the run wait for this one, so that none slows it.
    fn try_pace(&self) {
        let words = self.tried.report(0);
        let ended = words[0].fetch_add(1, Ordering::Relaxed);
        let slot = usize::try_from(ended / TRIES_ONE_OF).ok().and_then(|at| words.get(1 + at));
        if let Some(slot) = slot.filter(|_| ended.is_multiple_of(TRIES_ONE_OF)) {
            slot.store(pace_ns(), Ordering::Release);
        }
    }

    /// Does a step in a process of its own, in `folder`, and waits for it.
    pub(super) fn spawn(&self, folder: &str, words: &[&str]) -> io::Result<()> {
        let status = forked(|| match self.here(folder, words) {
            Ok(()) => {
                self.try_pace();
                self.ending.execute();
                127
            }
            Err(error) => {
                // Standard error may be closed; the exit code tells as well.
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
    // SAFETY: the descriptor is one of the standard ones, and not closed here.
    let mut file = ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(fd) });
    file.write_all(text.as_bytes())
}

/// What a step has to say, without the locks of the standard library, which another thread may have held when this process was forked.
pub(super) fn say(text: &str) -> io::Result<()> {
    write(libc::STDOUT_FILENO, text)
}

/// Gives this process and those that it makes no input, and an output that nobody reads.
pub(super) fn quiet() -> io::Result<()> {
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    for fd in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: both are descriptors of this process, which uses the standard ones for nothing else.
        if unsafe { libc::dup2(nothing.as_raw_fd(), fd) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Runs another program's command.
pub(super) fn wait(command: &mut Command, name: &str) -> io::Result<()> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("the step {name} ended with {status}")))
    }
}
