//! Compares a trace's numbers with those that the paper prints for its three systems.

use super::few::{placed, share, share_of};
use super::reference::{self, SYSTEMS};
use crate::plot::Unit;
use crate::text::{duration, percent};
use ioscape_schema::trace_lacks::TraceLacks;
use ioscape_schema::trace_summary::{Times, TraceSummary};
use ioscape_schema::{Distribution, IoType, Op};

/// One number of the trace beside those that the paper prints for cello, snake and hplajw.
pub struct PaperComparison {
    /// What the number is.
    pub what: &'static str,
    /// The value of this trace.
    pub here: String,
    /// The values of the paper's systems.
    pub printed: [String; 3],
    /// Where the paper prints it.
    pub place: String,
}

fn milliseconds(ns: f64) -> String {
    let ms = ns / 1e6;
    if ms >= 100.0 {
        format!("{ms:.0} ms")
    } else if ms >= 0.1 {
        format!("{ms:.1} ms")
    } else {
        Unit::Nanos.show(ns)
    }
}

/// A printed fraction, or a range or bound of fractions, in per cent.
fn in_percent(text: &str) -> String {
    let (bound, numbers) = text.strip_prefix("> ").map_or(("", text), |rest| ("> ", rest));
    let each = numbers.split('-').map(|number| number.parse::<f64>().map(|n| n * 100.0));
    let Ok(parts) = each.collect::<Result<Vec<f64>, _>>() else { return text.to_owned() };
    let parts: Vec<String> = parts.iter().map(|n| crate::text::percent(n / 100.0)).collect();
    let last = parts.len().saturating_sub(1);
    let bare = parts.iter().enumerate().map(|(index, part)| {
        if index < last { part.trim_end_matches(" %").to_owned() } else { part.clone() }
    });
    format!("{bound}{}", bare.collect::<Vec<_>>().join(" to "))
}

/// A share that the text of the paper quotes: its name, its key, and the trace's own value if
/// known.
type Share = (&'static str, &'static str, Option<String>);

/// Half a minute: a window of the paper, whose other one, an hour, has 120 of these.
const HALF_MINUTE_NS: u64 = 30_000_000_000;

/// The share `part` of `whole`; `None` if `whole` is 0.
fn of(part: u64, whole: u64) -> Option<String> {
    (whole > 0).then(|| share(part, whole))
}

/// Shares of requests.
fn of_requests(trace: &TraceSummary) -> [Share; 5] {
    let writes: u64 = trace.partitions.iter().filter_map(|p| p.load.writes()).sum();
    let typed = trace.types.iter().any(|one| one.io_type != IoType::Unknown);
    let metadata = trace.types.iter().filter(|t| t.op == Op::Write && t.io_type.is_metadata());
    let metadata: u64 = metadata.map(|t| t.ios).sum();
    // Unknown if the trace has no types.
    let asynchronous: Option<u64> = trace.types.iter().map(|t| t.asynchronous).sum();
    let asynchronous = asynchronous.filter(|_| !trace.types.is_empty());
    let waited = asynchronous.map(|asynchronous| trace.ios.saturating_sub(asynchronous));
    let reads: u64 = trace.partitions.iter().filter_map(|p| p.load.reads).sum();
    let reads = (!TraceLacks::of(&trace.info).operations).then_some(reads);
    let sequential = trace.sequential.map(|all| all.adjacent_writes + all.interleaved_writes);
    // Flushes have no address. Older results do not tell how many writes move data.
    let aligned = trace.alignment.iter().find(|one| one.op == Op::Write).map_or(0, |one| one.ios);
    let loads = trace.partitions.iter().map(|one| &one.load);
    let moving = loads.filter_map(|load| Some(placed(load.writes()?, load.write_bytes)));
    let writes_placed = if trace.alignment.is_empty() { moving.sum() } else { aligned };
    let gaps = &trace.inter_arrival_ns;
    let soon = (!gaps.is_empty()).then(|| share_of(gaps.fraction_to(1e6), gaps.count));
    [
        ("arrivals within 1 ms of the one before", "inter_arrival_below_1ms", soon),
        ("requests that read", "read_frac", reads.and_then(|reads| of(reads, trace.ios))),
        (
            "writes that are to metadata",
            "metadata_frac_of_writes",
            typed.then(|| of(metadata, writes)).flatten(),
        ),
        (
            "requests not flagged asynchronous",
            "sync_frac",
            waited.and_then(|waited| of(waited, trace.ios)),
        ),
        (
            "writes that are sequential",
            "sequential_frac_of_writes",
            sequential.and_then(|sequential| of(sequential, writes_placed)),
        ),
    ]
}

