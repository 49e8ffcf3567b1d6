//! Time during which the workers, or this whole program, were stopped: by SIGSTOP, a debugger, a
//! frozen control group or a suspended machine.

use ioscape_machine::clock::suspended;
use ioscape_machine::crew::Crew;
use ioscape_machine::usage::waited_ns;
use ioscape_schema::{Warning, WarningKind};
use std::fs::File;
use std::time::{Duration, Instant};

/// A sleeper that wakes later than this was itself stopped, unless it waited for a processor, as
/// beside hundreds of workers, which other witnesses report.
const STOOD_STILL: Duration = Duration::from_secs(1);

/// How often the workers are checked.
const LOOK: Duration = Duration::from_millis(200);

/// The shortest stop worth reporting, in seconds and as a share of the run.
const LEAST_S: f64 = 0.15;
const LEAST_SHARE: f64 = 0.02;

/// Time during which the workers were stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stopped {
    /// Total length of all stops in seconds.
    pub(crate) seconds: f64,
    /// Whether workers were seen stopped. Otherwise this program merely woke late, which the kernel
    /// may also have caused.
    pub(crate) is_seen: bool,
    /// Seconds during which the machine was suspended. No other time includes them, since the
    /// kernel's clocks stand still.
    pub(crate) suspended_s: f64,
}

/// Adds up the time during which the workers were stopped.
#[derive(Debug)]
pub(crate) struct Stops {
    looked: Instant,
    total: Duration,
    is_seen: bool,
    /// Length so far of the stop in progress.
    lasting: Duration,
    /// How long the machine had been suspended in total when counting began.
    suspended: Duration,
    /// The schedule of this thread, if the kernel counts it, and its wait for a processor so far.
    schedstat: Option<File>,
    waited: Duration,
}

impl Stops {
    /// Starts counting now, in the thread that sleeps.
    pub(crate) fn new() -> Self {
        let mut stops = Self {
            looked: Instant::now(),
            total: Duration::ZERO,
            is_seen: false,
            lasting: Duration::ZERO,
            suspended: suspended(),
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            waited: Duration::ZERO,
        };
        stops.waited();
        stops
    }

    /// Returns how long this thread waited for a processor since the last time this was asked.
    fn waited(&mut self) -> Duration {
        let all =
            self.schedstat.as_ref().and_then(waited_ns).map_or(self.waited, Duration::from_nanos);
        all.saturating_sub(std::mem::replace(&mut self.waited, all))
    }

    /// Notes that a sleep of `wanted`, begun at `began`, is over.
    pub(crate) fn slept(&mut self, began: Instant, wanted: Duration) {
        let late = began.elapsed().saturating_sub(wanted + self.waited());
        if late >= STOOD_STILL {
            self.total += late;
            self.looked = Instant::now();
        }
    }

    /// Checks, a few times a second, whether workers are stopped.
    pub(crate) fn look(&mut self, crew: &Crew) {
        let since = self.looked.elapsed();
        if since < LOOK {
            return;
        }
        self.looked = Instant::now();
        match crew.first_stopped() {
            Some(_) => {
                (self.total, self.lasting) = (self.total + since, self.lasting + since);
                self.is_seen = true;
            }
            None => self.lasting = Duration::ZERO,
        }
    }

    /// How long the workers have been stopped that are still stopped.
    pub(crate) fn lasting(&self) -> Duration {
        self.lasting
    }

    /// All stops so far.
    pub(crate) fn all(&self) -> Stopped {
        self.until(suspended())
    }

    /// All stops, given the total time for which the machine has been suspended by now.
    fn until(&self, suspended: Duration) -> Stopped {
        let asleep = suspended.saturating_sub(self.suspended);
        let suspended_s = if asleep >= STOOD_STILL { asleep.as_secs_f64() } else { 0.0 };
        Stopped { seconds: self.total.as_secs_f64(), is_seen: self.is_seen, suspended_s }
    }
}

/// Whether stops of `stopped_s` in a run of `elapsed_s` seconds are worth reporting.
fn matters(stopped_s: f64, elapsed_s: f64) -> bool {
    stopped_s >= LEAST_S.max(LEAST_SHARE * elapsed_s)
}

