//! Detects that this program or a process of a case was stopped: by `SIGSTOP`, in a frozen control
//! group, or with a suspended machine.
//!
//! A stopped task computes nothing, waits in no queue and appears in no counter of other programs,
//! so its batches just take longer. There are two witnesses. First, a process that continues after
//! `SIGSTOP` receives `SIGCONT`: a handler, which child processes inherit, counts it in shared
//! memory. Second, a stop of all processes at once without a signal also stops the process that
//! waits for a case, so its short sleeps take too long. If the machine is suspended, its clocks
//! differ afterwards, since only one goes on meanwhile.
#![expect(unsafe_code, reason = "a handler of a signal")]

use ioscape_machine::clock::suspended;
use ioscape_machine::load;
use ioscape_machine::shared::Shared;
use ioscape_machine::usage::{usage, waited_ns};
use std::cell::Cell;
use std::fs::File;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A process that wakes up later than this, for no visible reason, was stopped.
const LATE: Duration = Duration::from_millis(15);

/// A machine was suspended if its clocks differ by this much more than before; they differ by a
/// little anyway.
const SUSPENDED_LEAST: Duration = Duration::from_secs(1);

/// How often processes continued after a stop, shared with all of them; absent if there was no
/// memory for it.
static CONTINUED: OnceLock<Option<Shared>> = OnceLock::new();

/// Late wake-ups of the waiting process, and stops that fresh images reported.
static LATE_WAKE_UPS: AtomicU64 = AtomicU64::new(0);

extern "C" fn continued(_: libc::c_int) {
    if let Some(Some(shared)) = CONTINUED.get() {
        shared.report(0)[0].fetch_add(1, Ordering::Relaxed);
    }
}

/// Starts counting, in this process and those that it forks.
pub(crate) fn watch() {
    CONTINUED.get_or_init(|| Shared::new(1, 1).ok());
    let handler: extern "C" fn(libc::c_int) = continued;
    // SAFETY: the handler only adds to a counter. Interrupted calls are restarted.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        // If it cannot be installed, only the other witness remains.
        libc::sigaction(libc::SIGCONT, &action, std::ptr::null_mut());
    }
}

/// Adds the stops that a fresh image counted by itself.
pub(crate) fn note(stops: u64) {
    LATE_WAKE_UPS.fetch_add(stops, Ordering::Relaxed);
}

/// Returns how often this program or one of its processes is known to have been stopped.
pub(crate) fn counted() -> u64 {
    let shared = CONTINUED.get().and_then(Option::as_ref);
    let continued = shared.map_or(0, |shared| shared.report(0)[0].load(Ordering::Relaxed));
    continued + LATE_WAKE_UPS.load(Ordering::Relaxed)
}

/// Watches for late wake-ups of a process that only sleeps, in short pauses.
#[derive(Debug)]
pub(crate) struct Beat {
    schedstat: Option<File>,
    last: Cell<Seen>,
    /// Seconds that the hypervisor had taken from all processors when last queried.
    stolen_s: Cell<f64>,
}

/// The state at the end of a pause.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    /// How long the machine had been suspended since boot, which `at` leaves out.
    suspended: Duration,
    /// Nanoseconds spent waiting for a processor so far.
    queued_ns: u64,
    /// Pages fetched from storage so far.
    fetched: i64,
}

impl Beat {
    /// Starts now.
    pub(crate) fn new() -> Self {
        let schedstat = File::open("/proc/thread-self/schedstat").ok();
        let queued_ns = schedstat.as_ref().and_then(waited_ns).unwrap_or(0);
        Self { schedstat, last: Cell::new(Seen::now(queued_ns)), stolen_s: Cell::new(stolen_s()) }
    }

