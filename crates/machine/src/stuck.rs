//! Whether a process is held by the kernel: blocked in one call that neither ends nor can be killed.

use crate::cgroup::is_frozen;
use crate::text;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A process that has been blocked for so long without once waking up counts as held.
///
/// Slow devices wake those who wait for many pages again and again; a device that answers nothing for so long is reported.
pub const HELD: Duration = Duration::from_secs(20);

/// How often a process is looked at, which takes some 50 us.
const EVERY: Duration = Duration::from_secs(1);

/// Where a process waits for the answer of a FUSE server: interruptible at first, but not by what is left once it was asked.
const FUSE_WAIT: &str = "request_wait_answer";

/// Watches one process.
#[derive(Debug)]
pub struct Stuck {
    tasks: PathBuf,
    /// How often it is looked at.
    every: Duration,
    looked: Instant,
    /// The threads that wait where a signal cannot reach them: how often they gave up the processor, and since when that is so.
    blocked: BTreeMap<OsString, (u64, Instant)>,
}

impl Stuck {
    /// Watches the process of this number from now on.
    pub fn watch(process: u32) -> Self {
        let tasks = PathBuf::from(format!("/proc/{process}/task"));
        Self { tasks, every: EVERY, looked: Instant::now(), blocked: BTreeMap::new() }
    }

    /// For how long one of its threads has been blocked in one call, as far as this was asked meanwhile: a second more at most,
    /// since it is looked at once a second only.
    pub fn held(&mut self) -> Duration {
        if self.looked.elapsed() >= self.every {
            self.looked = Instant::now();
            let before = std::mem::take(&mut self.blocked);
            self.blocked = blocked(&self.tasks)
                .map(|(thread, switches)| {
                    let same = before.get(&thread).filter(|(was, _)| *was == switches);
                    let since = same.map_or_else(Instant::now, |(_, since)| *since);
                    (thread, (switches, since))
                })
                .collect();
        }
        self.blocked.values().map(|(_, since)| since.elapsed()).max().unwrap_or_default()
    }
}

/// The threads that are blocked now, with how often they gave up the processor.
fn blocked(tasks: &Path) -> impl Iterator<Item = (OsString, u64)> {
    let threads = std::fs::read_dir(tasks).into_iter().flatten().flatten();
    threads.filter_map(|thread| {
        let place = thread.path();
        let status = text::read(place.join("status")).unwrap_or_default();
        let in_fuse = || text::read(place.join("wchan")).is_some_and(|w| w.contains(FUSE_WAIT));
        let blocked = (is_uninterruptible(&status) && !is_frozen(&place)) || in_fuse();
        blocked.then(|| (thread.file_name(), switches(&status)))
    })
}

/// Whether a process is stopped (SIGSTOP, a debugger) or its control group is frozen, so that it does nothing until it is let go on.
pub fn is_stopped(process: u32) -> bool {
    is_halted(process) || is_frozen(&PathBuf::from(format!("/proc/{process}")))
}

/// Whether a process is stopped, but for its control group.
pub fn is_halted(process: u32) -> bool {
    let status = text::read(format!("/proc/{process}/status")).unwrap_or_default();
    matches!(state(&status), Some('T' | 't'))
}

/// The letter of the state in a `status` file (proc_pid_status(5)).
fn state(status: &str) -> Option<char> {
    status.lines().find_map(|line| line.strip_prefix("State:"))?.trim_start().chars().next()
}

/// Whether the state in a `status` file is uninterruptible sleep.
fn is_uninterruptible(status: &str) -> bool {
    state(status) == Some('D')
}

/// Voluntary and other context switches in a `status` file.
fn switches(status: &str) -> u64 {
    let count = |name| text::field(status, name).unwrap_or(0);
    count("voluntary_ctxt_switches") + count("nonvoluntary_ctxt_switches")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tdd\nUmask:\t0022\nState:\tD (disk sleep)\nTgid:\t77\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t12\n";

    #[test]
    fn a_status_file_tells_state_and_switches() {
        assert!(is_uninterruptible(STATUS));
        assert_eq!(switches(STATUS), 162);
        assert!(!is_uninterruptible(&STATUS.replace("D (disk", "S (disk")));
        assert!(!is_uninterruptible(""));
    }

    #[test]
    fn a_stopped_process_is_no_blocked_one() {
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let id = sleeper.id();
        assert!(!is_stopped(id));
        let pid = rustix::process::Pid::from_child(&sleeper);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        let begun = Instant::now();
        while !is_stopped(id) {
            assert!(begun.elapsed() < Duration::from_secs(30), "it never stopped");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(blocked(&PathBuf::from(format!("/proc/{id}/task"))).count(), 0);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }

    #[test]
    fn only_a_blocked_process_that_never_wakes_is_held() {
        let directory = tempfile::tempdir().unwrap();
        let thread = directory.path().join("1");
        std::fs::create_dir(&thread).unwrap();
        let mut stuck =
            Stuck { tasks: directory.path().into(), every: Duration::ZERO, ..Stuck::watch(1) };
        let mut held = |status: &str| {
            std::fs::write(thread.join("status"), status).unwrap();
            std::thread::sleep(Duration::from_millis(5));
            stuck.held() >= Duration::from_millis(5)
        };
        assert!(!held(STATUS), "seen for the first time");
        assert!(held(STATUS));
        assert!(!held(&STATUS.replace("150", "151")), "it woke meanwhile");
        assert!(!held(&STATUS.replace("State:\tD", "State:\tR")));
        assert!(!held(&STATUS.replace("State:\tD", "State:\tR")), "it runs");
    }

    #[test]
    fn one_thread_that_is_blocked_is_enough() {
        let directory = tempfile::tempdir().unwrap();
        let mut stuck =
            Stuck { tasks: directory.path().into(), every: Duration::ZERO, ..Stuck::watch(1) };
        let mut held = |others: &str| {
            for (thread, status) in [("1", others), ("2", STATUS)] {
                let place = directory.path().join(thread);
                std::fs::create_dir_all(&place).unwrap();
                std::fs::write(place.join("status"), status).unwrap();
            }
            std::thread::sleep(Duration::from_millis(5));
            stuck.held() >= Duration::from_millis(5)
        };
        assert!(!held(&STATUS.replace("State:\tD", "State:\tS")), "seen for the first time");
        assert!(held(&STATUS.replace("State:\tD", "State:\tR").replace("150", "151")));
    }

    #[test]
    fn a_process_that_sleeps_can_be_ended() {
        let mut own = Stuck::watch(std::process::id());
        own.held();
        assert!(own.held() < HELD);
        assert_eq!(blocked(Path::new("/proc/0/task")).count(), 0, "no such process");
    }
}
