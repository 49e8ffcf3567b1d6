//! The tables of a trace, as heads and rows that page and terminal share.

use super::compare::with_paper;
use super::reference::SYSTEMS;
use crate::plot::Unit;
use crate::text::{inert, percent};
use ioscape_schema::trace_lacks::TraceLacks;
use ioscape_schema::trace_summary::{DiskSummary, Load, Times, TraceSummary};
use ioscape_schema::units::{Bytes, Count};
use ioscape_schema::{IoType, Op, WarningKind};

/// A table: heads, and rows of as many cells.
pub struct Rows {
    /// Heads of the columns; the first column is words, the others are numbers.
    pub head: Vec<&'static str>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
    /// Rows that are in the result file only.
    pub left_out: usize,
}

impl Rows {
    /// A table of all its rows.
    pub fn whole(head: Vec<&'static str>, rows: Vec<Vec<String>>) -> Self {
        Self { head, rows, left_out: 0 }
    }

    /// A table of the first rows of so many.
    fn first(head: Vec<&'static str>, rows: Vec<Vec<String>>, all: usize) -> Self {
        Self { head, left_out: all.saturating_sub(rows.len()), rows }
    }
}

/// A type of blocks in words.
pub fn type_name(io_type: IoType) -> &'static str {
    match io_type {
        IoType::Unknown => "unknown",
        IoType::UserData => "user data",
        IoType::Inode => "inode",
        IoType::Directory => "directory",
        IoType::Indirect => "indirect block",
        IoType::Bitmap => "bitmap",
        IoType::Superblock => "superblock",
        IoType::Journal => "journal",
        IoType::Swap => "swap",
    }
}

/// An operation in words.
pub fn op(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
    }
}

fn count(value: u64) -> String {
    Count(value as f64).to_string()
}

fn bytes(value: u64) -> String {
    Bytes(value as f64).to_string()
}

fn time(ns: f64) -> String {
    Unit::Nanos.show(ns)
}

fn tenths(number: f64) -> String {
    format!("{number:.1}")
}

/// What was measured, or a dash.
fn told(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(|| "\u{2013}".to_owned(), show)
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "\u{2013}".to_owned() } else { percent(part as f64 / whole as f64) }
}

/// The trace compared with the paper.
pub fn paper(trace: &TraceSummary) -> Rows {
    let head = ["", "this trace", SYSTEMS[0], SYSTEMS[1], SYSTEMS[2], "printed in"];
    let rows = with_paper(trace).into_iter().map(|row| {
        let mut cells = vec![row.what.to_owned(), row.here];
        cells.extend(row.printed.map(|p| if p.is_empty() { "\u{2013}".to_owned() } else { p }));
        cells.push(row.place);
        cells
    });
    Rows::whole(head.into(), rows.collect())
}

/// Heads of a table of loads: what it begins with, and the load; without operations requests and bytes alone.
fn load_head(trace: &TraceSummary, first: &[&'static str]) -> Vec<&'static str> {
    let of_load = if tells_operations(trace) { &LOAD[..] } else { &["I/Os", "share", "bytes"] };
    [first, of_load].concat()
}

/// Whether it is known what reads and what writes.
pub fn tells_operations(trace: &TraceSummary) -> bool {
    !TraceLacks::of(&trace.info).operations
}

fn load(trace: &TraceSummary, name: Vec<String>, load: &Load) -> Vec<String> {
    let mut cells = name;
    cells.extend([count(load.ios), share(load.ios, trace.ios)]);
    if tells_operations(trace) {
        let amount = |of: Option<u64>| of.map_or_else(|| "\u{2013}".to_owned(), bytes);
        cells.extend([
            told(load.read_frac(), percent),
            amount(load.read_bytes),
            amount(load.write_bytes),
        ]);
    } else {
        cells.push(bytes(load.moved()));
    }
    cells
}

/// Table 3: load by partition.
pub fn partitions(trace: &TraceSummary) -> Rows {
    let row = |one: &ioscape_schema::trace_summary::PartitionShare| {
        let name = if one.name.is_empty() { String::new() } else { format!(" {}", one.name) };
        let partition = format!("{}{name}", one.partition);
        let name = vec![inert(&one.disk).into_owned(), inert(&partition).into_owned()];
        load(trace, name, &one.load)
    };
    let head = load_head(trace, &["Disk", "Partition"]);
    let mut all: Vec<_> = trace.partitions.iter().collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.load.ios));
    Rows::first(head, all.iter().take(MOST_ROWS).map(|one| row(one)).collect(), all.len())
}

