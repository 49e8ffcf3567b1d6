//! What a flush does to writes in the cache.

use super::words::{bounded, factor, within};
use ioscape_schema::units::Nanos;
use ioscape_schema::{Bounded, Evaluation, Measurement, Purpose};

/// How much slower writes in the cache are over a flush than when undisturbed: the busiest tenth of the run's time
/// slices over its mean (Unix I/O paper, figure 5: HP/UX with and without its 30 s flush).
pub(crate) fn flush_slowdown(evaluation: &Evaluation) -> Option<Bounded> {
    let run = evaluation.last(&Purpose::Flush)?;
    let value = run.burst_ratio?.max(1.0);
    let error = run.relative_error().clamp(0.0, 1.0);
    Some(Bounded { value, low: (value / (1.0 + error)).max(1.0), high: value * (1.0 + error) })
}

/// Response time of one write beyond which it stalled, in nanoseconds.
const STALL_NS: u64 = 50_000_000;

/// Undisturbed over mean throughput from which on a flush slows writes down.
pub(super) const SLOWER: f64 = 1.5;

/// The longest write of the run that waited for a flush, in nanoseconds, where it stalled: 100 times the median and above 50 ms.
fn longest_stall_ns(run: &Measurement) -> Option<u64> {
    let times = run.write.map_or(run.response_time_ns, |w| w.response_time_ns);
    let stalled = times.max > STALL_NS && times.max >= times.p50.saturating_mul(100);
    stalled.then_some(times.max)
}

/// Least share of the set that the device writes when a flush comes.
const FLUSHED: f64 = 0.5;

/// Least share of what the processes wrote that the device writes where nothing is kept for a flush.
const THROUGH: f64 = 0.5;

/// What the device wrote, by its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Device {
    /// As much of the set as a flush does, and far less than the processes wrote.
    Flushed,
    /// Less than a flush does.
    WroteLess,
    /// About as much as the processes, so that writes may have gone through to it.
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

/// What the run that was long enough for a flush says of it. Tables of several results follow how these sentences begin (`flush` in report/src/html/joint.rs).
pub(super) fn sentence(run: &Measurement, slowdown: Bounded) -> String {
    let (seen, stall) = (device(run), longest_stall_ns(run));
    let by = bounded(slowdown);
    if stall.is_some() && slowdown.value > SLOWER && slowdown.low > 1.0 {
        let cause = match seen {
            Device::Flushed => "the device wrote as much as a flush does, by its counters",
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
            "A flush does not slow writes in the cache by a factor of {SLOWER} or more (undisturbed over mean throughput: {by}); in this run the device wrote as much as one does, by its counters{}.",
            stalls.unwrap_or_default()
        );
    }
    let (why, what) = match seen {
        Device::Unknown => {
            ("no counter of the device shows that one came", "a target on a block device would")
        }
        Device::WroteLess => {
            ("the device wrote less than one does, by its counters", "a longer budget would")
        }
        Device::WroteAll => (
            "the device wrote about as much as the processes, so that nothing may be kept for one",
            "a smaller set would",
        ),
        Device::Flushed => {
            ("throughput varied, but no flush explains it by itself", "another run would")
        }
    };
    format!(
        "Whether a flush slows writes in the cache cannot be told from this run (undisturbed over mean throughput: {by}): {why}; {what} tell."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::Workload;

    /// Writes of 1 GiB to a set of 64 MiB, of which the device wrote so many MiB.
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
        assert!(said(Some(80), 90_000_000, stalled).ends_with("by its counters."));
        assert!(said(Some(1000), 90_000_000, stalled).ends_with("a flush may be the cause."));
    }
}
