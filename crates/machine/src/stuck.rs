//! Whether the kernel holds a process: blocked in one call that neither returns nor can be killed.

use crate::cgroup::is_frozen;
use crate::text;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A process blocked for this long without waking up counts as held.
///
/// Even slow devices repeatedly wake a process that waits for many pages. A device that does not
/// respond for this long is reported.
pub const HELD: Duration = Duration::from_secs(20);

/// The same for calls that flush data in a single wait. A server or the host of a virtual machine
/// may answer only after writing the dirty data of all its clients: a fifth of its memory at disk
/// speed, without a wake-up in between.
const HELD_IN_SYNC: Duration = Duration::from_secs(300);

/// System calls that flush data; a server is also notified of `close`.
const SYNCS: [libc::c_long; 4] =
    [libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_syncfs, libc::SYS_close];

/// Interval between checks of a process; a check takes some 50 us.
const EVERY: Duration = Duration::from_secs(1);

/// Wait channels of a process that waits page by page for write-back: it wakes for every one
/// (before Linux 5.16, and since).
const PAGE_WAITS: [&str; 2] = ["wait_on_page", "folio_wait"];

/// Wait channel for the answer of a FUSE server: interruptible at first, but after an interruption
/// not any more.
const FUSE_WAIT: &str = "request_wait_answer";

/// Watches one process.
#[derive(Debug)]
pub struct Stuck {
    tasks: PathBuf,
    /// Interval between checks.
    every: Duration,
    looked: Instant,
    /// Threads in an uninterruptible wait.
    blocked: BTreeMap<OsString, Blocked>,
}

/// A thread in an uninterruptible wait.
#[derive(Clone, Copy, Debug)]
struct Blocked {
    /// Number of its context switches.
    switches: u64,
    /// When it last gave up the processor.
    since: Instant,
    /// Time that such a call may take before it counts as held.
    patience: Duration,
}

impl Stuck {
    /// Starts watching a process.
    pub fn watch(process: u32) -> Self {
        let tasks = PathBuf::from(format!("/proc/{process}/task"));
        Self { tasks, every: EVERY, looked: Instant::now(), blocked: BTreeMap::new() }
    }

    /// Returns how long one of its threads has been blocked in one call, as far as observed. It may
    /// be up to a second too long, since the process is checked once a second.
    pub fn held(&mut self) -> Duration {
        self.look();
        self.blocked.values().map(|one| one.since.elapsed()).max().unwrap_or_default()
    }

    /// Returns whether one of its threads has been blocked for longer than any responding device or
    /// server takes: 20 s, or 5 minutes in a call that flushes data in a single wait.
    pub fn is_held(&mut self) -> bool {
        self.look();
        self.blocked.values().any(|one| one.since.elapsed() > one.patience)
    }

    /// Returns the file that the longest-blocked thread waited for at the last check; `None` if the
    /// kernel does not tell, as for a call that names a path.
    pub fn held_on(&self) -> Option<PathBuf> {
        let (thread, _) = self.blocked.iter().min_by_key(|(_, one)| one.since)?;
        waited_for(&self.tasks.join(thread))
    }

    fn look(&mut self) {
        if self.looked.elapsed() < self.every {
            return;
        }
        self.looked = Instant::now();
        let before = std::mem::take(&mut self.blocked);
        self.blocked = blocked(&self.tasks)
            .map(|(thread, now)| {
                let same = before.get(&thread).filter(|was| was.switches == now.switches);
                let since = same.map_or(now.since, |was| was.since);
                (thread, Blocked { since, ..now })
            })
            .collect();
    }
}

/// Returns the threads that are blocked now.
fn blocked(tasks: &Path) -> impl Iterator<Item = (OsString, Blocked)> {
    let threads = std::fs::read_dir(tasks).into_iter().flatten().flatten();
    threads.filter_map(|thread| {
        let place = thread.path();
        let status = text::read(place.join("status")).unwrap_or_default();
        let wait = text::read(place.join("wchan")).unwrap_or_default();
        let in_fuse = wait.contains(FUSE_WAIT);
        let blocked = (is_uninterruptible(&status) && !is_frozen(&place)) || in_fuse;
        let is_known = !matches!(wait.trim(), "" | "0");
        let is_one_wait = is_known && !PAGE_WAITS.iter().any(|pages| wait.contains(pages));
        let syncs = || text::read(place.join("syscall")).is_some_and(|call| is_sync(&call));
        let now = || Blocked {
            switches: switches(&status),
            since: Instant::now(),
            patience: if is_one_wait && syncs() { HELD_IN_SYNC } else { HELD },
        };
        blocked.then(|| (thread.file_name(), now()))
    })
}

