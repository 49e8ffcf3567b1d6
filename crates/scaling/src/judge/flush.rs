//! What a flush does to writes in the cache.

use ioscape_schema::{Bounded, Evaluation, Purpose};

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

/// Whether the flush stalled single writes: slowed by half, the longest write 100 times the median and
/// above 50 ms.
pub(crate) fn is_slowed_by_flush(evaluation: &Evaluation) -> bool {
    let Some(run) = evaluation.last(&Purpose::Flush) else { return false };
    let times = run.write.map_or(run.response_time_ns, |w| w.response_time_ns);
    run.burst_ratio.is_some_and(|r| r > 1.5)
        && times.max > STALL_NS
        && times.max >= times.p50.saturating_mul(100)
}

/// Least share of the set that the device writes when a flush comes.
const FLUSHED: f64 = 0.5;

/// Whether the device wrote as much of the set as a flush does, by its counters; without them nothing is seen.
pub(super) fn is_flush_seen(evaluation: &Evaluation) -> bool {
    let run = evaluation.last(&Purpose::Flush);
    run.is_some_and(|run| {
        let written = run.witness.device_written_bytes.unwrap_or(0) as f64;
        written >= FLUSHED * run.workload.unique_bytes as f64
    })
}
