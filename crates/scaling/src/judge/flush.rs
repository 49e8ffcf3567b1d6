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

/// Whether the device wrote as much of the set as a flush does, by its counters; `None` without them.
fn is_flush_seen(run: &Measurement) -> Option<bool> {
    let written = run.witness.device_written_bytes? as f64;
    Some(written >= FLUSHED * run.workload.unique_bytes as f64)
}

/// What the run that was long enough for a flush says of it.
pub(super) fn sentence(run: &Measurement, slowdown: Bounded) -> String {
    let (seen, stall) = (is_flush_seen(run), longest_stall_ns(run));
    let by = bounded(slowdown);
    if stall.is_some() && slowdown.value > SLOWER && slowdown.low > 1.0 {
        let cause = match seen {
            Some(true) => "the device wrote as much as a flush does, by its counters",
            _ => "a flush may be the cause",
        };
        return format!(
            "In the run that was long enough for a flush, writes in the cache are {} times slower{} than when undisturbed, and single writes stall; {cause}.",
            factor(slowdown.value),
            within(slowdown)
        );
    }
    if seen == Some(true) && slowdown.high < SLOWER {
        let stalls =
            stall.map(|ns| format!("; single writes stall, for up to {}", Nanos(ns as f64)));
        return format!(
            "A flush does not slow writes in the cache by a factor of {SLOWER} or more (undisturbed over mean throughput: {by}); in this run the device wrote as much as one does, by its counters{}.",
            stalls.unwrap_or_default()
        );
    }
    let (why, what) = match seen {
        None => {
            ("no counter of the device shows that one came", "a target on a block device would")
        }
        Some(false) => {
            ("the device wrote less than one does, by its counters", "a longer budget would")
        }
        Some(true) => {
            ("throughput varied, but no flush explains it by itself", "another run would")
        }
    };
    format!(
        "Whether a flush slows writes in the cache cannot be told from this run (undisturbed over mean throughput: {by}): {why}; {what} tell."
    )
}
