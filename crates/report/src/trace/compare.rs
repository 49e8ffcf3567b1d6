//! A trace's numbers compared with those that the paper prints for its three systems.

use super::reference::{self, SYSTEMS};
use crate::plot::Unit;
use crate::text::percent;
use ioscape_schema::trace_lacks::TraceLacks;
use ioscape_schema::trace_summary::{Times, TraceSummary};
use ioscape_schema::{Distribution, IoType, Op};

/// One number: what it is, the trace's value, the paper's for cello, snake and hplajw, and where it is printed.
pub struct PaperComparison {
    /// What it is.
    pub what: &'static str,
    /// Of this trace.
    pub here: String,
    /// Of the paper's systems.
    pub printed: [String; 3],
    /// Where the paper has it.
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

/// A share that the text of the paper quotes: what it is, its key among the quoted values, the trace's own.
type Share = (&'static str, &'static str, f64);

fn of(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Whether a trace tells what a share counts; without any of what it is a share of, it is none.
fn is_told(trace: &TraceSummary, key: &str) -> bool {
    let busiest = trace.disks.iter().max_by_key(|disk| disk.load.ios);
    let writes = trace.partitions.iter().any(|one| one.load.writes() > Some(0));
    match key {
        "sync_frac" => !trace.types.is_empty(),
        "metadata_frac_of_writes" => {
            writes && trace.types.iter().any(|one| one.io_type != IoType::Unknown)
        }
        "metadata_intervals_in_100kb" => {
            trace.types.iter().any(|one| one.io_type != IoType::Unknown)
                && trace.absorption.get(1).is_some_and(|one| one.intervals > 0)
        }
        "inter_arrival_below_1ms" => !trace.inter_arrival_ns.is_empty(),
        "read_frac" => !TraceLacks::of(&trace.info).operations && trace.ios > 0,
        "sequential_frac_of_writes" => writes && trace.sequential.is_some(),
        "single_writes" => busiest.is_some_and(|disk| !disk.write_groups.is_empty()),
        "writes_in_bursts" => busiest.is_some_and(|disk| !disk.write_bursts.is_empty()),
        "rewrite_of_last_block" => busiest.is_some_and(|disk| disk.rewrite_frac.is_some()),
        "overwritten_within_1s" => trace.overwrites.within_1s.is_some(),
        "overwritten_within_1h" => !trace.overwrites.is_empty(),
        "writes_to_1_percent" | "writes_to_1000_blocks" => !trace.popularity.is_empty(),
        "intervals_in_200kb" | "overwrites_of_writes" => {
            trace.absorption.first().is_some_and(|one| one.intervals > 0)
        }
        _ => true,
    }
}

/// Shares of requests.
fn of_requests(trace: &TraceSummary) -> [Share; 5] {
    let writes: u64 = trace.partitions.iter().filter_map(|p| p.load.writes()).sum();
    let metadata = trace.types.iter().filter(|t| t.op == Op::Write && t.io_type.is_metadata());
    let asynchronous: u64 = trace.types.iter().map(|t| t.asynchronous).sum();
    let reads: u64 = trace.partitions.iter().filter_map(|p| p.load.reads).sum();
    let sequential = trace.sequential.unwrap_or_default();
    let sequential = sequential.adjacent_writes + sequential.interleaved_writes;
    let soon = trace.inter_arrival_ns.fraction_to(1e6);
    let metadata = of(metadata.map(|t| t.ios).sum(), writes);
    [
        ("arrivals within 1 ms of the one before", "inter_arrival_below_1ms", soon),
        ("requests that read", "read_frac", of(reads, trace.ios)),
        ("writes that are to metadata", "metadata_frac_of_writes", metadata),
        ("requests not flagged asynchronous", "sync_frac", 1.0 - of(asynchronous, trace.ios)),
        ("writes that are sequential", "sequential_frac_of_writes", of(sequential, writes)),
    ]
}

/// Shares of the writes of the busiest disk.
fn of_disk(trace: &TraceSummary) -> [Share; 3] {
    let busiest = trace.disks.iter().max_by_key(|disk| disk.load.ios);
    let [single, soon, again] = busiest.map_or([0.0; 3], |disk| {
        [
            disk.write_groups.single_frac,
            disk.write_bursts.following_frac,
            disk.rewrite_frac.unwrap_or(0.0),
        ]
    });
    [
        ("writes that come singly, busiest disk", "single_writes", single),
        ("writes within 30 ms of the one before, busiest disk", "writes_in_bursts", soon),
        ("writes that repeat the last write, busiest disk", "rewrite_of_last_block", again),
    ]
}

/// Shares of blocks and of intervals.
fn of_blocks(trace: &TraceSummary) -> [Share; 7] {
    let absorbed = |index: usize| trace.absorption.get(index).cloned().unwrap_or_default();
    let (all, metadata) = (absorbed(0), absorbed(1));
    let popularity = &trace.popularity;
    let top = popularity.top_1_percent_capacity.unwrap_or(popularity.top_1_percent_written);
    let thousand = popularity.curve.iter().rfind(|point| point.0 <= 1000).map_or(0.0, |p| p.1);
    [
        (
            "overwrites within a second",
            "overwritten_within_1s",
            trace.overwrites.within_1s.unwrap_or(0.0),
        ),
        ("overwrites within an hour", "overwritten_within_1h", trace.overwrites.within_1h),
        ("writes to the busiest 1 % of blocks", "writes_to_1_percent", top),
        ("writes to the busiest 1000 blocks", "writes_to_1000_blocks", thousand),
        ("30 s intervals whose writes fit 200 KB", "intervals_in_200kb", all.fit_200k),
        ("and metadata writes 100 KB", "metadata_intervals_in_100kb", metadata.fit_100k),
        ("bytes overwritten within 30 s", "overwrites_of_writes", all.overwritten_frac),
    ]
}

/// Every number that the paper prints too and the trace tells; slow requests alone are no workload to be compared.
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
    let told = shares(trace).filter(|(_, key, _)| is_told(trace, key));
    rows.extend(told.map(|(what, key, share)| quoted(what, key, percent(share), in_percent)));
    rows
}

/// Mean times, as in Table 4.
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
    of_requests(trace).into_iter().chain(of_disk(trace)).chain(of_blocks(trace))
}

/// A number beside those that the text of the paper quotes under this key.
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
}
