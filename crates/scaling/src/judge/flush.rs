//! What a flush does to writes in the cache.

use super::words::{bounded, factor, within};
use crate::phase::Phase;
use ioscape_schema::units::Nanos;
use ioscape_schema::{Bounded, Evaluation, Measurement, Purpose};

/// Returns why no flush was observed, if that is known.
pub(super) fn unobserved(evaluation: &Evaluation) -> Option<&str> {
    let reason = evaluation.shortened.get(Phase::Findings.name())?;
    reason.starts_with("flushing").then_some(reason)
}

/// Returns how much slower writes in the cache are over a flush than when undisturbed (Unix I/O
/// paper, figure 5: HP/UX with and without its 30 s flush): the median of the run's time slices over
/// its mean, and at most the busiest tenth over the mean. Noise raises the busiest tenth; a flush
/// that takes most of the time lowers the median. `None` without a run that lasted until a flush.
pub(crate) fn flush_slowdown(evaluation: &Evaluation) -> Option<Bounded> {
    let run = evaluation.last(&Purpose::Flush).filter(|_| unobserved(evaluation).is_none())?;
    let most = run.burst_ratio?.max(1.0);
    let value = run.median_ratio.unwrap_or(1.0).clamp(1.0, most);
    let error = run.relative_error().clamp(0.0, 1.0);
    Some(Bounded { value, low: (value / (1.0 + error)).max(1.0), high: most * (1.0 + error) })
}

/// Response time of one write beyond which it stalled, in nanoseconds.
const STALL_NS: u64 = 50_000_000;

/// Least ratio of undisturbed to mean throughput at which a flush counts as slowing writes.
pub(super) const SLOWER: f64 = 1.5;

/// Returns the response time of the run's longest write, in nanoseconds, if it stalled: at least
/// 100 times the median, and above 50 ms.
fn longest_stall_ns(run: &Measurement) -> Option<u64> {
    let times = run.write.map_or(run.response_time_ns, |w| w.response_time_ns);
    let stalled = times.max > STALL_NS && times.max >= times.p50.saturating_mul(100);
    stalled.then_some(times.max)
}

/// Least share of the set that the device writes when a flush comes.
const FLUSHED: f64 = 0.5;

/// Least share of the processes' writes that the device writes if nothing is kept back for a flush.
const THROUGH: f64 = 0.5;

/// What the device wrote, by its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Device {
    /// As much of the set as a flush writes, and far less than the processes wrote.
    Flushed,
    /// Less than a flush writes.
    WroteLess,
    /// About as much as the processes wrote, so writes may have gone straight through to it.
    WroteAll,
    /// Not counted.
    Unknown,
}

fn device(run: &Measurement) -> Device {
    let Some(written) = run.witness.device_written_bytes.map(|bytes| bytes as f64) else {
        return Device::Unknown;
    };
    let asked = run.write.map_or(run.bytes, |w| w.bytes) as f64;
    if written < FLUSHED * run.workload.unique_bytes as f64 {
        Device::WroteLess
    } else if written < THROUGH * asked {
        Device::Flushed
    } else {
        Device::WroteAll
    }
}

