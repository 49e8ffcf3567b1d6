//! How long other programs used the processor while a case ran, and what this program used of the
//! machine.
#![expect(unsafe_code, reason = "the processor clock of another process")]

use ioscape_machine::usage::{processor_ns, usage, waited_ns};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;

/// How a case detects that other programs used the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// The case, its children and its partner keep one processor busy, so any time that they did
    /// not compute went to others.
    Busy,
    /// The case sleeps by itself: others took the time that the kernel counts as waiting for a
    /// processor.
    Queued,
}

/// Reads the counters, before and after a batch, that show how long other programs used the
/// processor.
#[derive(Debug)]
pub(crate) enum Meter {
    /// The clock of the partner's processor time, if there is a partner; used with the own one.
    Busy(Option<libc::clockid_t>),
    /// The clock of this thread's processor time alone.
    Thread,
    /// The kernel's counts of waiting, of this thread and its partner; fewer than `threads` if it
    /// keeps none.
    Queued { counts: Vec<File>, threads: usize },
}

impl Meter {
    /// Creates a meter of this thread and of a partner: a process on the same processor
    /// ([`Waiting::Busy`]) or any thread.
    ///
    /// # Errors
    /// The kernel keeps a count that cannot be opened, most often because too many files are open.
    pub(crate) fn new(waiting: Waiting, partner: Option<u32>) -> io::Result<Self> {
        Ok(match waiting {
            Waiting::Busy => Self::Busy(partner.and_then(clock_of)),
            Waiting::Queued => {
                let own = "/proc/thread-self/schedstat".to_owned();
                let others = partner.map(|id| format!("/proc/{id}/schedstat"));
                let paths: Vec<String> = [own].into_iter().chain(others).collect();
                let counts = paths.iter().filter_map(|path| kept(path).transpose());
                Self::Queued { counts: counts.collect::<io::Result<_>>()?, threads: paths.len() }
            }
        })
    }

    /// Creates a meter of this thread alone, one of several that work concurrently.
    pub(crate) fn of_thread(waiting: Waiting) -> io::Result<Self> {
        match waiting {
            Waiting::Busy => Ok(Self::Thread),
            Waiting::Queued => Self::new(waiting, None),
        }
    }

    /// Returns the current state in nanoseconds, to be compared with a later one; `None` if the
    /// kernel does not report it.
    pub(crate) fn read(&self) -> Option<u64> {
        match self {
            Self::Busy(partner) => {
                let partners = partner.map_or(Some(0), time_of)?;
                Some(own_and_ended_children()? + partners)
            }
            Self::Thread => time_of(libc::CLOCK_THREAD_CPUTIME_ID),
            Self::Queued { counts, threads } if counts.len() == *threads => {
                counts.iter().map(waited_ns).sum()
            }
            Self::Queued { .. } => None,
        }
    }

    /// Returns how long other programs used the processor during the `passed` nanoseconds between
    /// two readings.
    pub(crate) fn waited(
        &self,
        before: Option<u64>,
        after: Option<u64>,
        passed: u64,
    ) -> Option<u64> {
        let told = after?.saturating_sub(before?);
        Some(match self {
            Self::Busy(_) | Self::Thread => passed.saturating_sub(told),
            // When both partners wait at the same time, the time counts once.
            Self::Queued { .. } => told.min(passed),
        })
    }
}

/// Opens a file of kernel counters; `None` if the kernel keeps none, or hides it from this program.
fn kept(path: &str) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => Ok(None),
            _ => Err(error),
        },
    }
}

/// Returns the clock of a process's processor time.
fn clock_of(process: u32) -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the call only writes the clock's identifier to the given place.
    let failed = unsafe { libc::clock_getcpuclockid(process.try_into().ok()?, &mut clock) };
    (failed == 0).then_some(clock)
}

fn time_of(clock: libc::clockid_t) -> Option<u64> {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call fills the structure, or fails and it is not looked at.
    let time = unsafe {
        if libc::clock_gettime(clock, time.as_mut_ptr()) != 0 {
            return None;
        }
        time.assume_init()
    };
    Some(u64::try_from(time.tv_sec).ok()? * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
}

/// Returns the processor time of this process and of its reaped children.
pub(crate) fn own_and_ended_children() -> Option<u64> {
    let [user_ns, system_ns] = processor_ns(&usage(libc::RUSAGE_CHILDREN));
    Some(time_of(libc::CLOCK_PROCESS_CPUTIME_ID)? + user_ns + system_ns)
}

/// Returns the bytes that this process and its reaped children read from devices or changed in the
/// file cache (getrusage(2)).
pub(crate) fn own_io_bytes() -> u64 {
    let all = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(usage);
    all.iter().map(|one| (one.ru_inblock + one.ru_oublock) as u64 * 512).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_machine::crew::{Crew, DONE};
    use ioscape_machine::error::Death;
    use std::time::{Duration, Instant};

    #[test]
    fn time_asleep_is_others_time_for_a_busy_case_only() {
        let nap = Duration::from_millis(20);
        let busy = Meter::new(Waiting::Busy, None).unwrap();
        // In a process of its own: other tests in this one compute meanwhile.
        let mut asleep = Crew::fork(1, |_| {
            let (start, before) = (Instant::now(), busy.read());
            std::thread::sleep(nap);
            let passed = start.elapsed().as_nanos() as u64;
            let waited = busy.waited(before, busy.read(), passed);
            i32::from(waited.is_none_or(|waited| waited < 15_000_000))
        })
        .unwrap();
        assert!(asleep.wait(Duration::from_secs(300), || false));
        assert_eq!(asleep.first_dead(), Some((0, Death::Exit(DONE))));
        assert_eq!(busy.waited(Some(5), Some(15), 100), Some(90));
        assert_eq!(busy.waited(Some(5), Some(500), 100), Some(0));
        let queued = Meter::Queued { counts: Vec::new(), threads: 0 };
        assert_eq!(queued.waited(Some(5), Some(15), 100), Some(10));
        assert_eq!(queued.waited(Some(5), Some(305), 100), Some(100), "never more than elapsed");
        assert_eq!(queued.waited(None, Some(15), 100), None);
    }

    #[test]
    fn a_partners_computing_counts_as_ones_own() {
        let child = Crew::fork(1, |_| {
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(300) {
                std::hint::black_box(0);
            }
            0
        });
        let child = child.unwrap();
        let clock = clock_of(child.first_id()).expect("a living process has a clock");
        let first = time_of(clock).unwrap();
        let patience = Instant::now();
        while time_of(clock).unwrap() == first {
            assert!(patience.elapsed() < Duration::from_secs(300), "the partner never ran");
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_this_process_wrote_is_counted() {
        let before = own_io_bytes();
        let file =
            tempfile::NamedTempFile::new_in(ioscape_machine::testing::build_directory()).unwrap();
        std::fs::write(file.path(), vec![1; 1 << 20]).unwrap();
        // Kernels built without the count leave it at 0.
        let counted = own_io_bytes() - before;
        assert!(counted == 0 || counted >= 1 << 20, "{counted}");
    }

    #[test]
    fn a_thread_without_counts_is_not_told() {
        // No process can have this number.
        let meter = Meter::new(Waiting::Queued, Some(u32::MAX)).unwrap();
        assert_eq!(meter.read(), None);
        assert!(clock_of(u32::MAX).is_none());
    }
}
