//! How much of its time a thread computed or slept of its own accord, rather than waiting for a
//! processor or for the tracer.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

/// The `schedstat` of one thread (kernel: Documentation/scheduler/sched-stats.rst), which is read
/// at every call.
#[derive(Debug)]
pub(super) enum Schedule {
    /// A file that is kept open.
    Open(File),
    /// The file of this thread, opened for each reading, since too many files are open.
    Named(i32),
    /// The kernel does not provide it.
    Absent,
}

/// The schedule of a thread, from its beginning to a certain time, or over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Turns {
    /// Nanoseconds on a processor.
    pub(super) ran_ns: u64,
    /// Nanoseconds ready to run, without a processor.
    pub(super) waited_ns: u64,
    /// How often it got a processor; 0 where the kernel does not count that.
    pub(super) turns: u64,
    /// Nanoseconds in which it stood still because the tracer had no processor.
    pub(super) late_ns: u64,
    /// How often it stopped for the tracer.
    pub(super) stops: u64,
}

impl Schedule {
    /// Opens the schedule of a thread, kept open or not; absent where the kernel does not provide
    /// it.
    pub(super) fn of(tid: i32, is_kept: bool) -> Self {
        match open(tid) {
            Ok(file) if is_kept => Self::Open(file),
            Err(e) if e.kind() == ErrorKind::NotFound => Self::Absent,
            _ => Self::Named(tid),
        }
    }

    /// The schedule of the calling thread.
    pub(super) fn own() -> Self {
        File::open("/proc/thread-self/schedstat").map_or(Self::Absent, Self::Open)
    }

    /// The thread's schedule so far.
    pub(super) fn so_far(&self) -> Turns {
        let mut bytes = [0; 80];
        let read = match self {
            Self::Open(file) => file.read_at(&mut bytes, 0).ok(),
            Self::Named(tid) => open(*tid).and_then(|file| file.read_at(&mut bytes, 0)).ok(),
            Self::Absent => None,
        };
        let text = std::str::from_utf8(&bytes[..read.unwrap_or(0)]).unwrap_or_default();
        let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        Turns { ran_ns: next(), waited_ns: next(), turns: next(), ..Turns::default() }
    }
}

fn open(tid: i32) -> io::Result<File> {
    File::open(format!("/proc/{tid}/schedstat"))
}

impl Turns {
    /// The difference from `before`.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            ran_ns: self.ran_ns.saturating_sub(before.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
            turns: self.turns.saturating_sub(before.turns),
            late_ns: self.late_ns.saturating_sub(before.late_ns),
            stops: self.stops.saturating_sub(before.stops),
        }
    }

    /// For how much of `passed_ns` the thread was held up, for lack of a processor or by the
    /// tracer, each stop of which takes `stop_ns`.
    ///
    /// A thread that got a processor no more often than the tracer resumed it never slept: only its
    /// time on a processor is its own, however long stops take, which varies from minute to minute.
    /// If it slept or was interrupted, only the time known to be lost to others is subtracted.
    pub(super) fn held_ns(&self, passed_ns: u64, stop_ns: u64) -> u64 {
        let others_ns = self.waited_ns + self.late_ns + self.stops * stop_ns;
        let own_ns = match self.turns {
            0 => passed_ns.saturating_sub(others_ns),
            turns if turns <= self.stops => self.ran_ns,
            _ => passed_ns.saturating_sub(others_ns).max(self.ran_ns),
        };
        passed_ns.saturating_sub(own_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_never_slept_had_what_it_ran() {
        let ran = Turns { ran_ns: 30, turns: 1, stops: 1, ..Turns::default() };
        assert_eq!(ran.held_ns(100, 5), 70, "whatever a stop took this time");
        let slept = Turns { turns: 2, ..ran };
        assert_eq!(slept.held_ns(100, 5), 5);
        assert_eq!(slept.held_ns(100, 500), 70, "it has had what it ran at least");
        let crowded = Turns { waited_ns: 40, late_ns: 10, ..slept };
        assert_eq!(crowded.held_ns(100, 5), 55);
        let silent = Turns { stops: 1, ..Turns::default() };
        assert_eq!(silent.held_ns(100, 5), 5);
    }

    #[test]
    fn a_schedule_that_is_not_kept_open_says_the_same() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let tid = child.id() as i32;
        let [kept, named] = [true, false].map(|is_kept| Schedule::of(tid, is_kept));
        assert!(!matches!(named, Schedule::Open(_)), "{named:?}");
        let before = kept.so_far();
        let between = named.so_far();
        let after = kept.so_far();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!((before.turns..=after.turns).contains(&between.turns));
        assert!((before.ran_ns..=after.ran_ns).contains(&between.ran_ns));
        assert!(matches!(Schedule::of(tid, true), Schedule::Absent), "it is gone");
    }

    #[test]
    fn turns_are_counted_here() {
        let own = Schedule::own();
        let before = own.so_far();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let since = own.so_far().since(&before);
        assert!(before.turns == 0 || since.turns > 0, "{before:?} {since:?}");
    }
}
