//! Other machines that run the same workload at the same time: agreeing on a starting time, and
//! keeping to it.

use std::time::{Duration, Instant, SystemTime};

/// How much of the wait is spent polling the clock: a sleep until the exact moment would end after
/// it.
const SPIN: Duration = Duration::from_millis(1);

/// Other machines that run the same workload at the same time.
pub trait Together: Send + Sync {
    /// Asked now and then once the warm-up could end: returns when the measured part begins, or
    /// `None` while that is not agreed yet.
    fn begins(&self) -> Option<SystemTime>;

    /// Called with the time at which the measured part began.
    fn began(&self, at: SystemTime);

    /// Called with the bytes per second of each slice of the measured part.
    fn slices(&self, rates: &[f64]);
}

/// Converts a wall-clock time to the monotonic clock: the wall clock may be set during the wait.
pub(crate) fn moment(at: SystemTime) -> Instant {
    Instant::now() + at.duration_since(SystemTime::now()).unwrap_or_default()
}

/// Time left until `at`; none if it has passed.
pub(crate) fn left(at: Instant) -> Duration {
    at.saturating_duration_since(Instant::now())
}

/// Waits until `at`; returns at once if that has passed.
pub(crate) fn wait_until(at: Instant) {
    std::thread::sleep(left(at).saturating_sub(SPIN));
    while !left(at).is_zero() {
        std::hint::spin_loop();
    }
}
