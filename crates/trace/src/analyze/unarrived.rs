//! What is unknown if many requests have no arrival in an event trace: they count as arriving with
//! their next event, so without the time that they waited, and in the order of issue.

use super::partial::forget_writes_of;
use super::unpaired::ONE_IN;
use super::untimed::forget_elapsed;
use crate::read::UNARRIVED;
use ioscape_schema::trace_summary::{Distances, OpTimes, TraceSummary};
use ioscape_schema::{Distribution, Warning, WarningKind};

/// Whether more requests lack their arrival than may have waited when the recording began.
pub(crate) fn lacks_arrivals(summary: &TraceSummary) -> bool {
    let count = summary.info.notes.get(UNARRIVED).and_then(|told| told.parse::<u64>().ok());
    count.is_some_and(|count| count.saturating_mul(ONE_IN) > summary.ios)
}

/// Removes, if so, times that include the queue, queue lengths, and what depends on the order of
/// arrival, and returns the doubt that says so. Arrival times within a second are removed elsewhere.
pub fn forget(summary: &mut TraceSummary) -> Option<Warning> {
    if !lacks_arrivals(summary) {
        return None;
    }
    forget_elapsed(summary);
    let OpTimes { read, write, all } = &mut summary.response_times;
    for times in [read.as_mut(), write.as_mut(), Some(all)].into_iter().flatten() {
        times.elapsed_ns = Distribution::default();
    }
    (summary.distances, summary.sequential) = (Distances::default(), None);
    for disk in &mut summary.disks {
        forget_writes_of(disk);
        disk.distances = Distances::default();
    }
    let text = format!(
        "more than 1 request in {ONE_IN} has no arrival in the trace: elapsed times, queue lengths, idle times, times between arrivals and what depends on the order of arrival are left out; record arrivals too (blktrace -a queue -a issue -a complete, perf -e 'block:*')"
    );
    let place =
        "response_times.elapsed_ns, queue_length, idle_ns, inter_arrival_ns, sequential, distances";
    Some(Warning::new(WarningKind::TimesUnknown, text).at(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::{Analysis, AnalysisOptions};
    use ioscape_schema::{Io, Op, Request, TraceInfo};

    /// The analysis of 1000 reads and writes, of which `count` have no arrival.
    fn of(count: u64) -> TraceSummary {
        let row = |at: u64| {
            let op = if at % 2 == 1 { Op::Write } else { Op::Read };
            let request = Request { op, offset: at * 4096, len: 4096 };
            let queued_ns = at * 1000;
            let (issued_ns, completed_ns) = (queued_ns + 100, queued_ns + 500);
            Io { request, queued_ns, issued_ns, completed_ns, process: 3, ..Io::default() }
        };
        let mut found = Analysis::new(&AnalysisOptions::default());
        found.update(&(0..1000).map(row).collect::<Vec<_>>());
        let notes = [(UNARRIVED.to_owned(), count.to_string())].into();
        let format = "blkparse".to_owned();
        found.finish("w", &TraceInfo { format, notes, ..TraceInfo::default() })
    }

    /// Once, the time at the device was given as the elapsed time too, and no disk had a queue.
    #[test]
    fn what_follows_from_arrivals_is_left_out_where_more_than_a_few_are_missing() {
        let [few, many] = [10, 11].map(of);
        assert!(few.sequential.is_some() && few.disks[0].idle_frac.is_some());
        let json = serde_json::to_value(&many).expect("JSON");
        assert_eq!(serde_json::from_value::<TraceSummary>(json.clone()).expect("read back"), many);
        let times = &json["response_times"]["all"];
        assert_eq!((&times["physical_ns"]["mean"], times.get("elapsed_ns")), (&400.0.into(), None));
        for key in [
            "sequential",
            "distances",
            "inter_arrival_ns",
            "queue_length",
            "idle_ns",
            "idle_frac",
            "in_flight_mean",
            "write_groups",
            "write_bursts",
            "rewrite_frac",
        ] {
            let found = [&json, &json["disks"][0]].map(|place| place.get(key).is_some());
            assert_eq!(found, [false; 2], "{key}");
        }
        assert!(json["latency_map"].is_null() && !json.to_string().contains("\"elapsed_"));
        let said = |found: &TraceSummary, text| {
            found.warnings.iter().filter(|doubt| doubt.message.contains(text)).count()
        };
        assert_eq!([&few, &many].map(|one| said(one, "no arrival in the trace: elapsed")), [0, 1]);
        assert_eq!(said(&many, "no response time"), 0, "{:?}", many.warnings);
    }
}
