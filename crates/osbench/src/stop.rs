//! What ends a process early: the user, or the end of the run's time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What may end a process early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop<'a> {
    /// Set when the user interrupts.
    pub(crate) interrupt: &'a AtomicBool,
    /// When the time of the run is up; never if absent.
    pub(crate) until: Option<Instant>,
}

impl Stop<'_> {
    /// Whether the user interrupted.
    pub(crate) fn is_asked(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Whether time is up.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Whether anything ends the process.
    pub(crate) fn is_over(&self) -> bool {
        self.is_asked() || self.is_late()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_user_and_the_time_end_a_process() {
        let (no, yes) = (AtomicBool::new(false), AtomicBool::new(true));
        let now = Instant::now();
        let at = |until| Stop { interrupt: &no, until: Some(until) };
        assert!(at(now).is_late() && at(now).is_over() && !at(now).is_asked());
        let never = Stop { interrupt: &no, until: None };
        assert!(!at(now + Duration::from_secs(3600)).is_over() && !never.is_over());
        let asked = Stop { interrupt: &yes, until: None };
        assert!(asked.is_asked() && asked.is_over());
    }
}
