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
/// paper, figure 5: HP/UX with and without its 30 s flush): the run's time over that in which no
/// write stalled, and at most the busiest tenth of its time slices over their mean. Noise raises the
/// busiest tenth, and not the time that stalled writes took. Bounds are from what is left without
/// the longest stall, of all requests in flight, which may have another cause, to the busiest tenth. `None` without a run that
/// lasted until a flush.
pub(crate) fn flush_slowdown(evaluation: &Evaluation) -> Option<Bounded> {
    let run = evaluation.last(&Purpose::Flush).filter(|_| unobserved(evaluation).is_none())?;
    let most = run.burst_ratio?.max(1.0);
    // One event stalls all that are in flight.
    let in_flight =
        f64::from(run.workload.process_num) * f64::from(run.workload.queue_depth.max(1));
    let longest_s = longest_stall_ns(run).map_or(0.0, |ns| in_flight * ns as f64 / 1e9);
    let slower = |stalled_s| slower_by(run, stalled_s).clamp(1.0, most);
    let error = run.relative_error().clamp(0.0, 1.0);
    Some(Bounded {
        value: slower(run.stalled_s),
        low: slower(run.stalled_s - longest_s),
        high: most * (1.0 + error),
    })
}

/// Returns how much slower the run's processes were for stalls that took `stalled_s` together.
fn slower_by(run: &Measurement, stalled_s: f64) -> f64 {
    let streams_s = run.elapsed_s * f64::from(run.workload.process_num);
    let rest_s = streams_s - stalled_s / f64::from(run.workload.queue_depth.max(1));
    if rest_s > 0.0 { streams_s / rest_s } else { f64::INFINITY }
}

/// Least ratio of undisturbed to mean throughput at which a flush counts as slowing writes.
pub(super) const SLOWER: f64 = 1.5;

/// Returns the response time of the run's longest write, in nanoseconds, if it stalled.
fn longest_stall_ns(run: &Measurement) -> Option<u64> {
    let times = run.write.map_or(run.response_time_ns, |w| w.response_time_ns);
    (run.stalled_s > 0.0).then_some(times.max)
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
        m.stalled_s = if longest_ns > 0 { longest_ns as f64 / 1e9 } else { 0.0 };
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

    /// "1.7 times slower (1.6 to 1.8)" was said of plain noise, of which the busiest tenth is as far
    /// above the mean. And "cannot be told" of a flush that took most of the time.
    #[test]
    fn only_stalls_say_that_a_flush_slows_writes() {
        let said = |burst_ratio, stalls: u32| {
            let mut measurement =
                Measurement { burst_ratio, elapsed_s: 4.0, ..run(Some(80), 800_000_000) };
            measurement.stalled_s = 0.8 * f64::from(stalls);
            let probes = vec![Probe { purpose: Purpose::Flush, measurement: measurement.clone() }];
            let found = flush_slowdown(&Evaluation { probes, ..Evaluation::default() });
            sentence(&measurement, found.unwrap())
        };
        assert!(said(Some(1.7), 0).contains("cannot be told"), "older results have no stalls");
        assert!(said(Some(1.4), 0).starts_with("A flush does not slow writes"));
        assert!(said(Some(1.7), 2).contains("are 1.67 times slower (1.25 to 1.7"));
        assert!(said(Some(6.0), 4).contains("are 5.0 times slower (2.5 to 6."));
        assert!(said(Some(6.0), 1).contains("cannot be told"), "one stall may be anything's");
        // One event that stopped four processes.
        let mut all =
            Measurement { burst_ratio: Some(6.0), elapsed_s: 4.0, ..run(Some(80), 800_000_000) };
        (all.workload.process_num, all.stalled_s) = (4, 3.2);
        let probes = vec![Probe { purpose: Purpose::Flush, measurement: all }];
        let found = flush_slowdown(&Evaluation { probes, ..Evaluation::default() }).unwrap();
        assert_eq!(found.low, 1.0);
        assert!(said(Some(6.0), 9).contains("are 6.0 times slower"), "stalls before the run");
    }
}
