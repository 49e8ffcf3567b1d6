//! What limits the results of an analysis, in words.

use super::{Analysis, MOST_DISKS};
use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::{Warning, WarningKind};

/// The doubts about a finished analysis.
pub fn doubts(analysis: &Analysis, summary: &TraceSummary) -> Vec<Warning> {
    let info = &summary.info;
    let untimed = summary.response_times.all.elapsed_ns.max == 0.0;
    let doubtful = analysis.disks.iter().flatten().map(|disk| disk.doubtful()).sum();
    let limited = WarningKind::SetLimited;
    // How many, of what kind, the place, and what to say after the number.
    let all: [(u64, WarningKind, &str, String); 7] = [
        (if untimed { summary.ios } else { 0 }, WarningKind::TimesUnknown, "response_times, queue_length, idle_ns", "requests have no completion times: response times, queue lengths and idle times say nothing".into()),
        (analysis.errors, WarningKind::Other, "trace", "requests completed with an error; they are counted like the others".into()),
        (analysis.beyond, limited, "disks", format!("requests go to devices beyond the first {MOST_DISKS}, which are not followed one by one")),
        (doubtful, limited, "queue_length", "requests were in flight for so long that parts of the trace did not see them, so some queue lengths are too small: analyse with --threads 1".into()),
        (analysis.blocks.cut(), limited, "overwrites, popularity, working_set", "requests are longer than what is counted of one in block figures".into()),
        (
            analysis.blocks.untracked(),
            limited,
            "overwrites, popularity, working_set",
            "or more touches of blocks are not counted because the table of blocks is full: give larger blocks with --block".into(),
        ),
        (analysis.processes.others(), limited, "processes", "requests are of processes beyond those told apart".into()),
    ];
    let said = all.into_iter().filter(|doubt| doubt.0 > 0);
    let said = said
        .map(|(count, kind, place, text)| Warning::new(kind, format!("{count} {text}")).at(place));
    crate::doubts::doubts(info).into_iter().chain(said).collect()
}
