//! What is unknown without completions: left out, because a time of 0 would be read as measured.

use ioscape_schema::trace_summary::{DiskSummary, OpTimes, Times, TraceSummary};
use ioscape_schema::{Distribution, Warning, WarningKind};

/// Removes everything that depends on response times if no request has one; the doubt counts the
/// requests without one, of which the source may tell the end alone.
pub fn forget(summary: &mut TraceSummary) -> Option<Warning> {
    let (ios, timed) = (summary.ios, timed(summary));
    let untimed = ios.saturating_sub(timed);
    let queued = summary.disks.iter().any(|disk| !disk.queue_length.is_empty());
    let which = match (timed, untimed) {
        (_, 0) => return None,
        (0, 1) => "1 request has no response time".to_owned(),
        (0, _) => format!("{ios} requests have no response times"),
        (_, 1) => format!("1 of {ios} requests has no response time"),
        _ => format!("{untimed} of {ios} requests have no response time"),
    };
    let so = match timed {
        0 => "these, queue lengths and idle times are not known, and their tables are left out",
        _ if !queued => {
            "response times are those of the others; queue lengths and idle times follow from all, and are left out"
        }
        _ => {
            "response times, queue lengths and idle times are those of the others, so queues may have been longer and idle times shorter"
        }
    };
    if timed == 0 {
        summary.response_times = OpTimes::default();
        forget_elapsed(summary);
    }
    let text = format!("{which}: {so}");
    Some(Warning::new(WarningKind::TimesUnknown, text).at("response_times, queue_length, idle_ns"))
}

/// Requests with a completion time.
pub(super) fn timed(summary: &TraceSummary) -> u64 {
    let Times { physical_ns, elapsed_ns } = &summary.response_times.all;
    // Without arrivals the former alone are told.
    let told = if elapsed_ns.is_empty() { physical_ns } else { elapsed_ns };
    // Older results count every request as timed, with 0 ns if no time was recorded.
    if told.max > 0.0 { told.count } else { 0 }
}

/// Removes queue lengths and, but for their distribution in the whole trace, elapsed times.
pub(super) fn forget_elapsed(summary: &mut TraceSummary) {
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

/// Removes what depends on a disk's queue.
pub(super) fn forget_queue(disk: &mut DiskSummary) {
    disk.queue_length = Distribution::default();
    disk.idle_ns = Distribution::default();
    disk.daily_queue_mean = Vec::new();
    disk.queue_agreement = None;
    disk.idle_frac = None;
    (disk.queue_mean_read, disk.queue_mean_write) = (None, None);
    (disk.idle_time_frac, disk.in_flight_mean) = (None, None);
}

#[cfg(test)]
mod tests {
    use crate::analyze::{Analysis, AnalysisOptions};
    use ioscape_schema::trace_summary::TraceSummary;
    use ioscape_schema::{Io, TraceInfo, WarningKind};

    /// `count` requests one millisecond apart that take 100 us; one in `one_in` has no recorded
    /// completion.
    fn rows(count: u64, one_in: u64) -> Vec<Io> {
        let row = |at: u64| {
            let queued_ns = at * 1_000_000;
            let took = if at.is_multiple_of(one_in) { 0 } else { 100_000 };
            let process = 7 + u32::from(at.is_multiple_of(one_in));
            let completed_ns = queued_ns + took;
            Io { queued_ns, issued_ns: queued_ns, completed_ns, process, ..Io::default() }
        };
        (0..count).map(row).collect()
    }

    fn analysed(parts: &[&[Io]]) -> TraceSummary {
        let options = AnalysisOptions::default();
        let mut all = Analysis::new(&options);
        for rows in parts {
            let mut part = Analysis::part(&options);
            part.update(rows);
            all.merge(part);
        }
        all.finish("t", &TraceInfo { format: "blktrace".to_owned(), ..TraceInfo::default() })
    }

    #[test]
    fn requests_without_a_completion_are_in_no_time_and_are_counted() {
        let rows = rows(100, 5);
        let found = analysed(&[&rows]);
        let elapsed = &found.response_times.all.elapsed_ns;
        assert_eq!((elapsed.count, elapsed.min, elapsed.mean), (80, 1e5, 1e5));
        let disk = &found.disks[0];
        assert!(disk.queue_length.is_empty() && disk.idle_ns.is_empty(), "a fifth is too many");
        assert_eq!(found.daily.steps[0].elapsed_mean_ns, Some(1e5));
        assert_eq!(found.over_time.steps[1].elapsed_p50_ns.map(|ns| ns >= 1e5), Some(true));
        assert_eq!(found.over_time.steps[0].elapsed_p50_ns, None, "its request has no completion");
        let means = found.processes.iter().map(|one| (one.process, one.elapsed_mean_ns));
        assert_eq!(means.collect::<Vec<_>>(), [(7, Some(1e5)), (8, None)]);
        let map = found.latency_map.as_ref().expect("times are told");
        assert_eq!(map.cells.iter().map(|cell| cell.2).sum::<u64>(), 80);
        let first = &found.warnings[0];
        assert_eq!(first.kind, WarningKind::TimesUnknown);
        assert!(first.message.starts_with("20 of 100 requests have no response time"), "{first}");
        assert!(first.message.ends_with("and are left out"), "{first}");
        assert_eq!(analysed(&[&rows[..37], &rows[37..]]), found, "parts give the whole");
        let only = &analysed(&[&rows[..1]]).warnings[0];
        assert!(only.message.starts_with("1 request has no response time: these"), "{only}");
    }

    #[test]
    fn a_disk_of_which_no_completion_is_told_has_no_queue() {
        let mut rows = rows(1000, 100);
        rows.iter_mut().for_each(|io| io.device = (io.process - 7) as u16);
        let found = analysed(&[&rows]);
        let untold = &found.disks[1];
        assert!(untold.queue_length.is_empty() && untold.idle_ns.is_empty());
        assert_eq!(
            (untold.idle_frac, untold.idle_time_frac, untold.in_flight_mean),
            (None, None, None)
        );
        // One idle period between every two of the 990.
        let told = &found.disks[0];
        assert_eq!((told.queue_length.count, told.idle_ns.count), (990, 989));
        assert!(found.warnings[0].message.contains("queues may have been longer"));
    }
}
