//! What limits the results of an analysis, in words.

use super::{Analysis, MOST_DISKS};
use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::{Warning, WarningKind};

/// The doubts about a finished analysis.
pub fn doubts(analysis: &Analysis, summary: &TraceSummary) -> Vec<Warning> {
    let mut all = Vec::new();
    let mut say = |kind, text: String, place: &str| all.push(Warning::new(kind, text).at(place));
    let info = &summary.info;
    let lost: u64 = info.lost_by_cpu.iter().sum();
    if lost > 0 {
        say(
            WarningKind::TraceIncomplete,
            format!("{lost} events were lost while recording: counts and rates are too small, queues may seem shorter"),
            "trace",
        );
    }
    if info.skipped > 0 {
        say(
            WarningKind::TraceIncomplete,
            format!("{} broken records were skipped", info.skipped),
            "trace",
        );
    }
    if summary.ios > 0 && summary.response_times.all.elapsed_ns.max == 0.0 {
        say(
            WarningKind::TimesUnknown,
            "the trace tells no completion times: response times, queue lengths and idle times say nothing".to_owned(),
            "response_times, queue_length, idle_ns",
        );
    }
    if analysis.errors > 0 {
        say(
            WarningKind::Other,
            format!("{} requests completed with an error; they are counted like the others", analysis.errors),
            "trace",
        );
    }
    if analysis.beyond > 0 {
        say(
            WarningKind::SetLimited,
            format!("{} requests go to devices beyond the first {MOST_DISKS}, which are not followed one by one", analysis.beyond),
            "disks",
        );
    }
    let doubtful: u64 = analysis.disks.iter().flatten().map(|disk| disk.doubtful()).sum();
    if doubtful > 0 {
        say(
            WarningKind::SetLimited,
            format!("{doubtful} requests were in flight for so long that parts of the trace did not see them: some queue lengths are too small; analyse with --threads 1"),
            "queue_length",
        );
    }
    if analysis.blocks.cut() > 0 {
        say(
            WarningKind::SetLimited,
            format!("{} requests are longer than what is counted of one in block figures", analysis.blocks.cut()),
            "overwrites, popularity, working_set",
        );
    }
    if analysis.processes.others() > 0 {
        say(
            WarningKind::SetLimited,
            format!("{} requests are of processes beyond those told apart", analysis.processes.others()),
            "processes",
        );
    }
    all
}