const LOAD: [&str; 5] = ["I/Os", "share", "reads", "read", "written"];
/// More rows than this are in the result file only.
const MOST_ROWS: usize = 60;

/// Load by disk (Figure 5).
pub fn disks(trace: &TraceSummary) -> Rows {
    let head = load_head(trace, &["Disk"]);
    let row = |disk: &&DiskSummary| load(trace, vec![inert(&disk.name).into_owned()], &disk.load);
    Rows::first(head, busiest(trace).iter().map(row).collect(), disks_in(trace))
}

/// How many disks the trace has; the result lists the busiest.
fn disks_in(trace: &TraceSummary) -> usize {
    let of: std::collections::BTreeSet<u16> = trace.partitions.iter().map(|p| p.device).collect();
    of.len().max(trace.disks.len())
}

fn busiest(trace: &TraceSummary) -> Vec<&DiskSummary> {
    let mut disks: Vec<&DiskSummary> = trace.disks.iter().collect();
    disks.sort_by_key(|disk| std::cmp::Reverse(disk.load.ios));
    disks.truncate(MOST_ROWS);
    disks
}

/// Load by process.
pub fn processes(trace: &TraceSummary) -> Rows {
    let mut head = load_head(trace, &["Process", "Command"]);
    head.extend(["footprint", "mean elapsed"]);
    let row = |one: &ioscape_schema::trace_summary::ProcessShare| {
        let name = vec![one.process.to_string(), inert(&one.command).into_owned()];
        let mut cells = load(trace, name, &one.load);
        cells.extend([bytes(one.footprint_bytes), told(one.elapsed_mean_ns, time)]);
        cells
    };
    let rows = trace.processes.iter().take(MOST_ROWS).map(row).collect();
    Rows::first(head, rows, trace.processes.len())
}

/// Table 4 with the tails.
pub fn times(trace: &TraceSummary) -> Rows {
    let all = &trace.response_times;
    let mut rows = Vec::new();
    let [read, write] = [&all.read, &all.write].map(Option::as_ref);
    for (name, times) in [("reads", read), ("writes", write), ("all", Some(&all.all))] {
        let Some(times) = times else { continue };
        let Times { physical_ns, elapsed_ns } = times;
        for (kind, of) in [("physical", physical_ns), ("elapsed", elapsed_ns)] {
            if of.count > 0 {
                let mut cells = vec![format!("{name}, {kind}")];
                cells.extend([of.mean, of.p50, of.p90, of.p99, of.p999, of.max].map(time));
                rows.push(cells);
            }
        }
    }
    Rows::whole(vec!["Time of", "mean", "median", "90 %", "99 %", "99.9 %", "longest"], rows)
}

/// Table 5: queue lengths by disk.
pub fn queues(trace: &TraceSummary) -> Rows {
    let row = |disk: &&DiskSummary| {
        let queue = &disk.queue_length;
        let mut cells = vec![inert(&disk.name).into_owned(), told(disk.idle_frac, percent)];
        cells.extend(
            [queue.p80, queue.p90, queue.p95, queue.p99, queue.max].map(|n| Count(n).to_string()),
        );
        cells.extend([disk.queue_mean_read, disk.queue_mean_write].map(|mean| told(mean, tenths)));
        cells.push(told(disk.idle_time_frac, percent));
        cells
    };
    let head = vec![
        "Disk",
        "found idle",
        "80 %",
        "90 %",
        "95 %",
        "99 %",
        "longest",
        "mean, reads",
        "mean, writes",
        "time idle",
    ];
    let all = busiest(trace);
    let told = all.iter().filter(|disk| !disk.queue_length.is_empty());
    let rows: Vec<_> = told.map(row).collect();
    let all = if rows.is_empty() { 0 } else { disks_in(trace) };
    Rows::first(head, rows, all)
}

