//! The clock that times every request: the processor's counter if the kernel trusts it, otherwise
//! the kernel's.

use crate::text;
use ioscape_schema::{Warning, WarningKind};
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant, SystemTime};

/// The clock sources that the kernel has. It takes one that proved unstable from the list.
const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// The clock sources that are the processor's counter.
const COUNTERS: [&str; 2] = ["tsc", "arch_sys_counter"];

/// Number of readings for measuring the clock.
const READINGS: usize = 20_000;

/// Longest wait for a clock that has not moved during all readings.
const STILL: Duration = Duration::from_millis(200);

/// Precision, in nanoseconds, above which the clock is doubtful for file-cache requests, which take
/// about as long.
const COARSE_NS: f64 = 1000.0;

/// Returns the kernel's monotonic time (`CLOCK_MONOTONIC`) in nanoseconds. All processes share it,
/// and the kernel's events use it.
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Returns the wall-clock time `ago_ns` nanoseconds ago, in nanoseconds since 1970; `None` if that
/// is before 1970.
pub fn unix_ns(ago_ns: u64) -> Option<i64> {
    let now = SystemTime::UNIX_EPOCH.elapsed().ok()?;
    i64::try_from(now.as_nanos().checked_sub(ago_ns.into())?).ok()
}

/// Returns the time since boot, including that for which the machine was suspended.
pub fn since_boot() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::from_nanos(now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs())
}

/// Returns how long the machine was suspended since boot, which its monotonic clock leaves out.
pub fn suspended() -> Duration {
    since_boot().saturating_sub(Duration::from_nanos(monotonic_ns()))
}

/// A monotonic clock, cheap to read; clones share one calibration, also across `fork`.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The processor's counter; absent if the kernel does not trust it.
    counter: Option<quanta::Clock>,
}

impl Clock {
    /// Calibrates the clock against the kernel's monotonic one; takes up to a fifth of a second, once per process.
    ///
    /// Make it before workers are forked, so that all of them share one scale.
    pub fn new() -> Self {
        Self::among(text::read(SOURCES).as_deref())
    }

    /// The clock of a machine whose kernel has these clock sources, if it tells.
    fn among(sources: Option<&str>) -> Self {
        let has_counter = |all: &str| all.split_whitespace().any(|one| COUNTERS.contains(&one));
        Self { counter: sources.is_none_or(has_counter).then(quanta::Clock::new) }
    }

    /// Returns the current reading, in ticks of unknown length.
    #[inline]
    pub fn raw(&self) -> u64 {
        self.counter.as_ref().map_or_else(monotonic_ns, quanta::Clock::raw)
    }

    /// Returns the reading once all earlier loads and stores have ended, and before later ones
    /// begin. Between two system calls, [`Self::raw`] needs no such order.
    #[inline]
    pub fn raw_in_order(&self) -> u64 {
        in_order();
        let now = self.raw();
        in_order();
        now
    }

    /// Returns the nanoseconds between two readings; 0 if `to_raw` is before `from_raw`.
    #[inline]
    pub fn nanos_between(&self, from_raw: u64, to_raw: u64) -> u64 {
        match &self.counter {
            Some(counter) => counter.delta_as_nanos(from_raw, to_raw),
            None => to_raw.saturating_sub(from_raw),
        }
    }

    /// Measures the clock itself: the smallest non-zero step between two readings, and the mean
    /// time of a reading. The best of several rounds counts, so that an interruption does not.
    pub fn measure(&self) -> ioscape_schema::environment::Clock {
        measured(|| self.raw(), |from, to| self.nanos_between(from, to))
    }

    /// Returns by how many nanoseconds [`Self::raw_in_order`] takes longer than [`Self::raw`].
    pub fn ordering_ns(&self) -> f64 {
        let ordered = measured(|| self.raw_in_order(), |from, to| self.nanos_between(from, to));
        (ordered.cost_ns - self.measure().cost_ns).max(0.0)
    }
}

/// Lets no load, store or reading of the processor's counter pass.
#[inline]
#[allow(unsafe_code, reason = "no safe function waits for loads to end")]
fn in_order() {
    fence(Ordering::SeqCst);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: barriers change neither memory nor registers.
    unsafe {
        std::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags));
    }
}

