//! How long other programs used the processor while a case ran, and what this program used of the machine.
#![expect(
    unsafe_code,
    reason = "the processor clock of another process, and what this one and ended children used"
)]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;

/// How a case tells that other programs used the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// The case, with its children and its partner, keeps one processor busy: whatever time they did not compute, others had it.
    Busy,
    /// The case sleeps by itself: others had what the kernel counts as waiting for a processor.
    Queued,
}

/// Reads, before and after a batch, what shows how long other programs used the processor.
#[derive(Debug)]
pub(crate) enum Meter {
    /// Clock of the partner's processor time, if there is a partner.
    Busy(Option<libc::clockid_t>),
    /// Clock of this thread's processor time alone.
    Thread,
    /// The kernel's counts of waiting, of this thread and its partner; fewer than threads where it keeps none.
    Queued { counts: Vec<File>, threads: usize },
}

impl Meter {
    /// A meter of this thread and of a partner: a process that runs on the same processor ([`Waiting::Busy`]) or any thread.
    ///
    /// # Errors
    /// The kernel keeps a count, and it cannot be opened: most often too many files are open.
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

    /// A meter of this thread alone, which is one of several that work at the same time.
    ///
    /// # Errors
    /// As of [`Self::new`].
    pub(crate) fn of_thread(waiting: Waiting) -> io::Result<Self> {
        match waiting {
            Waiting::Busy => Ok(Self::Thread),
            Waiting::Queued => Self::new(waiting, None),
        }
    }

    /// The state now, in nanoseconds, to be compared with a later one; `None` where the kernel does not report it.
    pub(crate) fn read(&self) -> Option<u64> {
        match self {
            Self::Busy(partner) => {
                let partners = partner.map_or(Some(0), time_of)?;
                Some(own_and_ended_children()? + partners)
            }
            Self::Thread => time_of(libc::CLOCK_THREAD_CPUTIME_ID),
            Self::Queued { counts, threads } if counts.len() == *threads => {
                counts.iter().map(queued_ns).sum()
            }
            Self::Queued { .. } => None,
        }
    }

    /// How long other programs used the processor in `passed` nanoseconds between two readings.
    pub(crate) fn waited(
        &self,
        before: Option<u64>,
        after: Option<u64>,
        passed: u64,
    ) -> Option<u64> {
        let told = after?.saturating_sub(before?);
        Some(match self {
            Self::Busy(_) | Self::Thread => passed.saturating_sub(told),
            // Two partners that wait at the same time wait once.
            Self::Queued { .. } => told.min(passed),
        })
    }
}

/// A file in which the kernel counts; `None` where it keeps none, or not for this program.
fn kept(path: &str) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => Ok(None),
            _ => Err(error),
        },
    }
}

/// Second number of a thread's `schedstat`: nanoseconds ready to run and not running (kernel: Documentation/scheduler/sched-stats.rst).
pub(crate) fn queued_ns(file: &File) -> Option<u64> {
    let mut text = [0; 96];
    let len = file.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..len]).ok()?.split(' ').nth(1)?.trim().parse().ok()
}

/// The clock of a process's processor time.
fn clock_of(process: u32) -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the call writes one clock's name where it is told.
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

/// Processor time of this process and of its children that were waited for.
pub(crate) fn own_and_ended_children() -> Option<u64> {
    Some(time_of(libc::CLOCK_PROCESS_CPUTIME_ID)? + ended_children()?)
}

/// Processor time of children that were waited for.
fn ended_children() -> Option<u64> {
    let usage = usage_of(libc::RUSAGE_CHILDREN)?;
    let nanos = |time: libc::timeval| {
        Some(
            u64::try_from(time.tv_sec).ok()? * 1_000_000_000
                + u64::try_from(time.tv_usec).ok()? * 1000,
        )
    };
    Some(nanos(usage.ru_utime)? + nanos(usage.ru_stime)?)
}

/// Bytes that this process and its children that were waited for have read from devices, or changed in the file cache (getrusage(2)).
pub(crate) fn own_io_bytes() -> u64 {
    let of = |whose| {
        let blocks = usage_of(whose).map_or(0, |usage| usage.ru_inblock + usage.ru_oublock);
        u64::try_from(blocks).unwrap_or(0) * 512
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// Pages that this process had to wait for.
pub(crate) fn fetched_pages() -> i64 {
    usage_of(libc::RUSAGE_SELF).map_or(0, |usage| usage.ru_majflt)
}

fn usage_of(whose: libc::c_int) -> Option<libc::rusage> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call fills the structure, or fails and it is not looked at.
    unsafe { (libc::getrusage(whose, usage.as_mut_ptr()) == 0).then(|| usage.assume_init()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn time_asleep_is_others_time_for_a_busy_case_only() {
        let nap = Duration::from_millis(20);
        let busy = Meter::new(Waiting::Busy, None).unwrap();
        let (start, before) = (Instant::now(), busy.read());
        std::thread::sleep(nap);
        let passed = start.elapsed().as_nanos() as u64;
        // Other tests of this process may compute meanwhile, so only the direction is certain.
        assert!(busy.waited(before, busy.read(), passed).unwrap() <= passed);
        assert_eq!(busy.waited(Some(5), Some(15), 100), Some(90));
        assert_eq!(busy.waited(Some(5), Some(500), 100), Some(0));
        let queued = Meter::Queued { counts: Vec::new(), threads: 0 };
        assert_eq!(queued.waited(Some(5), Some(15), 100), Some(10));
        assert_eq!(queued.waited(Some(5), Some(305), 100), Some(100), "never more than elapsed");
        assert_eq!(queued.waited(None, Some(15), 100), None);
    }

    #[test]
    fn a_partners_computing_counts_as_ones_own() {
        let child = ioscape_machine::crew::Crew::fork(1, |_| {
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
        let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
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