/// Table 6: types.
pub fn types(trace: &TraceSummary) -> Rows {
    let whole = |op: Op| trace.types.iter().filter(|t| t.op == op).map(|t| t.ios).sum::<u64>();
    let row = |one: &ioscape_schema::trace_summary::TypeShare| {
        vec![
            format!("{}, {}s", type_name(one.io_type), op(one.op)),
            count(one.ios),
            share(one.ios, whole(one.op)),
            bytes(one.bytes),
            share(one.sync, one.ios),
            share(one.asynchronous, one.ios),
            share(one.ios - one.asynchronous, one.ios),
            share(one.raw, one.ios),
        ]
    };
    let head = vec![
        "Type",
        "I/Os",
        "of its operation",
        "bytes",
        "flagged sync",
        "flagged async",
        "not async",
        "raw",
    ];
    Rows::whole(head, trace.types.iter().map(row).collect())
}

/// Requests that begin and end at multiples of a size.
pub fn alignment(trace: &TraceSummary) -> Rows {
    let mut units: Vec<u64> = trace.alignment.iter().map(|one| one.unit_bytes).collect();
    units.sort_unstable();
    units.dedup();
    let of = |unit: u64, op: Op| {
        let found = trace.alignment.iter().find(|one| (one.unit_bytes, one.op) == (unit, op));
        found.map_or_else(|| share(0, 0), |one| share(one.aligned, one.ios))
    };
    let row = |unit: &u64| vec![bytes(*unit), of(*unit, Op::Read), of(*unit, Op::Write)];
    Rows::whole(vec!["Aligned to", "reads", "writes"], units.iter().map(row).collect())
}

/// Table 7 and the peaks of Figure 9, by disk.
pub fn placement(trace: &TraceSummary) -> Rows {
    let row = |disk: &&DiskSummary| {
        let s = disk.sequential?;
        let peak = disk.distances.peaks.first();
        let (reads, writes) = (disk.load.reads?, disk.load.writes()?);
        Some(vec![
            inert(&disk.name).into_owned(),
            share(s.adjacent_reads, reads),
            share(s.adjacent_reads + s.interleaved_reads, reads),
            share(s.adjacent_writes, writes),
            share(s.adjacent_writes + s.interleaved_writes, writes),
            bytes(s.interleave_bytes),
            peak.map_or_else(String::new, |peak| {
                format!("{} KiB, {}", peak.0, share(peak.1, disk.distances.count))
            }),
        ])
    };
    let head = vec![
        "Disk",
        "reads adjacent",
        "or interleaved",
        "writes adjacent",
        "or interleaved",
        "interleave",
        "most frequent distance",
    ];
    let rows: Vec<_> = busiest(trace).iter().filter_map(row).collect();
    let all = if rows.is_empty() { 0 } else { disks_in(trace) };
    Rows::first(head, rows, all)
}