    /// Records that a pause of at most `longest` is over. A late wake-up means nothing if the time
    /// that it waited for a processor is unknown, if it waited for its own pages, or if the
    /// hypervisor had taken the processor.
    pub(crate) fn tick(&self, longest: Duration) {
        let Some(queued_ns) = self.schedstat.as_ref().and_then(waited_ns) else { return };
        let now = Seen::now(queued_ns);
        let last = self.last.replace(now);
        if now.was_suspended_since(&last) || self.is_late(longest, &last, &now) {
            LATE_WAKE_UPS.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether nothing visible explains that a pause of at most `longest` lasted from `last` to
    /// `now`.
    fn is_late(&self, longest: Duration, last: &Seen, now: &Seen) -> bool {
        let waited = Duration::from_nanos(now.queued_ns.saturating_sub(last.queued_ns));
        let passed = now.at.duration_since(last.at);
        if !was_stopped(passed, longest + waited) || now.fetched != last.fetched {
            return false;
        }
        let stolen = stolen_s();
        let since_s = (stolen - self.stolen_s.replace(stolen)).max(0.0);
        was_stopped(passed, longest + waited + Duration::from_secs_f64(since_s))
    }
}

impl Seen {
    fn now(queued_ns: u64) -> Self {
        let fetched = usage(libc::RUSAGE_SELF).ru_majflt;
        Self { at: Instant::now(), suspended: suspended(), queued_ns, fetched }
    }

    fn was_suspended_since(&self, last: &Self) -> bool {
        self.suspended.saturating_sub(last.suspended) >= SUSPENDED_LEAST
    }
}

/// Returns the seconds that the hypervisor has taken from all processors.
fn stolen_s() -> f64 {
    load::cpus().iter().map(|cpu| cpu.steal_s).sum()
}

/// Whether a pause was so much longer than its `explained` part that its process was stopped.
fn was_stopped(passed: Duration, explained: Duration) -> bool {
    passed > explained + LATE
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_machine::crew::{Crew, DONE};
    use rustix::process::{Pid, Signal, kill_process};

    #[test]
    fn a_process_that_was_stopped_is_counted() {
        watch();
        let before = counted();
        let begun = Shared::new(1, 1).unwrap();
        let mut crew = Crew::fork(1, |_| {
            begun.report(0)[0].store(1, Ordering::Release);
            let start = Instant::now();
            while begun.report(0)[0].load(Ordering::Acquire) < 2
                && start.elapsed() < Duration::from_secs(300)
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            DONE
        })
        .unwrap();
        let child = Pid::from_raw(crew.first_id() as i32).unwrap();
        while begun.report(0)[0].load(Ordering::Acquire) < 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_process(child, Signal::STOP).unwrap();
        while crew.first_stopped().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_process(child, Signal::CONT).unwrap();
        let patience = Instant::now();
        while counted() == before && patience.elapsed() < Duration::from_secs(300) {
            std::thread::sleep(Duration::from_millis(1));
        }
        begun.report(0)[0].store(2, Ordering::Release);
        assert!(crew.wait(Duration::from_secs(300), || false));
        assert!(counted() > before);
    }

    /// Guards against a defect: neither a signal nor the length of a pause told of it.
    #[test]
    fn a_machine_that_was_suspended_is_counted() {
        let last = Seen::now(0);
        let after = |ms| Seen { suspended: last.suspended + Duration::from_millis(ms), ..last };
        assert!(!after(20).was_suspended_since(&last), "clocks differ by a little");
        assert!(after(28_800_000).was_suspended_since(&last));
    }

    #[test]
    fn a_pause_is_too_long_only_for_what_does_not_explain_it() {
        let ms = Duration::from_millis;
        assert!(!was_stopped(ms(20), ms(20)) && !was_stopped(ms(34), ms(20)));
        assert!(was_stopped(ms(36), ms(20)));
        assert!(!was_stopped(ms(200), ms(20 + 190)), "it waited for a processor");
        let beat = Beat::new();
        beat.tick(ms(3_600_000));
        assert!(beat.last.get().at.elapsed() < Duration::from_secs(300));
    }
}