/// The warning about a run of `elapsed_s` seconds that was stopped for part of them.
pub(crate) fn doubt(stopped: Stopped, elapsed_s: f64) -> Option<Warning> {
    let of = format!("{:.1} of {elapsed_s:.1} s", stopped.seconds);
    let message = match stopped.is_seen {
        true => format!(
            "processes of this run were stopped or frozen (SIGSTOP, a debugger, a control group, a suspended machine) for {of}: the \
             throughput is too low, and how much too low cannot be told; measure again"
        ),
        false => format!(
            "the program that measures stood still for {of}: it was stopped or frozen (SIGSTOP, a debugger, a control group, a suspended \
             machine), or the kernel kept it waiting, as for memory in a small control group; the throughput may be too low, and how much \
             too low cannot be told; measure again"
        ),
    };
    let suspended = || {
        format!(
            "the machine was suspended for {:.0} s during the run; the throughput leaves that time out, but a response time may include it: measure again",
            stopped.suspended_s
        )
    };
    let told = matters(stopped.seconds, elapsed_s).then_some(message);
    let told = told.or_else(|| (stopped.suspended_s > 0.0).then(suspended))?;
    Some(Warning::new(WarningKind::Stopped, told))
}

/// Throughput in bytes per second over the time without the stops, if those matter: what it may
/// really have been.
pub(crate) fn rate_without(bytes: u64, stopped: Stopped, elapsed_s: f64) -> Option<f64> {
    let rest_s = (elapsed_s - stopped.seconds).max(LEAST_S);
    matters(stopped.seconds, elapsed_s).then(|| bytes as f64 / rest_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::Write;

    fn pause() {
        std::thread::sleep(LOOK + Duration::from_millis(20));
    }

    #[test]
    fn a_machine_that_was_suspended_is_said_to_have_been_and_no_time_is_taken_off() {
        let stops = Stops::new();
        assert_eq!(stops.all().suspended_s, 0.0);
        let later = |ms| stops.until(stops.suspended + Duration::from_millis(ms));
        assert_eq!(later(20).suspended_s, 0.0, "clocks differ by a little");
        let asleep = later(600_000);
        assert_eq!((asleep.seconds, asleep.suspended_s), (0.0, 600.0));
        assert_eq!(rate_without(600, asleep, 6.0), None);
        assert!(doubt(asleep, 6.0).unwrap().message.contains("suspended for 600 s"));
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
        let all = stops.all();
        assert!(all.is_seen && all.seconds >= 2.0 * LOOK.as_secs_f64());
    }

    #[test]
    fn who_wakes_late_was_stopped_and_who_starves_was_not() {
        let mut stops = Stops::new();
        let now = Instant::now();
        let Some(began) = now.checked_sub(Duration::from_millis(900)) else { return };
        stops.slept(began, Duration::ZERO);
        assert_eq!(stops.all(), Stopped::default());
        let Some(began) = now.checked_sub(Duration::from_secs(3)) else { return };
        stops.slept(began, Duration::from_millis(100));
        assert!(stops.all().seconds >= 2.9 && !stops.all().is_seen);
    }

    /// Guards against a defect: beside 300 workers on two processors it was said to be frozen.
    #[test]
    fn who_waits_for_a_processor_was_not_stopped() {
        let Some(began) = Instant::now().checked_sub(Duration::from_secs(3)) else { return };
        let mut stops = Stops { waited: Duration::ZERO, ..Stops::new() };
        let mut schedstat = tempfile::tempfile().unwrap();
        schedstat.write_all(b"1000000 2900000000 7").unwrap();
        stops.schedstat = Some(schedstat);
        stops.slept(began, Duration::from_millis(100));
        assert_eq!(stops.all().seconds, 0.0);
        stops.slept(began, Duration::from_millis(100));
        assert!(stops.all().seconds >= 2.9, "it waited only once");
    }

    #[test]
    fn short_stops_are_not_told() {
        let seen = |seconds| Stopped { seconds, is_seen: true, suspended_s: 0.0 };
        assert!(doubt(seen(0.1), 1.0).is_none());
        assert!(doubt(seen(1.0), 100.0).is_none());
        assert!(doubt(seen(3.0), 6.0).unwrap().message.contains("stopped or frozen (SIGSTOP"));
        let late = doubt(Stopped { seconds: 3.0, ..Stopped::default() }, 6.0).unwrap().message;
        assert!(late.contains("for 3.0 of 6.0 s") && late.contains("may be too low"), "{late}");
        assert_eq!(rate_without(600, seen(3.0), 6.0), Some(200.0));
        assert_eq!(rate_without(600, seen(0.0), 6.0), None);
    }
}
