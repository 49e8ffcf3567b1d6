//! The tables of a trace, as heads and rows that the page and the terminal share.

use super::compare::with_paper;
use super::few::{placed, quantile, share, share_of, told};
use super::reference::SYSTEMS;
use crate::columns::{Column, fields, heads};
use crate::plot::Unit;
use crate::text::{inert, none, percent};
use ioscape_schema::trace_lacks::TraceLacks;
use ioscape_schema::trace_summary::{DiskSummary, Distances, Load, Times, TraceSummary, TypeShare};
use ioscape_schema::units::{Bytes, Count};
use ioscape_schema::{IoType, Op, WarningKind};

/// A table: heads, and rows with as many cells.
pub struct Rows {
    /// Heads of the columns; the first column is words, the others are numbers.
    pub head: Vec<&'static str>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
    /// The number of rows that are only in the result file.
    pub left_out: usize,
}

impl Rows {
    /// A table that holds all its rows.
    pub fn whole(head: Vec<&'static str>, rows: Vec<Vec<String>>) -> Self {
        Self { head, rows, left_out: 0 }
    }

    /// A table of the first rows; `all` is the number of rows altogether.
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

fn whole(number: f64) -> String {
    Count(number).to_string()
}

fn tenths(number: f64) -> String {
    format!("{number:.1}")
}

/// The trace compared with the paper.
pub fn paper(trace: &TraceSummary) -> Rows {
    let head = ["", "this trace", SYSTEMS[0], SYSTEMS[1], SYSTEMS[2], "printed in"];
    let rows = with_paper(trace).into_iter().map(|row| {
        let mut cells = vec![row.what.to_owned(), row.here];
        cells.extend(row.printed.map(|p| if p.is_empty() { none() } else { p }));
        cells.push(row.place);
        cells
    });
    Rows::whole(head.into(), rows.collect())
}

/// The heads of a table of loads: `first`, then those of the load.
///
/// If the operations are unknown, only requests and bytes follow.
fn load_head(trace: &TraceSummary, first: &[&'static str]) -> Vec<&'static str> {
    let of_load = if tells_operations(trace) { &LOAD[..] } else { &["I/Os", "share", "bytes"] };
    [first, of_load].concat()
}

/// Whether it is known which requests read and which write.
pub fn tells_operations(trace: &TraceSummary) -> bool {
    !TraceLacks::of(&trace.info).operations
}

fn load(trace: &TraceSummary, name: Vec<String>, load: &Load) -> Vec<String> {
    let mut cells = name;
    cells.extend([count(load.ios), share(load.ios, trace.ios)]);
    if tells_operations(trace) {
        let amount = |of: Option<u64>| of.map_or_else(none, bytes);
        cells.extend([
            load.reads.map_or_else(none, |reads| share(reads, load.ios)),
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
    let numbered = trace.partitions.iter().any(|one| one.partition > 0);
    let row = |one: &ioscape_schema::trace_summary::PartitionShare| {
        let partition = match &one.name[..] {
            "" if !numbered => none(),
            "" => one.partition.to_string(),
            name => format!("{} {name}", one.partition),
        };
        let name = vec![inert(&one.disk).into_owned(), inert(&partition).into_owned()];
        load(trace, name, &one.load)
    };
    let head = load_head(trace, &["Disk", "Partition"]);
    let mut all: Vec<_> = trace.partitions.iter().collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.load.ios));
    Rows::first(head, all.iter().take(MOST_ROWS).map(|one| row(one)).collect(), all.len())
}

const LOAD: [&str; 5] = ["I/Os", "share", "reads", "read", "written"];
/// The most rows of a table; more are only in the result file.
const MOST_ROWS: usize = 60;

/// Load by disk (Figure 5).
pub fn disks(trace: &TraceSummary) -> Rows {
    let head = load_head(trace, &["Disk"]);
    let row = |disk: &&DiskSummary| load(trace, vec![inert(&disk.name).into_owned()], &disk.load);
    Rows::first(head, busiest(trace).iter().map(row).collect(), disks_in(trace))
}

/// The number of disks in the trace; the result lists the busiest.
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

/// Load by process, with its footprint if all requests are known.
pub fn processes(trace: &TraceSummary) -> Rows {
    let tells_footprint = !TraceLacks::of(&trace.info).fast;
    let mut head = load_head(trace, &["Process", "Command"]);
    head.extend(tells_footprint.then_some("footprint"));
    head.push("mean elapsed");
    let row = |one: &ioscape_schema::trace_summary::ProcessShare| {
        let name = vec![one.process.to_string(), inert(&one.command).into_owned()];
        let mut cells = load(trace, name, &one.load);
        cells.extend(tells_footprint.then(|| bytes(one.footprint_bytes)));
        cells.push(told(one.elapsed_mean_ns, time));
        cells
    };
    let rows = trace.processes.iter().take(MOST_ROWS).map(row).collect();
    Rows::first(head, rows, trace.processes.len())
}

/// Table 4, with tail latencies.
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
                let quantiles = [(500, of.p50), (900, of.p90), (990, of.p99), (999, of.p999)];
                cells.push(time(of.mean));
                cells.extend(quantiles.map(|(part, at)| quantile(of, part, at, time)));
                cells.push(time(of.max));
                rows.push(cells);
            }
        }
    }
    Rows::whole(vec!["Time of", "mean", "median", "90 %", "99 %", "99.9 %", "longest"], rows)
}

