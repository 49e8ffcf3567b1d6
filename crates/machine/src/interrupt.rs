//! Ctrl-C: the first one ends the work and keeps all finished results. The second one ends the
//! program at once, or what it waits for.
#![expect(unsafe_code, reason = "a handler of signals")]

use crate::keeper::{self, ONE};
use crate::text;
use rustix::process::Signal;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Exit code when Ctrl-C ends the program at once.
const AT_ONCE: i32 = 130;

/// Marks that no signal has come.
const NONE_YET: u64 = u64::MAX;

/// Whether an interruption sets a flag.
static HEARD: AtomicBool = AtomicBool::new(false);

/// The signal that came; SIGINT before that.
static CAME: AtomicI32 = AtomicI32::new(libc::SIGINT);

/// The flag that the second signal sets instead of ending the program.
static SECOND: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Returns the flag that SIGXCPU sets, as do SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2, unless
/// they are already ignored, as after `nohup`. The whole process has one flag: a signal during the
/// reading of an input also reaches the work after it.
pub fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    Arc::clone(FLAG.get_or_init(registered))
}

/// Returns the flag that a second signal sets; once it has been requested, only a third signal ends
/// the program. It is for code that waits for others to end, and keeps results when they are
/// killed. A keeper still ends the program at the second signal.
pub fn second() -> Arc<AtomicBool> {
    Arc::clone(SECOND.get_or_init(Arc::default))
}

/// Returns the first signal; SIGINT if there was none, or a keeper received it.
pub fn signal() -> i32 {
    CAME.load(Ordering::SeqCst)
}

/// Returns a flag that the signals set from now on.
fn registered() -> Arc<AtomicBool> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
    let flag = Arc::new(AtomicBool::new(false));
    // It warns of the end of the processor time, each second, so that none counts as a further one.
    let _ = signal_hook::flag::register(SIGXCPU, Arc::clone(&flag));
    if keeper::is_kept() {
        // The keeper passes the first one on, and ends the program at the second.
        let _ = signal_hook::flag::register(SIGUSR1, Arc::clone(&flag));
        HEARD.store(true, Ordering::Relaxed);
        return flag;
    }
    let (ignored, came) = (ignored(), Arc::new([Instant::now(); 2].map(First::before)));
    let asks = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];
    for signal in asks.into_iter().filter(|s| ignored >> (s - 1) & 1 == 0) {
        let (flag, came) = (Arc::clone(&flag), Arc::clone(&came));
        let heard = move || {
            let (now, [first, second]) = (Instant::now(), &*came);
            if !first.is_another(now) {
                CAME.store(signal, Ordering::SeqCst);
                flag.store(true, Ordering::SeqCst);
            } else if let Some(forced) = SECOND.get().filter(|_| !second.is_another(now)) {
                forced.store(true, Ordering::SeqCst);
            } else {
                signal_hook::low_level::exit(AT_ONCE);
            }
        };
        // Registration fails only for signals that cannot be caught.
        // SAFETY: `heard` reads the time, uses atomics and exits by `_exit`, as a handler may.
        let _ = unsafe { signal_hook::low_level::register(signal, heard) };
    }
    HEARD.store(true, Ordering::Relaxed);
    flag
}

/// When the first signal came, of all or of those after another one.
#[derive(Debug)]
struct First {
    begun: Instant,
    /// Nanoseconds after `begun`, or [`NONE_YET`].
    came_ns: AtomicU64,
}

impl First {
    /// Starts at `begun`, without a signal.
    fn before(begun: Instant) -> Self {
        Self { begun, came_ns: AtomicU64::new(NONE_YET) }
    }

    /// Records a signal at `now`. Returns whether it is a further one, rather than the first one
    /// sent to the process and then to its group.
    fn is_another(&self, now: Instant) -> bool {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(NONE_YET - 1);
        let now = ns(now.saturating_duration_since(self.begun));
        let (free, order) = (NONE_YET, Ordering::SeqCst);
        match self.came_ns.compare_exchange(free, now, order, order) {
            Ok(_) => false,
            Err(came) => now.saturating_sub(came) >= ns(ONE),
        }
    }
}

/// Asks the work to end as the user does, if any work listens. It is safe in the middle of an
/// allocation.
pub(crate) fn ask_to_end() -> bool {
    let is_heard = HEARD.load(Ordering::Relaxed);
    if is_heard {
        let signal = if keeper::is_kept() { Signal::USR1 } else { Signal::INT };
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
    is_heard
}

/// Makes a write beyond the file-size limit (`ulimit -f`) fail and be reported, instead of ending
/// the program. Programs started by this one are not affected.
pub fn survive_file_size_limit() {
    // On failure the default action remains; nobody reads the flag.
    let flag = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag);
}

/// Returns the signals that this process ignores, the first one in the lowest bit.
fn ignored() -> u64 {
    let status = text::read("/proc/self/status").unwrap_or_default();
    text::field_in(&status, "SigIgn", 16).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_listen_to_one_flag() {
        assert!(
            Arc::ptr_eq(&flag(), &flag()),
            "a signal between the two would reach the first only"
        );
    }

    #[test]
    fn repeated_warnings_of_the_end_of_processor_time_ask_once() {
        let flag = flag();
        let asked = crate::testing::in_child(|| {
            for _ in 0..2 {
                // SAFETY: its handler sets a flag.
                unsafe { libc::raise(libc::SIGXCPU) };
                std::thread::sleep(ONE + Duration::from_millis(50));
            }
            i32::from(flag.load(Ordering::SeqCst))
        });
        assert_eq!(asked, Some(1));
    }

    #[test]
    fn warnings_of_a_batch_system_ask_to_end() {
        let flag = flag();
        for signal in [libc::SIGUSR1, libc::SIGUSR2] {
            let asked = crate::testing::in_child(|| {
                // SAFETY: its handler uses atomics alone.
                unsafe { libc::raise(signal) };
                i32::from(flag.load(Ordering::SeqCst))
            });
            assert_eq!(asked, Some(1));
        }
    }

    #[test]
    fn signals_that_come_together_are_one() {
        let begun = Instant::now();
        let first = First::before(begun);
        let is_another = |ms| first.is_another(begun + Duration::from_millis(ms));
        assert_eq!([1000, 1000, 1299, 999].map(is_another), [false; 4]);
        assert_eq!([1300, 5000].map(is_another), [true; 2]);
    }
}
