//! What a trace does not record is left out of its summary and said before all numbers: a 0 would
//! be read as measured.

use super::untimed::forget_queue;
use super::write_groups::BURST_NS;
use super::{burstiness, partial, unarrived, unissued, unpaired, untimed, untyped};
use crate::doubts::lacks;
use ioscape_schema::trace_lacks::TraceLacks;
use ioscape_schema::trace_summary::{
    Absorption, Distances, Load, Overwrites, Popularity, Runs, TraceSummary,
};
use ioscape_schema::{Distribution, Document, Outcome, Warning};

/// The shortest time between arrivals that is asked for.
const MS_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// Removes from a summary what its trace does not record. Returns the doubts that say so, except
/// those that [the notes](fn@crate::doubts) state.
pub fn forget(summary: &mut TraceSummary) -> Vec<Warning> {
    let lacks = TraceLacks::of(&summary.info);
    if lacks.fast {
        partial::forget(summary);
    }
    if lacks.operations {
        forget_writes(summary);
    }
    if lacks.places {
        forget_places(summary);
    }
    // Without an arrival, a request counts as arriving when it is issued.
    let waited_ns = if unarrived::lacks_arrivals(summary) { SECOND_NS } else { 0 };
    let arrival_step_ns = lacks.arrival_step_ns.max(waited_ns);
    if arrival_step_ns > 0 {
        forget_instants(summary, &TraceLacks { arrival_step_ns, ..lacks });
    }
    forget_windows(summary);
    // First, because the doubt about missing completions depends on whether queues are kept.
    let [unpaired, unarrived] = [unpaired::forget(summary), unarrived::forget(summary)];
    let times = [untimed::forget(summary), unissued::forget(summary), unpaired, unarrived];
    times.into_iter().chain([untyped::forget(summary)]).flatten().collect()
}

/// Does the same to a summary that an earlier version made, and adds the doubts that it lacks.
pub(crate) fn forget_in_older(summary: &mut TraceSummary) -> Vec<Warning> {
    let mut new = lacks(&summary.info);
    new.extend(forget(summary));
    new.retain(|doubt| !summary.warnings.iter().any(|known| known.message == doubt.message));
    summary.warnings.retain(|known| !new.iter().any(|doubt| supersedes(doubt, known)));
    summary.warnings.splice(0..0, new.iter().cloned());
    new
}

/// Whether a doubt counts the same requests as a known doubt about the same, from which an earlier
/// version drew other conclusions.
fn supersedes(doubt: &Warning, known: &Warning) -> bool {
    let is_alike = doubt.kind == known.kind && doubt.place == known.place;
    is_alike && counted(doubt).is_some_and(|count| counted(known) == Some(count))
}

/// The count with which a doubt about requests begins.
fn counted(doubt: &Warning) -> Option<&str> {
    doubt.message.split_once(" requests").map(|(count, _)| count)
}

/// A result without what its trace does not record: earlier versions wrote zeros there.
pub fn without_untold(mut document: Document) -> Document {
    let summaries: &mut [TraceSummary] = match &mut document.outcome {
        Some(Outcome::TraceSummary(one)) => std::slice::from_mut(one),
        Some(Outcome::TraceComparison(both)) => &mut both.traces,
        _ => &mut [],
    };
    let new: Vec<Warning> = summaries.iter_mut().flat_map(forget_in_older).collect();
    document.warnings.retain(|known| !new.iter().any(|doubt| supersedes(doubt, known)));
    document.warnings.splice(0..0, new);
    document
}

/// Removes what depends on writes: it is unknown which requests wrote.
fn forget_writes(summary: &mut TraceSummary) {
    forget_reads(summary);
    summary.sequential = None;
    summary.alignment = Vec::new();
    summary.overwrites = Overwrites::default();
    summary.popularity = Popularity::default();
    summary.absorption = Vec::<Absorption>::new();
    summary.disks.iter_mut().for_each(partial::forget_writes_of);
}

/// Removes what depends on reads: it is unknown which requests read, as all were counted as reads.
fn forget_reads(summary: &mut TraceSummary) {
    let timelines = [&mut summary.over_time, &mut summary.hourly, &mut summary.daily];
    let steps = timelines.into_iter().flat_map(|timeline| &mut timeline.steps);
    let loads = steps.map(|step| &mut step.load);
    let loads = loads.chain(summary.partitions.iter_mut().map(|one| &mut one.load));
    let loads = loads.chain(summary.disks.iter_mut().map(|one| &mut one.load));
    let loads = loads.chain(summary.processes.iter_mut().map(|one| &mut one.load));
    loads.for_each(Load::forget_operations);
    summary.transfer_sizes.iter_mut().for_each(|sizes| sizes.op = None);
    (summary.response_times.read, summary.response_times.write) = (None, None);
    (summary.working_set.read_bytes, summary.working_set.write_bytes) = (None, None);
    for disk in &mut summary.disks {
        (disk.queue_mean_read, disk.queue_mean_write) = (None, None);
    }
}

/// Removes places: it is unknown where on the device requests went.
fn forget_places(summary: &mut TraceSummary) {
    summary.distances = Distances::default();
    summary.sequential = None;
    summary.alignment = Vec::new();
    summary.address_maps = Vec::new();
    for disk in &mut summary.disks {
        (disk.distances, disk.sequential) = (Distances::default(), None);
    }
}

/// Removes what happens within a window if the trace is too short to show it: the window must be
/// much shorter than the trace.
fn forget_windows(summary: &mut TraceSummary) {
    let [second, half_minute, hour] =
        [1, 30, 3600].map(|seconds| summary.is_long_enough_for(seconds * SECOND_NS));
    let absorption = std::mem::take(&mut summary.absorption).into_iter();
    summary.absorption =
        absorption.filter(|one| summary.is_long_enough_for(one.interval_ns)).collect();
    let overwrites = &mut summary.overwrites;
    // An older result says 0 if nothing was overwritten.
    let none = overwrites.seen() == 0 && overwrites.within_1h.unwrap_or(0.0) <= 0.0;
    for (share, is_long) in [
        (&mut overwrites.within_1s, second),
        (&mut overwrites.within_30s, half_minute),
        (&mut overwrites.within_1h, hour),
    ] {
        if none || !is_long {
            *share = None;
        }
    }
}

/// Removes what happens within a time that is too few steps of the arrivals long.
fn forget_instants(summary: &mut TraceSummary, lacks: &TraceLacks) {
    if !lacks.tells(MS_NS) {
        summary.inter_arrival_ns = Distribution::default();
        summary.burstiness.inter_arrival_scv = None;
    }
    // Of whole steps, the number of arrivals is known.
    summary.burstiness.dispersion.retain(|point| point.0 >= lacks.arrival_step_ns);
    summary.burstiness.hurst = burstiness::hurst(&summary.burstiness.dispersion);
    if !lacks.tells(SECOND_NS) {
        summary.overwrites.delay_ns = Distribution::default();
        summary.overwrites.within_1s = None;
    }
    if !lacks.tells(BURST_NS) {
        summary.disks.iter_mut().for_each(|disk| disk.write_bursts = Runs::default());
    }
    // Requests of a step count as arriving together, whichever ended before another began.
    if !lacks.tells(summary.response_times.all.elapsed_ns.mean as u64) {
        summary.disks.iter_mut().for_each(forget_queue);
    }
}

#[cfg(test)]
#[path = "untold_tests.rs"]
mod tests;