const QUEUES: [Column<DiskSummary>; 10] = [
    ("Disk", |disk| inert(&disk.name).into_owned()),
    ("found idle", |disk| {
        disk.idle_frac.map_or_else(none, |idle| share_of(idle, disk.queue_length.count))
    }),
    ("80 %", |disk| quantile(&disk.queue_length, 800, disk.queue_length.p80, whole)),
    ("90 %", |disk| quantile(&disk.queue_length, 900, disk.queue_length.p90, whole)),
    ("95 %", |disk| quantile(&disk.queue_length, 950, disk.queue_length.p95, whole)),
    ("99 %", |disk| quantile(&disk.queue_length, 990, disk.queue_length.p99, whole)),
    ("longest", |disk| whole(disk.queue_length.max)),
    ("mean, reads", |disk| told(disk.queue_mean_read, tenths)),
    ("mean, writes", |disk| told(disk.queue_mean_write, tenths)),
    ("time idle", |disk| told(disk.idle_time_frac, percent)),
];

/// Table 5: queue lengths by disk.
pub fn queues(trace: &TraceSummary) -> Rows {
    let all = busiest(trace).into_iter().filter(|disk| !disk.queue_length.is_empty());
    let rows: Vec<Vec<String>> = all.map(|disk| fields(&QUEUES, disk).collect()).collect();
    let all = if rows.is_empty() { 0 } else { disks_in(trace) };
    Rows::first(heads(&QUEUES).collect(), rows, all)
}

