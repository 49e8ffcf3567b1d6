//! What is not known of a trace that tells no completions: left out, for a time of 0 would be read as a measured one.

use ioscape_schema::Distribution;
use ioscape_schema::trace_summary::{DiskSummary, OpTimes, TraceSummary};

/// Takes out everything that follows from times of completion.
pub fn forget(summary: &mut TraceSummary) {
    summary.response_times = OpTimes::default();
    summary.latency_map = None;
    summary.disks.iter_mut().for_each(forget_queue);
    for timeline in [&mut summary.over_time, &mut summary.hourly, &mut summary.daily] {
        for step in &mut timeline.steps {
            (step.elapsed_mean_ns, step.elapsed_max_ns) = (None, None);
            (step.elapsed_p50_ns, step.elapsed_p99_ns, step.elapsed_p999_ns) = (None, None, None);
        }
    }
    summary.processes.iter_mut().for_each(|process| process.elapsed_mean_ns = None);
}

fn forget_queue(disk: &mut DiskSummary) {
    disk.queue_length = Distribution::default();
    disk.idle_ns = Distribution::default();
    disk.daily_queue_mean = Vec::new();
    disk.queue_agreement = None;
    disk.idle_frac = None;
    (disk.queue_mean_read, disk.queue_mean_write) = (None, None);
    (disk.idle_time_frac, disk.in_flight_mean) = (None, None);
}
