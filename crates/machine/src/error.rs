//! Errors on a real machine, in sentences that say what failed, where, and what to do.

use crate::limits::why_killed;
use ioscape_schema::units::Bytes;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A measurement could not be started or finished.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The target is refused: it does not exist, is in use, or may not be destroyed.
    #[error("{}: {reason}", .path.display())]
    Target {
        /// The path that the user named.
        path: PathBuf,
        /// Why it is refused and what to do.
        reason: String,
    },
    /// The file system below the target is too full.
    #[error(
        "{}: {} of free space is needed{}, but only {} is left: free some space or choose a directory on another file system",
        .path.display(), Bytes(*.needed as f64), Spared(*.spared), Bytes(*.free as f64)
    )]
    Space {
        /// The path that the user named.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// The part of these that stays free for others.
        spared: u64,
        /// Bytes available to this user.
        free: u64,
    },
    /// A system call failed.
    #[error(
        "cannot {operation} {}{}: {source}{}",
        .path.display(), At(*.offset), advice(.source)
    )]
    Io {
        /// The operation, as a verb: `read`, `write`, `open`.
        operation: &'static str,
        /// The file it was applied to.
        path: PathBuf,
        /// Byte offset in the file, where there is one.
        offset: Option<u64>,
        /// The system's error.
        source: io::Error,
    },
    /// An output could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Output {
        /// The destination.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// This system lacks what an option needs.
    #[error("{what} is not possible here: {why}")]
    Unsupported {
        /// The requested feature.
        what: String,
        /// Why not, and what to do instead.
        why: String,
    },
    /// The user interrupted; the point being measured gives no result.
    #[error("interrupted: the point being measured was dropped, earlier ones are kept")]
    Interrupted,
    /// A worker process ended prematurely.
    #[error("worker {process} {death}")]
    Worker {
        /// Number of the worker, from 0.
        process: u32,
        /// How the worker ended.
        death: Death,
    },
}

impl Error {
    /// Returns whether the request itself is at fault (exit code 2) and nothing was measured,
    /// rather than the machine (1).
    pub fn is_misuse(&self) -> bool {
        matches!(self, Self::Target { .. } | Self::Space { .. } | Self::Unsupported { .. })
    }

    /// Returns a refusal of `path`.
    pub fn target(path: &Path, reason: impl Into<String>) -> Self {
        Self::Target { path: path.to_owned(), reason: reason.into() }
    }

    /// Returns the error of a failed system call on `path`; `operation` is a verb such as `open`.
    pub fn io(operation: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { operation, path: path.to_owned(), offset: None, source: source.into() }
    }

    /// Returns the same error at byte `offset` of the file.
    pub fn io_at(
        operation: &'static str,
        path: &Path,
        offset: u64,
        source: impl Into<io::Error>,
    ) -> Self {
        Self::Io { operation, path: path.to_owned(), offset: Some(offset), source: source.into() }
    }
}

/// Exit code of a worker that ran out of memory.
pub const EXHAUSTED: i32 = 6;

/// How a worker process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Killed by this signal.
    Signal(i32),
    /// Exited with this code, without a report.
    Exit(i32),
    /// Neither stopped nor died when told to: it hangs in the kernel.
    Hung,
    /// Stopped or frozen by someone, and not resumed in time.
    Stopped,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Signal(libc::SIGKILL) => write!(
                f,
                "was killed (signal 9), {}: give a larger --memory, fewer processes, or, where the files are in memory too, as in tmpfs, smaller sets (evaluate: --max-unique-bytes below that limit)",
                why_killed()
            ),
            Self::Signal(libc::SIGXCPU) => {
                f.write_str("used up its processor time: raise that limit (ulimit -t)")
            }
            Self::Signal(libc::SIGBUS) => f.write_str(
                "died of signal 7 (bus error): the file below the mapping shrank or its device failed to read; see the kernel log",
            ),
            Self::Signal(signal) => write!(f, "was killed by signal {signal}"),
            Self::Exit(EXHAUSTED) => f.write_str(
                "found no memory: raise the limit of memory (ulimit -v), or give fewer processes or smaller requests",
            ),
            Self::Exit(code) => write!(f, "ended with exit code {code} and without a report"),
            Self::Stopped => f.write_str(
                "is stopped (SIGSTOP, a debugger, a frozen control group) and was not let go on: measure again",
            ),
            Self::Hung => f.write_str(
                "hangs inside the kernel and cannot be killed: the device or server below the target does not answer; see the kernel log",
            ),
        }
    }
}

