//! The first failure of a worker: its action, the place in the file, and the system's error number.

use ioscape_schema::Op;

/// The action of a worker when it failed. Its number crosses the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Action {
    /// Opening the target.
    Open = 1,
    /// Reading.
    Read,
    /// A read at the end of the file.
    EndOfFile,
    /// Writing.
    Write,
    /// Writing back dirty pages.
    Sync,
    /// Mapping the file.
    Map,
    /// Creating an `io_uring`.
    Ring,
    /// Joining the control group that limits memory.
    Join,
    /// Allocating memory or starting a thread.
    Resource,
    /// Locking buffers in memory.
    Lock,
    /// Requesting I/O that leaves nothing in the file cache.
    Uncached,
}

impl Action {
    /// All actions, in the order of their numbers.
    const ALL: [Self; 11] = [
        Self::Open,
        Self::Read,
        Self::EndOfFile,
        Self::Write,
        Self::Sync,
        Self::Map,
        Self::Ring,
        Self::Join,
        Self::Resource,
        Self::Lock,
        Self::Uncached,
    ];

    /// The action of this number.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|action| *action as u64 == number)
    }

    /// The verb in its error message: `cannot VERB FILE`.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read | Self::EndOfFile => "read",
            Self::Write => "write",
            Self::Sync => "write back (fdatasync)",
            Self::Map => "map",
            Self::Ring => "make an io_uring for",
            Self::Join => "join the memory control group for",
            Self::Resource => "get memory or threads for the I/O on",
            Self::Lock => "lock the buffers in memory for the I/O on",
            Self::Uncached => "read past the file cache (RWF_DONTCACHE)",
        }
    }
}

/// The first failure of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What the worker was doing.
    pub(crate) action: Action,
    /// Offset in the file; `u64::MAX` if none applies.
    pub(crate) offset: u64,
    /// The system's error number; 0 at the end of the file.
    pub(crate) errno: i32,
}

impl Fault {
    /// Creates a failure without a place in the file.
    pub(crate) fn new(action: Action, errno: i32) -> Self {
        Self { action, offset: u64::MAX, errno }
    }

    /// Creates a failure of the part of a request that begins at `offset`.
    #[cold]
    pub(crate) fn at(action: Action, offset: u64, errno: i32) -> Self {
        Self { action, offset, errno }
    }

    /// The failure behind an `op` that moved nothing at `offset`: the end of the file, or a device
    /// that is full.
    #[cold]
    pub(crate) fn nothing_moved(op: Op, offset: u64) -> Self {
        match op {
            Op::Read => Self::at(Action::EndOfFile, offset, 0),
            Op::Write => Self::at(Action::Write, offset, libc::ENOSPC),
        }
    }
}

/// The action that stands for an operation.
pub(crate) fn action(op: Op) -> Action {
    match op {
        Op::Read => Action::Read,
        Op::Write => Action::Write,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_survive_their_numbers() {
        for action in Action::ALL {
            assert_eq!(Action::from_number(action as u64), Some(action));
        }
        assert_eq!(Action::from_number(0), None);
    }
}
