//! A recorded command: it starts with the recording, and does not outlive it.

use ioscape_machine::error::Error;
use ioscape_machine::keeper::let_hear;
use ioscape_machine::limits::as_before;
use ioscape_machine::memory::memory;
use ioscape_machine::usage::usage;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// A running command; it is killed on drop if it is still running.
#[derive(Debug)]
pub struct RecordedCommand {
    child: Child,
    ended: Option<ExitStatus>,
    /// What was there before it began.
    before: Written,
}

/// Bytes that wait to be written, and that were ever written.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// Dirty bytes of the whole machine.
    dirty: u64,
    /// Bytes that commands which have ended, and those for which they waited, made dirty or wrote
    /// past the file cache.
    by_commands: u64,
}

impl Written {
    fn now() -> Self {
        // The kernel counts units of 512 bytes, whatever the block size.
        let blocks = usage(libc::RUSAGE_CHILDREN).ru_oublock;
        Self { dirty: memory().dirty, by_commands: blocks as u64 * 512 }
    }

    /// Returns how many bytes are left in memory of those that came since `before`.
    fn left_since(self, before: Self, recorded: u64) -> u64 {
        let dirty = self.dirty.saturating_sub(before.dirty).saturating_sub(recorded);
        dirty.min(self.by_commands.saturating_sub(before.by_commands))
    }
}

impl RecordedCommand {
    /// Starts the command given by these words; `None` if there are none. With `stdout_to_stderr`,
    /// its standard output goes to standard error.
    ///
    /// # Errors
    /// There is no such program, or it cannot be started.
    pub fn start(words: &[OsString], stdout_to_stderr: bool) -> Result<Option<Self>, Error> {
        let Some((program, words)) = words.split_first() else { return Ok(None) };
        let mut command = Command::new(program);
        as_before(let_hear(&mut command)).args(words);
        if stdout_to_stderr {
            command.stdout(std::io::stderr());
        }
        let before = Written::now();
        let child = command
            .spawn()
            .map_err(|e| Error::target(Path::new(program), format!("cannot be started: {e}")))?;
        Ok(Some(Self { child, ended: None, before }))
    }

    /// Whether the command has ended.
    pub fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended.is_some()
    }

    /// Bytes by which the dirty pages of the whole machine are more than before the command, without
    /// the `recorded` bytes of events, and at most what the command wrote once it has ended: the rest
    /// is of other programs. Pages under write-back are not among them: their requests are recorded.
    pub fn left_bytes(&self, recorded: u64) -> u64 {
        Written::now().left_since(self.before, recorded)
    }

    /// How the command failed, if it did: its exit code, as a shell reports it, and a sentence.
    pub fn complaint(&self) -> Option<(u8, String)> {
        let status = self.ended.filter(|status| !status.success())?;
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        Some((code, format!("the recorded command ended with {status}")))
    }

    /// Asks the command to end.
    pub fn ask_to_end(&mut self) {
        if !self.has_ended()
            && let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
        {
            // It may have just ended by itself.
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Kills the command.
    pub fn kill(&mut self) {
        if !self.has_ended() {
            let _ = self.child.kill();
            self.ended = self.child.wait().ok();
        }
    }
}

impl Drop for RecordedCommand {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn start(words: &[&str]) -> Result<Option<RecordedCommand>, Error> {
        RecordedCommand::start(&words.iter().map(OsString::from).collect::<Vec<_>>(), false)
    }

    fn wait(command: &mut RecordedCommand) {
        let begun = Instant::now();
        while !command.has_ended() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Once, a log that another program wrote made the recording of a reader incomplete.
    #[test]
    fn no_more_is_left_in_memory_than_the_command_wrote() {
        const MIB: u64 = 1 << 20;
        let before = Written { dirty: 5 * MIB, by_commands: 7 * MIB };
        let left = |dirty, written| {
            let now = Written {
                dirty: before.dirty + dirty * MIB,
                by_commands: before.by_commands + written * MIB,
            };
            now.left_since(before, MIB) / MIB
        };
        assert_eq!([left(9, 0), left(9, 3), left(3, 9), left(0, 9)], [0, 3, 2, 0]);
    }

    #[test]
    fn a_command_is_ended_when_asked_or_killed() {
        assert!(start(&[]).unwrap().is_none());
        assert!(start(&["/nowhere/program"]).unwrap_err().is_misuse());
        let mut good = start(&["true"]).unwrap().unwrap();
        wait(&mut good);
        assert_eq!(good.complaint(), None);
        let mut long = start(&["sleep", "1000"]).unwrap().unwrap();
        assert!(!long.has_ended());
        long.ask_to_end();
        wait(&mut long);
        let complaint = long.complaint();
        assert!(complaint.is_some_and(|(code, text)| code == 143 && text.contains("signal")));
        let mut bad = start(&["sh", "-c", "exit 7"]).unwrap().unwrap();
        wait(&mut bad);
        assert_eq!(bad.complaint().map(|(code, _)| code), Some(7));
        let mut longer = start(&["sleep", "1000"]).unwrap().unwrap();
        longer.kill();
        assert!(longer.has_ended());
    }
}