/// Shows ` at byte 4096`, or nothing.
struct At(Option<u64>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |offset| write!(f, " at byte {offset}"))
    }
}

/// Shows ` (64 MiB of it stays free for others)`, or nothing for no bytes.
pub struct Spared(pub u64);

impl fmt::Display for Spared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            spared => write!(f, " ({} of it stays free for others)", Bytes(spared as f64)),
        }
    }
}

/// What limits threads and processes, if no more can be had.
pub const TOO_MANY: &str =
    "; fewer threads or processes may run (ulimit -u, ulimit -v, pids.max of the control group)";

/// Returns advice about the most common failures.
pub(crate) fn advice(source: &io::Error) -> &'static str {
    match source.raw_os_error() {
        Some(libc::ENOSPC) => {
            "; free some space, there or on what lies below it (a sparse image, a thin pool), or make the set smaller"
        }
        Some(libc::EDQUOT) => {
            "; free some of the quota, or make the set smaller (evaluate: --max-unique-bytes; campaign: --max-file-size)"
        }
        Some(libc::EIO) => "; the device or server reported an error: see the kernel log",
        Some(libc::EROFS) => "; the file system is read-only, or became so after an error",
        Some(libc::EACCES | libc::EPERM) => "; check the owner and mode, or run as another user",
        Some(libc::EMFILE | libc::ENFILE) => "; raise the limit of open files (ulimit -n)",
        Some(libc::EAGAIN) => TOO_MANY,
        Some(libc::EFBIG) => {
            "; the file size limit (ulimit -f) or the file system's own is reached: raise it, or make the set smaller (evaluate: --max-unique-bytes; campaign: --max-file-size)"
        }
        Some(libc::ESTALE | libc::ENOTCONN) => {
            "; the server or the program behind the mount is gone"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_where_and_what_to_do() {
        let full = io::Error::from_raw_os_error(libc::ENOSPC);
        let text = Error::io_at("write", Path::new("/d/f"), 4096, full).to_string();
        assert!(text.starts_with("cannot write /d/f at byte 4096: No space left"), "{text}");
        assert!(text.ends_with("make the set smaller"), "{text}");
        let quota = io::Error::from_raw_os_error(libc::EDQUOT);
        let text = Error::io("write", Path::new("/d/f"), quota).to_string();
        assert!(text.contains("free some of the quota"), "{text}");
        let space = |spared| {
            let (path, needed) = ("/d".into(), 64 << 20);
            Error::Space { path, needed, spared, free: 1 << 20 }.to_string()
        };
        assert!(space(0).contains("64 MiB of free space is needed, but only 1 MiB is left"));
        assert!(space(16 << 20).contains("(16 MiB of it stays free for others), but only"));
        let killed = Error::Worker { process: 3, death: Death::Signal(9) };
        assert!(killed.to_string().starts_with("worker 3 was killed"), "{killed}");
    }

    #[test]
    fn misuse_is_told_from_failure() {
        assert!(Error::target(Path::new("/x"), "no").is_misuse());
        assert!(!Error::Interrupted.is_misuse());
        let failed = Error::io("read", Path::new("/x"), io::Error::from_raw_os_error(libc::EIO));
        assert!(!failed.is_misuse());
    }
}