/// Shares of the writes of the busiest disk.
fn of_disk(trace: &TraceSummary) -> [Share; 3] {
    let busiest = trace.disks.iter().max_by_key(|disk| disk.load.ios);
    let groups = busiest.map(|disk| &disk.write_groups).filter(|groups| !groups.is_empty());
    let bursts = busiest.map(|disk| &disk.write_bursts).filter(|bursts| !bursts.is_empty());
    let again = busiest.and_then(|disk| disk.rewrite_frac.zip(groups.map(|all| all.ios)));
    [
        (
            "writes that come singly, busiest disk",
            "single_writes",
            groups.map(|all| share_of(all.single_frac, all.ios)),
        ),
        (
            "writes within 30 ms of the one before, busiest disk",
            "writes_in_bursts",
            bursts.map(|all| share_of(all.following_frac, all.ios)),
        ),
        (
            "writes that repeat the last write, busiest disk",
            "rewrite_of_last_block",
            again.map(|(again, writes)| share_of(again, writes)),
        ),
    ]
}

/// Shares of overwrites and of writes by block.
fn of_blocks(trace: &TraceSummary) -> [Share; 4] {
    let o = &trace.overwrites;
    let within = |share: Option<f64>| share.map(|share| share_of(share, o.seen()));
    let popularity = &trace.popularity;
    // If these blocks are all that were written, they get all writes, whatever the workload.
    let top = match popularity.top_1_percent_capacity {
        Some(top) => Some(top).filter(|top| *top < 1.0),
        None => Some(popularity.top_1_percent_written).filter(|_| popularity.blocks_written >= 100),
    };
    let thousand = popularity.curve.iter().rfind(|point| point.0 <= 1000);
    let thousand = thousand.filter(|_| popularity.blocks_written > 1000);
    let of_writes = |share: f64| share_of(share, o.block_writes);
    let busiest = match popularity.top_1_percent_capacity {
        Some(_) => "writes to the busiest 1 % of the disks' blocks",
        None => "writes to the busiest 1 % of the blocks written",
    };
    [
        ("overwrites seen that came within a second", "overwritten_within_1s", within(o.within_1s)),
        ("overwrites seen that came within an hour", "overwritten_within_1h", within(o.within_1h)),
        (busiest, "writes_to_1_percent", top.map(of_writes)),
        (
            "writes to the busiest 1000 blocks",
            "writes_to_1000_blocks",
            thousand.map(|point| of_writes(point.1)),
        ),
    ]
}

/// Shares of intervals of 30 s.
fn of_intervals(trace: &TraceSummary) -> [Share; 3] {
    let of = |at: usize| trace.absorption.get(at).filter(|one| one.intervals > 0);
    let (all, metadata) = (of(0), of(1));
    [
        (
            "30 s intervals whose writes fit 200 KB",
            "intervals_in_200kb",
            all.map(|all| share_of(all.fit_200k, all.intervals)),
        ),
        (
            "and metadata writes 100 KB",
            "metadata_intervals_in_100kb",
            metadata.map(|all| share_of(all.fit_100k, all.intervals)),
        ),
        (
            "bytes overwritten within 30 s",
            "overwrites_of_writes",
            all.map(|all| percent(all.overwritten_frac)),
        ),
    ]
}

