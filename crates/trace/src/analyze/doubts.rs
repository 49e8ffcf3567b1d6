//! What limits the results of an analysis, in words.

use super::processes::Lacking;
use super::queue_length::{HEAD, Unseen};
use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::units::Nanos;
use ioscape_schema::{Warning, WarningKind};

/// What happened that the results cannot show, in requests unless stated otherwise.
pub struct Limits {
    /// Requests completed with an error.
    pub errors: u64,
    /// Disks that are not in the result.
    pub unlisted_disks: u64,
    /// Disks that were only counted for lack of memory.
    pub counted_disks: u64,
    /// The disks whose queues are not fully known because parts met in a long backlog, and what was
    /// missed of them.
    pub unseen: (Vec<String>, Unseen),
    /// Requests longer than the part of a request that is counted.
    pub cut: u64,
    /// Touches of blocks for which the table had no room.
    pub untracked: u64,
    /// One block in this many is followed; and the relative error of the number of blocks at a
    /// probability of 90 %.
    pub sample: (u64, f64),
    /// What the list of processes lacks.
    pub processes: Lacking,
    /// Places written within 30 seconds for which there was no memory.
    pub unwritten: u64,
    /// Whether parts of the same time with other disks were merged.
    pub interleaved: bool,
}

/// The doubts about a finished analysis. Missing tables come first: `untold` is what the trace does
/// not record.
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
            limits.counted_disks,
            SetLimited,
            "disks",
            "disks, the less busy ones, had no room in the memory for more than their loads: their queue lengths, idle times, distances, groups of writes and addresses are left out, and are in no other disk's; figures of all disks together hold. --memory sets the bound, and --disk chooses disks",
        ),
        queues(&limits.unseen),
        doubt(
            limits.cut,
            SetLimited,
            blocks,
            "requests are longer than block figures count of one request",
        ),
        doubt(
            limits.untracked,
            SetLimited,
            blocks,
            "or more touches of blocks are not counted because they lie too far apart: give larger blocks with --block",
        ),
        processes(&limits.processes),
        doubt(
            limits.unwritten,
            SetLimited,
            "absorption",
            "stretches of 32 KiB written within 30 seconds had no room in the memory: how much memory would absorb the writes is left out; --memory sets the bound",
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

/// Figures that depend on a disk's queue.
pub(super) const OF_QUEUES: &str = "queue_length, idle_frac, queue_mean_read, queue_mean_write, daily_queue_mean, queue_agreement, idle_ns, idle_time_frac, in_flight_mean";
/// The most disks that are named.
const MOST_NAMED: usize = 4;

/// How far off the queue figures may be because parts met in a long backlog.
fn queues((disks, unseen): &(Vec<String>, Unseen)) -> Option<Warning> {
    let mut names = disks.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if disks.len() > MOST_NAMED {
        names += &format!(" and {} more disks", disks.len() - MOST_NAMED);
    }
    let text = format!(
        "requests to {names} were in flight for longer than the {HEAD} arrivals that a part of the trace keeps for its merge: behind them queues were longer than the figures say, by up to so many requests, and for up to {} the disks count as idle, or as busy twice; all other figures hold. Cut the trace elsewhere",
        Nanos(unseen.time_ns as f64)
    );
    doubt(unseen.ios, WarningKind::SetLimited, OF_QUEUES, &text)
}

/// What the list of processes lacks; `None` if all were followed.
fn processes(lacking: &Lacking) -> Option<Warning> {
    let listed = match lacking.listed_most {
        0 => "of those listed no request is missing".to_owned(),
        most => format!("of one that is listed up to {most} requests may be missing"),
    };
    let text = format!(
        "requests are of processes that were given up, the least busy ones, to bound the memory: a process that is not listed issued at most {} requests, and {listed}",
        lacking.unlisted_most
    );
    doubt(lacking.ios, WarningKind::SetLimited, "processes", &text)
}

fn doubt(count: u64, kind: WarningKind, place: &str, text: &str) -> Option<Warning> {
    (count > 0).then(|| Warning::new(kind, format!("{count} {text}")).at(place))
}
