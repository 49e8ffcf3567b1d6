//! The week of hplajw against what Ruemmler & Wilkes print of it: "UNIX disk access patterns",
//! 1993.
//!
//! The paper's tables cover 63 days, the file covers the week of their Figures 4, 9 and 14 to 18.
//! Where the week differs from the 63 days, its value is pinned beside the printed one.

use super::data;
use ioscape_schema::trace_summary::{TraceSummary, TypeShare};
use ioscape_schema::{IoType, Op};
use ioscape_trace::analyze::{Analysis, AnalysisOptions};

fn summary() -> Option<TraceSummary> {
    let (rows, info) = data::rows(&["hplajw/ajw.1week.srt"])?;
    let mut analysis = Analysis::new(&AnalysisOptions::default().beginning(&info));
    rows.chunks(8192).for_each(|batch| analysis.update(batch));
    Some(analysis.finish("hplajw", &info))
}

/// Checks that `found` is the pinned value of the week, to half of its last digit.
fn pinned(what: &str, found: f64, week: f64, last_digit: f64) {
    assert!((found - week).abs() <= last_digit / 2.0 + 1e-9, "{what}: {found}, pinned {week}");
}

#[test]
fn response_times_and_queues() {
    let Some(found) = summary() else { return };
    let times = &found.response_times;
    for (what, times, paper, week) in [
        ("reads", times.read.as_ref(), 27.5, 35.9),
        ("writes", times.write.as_ref(), 24.1, 150.1),
        ("all", Some(&times.all), 25.5, 116.7),
    ] {
        let times = times.expect("operations are told");
        let physical = times.physical_ns.mean / 1e6;
        assert!((physical / paper - 1.0).abs() < 0.02, "Table 4, {what}: {physical} ms, {paper}");
        // Table 4 has 39.2, 142 and 98.5 ms for 63 days.
        pinned(what, times.elapsed_ns.mean / 1e6, week, 0.1);
    }
    let root = &found.disks[0];
    // Table 5, disk A: 63.0 %; 5, 13, 20, 39, 124.
    pinned("idle", root.idle_frac.expect("completions are told"), 0.603, 0.001);
    let queue = &root.queue_length;
    let percentiles = [queue.p80, queue.p90, queue.p95, queue.p99, queue.max];
    assert_eq!(percentiles, [7.0, 16.0, 24.0, 44.0, 104.0], "Table 5");
    let agreement: Vec<_> = found.disks.iter().filter_map(|d| d.queue_agreement).collect();
    let sum = |pick: fn(&_) -> u64| agreement.iter().map(pick).sum::<u64>();
    assert_eq!(sum(|a: &ioscape_schema::trace_summary::QueueAgreement| a.recorded), 44_519);
    assert!(sum(|a| a.equal) >= 44_480);
}

#[test]
fn types_and_their_flags() {
    let Some(found) = summary() else { return };
    let ios = |op: Op, of: fn(IoType) -> bool| {
        let rows = found.types.iter().filter(|t| t.op == op && of(t.io_type));
        let waited = |t: &TypeShare| t.ios - t.asynchronous.expect("it is told");
        rows.fold([0u64; 2], |sum, t| [sum[0] + t.ios, sum[1] + waited(t)])
    };
    let all = [Op::Read, Op::Write].map(|op| ios(op, |_| true)[0] as f64);
    let (reads, writes) = (all[0], all[1]);
    let user = |t: IoType| t == IoType::UserData;
    // Table 6: writes 21.7, 71.2, 7.1 %; reads 23.6, 10.7, 29.2, 36.4 %.
    for (what, op, of, week) in [
        ("user writes", Op::Write, user as fn(IoType) -> bool, 0.249),
        ("metadata writes", Op::Write, IoType::is_metadata, 0.741),
        ("swap writes", Op::Write, |t| t == IoType::Swap, 0.011),
        ("user reads", Op::Read, user, 0.314),
        ("metadata reads", Op::Read, IoType::is_metadata, 0.164),
        ("swap reads", Op::Read, |t| t == IoType::Swap, 0.298),
        ("unknown reads", Op::Read, |t| t == IoType::Unknown, 0.224),
    ] {
        let whole = if op == Op::Read { reads } else { writes };
        pinned(what, ios(op, of)[0] as f64 / whole, week, 0.001);
    }
    // Table 6, in parentheses: 26 % and 52 % of the writes are not flagged asynchronous.
    for (what, of, week) in
        [("user", user as fn(IoType) -> bool, 0.24), ("metadata", IoType::is_metadata, 0.57)]
    {
        let [all, sync] = ios(Op::Write, of);
        pinned(what, sync as f64 / all as f64, week, 0.01);
    }
}

#[test]
fn arrivals_placement_and_groups() {
    let Some(found) = summary() else { return };
    // Figure 6: mean 13.072 s over 63 days, 10 to 20 % below a millisecond on the three systems.
    pinned("mean inter-arrival", found.inter_arrival_ns.mean / 1e9, 13.55, 0.01);
    pinned("below 1 ms", found.inter_arrival_ns.fraction_to(1e6), 0.23, 0.01);
    let root = &found.disks[0];
    assert_eq!(
        found.distances.peaks[0].0, -8,
        "Figure 9: the largest peak is the overwrite of a block"
    );
    let sequential = found.sequential.expect("places are told");
    assert_eq!(sequential.interleave_bytes, 16 << 10, "the second peak is the interleave");
    let writes = found.disks.iter().map(|d| d.load.writes().unwrap_or(0)).sum::<u64>() as f64;
    let ahead = sequential.adjacent_writes + sequential.interleaved_writes;
    // The paper says 8 to 12 % of the writes; Table 7 has 5.0 % of all requests, which is 8.6 % of hplajw's writes.
    pinned("sequential writes", ahead as f64 / writes, 0.083, 0.001);
    // 2 to 10 % of writes come singly, half in groups of 50 or more.
    pinned("single", root.write_groups.single_frac, 0.031, 0.002);
    pinned("groups of 50", root.write_groups.in_50_frac, 0.616, 0.01);
    assert!(
        (0.60..=0.75).contains(&root.write_bursts.following_frac),
        "{:?}",
        root.write_bursts.following_frac
    );
    assert!(
        root.rewrite_frac.is_some_and(|share| (0.10..=0.18).contains(&share)),
        "8 KB would save 10 to 18 % of the writes"
    );
}

#[test]
fn overwrites_popularity_and_absorption() {
    let Some(found) = summary() else { return };
    let overwrites = &found.overwrites;
    let within_1h = overwrites.within_1h.expect("a week is long enough");
    assert!(within_1h > 0.85, "Figure 12: over 85 % within an hour: {within_1h}");
    pinned("within an hour", within_1h, 0.86, 0.02);
    pinned("within a second", overwrites.within_1s.unwrap_or(0.0), 0.31, 0.02);
    let top = found.popularity.top_1_percent_capacity.expect("both disks tell their capacity");
    assert!(top > 0.90, "Figure 13: over 90 % of the writes to 1 % of the blocks: {top}");
    let [all, metadata] = &found.absorption[..] else { panic!("two rows") };
    pinned("Figure 17, all writes in 200 KB", all.fit_200k, 0.901, 0.001);
    pinned("Figure 17, metadata in 100 KB", metadata.fit_100k, 0.809, 0.001);
    // Figure 18: overwrites are 25 % of all writes over 63 days.
    pinned("Figure 18", all.overwritten_frac, 0.286, 0.001);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}