/// The shares that are left out because the trace is too short for their window.
pub fn left_out(trace: &TraceSummary) -> Option<String> {
    let o = &trace.overwrites;
    if o.is_empty() || TraceLacks::of(&trace.info).fast {
        return None;
    }
    let overwritten = |share: Option<f64>| o.seen() > 0 && share.is_none();
    let windows = [
        (overwritten(o.within_1h), 120 * HALF_MINUTE_NS, "overwrites within an hour"),
        (overwritten(o.within_30s), HALF_MINUTE_NS, "overwrites within 30 s"),
        (trace.absorption.is_empty(), HALF_MINUTE_NS, "writes by intervals of 30 s"),
    ];
    let short = windows
        .into_iter()
        .filter(|(absent, window_ns, _)| *absent && !trace.is_long_enough_for(*window_ns));
    let names: Vec<&str> = short.map(|(.., name)| name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Left out: {}. They need a trace twice as long as the window; this one is {} long.",
            names.join(", "),
            duration(trace.last_ns.saturating_sub(trace.first_ns) as f64)
        )
    })
}

/// Every number that both the paper and the trace have.
///
/// Empty for a trace of slow requests only, which is not a workload to compare.
pub fn with_paper(trace: &TraceSummary) -> Vec<PaperComparison> {
    if TraceLacks::of(&trace.info).fast {
        return Vec::new();
    }
    let mut rows = times(trace);
    rows.extend((!trace.inter_arrival_ns.is_empty()).then(|| {
        let here = milliseconds(trace.inter_arrival_ns.mean);
        let show = |value: &str| format!("{value} ms");
        quoted("mean time between arrivals", "inter_arrival_mean", here, show)
    }));
    let told = shares(trace).filter_map(|(what, key, here)| Some((what, key, here?)));
    rows.extend(told.map(|(what, key, here)| quoted(what, key, here, in_percent)));
    rows
}

/// The mean times, as in Table 4.
fn times(trace: &TraceSummary) -> Vec<PaperComparison> {
    let table_4 = reference::table_4();
    let times = &trace.response_times;
    let nothing = Times::default();
    let [read, write] = [&times.read, &times.write].map(|of| of.as_ref().unwrap_or(&nothing));
    let all = [
        ("mean physical time, reads", "reads", "physical_ms", &read.physical_ns),
        ("mean physical time, writes", "writes", "physical_ms", &write.physical_ns),
        ("mean physical time, all", "total", "physical_ms", &times.all.physical_ns),
        ("mean elapsed time, reads", "reads", "elapsed_ms", &read.elapsed_ns),
        ("mean elapsed time, writes", "writes", "elapsed_ms", &write.elapsed_ns),
        ("mean elapsed time, all", "total", "elapsed_ms", &times.all.elapsed_ns),
    ];
    let told = all.into_iter().filter(|(.., of)| !of.is_empty());
    let row = |(what, row, column, of): (&'static str, &str, &str, &Distribution)| {
        let printed = SYSTEMS.map(|system| {
            let value = table_4.value(&[system, row], column);
            value.map_or_else(String::new, |value| format!("{value} ms"))
        });
        let (here, place) = (milliseconds(of.mean), "Table 4".to_owned());
        PaperComparison { what, here, printed, place }
    };
    told.map(row).collect()
}

/// All shares that the text of the paper quotes.
fn shares(trace: &TraceSummary) -> impl Iterator<Item = Share> {
    let blocks = of_blocks(trace).into_iter().chain(of_intervals(trace));
    of_requests(trace).into_iter().chain(of_disk(trace)).chain(blocks)
}

