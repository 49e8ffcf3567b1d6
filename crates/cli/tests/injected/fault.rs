//! A single fault: which call of a run fails, and how.

use crate::seccomp::{Call, Supervised};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// Calls per place that count as fault targets; the thousands of requests that follow are alike.
const ALIKE: u32 = 6;
/// The longest run allowed.
const PATIENCE: Duration = Duration::from_secs(120);
/// Duration of a slow call.
const SLOW: Duration = Duration::from_millis(300);

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Eio,
    NoSpace,
    NoMemory,
    NoFiles,
    Forbidden,
    ReadOnly,
    Interrupted,
    Short,
    Slow,
}

impl Kind {
    pub const ALL: [Self; 9] = [
        Self::Eio,
        Self::NoSpace,
        Self::NoMemory,
        Self::NoFiles,
        Self::Forbidden,
        Self::ReadOnly,
        Self::Interrupted,
        Self::Short,
        Self::Slow,
    ];

    /// Whether the kernel may answer this call so.
    fn can_meet(self, call: &str) -> bool {
        match self {
            Self::Eio | Self::Slow => call != "seek",
            Self::NoSpace => {
                ["open", "write", "sync", "truncate", "allocate", "rename", "mkdir", "link"]
                    .contains(&call)
            }
            Self::NoMemory => {
                ["open", "map", "read", "list", "ring", "ioctl", "lock"].contains(&call)
            }
            Self::NoFiles => call == "open",
            Self::Forbidden | Self::ReadOnly => {
                ["open", "rename", "unlink", "mkdir", "link", "chmod"].contains(&call)
            }
            Self::Interrupted => ["open", "read", "write", "allocate", "lock"].contains(&call),
            Self::Short => ["read", "write"].contains(&call),
        }
    }
}

/// The `nth` call that can meet the fault, from 1, fails this way; 0 means no fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub nth: u32,
    pub kind: Kind,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:?}", self.nth, self.kind)
    }
}

/// The outcome of a run.
pub struct Run {
    /// How it ended; `None` if it had to be killed.
    pub status: Option<ExitStatus>,
    /// The call that failed, if the run reached it.
    pub failed: Option<&'static str>,
    /// How it failed.
    pub kind: Kind,
    /// Whether the call was a write to standard error.
    pub is_word: bool,
    /// Number of calls that could meet the fault.
    pub calls: u32,
}

/// Runs `command` with a fault; its output goes where the command says.
pub fn run(command: Command, fault: Fault) -> io::Result<Run> {
    let mut supervised = Supervised::spawn(command)?;
    let (mut begun, mut alike) = (false, HashMap::new());
    let kind = fault.kind;
    let mut run = Run { status: None, failed: None, kind, is_word: false, calls: 0 };
    let start = Instant::now();
    loop {
        if start.elapsed() > PATIENCE {
            return Ok(run);
        }
        let call = match supervised.next() {
            Ok(Some(call)) => call,
            Ok(None) if supervised.child.try_wait()?.is_none() => continue,
            Ok(None) | Err(_) => break,
        };
        begun |= call.name() == "sigaltstack";
        let count: &mut u32 = alike.entry(call.place()).or_default();
        *count += 1;
        let counts = begun && *count <= ALIKE && fault.kind.can_meet(call.name());
        run.calls += u32::from(counts);
        // If the fault is impossible here, such as half of one byte, the next call meets it.
        let due = counts && fault.nth > 0 && run.calls >= fault.nth && run.failed.is_none();
        if due && inflict(&supervised, &call, fault.kind) {
            run.failed = Some(call.name());
            run.is_word = call.is_word();
        } else {
            supervised.pass(&call);
        }
    }
    run.status = Some(supervised.child.wait()?);
    Ok(run)
}

/// Applies the fault to the call; returns whether that was possible.
fn inflict(supervised: &Supervised, call: &Call, kind: Kind) -> bool {
    let errno = match kind {
        Kind::Eio => libc::EIO,
        Kind::NoSpace => libc::ENOSPC,
        Kind::NoMemory => libc::ENOMEM,
        Kind::NoFiles => libc::EMFILE,
        Kind::Forbidden => libc::EACCES,
        Kind::ReadOnly => libc::EROFS,
        Kind::Interrupted => libc::EINTR,
        Kind::Short => return supervised.halve(call),
        Kind::Slow => {
            std::thread::sleep(SLOW);
            supervised.pass(call);
            return true;
        }
    };
    supervised.fail(call, errno);
    true
}