/// Groups, bursts and rewrites by disk.
pub fn writes(trace: &TraceSummary) -> Rows {
    let row = |disk: &&DiskSummary| {
        let (groups, bursts) = (&disk.write_groups, &disk.write_bursts);
        let in_bursts = |share: f64| (!bursts.is_empty()).then_some(share);
        vec![
            inert(&disk.name).into_owned(),
            disk.load.writes().map_or_else(String::new, count),
            percent(groups.single_frac),
            percent(groups.in_20_frac),
            percent(groups.in_50_frac),
            told(in_bursts(bursts.following_frac), percent),
            told(in_bursts(bursts.in_100_frac), percent),
            count(groups.longest),
            told(disk.rewrite_frac, percent),
        ]
    };
    let head = vec![
        "Disk",
        "writes",
        "single",
        "groups of 20+",
        "groups of 50+",
        "within 30 ms",
        "bursts of 100+",
        "longest group",
        "rewrites of the last",
    ];
    let all = busiest(trace);
    let writing = trace.partitions.iter().filter(|one| one.load.writes() > Some(0));
    let writing: std::collections::BTreeSet<u16> = writing.map(|one| one.device).collect();
    let rows: Vec<_> = all.iter().filter(|disk| !disk.write_groups.is_empty()).map(row).collect();
    let all = if rows.is_empty() { 0 } else { writing.len() };
    Rows::first(head, rows, all)
}

/// Days of the trace: load by day (Figure 4).
pub fn days(trace: &TraceSummary) -> Rows {
    let row = |(day, step): (usize, &ioscape_schema::trace_summary::TimeStep)| {
        let mut cells = load(trace, vec![format!("{day}")], &step.load);
        cells.push(told(step.elapsed_mean_ns, time));
        cells
    };
    let mut head = load_head(trace, &["Day"]);
    head.push("mean elapsed");
    let rows: Vec<_> = trace.daily.steps.iter().take(366).enumerate().map(row).collect();
    Rows::whole(head, if rows.len() > 1 { rows } else { Vec::new() })
}

/// Whether a doubt of that kind stands before all numbers: it says what the trace lacks.
pub fn is_first(kind: WarningKind) -> bool {
    use WarningKind::{OperationsUnknown, RequestsLeftOut, TimesUnknown, TypesUnknown};
    matches!(kind, RequestsLeftOut | TimesUnknown | OperationsUnknown | TypesUnknown)
}

/// The few numbers that say most, with what they are.
pub fn headlines(trace: &TraceSummary) -> Vec<(&'static str, String, String)> {
    let lacks = TraceLacks::of(&trace.info);
    let reads: u64 = trace.partitions.iter().filter_map(|p| p.load.reads).sum();
    let moved: u64 = trace.partitions.iter().map(|p| p.load.moved()).sum();
    let span = trace.last_ns.saturating_sub(trace.first_ns) as f64;
    let elapsed = &trace.response_times.all.elapsed_ns;
    let per_second = if span > 0.0 { trace.ios as f64 / span * 1e9 } else { 0.0 };
    let requests = match () {
        () if lacks.operations => "what reads and what writes is not told".to_owned(),
        () if lacks.fast => {
            format!("the slow ones alone, {} of them reads", share(reads, trace.ios))
        }
        () => format!("{} of them reads", share(reads, trace.ios)),
    };
    let time = match lacks.fast {
        true => "from the first slow request to the last".to_owned(),
        false => format!("{per_second:.2} requests per second"),
    };
    let block = bytes(trace.block_bytes);
    let set = match trace.working_set.is_empty() {
        true if lacks.fast => "by the slow requests".to_owned(),
        _ => format!("{} touched, in whole blocks of {block}", bytes(trace.working_set.bytes)),
    };
    let mut lines = vec![
        ("Requests", count(trace.ios), requests),
        ("Time", ioscape_schema::units::Seconds(span / 1e9).to_string(), time),
        ("Moved", bytes(moved), set),
    ];
    if !elapsed.is_empty() {
        let tail = format!("99 % within {}", self::time(elapsed.p99));
        lines.push(("Mean elapsed time", self::time(elapsed.mean), tail));
    }
    lines.extend(misses(trace));
    lines
}

