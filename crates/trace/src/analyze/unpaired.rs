//! What is not known where many requests have only one end in the trace, or their events were lost: they have no row, and a disk that
//! worked on them would be called idle.

use super::untimed::forget_queue;
use crate::doubts::ONE_END;
use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::{TraceInfo, Warning, WarningKind};

/// One request of so many may be missing: a recording begins and ends with requests in flight.
const ONE_IN: u64 = 100;

/// Takes out queue lengths and idle times where more is missing; the doubt says so.
pub fn forget(summary: &mut TraceSummary) -> Option<Warning> {
    let missing = missing(&summary.info);
    let told = summary.disks.iter().any(|disk| !disk.queue_length.is_empty());
    if !told || missing.saturating_mul(ONE_IN) <= summary.ios {
        return None;
    }
    summary.disks.iter_mut().for_each(forget_queue);
    let text = format!(
        "up to {missing} requests are missing beside the {} that are there: queue lengths and idle times follow from all, and are left out",
        summary.ios
    );
    Some(Warning::new(WarningKind::TimesUnknown, text).at("queue_length, idle_ns"))
}

/// Requests with one end in the trace, and lost events, each of which may have been of another.
fn missing(info: &TraceInfo) -> u64 {
    let notes = ONE_END.iter().filter_map(|note| info.notes.get(*note)?.parse::<u64>().ok());
    notes.chain(info.lost_by_cpu.iter().copied()).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use crate::analyze::{Analysis, AnalysisOptions};
    use ioscape_schema::trace_summary::TraceSummary;
    use ioscape_schema::{Io, TraceInfo};

    /// The analysis of 1000 requests of a trace that lacks as many, by a note or as lost events.
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
}
