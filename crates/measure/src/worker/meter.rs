//! What the measured part costs a worker process: processor time of all its threads, and bytes read
//! from storage.

use crate::worker::report::Cost;
use ioscape_machine::usage::{processor_ns, usage, waited_ns};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Measures the cost of one process, from the beginning of its first stream to the end of its last.
pub(crate) struct Meter {
    counters: Option<OwnedFd>,
    first: OnceLock<Cost>,
    running: AtomicU32,
}

impl Meter {
    /// Creates a meter for a process with `streams` streams.
    pub(crate) fn new(streams: u32) -> Self {
        let counters = File::open("/proc/self/io").ok().map(OwnedFd::from);
        Self { counters, first: OnceLock::new(), running: AtomicU32::new(streams) }
    }

    /// Notes that a stream begins.
    pub(crate) fn begin(&self) {
        self.first.get_or_init(|| self.reading());
    }

    /// Notes that a stream ends; returns the cost to the last one, if any of them ever began.
    pub(crate) fn end(&self) -> Option<Cost> {
        if self.running.fetch_sub(1, Ordering::AcqRel) != 1 {
            return None;
        }
        let first = self.first.get()?;
        let last = self.reading();
        Some(Cost {
            user_ns: last.user_ns.saturating_sub(first.user_ns),
            system_ns: last.system_ns.saturating_sub(first.system_ns),
            storage_read_bytes: last.storage_read_bytes.saturating_sub(first.storage_read_bytes),
            storage_counted: first.storage_counted && last.storage_counted,
            major_faults: last.major_faults.saturating_sub(first.major_faults),
        })
    }

    fn reading(&self) -> Cost {
        let usage = usage(libc::RUSAGE_SELF);
        let [user_ns, system_ns] = processor_ns(&usage);
        let read = self.counters.as_ref().and_then(storage_read_bytes);
        Cost {
            user_ns,
            system_ns,
            storage_read_bytes: read.unwrap_or(0),
            storage_counted: read.is_some(),
            major_faults: u64::try_from(usage.ru_majflt).unwrap_or(0),
        }
    }
}

/// How long one thread was ready to run but waited for a processor.
pub(crate) struct RunDelay {
    counter: Option<File>,
}