/// A number beside those that the paper's text quotes under this key.
fn quoted(
    what: &'static str,
    key: &str,
    here: String,
    show: impl Fn(&str) -> String,
) -> PaperComparison {
    let quoted = reference::quoted();
    let printed =
        SYSTEMS.map(|system| quoted.value(&[key], system).map_or_else(String::new, &show));
    let place = quoted.value(&[key], "source").unwrap_or_default().to_owned();
    PaperComparison { what, here, printed, place }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::trace_summary::{
        AlignedShare, DiskSummary, Load, Overwrites, PartitionShare, Runs, Sequential,
    };

    #[test]
    fn printed_fractions_are_shown_in_per_cent() {
        assert_eq!(
            ["0.44", "0.10-0.20", "> 0.85"].map(in_percent),
            ["44 %", "10 to 20 %", "> 85 %"]
        );
        assert_eq!(in_percent("many"), "many");
    }

    #[test]
    fn every_share_is_among_the_quoted_values() {
        let nothing = TraceSummary::default();
        let rows = shares(&nothing);
        let rows = rows.map(|(what, key, _)| quoted(what, key, String::new(), in_percent));
        assert!(
            rows.into_iter()
                .all(|row| !row.place.is_empty() && row.printed.iter().any(|p| !p.is_empty()))
        );
        assert!(with_paper(&TraceSummary::default()).is_empty(), "nothing is told of no request");
    }

    /// Of five writes, three are flushes. Of the other two, one repeats a write and one is
    /// sequential.
    #[test]
    fn shares_of_writes_are_of_those_that_move_data() {
        let load = Load { ios: 5, reads: Some(0), ..Load::default() };
        let write_groups = Runs { runs: 1, ios: 2, ..Runs::default() };
        let disk =
            DiskSummary { load, write_groups, rewrite_frac: Some(0.5), ..DiskSummary::default() };
        let sequential = Sequential { adjacent_writes: 1, ..Sequential::default() };
        let mut trace = TraceSummary {
            ios: 5,
            partitions: vec![PartitionShare { load, ..PartitionShare::default() }],
            alignment: vec![AlignedShare { op: Op::Write, unit_bytes: 512, ios: 2, aligned: 2 }],
            sequential: Some(sequential),
            disks: vec![disk],
            ..TraceSummary::default()
        };
        let shown = |trace: &TraceSummary, key: &str| {
            shares(trace).find(|share| share.1 == key).and_then(|share| share.2)
        };
        let sequential = "sequential_frac_of_writes";
        assert_eq!(shown(&trace, sequential).as_deref(), Some("1 of 2"));
        assert_eq!(shown(&trace, "rewrite_of_last_block").as_deref(), Some("1 of 2"));
        trace.alignment.clear();
        assert_eq!(shown(&trace, sequential).as_deref(), Some("1 of 5"), "an older result");
        trace.partitions[0].load.write_bytes = Some(0);
        assert_eq!(shown(&trace, sequential), None, "flushes alone have no address");
    }

    /// A trace of one second that writes a block four times: no share for hours, and counts for few
    /// writes.
    #[test]
    fn of_a_short_trace_nothing_is_said_of_long_windows() {
        let overwrites = Overwrites { block_writes: 4, count: 3, ..Overwrites::default() };
        let mut trace = TraceSummary { last_ns: 1_000_000_000, overwrites, ..Default::default() };
        let what = |trace: &TraceSummary| {
            let rows =
                with_paper(trace).into_iter().map(|row| format!("{}: {}", row.what, row.here));
            rows.collect::<Vec<_>>().join("; ")
        };
        assert_eq!(what(&trace), "");
        let why = left_out(&trace).expect("a reason");
        assert!(
            why.contains("within an hour, overwrites within 30 s, writes by")
                && why.contains("1 s long"),
            "{why}"
        );
        trace.overwrites.within_1s = Some(1.0 / 3.0);
        assert_eq!(what(&trace), "overwrites seen that came within a second: 1 of 3");
        trace.last_ns = 7_200_000_000_000;
        assert_eq!(
            left_out(&trace),
            None,
            "what is absent of a long trace is so for other reasons"
        );
        assert_eq!(left_out(&TraceSummary::default()), None, "nothing is written");
    }
}
