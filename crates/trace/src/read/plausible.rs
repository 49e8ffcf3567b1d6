//! What no trace has: lines that would give it are of another format, or in other units.

use super::decode::Epoch;
use ioscape_schema::Io;
use std::ops::RangeInclusive;

/// The longest plausible request, in bytes: kernels and disks take 32 MiB at most.
const LONGEST: u32 = 16 << 20;
/// The largest plausible disk in these traces, in bytes.
const LARGEST: u64 = 1 << 47;
/// Plausible mean times between two requests.
const GAPS_NS: RangeInclusive<f64> = 100.0..=600e9;
/// Plausible wall clocks, from 1990 to 2100, in nanoseconds since 1970.
const CLOCKS_NS: RangeInclusive<u64> = 631_152_000_000_000_000..=4_102_444_800_000_000_000;

/// Whether the first rows can be those of a trace whose times count from `epoch`.
pub(crate) fn are_plausible(epoch: Epoch, rows: &[Io]) -> bool {
    let in_time = match epoch {
        Epoch::Unix => rows.first().is_none_or(|io| CLOCKS_NS.contains(&io.queued_ns)),
        // All may arrive at one time.
        Epoch::Start => mean_gap_ns(rows).is_none_or(|gap_ns| gap_ns <= *GAPS_NS.end()),
        Epoch::Clock { .. } => true,
    };
    in_time && !are_beyond_disks(rows)
}

/// Whether a request or its disk would be larger than any is, as where bytes are taken for sectors.
pub(crate) fn are_too_large(rows: &[Io]) -> bool {
    are_beyond_disks(rows) || rows.iter().any(|io| io.request.len > LONGEST)
}

fn are_beyond_disks(rows: &[Io]) -> bool {
    rows.iter().any(|io| io.end() > LARGEST)
}

/// Whether the mean time between the rows is plausible: milliseconds taken for nanoseconds, or the
/// reverse, give impossible ones.
pub(crate) fn is_gap_plausible(rows: &[Io]) -> bool {
    !rows.is_empty() && mean_gap_ns(rows).is_none_or(|gap_ns| GAPS_NS.contains(&gap_ns))
}

fn mean_gap_ns(rows: &[Io]) -> Option<f64> {
    let [first, .., last] = rows else { return None };
    Some(last.queued_ns.saturating_sub(first.queued_ns) as f64 / (rows.len() - 1) as f64)
}
