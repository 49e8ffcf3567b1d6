//! The threads of a recorded command: those that are traced at present, and those that moved bytes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

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
pub(super) struct LiveThreads(Mutex<Living>);

#[derive(Debug, Default)]
struct Living {
    /// The process of each thread.
    threads: HashMap<i32, i32>,
    /// When a process was last asked to end.
    asked: HashMap<i32, Instant>,
}

impl Living {
    fn process(&self, tid: i32) -> i32 {
        self.threads.get(&tid).copied().unwrap_or(tid)
    }
}

impl LiveThreads {
    fn lock(&self) -> MutexGuard<'_, Living> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to trace a thread of process `pid`. A process started by one that was asked to end
    /// counts as asked too, since it serves that end; `parent` is a thread of the process that
    /// started it.
    pub(super) fn add(&self, tid: i32, pid: i32, parent: Option<i32>) {
        let mut living = self.lock();
        living.threads.insert(tid, pid);
        let parent = parent.filter(|_| tid == pid).and_then(|parent| living.threads.get(&parent));
        if let Some(at) = parent.and_then(|parent| living.asked.get(parent)).copied() {
            living.asked.insert(pid, at);
        }
    }

    /// Notes that a thread has ended; the first thread of a process ends last.
    pub(super) fn remove(&self, tid: i32) {
        let mut living = self.lock();
        living.threads.remove(&tid);
        living.asked.remove(&tid);
    }

    /// The process of a thread.
    pub(super) fn process(&self, tid: i32) -> i32 {
        self.lock().process(tid)
    }

    /// The processes of all traced threads.
    pub(super) fn processes(&self) -> BTreeSet<i32> {
        self.lock().threads.values().copied().collect()
    }

    /// Notes that a thread, and so its process, was asked to end.
    pub(super) fn asked(&self, tid: i32) {
        let mut living = self.lock();
        let pid = living.process(tid);
        living.asked.insert(pid, Instant::now());
    }

    /// Whether a process was asked to end since `since`.
    pub(super) fn is_asked(&self, pid: i32, since: Instant) -> bool {
        self.lock().asked.get(&pid).is_some_and(|at| *at >= since)
    }
}

/// Sends a signal to a process that may be gone.
pub(super) fn send(pid: i32, signal: i32) {
    if let (Some(pid), Some(signal)) =
        (rustix::process::Pid::from_raw(pid), rustix::process::Signal::from_named_raw(signal))
    {
        // This fails only if the process is gone.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_after_it_was_asked_to_end_is_asked_no_more() {
        let (living, since) = (LiveThreads::default(), Instant::now());
        living.add(10, 10, None);
        living.add(11, 11, Some(10));
        living.asked(10);
        // A process and a thread of a process that was not asked.
        living.add(12, 12, Some(10));
        living.add(13, 11, Some(10));
        let asked = [10, 11, 12].map(|pid| living.is_asked(pid, since));
        assert_eq!(asked, [true, false, true]);
    }
}