/// Returns whether the call in a `syscall` file (proc_pid_syscall(5)) flushes data.
fn is_sync(call: &str) -> bool {
    let number = call.split_whitespace().next().and_then(|word| word.parse().ok());
    number.is_some_and(|number| SYNCS.contains(&number))
}

/// Returns the file of the descriptor that is the first argument of a thread's call. Numbers up to
/// 2 are ignored, since they may be other small arguments.
fn waited_for(thread: &Path) -> Option<PathBuf> {
    let call = text::read(thread.join("syscall"))?;
    let number = call.split_whitespace().nth(1)?.strip_prefix("0x")?;
    let descriptor = u32::from_str_radix(number, 16).ok().filter(|number| *number > 2)?;
    let file = std::fs::read_link(thread.join("fd").join(descriptor.to_string())).ok()?;
    file.is_absolute().then_some(file)
}

/// Returns whether a process is stopped (SIGSTOP, a debugger) or its control group is frozen, so
/// that it does nothing until resumed.
pub fn is_stopped(process: u32) -> bool {
    is_halted(process) || is_frozen(&PathBuf::from(format!("/proc/{process}")))
}

/// Returns whether a process is stopped, not considering its control group.
pub fn is_halted(process: u32) -> bool {
    let status = text::read(format!("/proc/{process}/status")).unwrap_or_default();
    matches!(state(&status), Some('T' | 't'))
}

/// Returns the state letter in a `status` file (proc_pid_status(5)).
fn state(status: &str) -> Option<char> {
    status.lines().find_map(|line| line.strip_prefix("State:"))?.trim_start().chars().next()
}

/// Returns whether the state in a `status` file is uninterruptible sleep.
fn is_uninterruptible(status: &str) -> bool {
    state(status) == Some('D')
}

/// Returns the voluntary plus involuntary context switches in a `status` file.
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
    fn who_is_asked_to_write_back_all_at_once_has_more_time() {
        let directory = tempfile::tempdir().unwrap();
        let thread = directory.path().join("1");
        std::fs::create_dir(&thread).unwrap();
        let patience = |wchan: &str, call: libc::c_long| {
            std::fs::write(thread.join("status"), STATUS).unwrap();
            std::fs::write(thread.join("wchan"), wchan).unwrap();
            std::fs::write(
                thread.join("syscall"),
                format!("{call} 0x3 0x0 0x0 0x0 0x0 0x0 0x7ffe 0x7f1c\n"),
            )
            .unwrap();
            blocked(directory.path()).map(|(_, one)| one.patience).collect::<Vec<_>>()
        };
        assert_eq!(patience(FUSE_WAIT, libc::SYS_fdatasync), [HELD_IN_SYNC]);
        assert_eq!(patience(FUSE_WAIT, libc::SYS_pread64), [HELD]);
        assert_eq!(patience("0", libc::SYS_fdatasync), [HELD], "the kernel does not say");
        // NFS, 9p, and a disk whose host caches what the guest writes.
        for wait in ["wait_on_commit", "p9_client_rpc", "jbd2_log_wait_commit"] {
            assert_eq!(patience(wait, libc::SYS_fdatasync), [HELD_IN_SYNC], "{wait}");
            assert_eq!(patience(wait, libc::SYS_pwrite64), [HELD], "{wait}");
        }
        assert_eq!(
            patience("folio_wait_writeback", libc::SYS_fdatasync),
            [HELD],
            "a device wakes for every page"
        );
        assert!(!is_sync("running\n") && !is_sync(""));
    }

    /// Guards against blaming a local target while the server that took the result did not respond.
    #[test]
    fn the_file_that_a_blocked_thread_waits_for_is_known_by_its_descriptor() {
        let directory = tempfile::tempdir().unwrap();
        let thread = directory.path().join("1");
        std::fs::create_dir_all(thread.join("fd")).unwrap();
        std::fs::write(thread.join("status"), STATUS).unwrap();
        for (number, file) in [(0, "/dev/null"), (10, "/mnt/r.json"), (11, "anon_inode:[eventfd]")]
        {
            let link = thread.join("fd").join(number.to_string());
            std::os::unix::fs::symlink(file, link).unwrap();
        }
        let mut stuck =
            Stuck { tasks: directory.path().into(), every: Duration::ZERO, ..Stuck::watch(1) };
        let mut held_on = |call: &str| {
            std::fs::write(thread.join("syscall"), call).unwrap();
            stuck.held();
            stuck.held_on()
        };
        assert_eq!(held_on("74 0xa 0x0 0x0\n"), Some("/mnt/r.json".into()));
        for untold in ["257 0xffffffffffffff9c 0x7ffc", "9 0x0 0x1000", "232 0xb", "running"] {
            assert_eq!(held_on(untold), None, "{untold}");
        }
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
        assert!(own.held() < HELD && !own.is_held());
        assert_eq!(blocked(Path::new("/proc/0/task")).count(), 0, "no such process");
    }
}