/// Measures a clock that is read by `raw` and whose ticks `nanos_between` converts.
fn measured(
    raw: impl Fn() -> u64,
    nanos_between: impl Fn(u64, u64) -> u64,
) -> ioscape_schema::environment::Clock {
    let rounds = 10;
    let mut step = u64::MAX;
    let mut cost_ns = f64::INFINITY;
    for _ in 0..rounds {
        let first = raw();
        let mut last = first;
        for _ in 0..READINGS / rounds {
            let now = raw();
            let passed = now.saturating_sub(last);
            if passed > 0 {
                step = step.min(passed);
            }
            last = now;
        }
        let mean = nanos_between(first, last) as f64 / (READINGS / rounds) as f64;
        cost_ns = cost_ns.min(mean);
    }
    let (first, begun) = (raw(), Instant::now());
    while step == u64::MAX && begun.elapsed() < STILL {
        let passed = raw().saturating_sub(first);
        step = if passed > 0 { passed } else { step };
    }
    let ticks = 1 << 40;
    let tick_ns = nanos_between(0, ticks) as f64 / ticks as f64;
    let precision_ns = if step == u64::MAX { 0.0 } else { step as f64 * tick_ns };
    ioscape_schema::environment::Clock { precision_ns, cost_ns }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the warning about response times that this measured clock calls for, if any.
pub fn doubt(measured: &ioscape_schema::environment::Clock) -> Option<Warning> {
    let coarse = measured.precision_ns.max(measured.cost_ns);
    // No positive value means that the clock did not move at all.
    (coarse > COARSE_NS || coarse <= 0.0).then(|| {
        Warning::new(
            WarningKind::Clock,
            format!(
                "the clock advances in steps of {:.0} ns and costs {:.0} ns per reading: too coarse for response times of cached requests",
                measured.precision_ns, measured.cost_ns
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::time::{ClockId, clock_gettime};

    #[test]
    fn it_agrees_with_the_kernels_clock() {
        agrees_with_the_kernels(&Clock::new());
        agrees_with_the_kernels(&Clock::among(Some("hpet acpi_pm")));
    }

    fn agrees_with_the_kernels(clock: &Clock) {
        let (kernel_outer, from) = (monotonic_ns(), clock.raw());
        let kernel_from = monotonic_ns();
        while monotonic_ns() - kernel_from < 20_000_000 {}
        let kernel_to = monotonic_ns();
        let (to, kernel_last) = (clock.raw(), monotonic_ns());
        let ns = clock.nanos_between(from, to) as f64;
        // Bounded by the kernel's time inside and outside of it, whatever interrupted this test.
        // The calibration is off by more than a thousandth if it was interrupted.
        assert!(ns > (kernel_to - kernel_from) as f64 * 0.99, "{ns}");
        assert!(ns < (kernel_last - kernel_outer) as f64 * 1.01, "{ns}");
        assert_eq!(clock.nanos_between(to, from), 0);
    }

    /// Guards against times from a counter that runs differently on each processor.
    #[test]
    fn a_counter_that_the_kernel_took_from_its_list_is_not_read() {
        let is_read = |sources| Clock::among(sources).counter.is_some();
        assert!(is_read(Some("tsc kvm-clock")) && is_read(Some("arch_sys_counter")));
        assert!(is_read(None) && !is_read(Some("hpet acpi_pm")));
    }

    /// Guards against times that leave out the wait for memory: the processor reads its counter
    /// while a load still waits.
    #[test]
    fn a_reading_in_order_waits_for_the_load_before_it() {
        const LOADS: u64 = 2000;
        let (clock, memory) = (Clock::new(), std::hint::black_box(vec![1u64; 1 << 23]));
        let place = |number: u64| (number.wrapping_mul(6_364_136_223_846_793_005) >> 41) as usize;
        let one_by_one = |round| {
            let from = clock.raw_in_order();
            // Each needs the value of the one before.
            let last = (0..LOADS).fold(round, |at, _| at + memory[place(at)]);
            std::hint::black_box(last);
            clock.nanos_between(from, clock.raw_in_order()) / LOADS
        };
        let load_ns = (1..=20).map(|round| one_by_one(round * LOADS)).min().unwrap_or(0);
        let timed = |number| {
            let from = clock.raw_in_order();
            std::hint::black_box(memory[place(number)]);
            clock.nanos_between(from, clock.raw_in_order())
        };
        let mut took: Vec<u64> = (1 << 20..(1 << 20) + LOADS).map(timed).collect();
        took.sort_unstable();
        let median_ns = took[took.len() / 2];
        assert!(2 * median_ns >= load_ns, "{median_ns} ns for a load of {load_ns} ns");
    }

    #[test]
    fn it_knows_itself() {
        let measured = Clock::new().measure();
        assert!(measured.precision_ns > 0.0 && measured.precision_ns.is_finite());
        assert!(measured.cost_ns > 0.0 && measured.cost_ns.is_finite());
    }

    /// The kernel's coarse clock, which moves only with the timer interrupt, stands in for an
    /// untrustworthy processor counter.
    #[test]
    fn the_kernels_coarse_clock_is_told() {
        let coarse = || {
            let now = clock_gettime(ClockId::MonotonicCoarse);
            now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
        };
        let found = measured(coarse, |from, to| to.saturating_sub(from));
        assert!(
            found.precision_ns >= 500_000.0,
            "a thousand interrupts a second at most: {found:?}"
        );
        let told = doubt(&found).expect("a doubt").message;
        assert!(told.contains("too coarse") && !told.contains("steps of 0 ns"), "{told}");
    }

    #[test]
    fn a_coarse_clock_is_doubted() {
        let clock =
            |precision_ns, cost_ns| ioscape_schema::environment::Clock { precision_ns, cost_ns };
        assert!(doubt(&clock(20.0, 25.0)).is_none());
        assert!(doubt(&clock(4e6, 25.0)).unwrap().message.contains("4000000 ns"));
        assert!(doubt(&clock(0.0, 0.0)).is_some());
    }
}