/// Returns the sentence on the run that was long enough for a flush. Tables of several results rely
/// on how these sentences begin (`flush` in report/src/html/joint.rs).
pub(super) fn sentence(run: &Measurement, slowdown: Bounded) -> String {
    let (seen, stall) = (device(run), longest_stall_ns(run));
    let by = bounded(slowdown);
    if stall.is_some() && !run.disturbed && slowdown.value > SLOWER && slowdown.low > 1.0 {
        let cause = match seen {
            Device::Flushed => {
                "according to its counters, the device wrote as much as a flush does"
            }
            _ => "a flush may be the cause",
        };
        return format!(
            "In the run that was long enough for a flush, writes in the cache are {} times slower{} than when undisturbed, and single writes stall; {cause}.",
            factor(slowdown.value),
            within(slowdown)
        );
    }
    if seen == Device::Flushed && slowdown.high < SLOWER {
        let stalls =
            stall.map(|ns| format!("; single writes stall, for up to {}", Nanos(ns as f64)));
        return format!(
            "A flush does not slow writes in the cache by a factor of {SLOWER} or more (undisturbed over mean throughput: {by}); in this run the device wrote as much as one does, according to its counters{}.",
            stalls.unwrap_or_default()
        );
    }
    let (why, what) = match seen {
        Device::Unknown => {
            ("no device counter shows whether a flush happened", "a target on a block device would")
        }
        Device::WroteLess => (
            "the device wrote less than one does, according to its counters",
            "a longer budget would",
        ),
        Device::WroteAll => (
            "the device wrote about as much as the processes, so that nothing may be kept for one",
            "a smaller set would",
        ),
        Device::Flushed => (
            "throughput varied, but no flush explains it by itself",
            "a quieter machine or a smaller set would",
        ),
    };
    format!(
        "Whether a flush slows writes in the cache cannot be told from this run (undisturbed over mean throughput: {by}): {why}; {what} tell."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::{Probe, Workload};

    /// Writes of 1 GiB to a set of 64 MiB, of which the device wrote `device_mib`.
    fn run(device_mib: Option<u64>, longest_ns: u64) -> Measurement {
        let workload = Workload { unique_bytes: 64 << 20, read_frac: 0.0, ..Workload::default() };
        let mut m = measurement(&workload, 1e9, 1.0, 1e9);
        m.bytes = 1 << 30;
        m.witness.device_written_bytes = device_mib.map(|mib| mib << 20);
        (m.response_time_ns.p50, m.response_time_ns.max) = (10_000, longest_ns);
        m
    }

    #[test]
    fn a_flush_is_what_the_device_writes_later_and_not_what_goes_through_to_it() {
        let devices = [None, Some(10), Some(80), Some(1000)].map(|mib| device(&run(mib, 0)));
        assert_eq!(
            devices,
            [Device::Unknown, Device::WroteLess, Device::Flushed, Device::WroteAll]
        );
        let steady = Bounded { value: 1.1, low: 1.05, high: 1.2 };
        let said = |mib, longest_ns, slowdown| sentence(&run(mib, longest_ns), slowdown);
        assert!(said(Some(80), 0, steady).starts_with("A flush does not slow writes"));
        let through = said(Some(1000), 0, steady);
        assert!(through.contains("cannot be told") && through.contains("nothing may be kept"));
        let stalled = Bounded { value: 3.0, low: 2.5, high: 3.5 };
        assert!(said(Some(80), 90_000_000, stalled).ends_with("as a flush does."));
        assert!(said(Some(1000), 90_000_000, stalled).ends_with("a flush may be the cause."));
        let disturbed = Measurement { disturbed: true, ..run(Some(80), 90_000_000) };
        assert!(sentence(&disturbed, stalled).contains("cannot be told"));
    }

    /// "1.7 times slower (1.6 to 1.8)" was said of plain noise, of which the busiest tenth is as far above the mean.
    #[test]
    fn noise_does_not_say_that_a_flush_slows_writes_nor_that_none_does() {
        let said = |burst_ratio, median_ratio| {
            let measurement =
                Measurement { burst_ratio, median_ratio, ..run(Some(80), 90_000_000) };
            let probes = vec![Probe { purpose: Purpose::Flush, measurement: measurement.clone() }];
            let found = flush_slowdown(&Evaluation { probes, ..Evaluation::default() });
            sentence(&measurement, found.unwrap())
        };
        assert!(said(Some(1.7), Some(1.0)).contains("cannot be told"));
        assert!(said(Some(1.7), None).contains("cannot be told"), "older results lack the median");
        assert!(said(Some(1.4), Some(1.0)).starts_with("A flush does not slow writes"));
        assert!(said(Some(1.9), Some(1.7)).contains("are 1.70 times slower (1.67 to 1.94) than"));
        // The flush took most of the time.
        assert!(said(Some(4.0), Some(0.4)).contains("cannot be told"));
    }
}
