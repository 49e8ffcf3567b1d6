//! Time in which workers, or all of this program, were stopped: by SIGSTOP, a debugger, a frozen control group or a suspended machine.

use ioscape_machine::crew::Crew;
use ioscape_schema::{Warning, WarningKind};
use std::time::{Duration, Instant};

/// Who sleeps and wakes so much later than it wanted was stopped itself. Who starves is late by less, and other witnesses tell of it.
const STOOD_STILL: Duration = Duration::from_secs(1);

/// How often workers are looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Shortest stop that is told, in seconds, and as a share of the run.
const LEAST_S: f64 = 0.15;
const LEAST_SHARE: f64 = 0.02;

/// Counts the time that did not belong to the workers.
#[derive(Debug)]
pub(crate) struct Stops {
    looked: Instant,
    total: Duration,
    /// How much of it has not ended yet.
    lasting: Duration,
}

impl Stops {
    /// Counts from now on.
    pub(crate) fn new() -> Self {
        Self { looked: Instant::now(), total: Duration::ZERO, lasting: Duration::ZERO }
    }

    /// A sleep of `wanted` that began at `began` is over.
    pub(crate) fn slept(&mut self, began: Instant, wanted: Duration) {
        let late = began.elapsed().saturating_sub(wanted);
        if late >= STOOD_STILL {
            self.total += late;
            self.looked = Instant::now();
        }
    }

    /// Sees, a few times a second, whether workers are stopped.
    pub(crate) fn look(&mut self, crew: &Crew) {
        let since = self.looked.elapsed();
        if since < LOOK {
            return;
        }
        self.looked = Instant::now();
        match crew.first_stopped() {
            Some(_) => (self.total, self.lasting) = (self.total + since, self.lasting + since),
            None => self.lasting = Duration::ZERO,
        }
    }

    /// For how long workers have been stopped that still are.
    pub(crate) fn lasting(&self) -> Duration {
        self.lasting
    }

    /// Seconds of all stops.
    pub(crate) fn seconds(&self) -> f64 {
        self.total.as_secs_f64()
    }
}

/// Whether stops of `stopped_s` in a run of `elapsed_s` seconds are worth telling.
fn matters(stopped_s: f64, elapsed_s: f64) -> bool {
    stopped_s >= LEAST_S.max(LEAST_SHARE * elapsed_s)
}

/// The doubt about a run of `elapsed_s` seconds that stood still for `stopped_s` of them.
pub(crate) fn doubt(stopped_s: f64, elapsed_s: f64) -> Option<Warning> {
    let message = format!(
        "processes of this run were stopped or frozen (SIGSTOP, a debugger, a control group, a suspended machine) for {stopped_s:.1} of \
         {elapsed_s:.1} s: the throughput is too low, and how much too low cannot be told; measure again"
    );
    matters(stopped_s, elapsed_s).then(|| Warning::new(WarningKind::Stopped, message))
}

/// Bytes per second over the time without the stops, if those matter: what the throughput may have been.
pub(crate) fn rate_without(bytes: u64, stopped_s: f64, elapsed_s: f64) -> Option<f64> {
    let rest_s = (elapsed_s - stopped_s).max(LEAST_S);
    matters(stopped_s, elapsed_s).then(|| bytes as f64 / rest_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};

    fn pause() {
        std::thread::sleep(LOOK + Duration::from_millis(20));
    }

    #[test]
    fn stopped_workers_are_counted_until_they_go_on() {
        let crew = Crew::fork(1, |_| {
            std::thread::sleep(Duration::from_secs(600));
            0
        })
        .unwrap();
        let worker = Pid::from_raw(crew.first_id() as i32).unwrap();
        let mut stops = Stops::new();
        pause();
        stops.look(&crew);
        assert_eq!(stops.lasting(), Duration::ZERO, "it sleeps, which is no stop");
        kill_process(worker, Signal::STOP).unwrap();
        while stops.lasting() < 2 * LOOK {
            pause();
            stops.look(&crew);
        }
        kill_process(worker, Signal::CONT).unwrap();
        while stops.lasting() > Duration::ZERO {
            pause();
            stops.look(&crew);
        }
        assert!(stops.seconds() >= 2.0 * LOOK.as_secs_f64());
    }

    #[test]
    fn who_wakes_late_was_stopped_and_who_starves_was_not() {
        let mut stops = Stops::new();
        let now = Instant::now();
        let Some(began) = now.checked_sub(Duration::from_millis(900)) else { return };
        stops.slept(began, Duration::ZERO);
        assert!(stops.seconds() <= 0.0);
        let Some(began) = now.checked_sub(Duration::from_secs(3)) else { return };
        stops.slept(began, Duration::from_millis(100));
        assert!(stops.seconds() >= 2.9);
    }

    #[test]
    fn short_stops_are_not_told() {
        assert!(doubt(0.1, 1.0).is_none());
        assert!(doubt(1.0, 100.0).is_none());
        assert!(doubt(3.0, 6.0).unwrap().message.contains("for 3.0 of 6.0 s"));
        assert_eq!(rate_without(600, 3.0, 6.0), Some(200.0));
        assert_eq!(rate_without(600, 0.0, 6.0), None);
    }
}
