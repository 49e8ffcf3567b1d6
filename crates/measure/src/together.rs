//! Other machines that do the same at the same time: agreeing on a beginning, and keeping to it.

use std::time::{Duration, Instant, SystemTime};

/// Who sleeps until the moment itself wakes after it; the last stretch is spent looking at the clock.
const SPIN: Duration = Duration::from_millis(1);

/// Other machines that run the same workload at the same time.
pub trait Together: Send + Sync {
    /// Asked now and then once the warm-up could end: when the measured part begins, or `None` while that is not agreed yet.
    fn begins(&self) -> Option<SystemTime>;

    /// Told when the measured part began.
    fn began(&self, at: SystemTime);

    /// Told the bytes per second of each slice of the measured part.
    fn slices(&self, rates: &[f64]);
}

/// The same moment on the clock that nobody sets: the wall clock may be set while this waits.
pub(crate) fn moment(at: SystemTime) -> Instant {
    Instant::now() + at.duration_since(SystemTime::now()).unwrap_or_default()
}

/// Time left until `at`; none if it has passed.
pub(crate) fn left(at: Instant) -> Duration {
    at.saturating_duration_since(Instant::now())
}

/// Returns at `at`. Whoever comes late returns at once.
pub(crate) fn wait_until(at: Instant) {
    std::thread::sleep(left(at).saturating_sub(SPIN));
    while !left(at).is_zero() {
        std::hint::spin_loop();
    }
}
