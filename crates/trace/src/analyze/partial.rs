//! What is unknown if a trace holds only slow requests: everything that depends on the requests
//! between them.

use super::untimed::forget_queue;
use ioscape_schema::Distribution;
use ioscape_schema::trace_summary::{
    Burstiness, DiskSummary, Distances, MissRatio, Overwrites, Popularity, Runs, TraceSummary,
    WorkingSet,
};

/// Removes everything except what holds for the slow requests themselves: how many, how large, how
/// long, when and where.
pub fn forget(summary: &mut TraceSummary) {
    summary.inter_arrival_ns = Distribution::default();
    summary.burstiness = Burstiness::default();
    summary.distances = Distances::default();
    summary.sequential = None;
    summary.overwrites = Overwrites::default();
    summary.popularity = Popularity::default();
    summary.absorption = Vec::new();
    summary.working_set = WorkingSet::default();
    summary.miss_ratio = MissRatio::default();
    for disk in &mut summary.disks {
        forget_queue(disk);
        forget_writes_of(disk);
        disk.distances = Distances::default();
    }
}

/// Removes what depends on the order of a disk's writes.
pub(super) fn forget_writes_of(disk: &mut DiskSummary) {
    disk.sequential = None;
    (disk.write_groups, disk.write_bursts) = (Runs::default(), Runs::default());
    disk.rewrite_frac = None;
}
