//! The threads of a recorded command: those that are traced at present, and those that moved bytes.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// A thread that moved bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedProcess {
    /// Number of its process.
    pub pid: u32,
    /// Its own number.
    pub tid: u32,
    /// Name of its program, at most 15 bytes.
    pub command: String,
}

/// Threads that are traced at present.
#[derive(Debug, Default)]
pub(super) struct LiveThreads(Mutex<HashSet<i32>>);

impl LiveThreads {
    /// A thread begins to be traced.
    pub(super) fn add(&self, tid: i32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(tid);
    }

    /// A thread has ended.
    pub(super) fn remove(&self, tid: i32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&tid);
    }

    /// Whether the thread is traced at present.
    pub(super) fn contains(&self, tid: i32) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&tid)
    }

    /// Sends every traced thread a signal.
    pub(super) fn kill(&self, signal: i32) {
        for &tid in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            send(tid, signal);
        }
    }
}

/// Sends a signal to a thread that may be gone.
pub(super) fn send(tid: i32, signal: i32) {
    if let (Some(pid), Some(signal)) =
        (rustix::process::Pid::from_raw(tid), rustix::process::Signal::from_named_raw(signal))
    {
        // It can only be gone already.
        let _ = rustix::process::kill_process(pid, signal);
    }
}
