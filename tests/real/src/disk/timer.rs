//! Runs actions at given times, to within a few microseconds: one thread, and a queue ordered by
//! due time.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// An action for the timer.
pub type Action = Box<dyn FnOnce() + Send>;

/// Pending actions, by due time and order of arrival.
#[derive(Default)]
struct Agenda {
    due: BTreeMap<(u64, u64), Action>,
    arrivals: u64,
}

/// A clock that runs actions at their times.
#[derive(Clone)]
pub struct Timer {
    begun: Instant,
    agenda: Arc<(Mutex<Agenda>, Condvar)>,
}

impl Timer {
    /// Starts the thread, which runs until the process ends.
    pub fn start() -> Self {
        let timer = Self { begun: Instant::now(), agenda: Arc::default() };
        let of_thread = timer.clone();
        std::thread::spawn(move || of_thread.run());
        timer
    }

    /// Nanoseconds since the start.
    pub fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    /// Runs `action` at `at_ns`, or at once on this thread if that has passed.
    pub fn at(&self, at_ns: u64, action: Action) {
        if at_ns <= self.now_ns() {
            action();
            return;
        }
        let mut agenda = self.lock();
        agenda.arrivals += 1;
        let key = (at_ns, agenda.arrivals);
        agenda.due.insert(key, action);
        if agenda.due.first_key_value().is_some_and(|(first, _)| *first == key) {
            self.agenda.1.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Agenda> {
        self.agenda.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        // By default the kernel wakes sleepers up to 50 us late. Without the privilege to lower this, they are late.
        let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
        let mut agenda = self.lock();
        loop {
            let now_ns = self.now_ns();
            let wait_ns = agenda.due.first_key_value().map(|(key, _)| key.0.saturating_sub(now_ns));
            agenda = match wait_ns {
                Some(0) => {
                    let action = agenda.due.pop_first().map(|(_, action)| action);
                    drop(agenda);
                    if let Some(action) = action {
                        action();
                    }
                    self.lock()
                }
                Some(ns) => {
                    let waited = self.agenda.1.wait_timeout(agenda, Duration::from_nanos(ns));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.agenda.1.wait(agenda).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn actions_come_in_the_order_of_their_times_and_never_early() {
        let timer = Timer::start();
        let (sender, receiver) = mpsc::channel();
        let now_ns = timer.now_ns();
        for ms in [30, 10, 20, 0] {
            let (sender, clock) = (sender.clone(), timer.clone());
            let due_ns = now_ns + ms * 1_000_000;
            let action = move || sender.send((ms, clock.now_ns() >= due_ns)).unwrap();
            timer.at(due_ns, Box::new(action));
        }
        let got: Vec<(u64, bool)> = receiver.iter().take(4).collect();
        assert_eq!(got, [(0, true), (10, true), (20, true), (30, true)]);
    }
}
