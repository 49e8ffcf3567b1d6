//! What is unknown if many requests have only one end in the trace, or their events were lost: a
//! disk that worked on them would seem idle. They have no row, or a row without a completion.

use super::untimed::{forget_queue, timed};
use crate::read::ONE_END;
use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::{TraceInfo, Warning, WarningKind};

/// One request in this many may be missing: a recording begins and ends with requests in flight.
pub(crate) const ONE_IN: u64 = 100;

/// Removes queue lengths and idle times if more is missing. The doubt covers requests that have no
/// row; the doubt about [requests without a completion](super::untimed) covers the others. If no
/// completion was recorded at all, that module removes more.
pub fn forget(summary: &mut TraceSummary) -> Option<Warning> {
    let missing = missing(&summary.info);
    let unknown = missing.saturating_add(without_completion(summary)?);
    let told = summary.disks.iter().any(|disk| !disk.queue_length.is_empty());
    if !told || unknown.saturating_mul(ONE_IN) <= summary.ios {
        return None;
    }
    summary.disks.iter_mut().for_each(forget_queue);
    if missing == 0 {
        return None;
    }
    let text = format!(
        "up to {missing} requests are missing beside the {} that are there: queue lengths and idle times follow from all, and are left out",
        summary.ios
    );
    Some(Warning::new(WarningKind::TimesUnknown, text).at("queue_length, idle_ns"))
}

/// Requests with one end in the trace, and lost events, each perhaps of a different request.
fn missing(info: &TraceInfo) -> u64 {
    let notes = ONE_END.iter().filter_map(|note| info.notes.get(*note)?.parse::<u64>().ok());
    notes.chain(info.lost_by_cpu.iter().copied()).fold(0, u64::saturating_add)
}

/// Number of rows that lack their completion; `None` if all do. Flushes, which move no data, may be
/// of a kind without times. They count only if more requests have times than move data, because
/// then other flushes have a time.
fn without_completion(summary: &TraceSummary) -> Option<u64> {
    let timed = timed(summary);
    let sizes = summary.transfer_sizes.iter().flat_map(|sizes| &sizes.bytes.bins);
    let still: u64 = sizes.filter(|bin| bin.0 <= 0.0).map(|bin| bin.1).sum();
    let moving = summary.ios.saturating_sub(still);
    let all = if timed > moving { summary.ios } else { moving };
    (timed > 0).then(|| all.saturating_sub(timed))
}

#[cfg(test)]
mod tests {
    use crate::analyze::{Analysis, AnalysisOptions};
    use ioscape_schema::trace_summary::TraceSummary;
    use ioscape_schema::{Io, IoFlags, Op, Request, TraceInfo};

    /// The analysis of 1000 requests; `count` more are missing, by a note or as lost events.
    fn lacking(note: &str, count: u64) -> TraceSummary {
        let row = |at: u64| {
            let (queued_ns, completed_ns) = (at * 1000, at * 1000 + 500);
            Io { queued_ns, issued_ns: queued_ns, completed_ns, ..Io::default() }
        };
        let mut found = Analysis::new(&AnalysisOptions::default());
        found.update(&(0..1000).map(row).collect::<Vec<_>>());
        let mut info = TraceInfo { format: "blktrace".to_owned(), ..TraceInfo::default() };
        match note {
            "lost" => info.lost_by_cpu = vec![0, count],
            note => drop(info.notes.insert(note.to_owned(), count.to_string())),
        }
        found.finish("w", &info)
    }

    #[test]
    fn where_many_requests_are_missing_no_disk_is_called_idle() {
        for note in ["completions without a beginning", "requests without a completion", "lost"] {
            for (count, told) in [(10, true), (11, false)] {
                let found = lacking(note, count);
                let disk = &found.disks[0];
                let there = [disk.idle_frac.is_some(), disk.idle_time_frac.is_some()];
                assert_eq!(there, [told; 2], "{note} {count}");
                assert_eq!(disk.queue_length.is_empty(), !told, "{note} {count}");
                let said = found.warnings.iter().filter(|one| one.message.contains("left out"));
                let said = said.filter(|one| one.message.starts_with("up to 11 requests")).count();
                assert_eq!(said, usize::from(!told), "{note}: {:?}", found.warnings);
                assert!(!found.response_times.is_empty(), "those that are there have times");
            }
        }
    }

    /// The analysis of 1000 reads, `count` of which have no completion, and of `flushes` flushes,
    /// which take `flush_ns`.
    fn untimed(count: u64, flushes: u64, flush_ns: u64) -> TraceSummary {
        let io = |at: u64, op: Op, len: u32, took_ns: u64| {
            let (queued_ns, request) = (at * 1000, Request { op, offset: 0, len });
            let completed_ns = queued_ns + took_ns;
            Io { request, queued_ns, issued_ns: queued_ns, completed_ns, ..Io::default() }
        };
        let read = |at: u64| io(at, Op::Read, 4096, if at < count { 0 } else { 500 });
        let flush = |at: u64| Io { flags: IoFlags::FLUSH, ..io(1000 + at, Op::Write, 0, flush_ns) };
        let rows: Vec<Io> = (0..1000).map(read).chain((0..flushes).map(flush)).collect();
        let mut found = Analysis::new(&AnalysisOptions::default());
        found.update(&rows);
        found.finish("w", &TraceInfo { format: "blktrace".to_owned(), ..TraceInfo::default() })
    }

    #[test]
    fn one_request_in_a_hundred_may_lack_its_completion_and_flushes_may_be_without_times() {
        for (untimed_reads, flushes, flush_ns, told) in [
            (10, 0, 0, true),
            (11, 0, 0, false),
            (0, 500, 0, true),
            (15, 500, 0, true),
            (16, 500, 0, false),
            (15, 500, 300, true),
            (16, 500, 300, false),
        ] {
            let case = (untimed_reads, flushes, flush_ns);
            let found = untimed(untimed_reads, flushes, flush_ns);
            let disk = &found.disks[0];
            assert_eq!(disk.queue_length.is_empty(), !told, "{case:?}");
            assert_eq!(disk.idle_frac.is_some(), told, "{case:?}");
            let said = found.warnings.iter().filter(|one| one.message.contains("left out"));
            let said = said.filter(|one| one.message.contains("have no response time")).count();
            assert_eq!(said, usize::from(!told), "{case:?}: {:?}", found.warnings);
            assert!(!found.response_times.is_empty(), "those of the others are known");
        }
    }
}
