//! What limits the results of an analysis, in words.

use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::{Warning, WarningKind};

/// What was met that the results cannot show, as numbers of requests unless said otherwise.
pub struct Limits {
    /// Completed with an error.
    pub errors: u64,
    /// Disks that are not in the result.
    pub unlisted_disks: u64,
    /// Whose queue length may be too small because parts met in a long backlog.
    pub doubtful_queues: u64,
    /// Longer than what is counted of one.
    pub cut: u64,
    /// Touches of blocks that had no more place in the table.
    pub untracked: u64,
    /// Every so many-th block is followed, and how far the number of blocks may be off with a probability of 90 %, as a part of it.
    pub sample: (u64, f64),
    /// Of processes beyond those told apart.
    pub other_processes: u64,
    /// Whether parts with other disks of the same time were merged.
    pub interleaved: bool,
}

/// The doubts about a finished analysis; what makes whole tables absent comes first: `untold` is what the trace does not tell.
pub fn doubts(limits: &Limits, untold: Vec<Warning>, summary: &TraceSummary) -> Vec<Warning> {
    use WarningKind::{Other, SetLimited};
    let blocks = "overwrites, popularity, working_set";
    let rest = [
        doubt(
            limits.errors,
            Other,
            "trace",
            "requests completed with an error; they are counted like the others",
        ),
        doubt(
            limits.unlisted_disks,
            SetLimited,
            "disks",
            "disks beyond the busiest 1024 are in the load by partition and in the figures of the whole alone: --disk names others",
        ),
        doubt(
            limits.doubtful_queues,
            SetLimited,
            "queue_length",
            "requests were in flight for so long that parts of the trace did not see them, so some queue lengths are too small: cut the trace elsewhere",
        ),
        doubt(
            limits.cut,
            SetLimited,
            blocks,
            "requests are longer than what is counted of one in block figures",
        ),
        doubt(
            limits.untracked,
            SetLimited,
            blocks,
            "or more touches of blocks are not counted because they lie too far apart: give larger blocks with --block",
        ),
        doubt(
            limits.other_processes,
            SetLimited,
            "processes",
            "requests are of processes beyond those told apart",
        ),
    ];
    let interleaved = limits.interleaved.then(|| {
        let text = "parts of the same time were merged, which hold other disks: times between arrivals, burstiness and the miss ratio of one cache for all disks follow from the order of all requests, which the parts do not tell, and are left out";
        Warning::new(SetLimited, text).at("inter_arrival_ns, burstiness, miss_ratio")
    });
    let (one_in, error) = limits.sample;
    let sampled = (one_in > 1).then(|| {
        let text = format!(
            "the memory holds one block in {one_in}: distinct bytes, overwrites and popularity are estimated from those blocks, distinct bytes to within {:.1} % at 90 % confidence; --memory sets the bound",
            error * 100.0
        );
        Warning::new(SetLimited, text).at(blocks)
    });
    let lacks = crate::doubts::lacks(&summary.info);
    let first = lacks.into_iter().chain(untold).chain(interleaved).chain(sampled);
    let of_trace = crate::doubts::losses(&summary.info);
    first.chain(of_trace).chain(rest.into_iter().flatten()).collect()
}

fn doubt(count: u64, kind: WarningKind, place: &str, text: &str) -> Option<Warning> {
    (count > 0).then(|| Warning::new(kind, format!("{count} {text}")).at(place))
}