impl RunDelay {
    /// The run delay of the calling thread.
    pub(crate) fn of_this_thread() -> Self {
        Self { counter: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// Nanoseconds so far; absent if the kernel does not count them.
    pub(crate) fn ns(&self) -> Option<u64> {
        waited_ns(self.counter.as_ref()?)
    }

    /// Nanoseconds since there were `then`.
    pub(crate) fn since(&self, then: Option<u64>) -> Option<u64> {
        self.ns().zip(then).map(|(now, then)| now.saturating_sub(then))
    }
}

/// Share of its time that a worker may wait for a processor before the run counts as disturbed.
pub(crate) const WAITING_MAX: f64 = 0.10;

/// Processor time above which the kernel's ticks, at most 10 ms apart, give the shares of user and
/// system time to some 15 %: that of 25 of the usual ticks of 4 ms. Below it, either share may be 0
/// by chance.
const SPLIT_LEAST_NS: u64 = 100_000_000;

/// Processor time so far of the calling thread, or of its whole process.
#[derive(Clone, Copy)]
pub(crate) struct ThreadTime {
    of_process: bool,
    total_ns: u64,
    split_ns: [u64; 2],
}

impl ThreadTime {
    /// The calling thread's time until now. `RUSAGE_THREAD` alone stands still between two ticks of
    /// the kernel, so that a run of less than 4 ms would seem free. The sum therefore comes from
    /// the thread's own clock, and only the shares come from `getrusage`.
    pub(crate) fn now() -> Self {
        Self::of(false)
    }

    /// The time until now of the whole process, including the kernel threads that an `io_uring`
    /// starts for it. These copy what is written through the file cache.
    pub(crate) fn of_process() -> Self {
        Self::of(true)
    }

    /// The time until now of the same thread or process.
    pub(crate) fn again(self) -> Self {
        Self::of(self.of_process)
    }

    fn of(of_process: bool) -> Self {
        let (clock, who) = match of_process {
            true => (rustix::time::ClockId::ProcessCPUTime, libc::RUSAGE_SELF),
            false => (rustix::time::ClockId::ThreadCPUTime, libc::RUSAGE_THREAD),
        };
        let spent = rustix::time::clock_gettime(clock);
        let total_ns = spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64;
        Self { of_process, total_ns, split_ns: processor_ns(&usage(who)) }
    }

    /// Whether enough ticks of the kernel have passed since `before` to tell user time from system
    /// time.
    pub(crate) fn is_split_since(self, before: Self) -> bool {
        let grown = |i: usize| self.split_ns[i].saturating_sub(before.split_ns[i]);
        grown(0) + grown(1) >= SPLIT_LEAST_NS
    }

    /// User and system nanoseconds since `before`. If no tick fell in between, they are divided as
    /// over the thread's whole life; if there was none at all, all is system time.
    pub(crate) fn since(self, before: Self) -> [u64; 2] {
        let total_ns = self.total_ns.saturating_sub(before.total_ns);
        let grown = [0, 1].map(|i| self.split_ns[i].saturating_sub(before.split_ns[i]));
        let [user, system] = if grown == [0, 0] { self.split_ns } else { grown };
        let share = user as f64 / (user + system).max(1) as f64;
        let user_ns = (total_ns as f64 * share).round() as u64;
        [user_ns, total_ns.saturating_sub(user_ns)]
    }
}

/// The `read_bytes` counter of `/proc/self/io`: bytes read from the storage layer.
fn storage_read_bytes(counters: &impl AsFd) -> Option<u64> {
    let mut text = [0; 512];
    let len = rustix::io::pread(counters, &mut text, 0).ok()?;
    std::str::from_utf8(text.get(..len)?)
        .ok()?
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::{IoUring, squeue};
    use ioscape_machine::affinity;
    use ioscape_machine::crew::{Crew, DONE, FAULTED};
    use ioscape_machine::error::Death;
    use std::sync::Barrier;
    use std::time::{Duration, Instant};

    /// Seconds for which the kernel polls an idle ring.
    const POLLING_S: u32 = 60;

    #[test]
    fn only_the_last_stream_gets_the_cost_and_only_if_one_began() {
        let meter = Meter::new(2);
        meter.begin();
        assert_eq!(meter.end(), None);
        assert!(meter.end().is_some());
        assert_eq!(Meter::new(1).end(), None);
    }

    #[test]
    fn waiting_for_a_processor_is_counted() {
        if RunDelay::of_this_thread().ns().is_none() {
            return;
        }
        // Two threads compute for 50 ms on one processor: one of them waits at any time.
        let (cpu, both) = (affinity::allowed()[0], Barrier::new(2));
        let waited_ns = || {
            affinity::pin(cpu).unwrap();
            let delay = RunDelay::of_this_thread();
            let before = delay.ns().unwrap();
            both.wait();
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(50) {
                std::hint::black_box(0);
            }
            delay.ns().unwrap() - before
        };
        let waited_ns: u64 = std::thread::scope(|scope| {
            [(); 2]
                .map(|()| scope.spawn(waited_ns))
                .into_iter()
                .map(|one| one.join().unwrap())
                .sum()
        });
        assert!(waited_ns > 20_000_000, "{waited_ns}");
    }

    #[test]
    fn work_of_less_than_a_tick_is_not_free() {
        let before = ThreadTime::now();
        let free = (0..100).filter(|_| {
            let began = ThreadTime::now();
            let mut sum = 0_u64;
            for i in 0..20_000 {
                sum = std::hint::black_box(sum ^ i);
            }
            ThreadTime::now().since(began) == [0, 0]
        });
        assert_eq!(free.count(), 0);
        let all = ThreadTime::now().since(before);
        assert!(all.iter().sum::<u64>() > 0, "{all:?}");
    }

    #[test]
    fn the_kernels_shares_are_applied_to_the_threads_own_clock() {
        let at = |total_ns, split_ns| ThreadTime { of_process: false, total_ns, split_ns };
        let before = at(1000, [500, 400]);
        assert_eq!(at(2000, [600, 700]).since(before), [250, 750]);
        assert_eq!(at(1900, [500, 400]).since(before), [500, 400], "no tick: as until now");
        assert_eq!(at(70, [0, 0]).since(at(0, [0, 0])), [0, 70], "never a tick");
        assert!(!at(0, [90_000_000, 0]).is_split_since(at(0, [0, 0])));
        assert!(at(0, [90_000_000, 20_000_000]).is_split_since(at(0, [0, 0])));
    }

    #[test]
    #[expect(unsafe_code, reason = "an entry is pushed to a ring")]
    fn kernel_helper_threads_of_a_ring_are_counted() {
        // In a process of its own, where only the kernel's polling thread can use any time.
        let mut crew = Crew::fork(1, |_| {
            let mut builder = IoUring::<squeue::Entry>::builder();
            let Ok(mut ring) = builder.setup_sqpoll(POLLING_S * 1000).build(8) else { return 1 };
            // SAFETY: an entry that does nothing points to nothing. After it, the thread polls for
            // that long.
            let pushed = unsafe { ring.submission().push(&io_uring::opcode::Nop::new().build()) };
            if pushed.is_err() || ring.submit().is_err() {
                return 1;
            }
            let used = || processor_ns(&usage(libc::RUSAGE_SELF)).iter().sum::<u64>();
            let before = used();
            // On a busy machine, the polling thread waits for a processor like any other.
            for _ in 0..POLLING_S * 100 {
                std::thread::sleep(Duration::from_millis(10));
                if used() - before > 20_000_000 {
                    drop(ring);
                    return DONE;
                }
            }
            FAULTED
        })
        .unwrap();
        assert!(crew.wait(Duration::from_secs(600), || false));
        match crew.first_dead() {
            Some((_, Death::Exit(1))) => ioscape_machine::testing::skipped("no io_uring here"),
            outcome => assert_eq!(outcome, Some((0, Death::Exit(DONE)))),
        }
    }
}