/// One flag of Table 6: its head, and the number of requests of a type that have it, if known.
type Flag = (&'static str, fn(&TypeShare) -> Option<u64>);

/// The flags of Table 6.
const FLAGS: [Flag; 4] = [
    ("flagged sync", |one| one.sync),
    ("flagged async", |one| one.asynchronous),
    ("not async", |one| one.asynchronous.map(|asynchronous| one.ios - asynchronous)),
    ("raw", |one| one.raw),
];

/// Table 6: types, and the flags that the trace has.
pub fn types(trace: &TraceSummary) -> Rows {
    let all = |op: Op| trace.types.iter().filter(|t| t.op == op).map(|t| t.ios).sum::<u64>();
    let is_told = |flag: &&Flag| trace.types.iter().any(|one| flag.1(one).is_some());
    let flags: Vec<&Flag> = FLAGS.iter().filter(is_told).collect();
    let typed = trace.types.iter().any(|one| one.io_type != IoType::Unknown);
    let row = |one: &TypeShare| {
        let name = match typed {
            true => format!("{}, {}s", type_name(one.io_type), op(one.op)),
            false => format!("{}s", op(one.op)),
        };
        let mut cells = vec![name, count(one.ios)];
        cells.extend(typed.then(|| share(one.ios, all(one.op))));
        cells.push(bytes(one.bytes));
        let flagged = flags.iter().map(|flag| flag.1(one));
        cells.extend(flagged.map(|ios| ios.map_or_else(none, |ios| share(ios, one.ios))));
        cells
    };
    let mut head = vec![if typed { "Type" } else { "Requests" }, "I/Os"];
    head.extend(typed.then_some("of its operation"));
    head.push("bytes");
    head.extend(flags.iter().map(|flag| flag.0));
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

/// The most frequent distance and its count.
///
/// `None` unless one distance is more frequent than all others and makes up at least 1 in 1000.
pub fn most_frequent(distances: &Distances) -> Option<(i64, u64)> {
    let [first, rest @ ..] = &distances.peaks[..] else { return None };
    let next = rest.first().map_or(1, |next| next.1);
    (first.1 > next && first.1 >= distances.count.div_ceil(1000)).then_some(*first)
}

/// Table 7 and the peaks of Figure 9, by disk.
pub fn placement(trace: &TraceSummary) -> Rows {
    let row = |disk: &&DiskSummary| {
        let s = disk.sequential?;
        let peak = most_frequent(&disk.distances);
        let (reads, writes) =
            (placed(disk.load.reads?, disk.load.read_bytes), placed_writes(disk)?);
        Some(vec![
            inert(&disk.name).into_owned(),
            share(s.adjacent_reads, reads),
            share(s.adjacent_reads + s.interleaved_reads, reads),
            share(s.adjacent_writes, writes),
            share(s.adjacent_writes + s.interleaved_writes, writes),
            bytes(s.interleave_bytes),
            peak.map_or_else(none, |peak| {
                format!("{} KiB, {}", peak.0, share(peak.1, disk.distances.count))
            }),
        ])
    };
    let head = vec![
        "Disk",
        "of reads: adjacent",
        "or interleaved",
        "of writes: adjacent",
        "or interleaved",
        "interleave",
        "most frequent distance",
    ];
    let rows: Vec<_> = busiest(trace).iter().filter_map(row).collect();
    let all = if rows.is_empty() { 0 } else { disks_in(trace) };
    Rows::first(head, rows, all)
}

/// The number of writes with an address, unlike flushes: those in groups. Older results lack it.
fn placed_writes(disk: &DiskSummary) -> Option<u64> {
    let writes = placed(disk.load.writes()?, disk.load.write_bytes);
    Some(if disk.write_groups.ios > 0 { disk.write_groups.ios } else { writes })
}

const WRITES: [Column<DiskSummary>; 9] = [
    ("Disk", |disk| inert(&disk.name).into_owned()),
    ("writes", |disk| disk.load.writes().map_or_else(none, count)),
    ("single", |disk| share_of(disk.write_groups.single_frac, disk.write_groups.ios)),
    ("groups of 20+", |disk| share_of(disk.write_groups.in_20_frac, disk.write_groups.ios)),
    ("groups of 50+", |disk| share_of(disk.write_groups.in_50_frac, disk.write_groups.ios)),
    ("within 30 ms", |disk| share_of(disk.write_bursts.following_frac, disk.write_bursts.ios)),
    ("bursts of 100+", |disk| share_of(disk.write_bursts.in_100_frac, disk.write_bursts.ios)),
    ("longest group", |disk| count(disk.write_groups.longest)),
    ("rewrites of the last", |disk| {
        disk.rewrite_frac.map_or_else(none, |share| share_of(share, disk.write_groups.ios))
    }),
];

/// Groups, bursts and rewrites by disk.
pub fn writes(trace: &TraceSummary) -> Rows {
    let all = busiest(trace).into_iter().filter(|disk| !disk.write_groups.is_empty());
    let rows: Vec<Vec<String>> = all.map(|disk| fields(&WRITES, disk).collect()).collect();
    let writing = trace.partitions.iter().filter(|one| one.load.writes() > Some(0));
    let writing: std::collections::BTreeSet<u16> = writing.map(|one| one.device).collect();
    let all = if rows.is_empty() { 0 } else { writing.len() };
    Rows::first(heads(&WRITES).collect(), rows, all)
}

/// Load by day of the trace (Figure 4).
pub fn days(trace: &TraceSummary) -> Rows {
    let row = |(day, step): (usize, &ioscape_schema::trace_summary::TimeStep)| {
        let mut cells = load(trace, vec![format!("{day}")], &step.load);
        cells.push(told(step.elapsed_mean_ns, time));
        cells
    };
    let mut head = load_head(trace, &["Day"]);
    head.push("mean elapsed");
    let days = &trace.daily.steps;
    let rows: Vec<_> = days.iter().take(366).enumerate().map(row).collect();
    if rows.len() > 1 { Rows::first(head, rows, days.len()) } else { Rows::whole(head, Vec::new()) }
}

/// Whether a warning of this kind comes before all numbers, because it says what the trace lacks.
pub fn is_first(kind: WarningKind) -> bool {
    use WarningKind::{OperationsUnknown, RequestsLeftOut, TimesUnknown, TypesUnknown};
    matches!(kind, RequestsLeftOut | TimesUnknown | OperationsUnknown | TypesUnknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::trace_lacks::SLOW_ALONE;
    use ioscape_schema::trace_summary::{ProcessShare, Sequential};

    #[test]
    fn of_slow_requests_alone_no_process_has_a_footprint() {
        let one = ProcessShare::default();
        let mut trace = TraceSummary { processes: vec![one], ..TraceSummary::default() };
        let shown = |trace: &TraceSummary| {
            let Rows { head, rows, .. } = processes(trace);
            (head.contains(&"footprint"), head.len() == rows[0].len())
        };
        assert_eq!(shown(&trace), (true, true));
        trace.info.notes.insert(SLOW_ALONE.to_owned(), "longer than 10 ms".to_owned());
        assert_eq!(shown(&trace), (false, true));
    }

    /// The paper's Table 7, shown below, counts all requests.
    #[test]
    fn the_table_of_placement_says_of_what_its_shares_are() {
        let head = placement(&TraceSummary::default()).head;
        assert_eq!([head[1], head[3]], ["of reads: adjacent", "of writes: adjacent"]);
    }

    /// Once, no flush was "adjacent".
    #[test]
    fn of_requests_that_move_nothing_no_share_is_sequential() {
        let of = |bytes: [u64; 2]| {
            let [read_bytes, write_bytes] = bytes.map(Some);
            let load = Load { ios: 9, reads: Some(4), read_bytes, write_bytes, bytes: None };
            let sequential = Some(Sequential::default());
            let disk = DiskSummary { load, sequential, ..DiskSummary::default() };
            let trace = TraceSummary { disks: vec![disk], ..TraceSummary::default() };
            placement(&trace).rows[0][1..5].join(" ")
        };
        assert_eq!(of([4096, 4096]), "0 of 4 0 of 4 0 of 5 0 of 5");
        assert_eq!(of([0, 4096]), "– – 0 of 5 0 of 5");
        assert_eq!(of([4096, 0]), "0 of 4 0 of 4 – –");
    }
}