/// The miss ratio with a cache of about a quarter of what is touched; of a sampled one where the exact one lies.
fn misses(trace: &TraceSummary) -> Option<(&'static str, String, String)> {
    let curve = trace.miss_ratio.curves.iter().min_by_key(|curve| curve.one_in)?;
    let quarter = trace.working_set.bytes as f64 / 4.0;
    let off = |size: f64| (size / quarter).ln().abs();
    let points = curve.points.iter().enumerate();
    let (at, &(size, ratio)) = points.min_by(|a, b| off(a.1.0).total_cmp(&off(b.1.0)))?;
    // A set of a few blocks has no such size.
    if off(size) > std::f64::consts::LN_2 {
        return None;
    }
    let cache = format!("with {}, about a quarter of what is touched", Bytes(size));
    let (value, more) = match curve.interval90.get(at) {
        Some([low, high]) => {
            let [low, high] = [low.max(0.0), high.min(1.0)].map(percent);
            let low = low.trim_end_matches(" %");
            let more = format!(
                "{cache}; one block in {} is followed, and the exact ratio is in brackets for nine traces of ten",
                curve.one_in
            );
            (format!("{} ({low} to {high})", percent(ratio)), more)
        }
        None => (percent(ratio), cache),
    };
    Some(("Misses of an LRU cache", value, more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::TraceInfo;
    use ioscape_schema::trace_summary::{MissRatio, MissRatioCurve, PartitionShare, WorkingSet};

    fn with(note: &str) -> TraceSummary {
        let load = Load {
            ios: 50,
            bytes: None,
            reads: Some(50),
            read_bytes: Some(4096),
            write_bytes: Some(0),
        };
        let notes = [(note.to_owned(), String::new())].into();
        TraceSummary {
            info: TraceInfo { notes, ..TraceInfo::default() },
            ios: 50,
            last_ns: 5_000_000_000,
            partitions: vec![PartitionShare { load, ..PartitionShare::default() }],
            ..TraceSummary::default()
        }
    }

    fn all(rows: &Rows) -> String {
        [rows.head.join(" "), rows.rows.concat().join(" ")].concat()
    }

    #[test]
    fn without_operations_no_number_is_of_reads() {
        let trace = with("operations");
        let words: Vec<String> = headlines(&trace).into_iter().map(|line| line.2).collect();
        assert_eq!(words[0], "what reads and what writes is not told");
        assert!(!all(&partitions(&trace)).contains("read"), "{}", all(&partitions(&trace)));
        assert!(!paper(&trace).rows.iter().any(|row| row[0].contains("read")));
        let mut forgotten = trace.clone();
        forgotten.partitions[0].load.forget_operations();
        assert_eq!(all(&partitions(&forgotten)), all(&partitions(&trace)), "the bytes stay");
        assert!(all(&partitions(&with("host"))).contains("reads"));
    }

    #[test]
    fn of_slow_requests_alone_there_is_no_rate() {
        let words: Vec<String> =
            headlines(&with("slow requests alone")).into_iter().map(|line| line.2).collect();
        assert!(words.iter().all(|word| !word.contains("per second") && !word.contains("touched")));
        assert!(paper(&with("slow requests alone")).rows.is_empty());
        assert!(headlines(&with("host"))[1].2.contains("10.00 requests per second"));
    }

    #[test]
    fn a_sampled_miss_ratio_is_said_with_its_bounds() {
        let points = vec![(8192.0, 0.9), (16384.0, 0.5), (65536.0, 0.2)];
        let mut trace = with("host");
        trace.working_set = WorkingSet { bytes: 65536, ..WorkingSet::default() };
        let interval90 = vec![[0.8, 1.0], [0.41, 0.62], [0.1, 0.3]];
        let sampled =
            MissRatioCurve { one_in: 16, interval90, points: points.clone(), ..Default::default() };
        trace.miss_ratio = MissRatio { curves: vec![sampled] };
        let (_, value, more) = headlines(&trace).pop().expect("headlines");
        assert_eq!(value, "50 % (41 to 62 %)");
        assert!(more.starts_with("with 16 KiB") && more.contains("one block in 16"), "{more}");
        let exact = MissRatioCurve { one_in: 1, points, ..Default::default() };
        trace.miss_ratio.curves.insert(0, exact);
        assert_eq!(headlines(&trace).pop().expect("headlines").1, "50 %");
    }
}
