//! Requests are counted separately for the whole, the disks, the processes and the windows.

use super::*;
use crate::testing::{io, model};
use ioscape_schema::{Access, ModelFit, RequestCounts, SizeDistribution, Workload};

fn of(rows: &[Io]) -> TraceCharacterization {
    let mut seen = Characterizer::new(4096, Some(1_000_000_000));
    seen.update(rows);
    seen.finish("t", &TraceInfo::default(), |_, _| ModelFit::default())
}

#[test]
fn what_is_counted_of_each_group_is_what_the_measure_gets() {
    // A measure that returns its input: counts divided by 10 000 as distances.
    let counted = |counts: &RequestCounts, _: &Workload| ModelFit {
        size_distance: counts.requests as f64 / 1e4,
        run_distance: counts.followers as f64 / 1e4,
        mix_distance: counts.changes as f64 / 1e4,
        ..ModelFit::default()
    };
    let mut seen = Characterizer::new(4096, None);
    seen.update(&model(4000));
    let found = seen.finish("t", &TraceInfo::default(), counted).overall;
    assert_eq!((found.size_distance, found.goodness), (0.4, 0.6));
    assert_eq!(found.run_distance, (found.workload.seq_frac * 3999.0).round() / 1e4);
    let changes = 2.0 * found.workload.read_frac * (1.0 - found.workload.read_frac) * 4000.0;
    assert!((found.mix_distance * 1e4 / changes - 1.0).abs() < 0.05, "{found:?}");
}

#[test]
fn requests_of_one_size_are_drawn_with_that_size() {
    // A measure that calls every mix a single size.
    let fixed = |_: &RequestCounts, _: &Workload| ModelFit {
        size_distribution: SizeDistribution::Fixed,
        ..ModelFit::default()
    };
    let align = |sizes: [u32; 2]| {
        let mut rows = model(400);
        rows.iter_mut().enumerate().for_each(|(i, row)| row.request.len = sizes[i % 2]);
        let mut seen = Characterizer::new(4096, None);
        seen.update(&rows);
        seen.finish("t", &TraceInfo::default(), fixed).overall.workload.align_bytes
    };
    assert_eq!(align([5120, 5120]), Some(1024));
    assert_eq!(align([8192, 8192]), None);
    // The mean of several sizes is no size, however exact it is.
    assert_eq!([[5119, 5122], [4096, 8192]].map(align), [None; 2]);
}

#[test]
fn two_sizes_in_turn_are_not_drawn_as_their_mean() {
    // A measure by which a mix of granules fits better than the mean alone.
    let mixed = |_: &RequestCounts, workload: &Workload| match workload.align_bytes {
        None => ModelFit {
            size_distribution: SizeDistribution::Fixed,
            size_distance: 0.25,
            ..ModelFit::default()
        },
        Some(_) => ModelFit { size_distance: 0.5, ..ModelFit::default() },
    };
    let mut rows = model(400);
    rows.iter_mut().enumerate().for_each(|(i, row)| row.request.len = [4096, 6144][i % 2]);
    let mut seen = Characterizer::new(4096, None);
    seen.update(&rows);
    let found = seen.finish("t", &TraceInfo::default(), mixed).overall;
    assert_eq!((found.size_distance, found.workload.align_bytes), (0.25, None));
    assert_eq!(found.workload.size_distribution, SizeDistribution::Fixed);
}

#[test]
fn disks_processes_and_windows_are_told_apart() {
    let mut rows = model(4000);
    for (i, row) in rows.iter_mut().enumerate() {
        (row.device, row.process) = ((i % 2) as u16, i as u32 % 2 + 1);
    }
    let found = of(&rows);
    assert_eq!((found.disks.len(), found.processes.len(), found.windows.len()), (2, 2, 4));
    assert_eq!(found.overall.processes_seen, 2);
    assert_eq!(found.disks.iter().map(|disk| disk.requests).sum::<u64>(), 4000);
    assert_eq!(of(&[]).overall.requests, 0);
}

/// A request of 1 ms each 20 s.
#[test]
fn pauses_are_counted_between_requests() {
    const MS: u64 = 1_000_000;
    let row = |at: u64| {
        let queued_ns = at * 20_000 * MS;
        Io { queued_ns, completed_ns: queued_ns + MS, ..io(0, Op::Write, 0, 4096) }
    };
    let rows: Vec<Io> = (0..200).map(row).collect();
    let of = |rows: &[Io], window_s: u64| {
        let mut seen = Characterizer::new(4096, Some(window_s * 1000 * MS));
        seen.update(rows);
        seen.finish("t", &TraceInfo::default(), |_, _| ModelFit::default())
    };
    let think = |one: &TraceTraits| one.workload.think_time_ns / MS;
    let found = of(&rows, 60);
    assert_eq!((think(&found.overall), think(&found.windows[1])), (19_999, 19_999));
    assert_eq!(think(&of(&rows[..2], 60).overall), 19_999);
    let found = of(&rows, 10);
    assert_eq!((think(&found.windows[1]), found.windows[1].requests), (9_999, 1));
    assert_eq!(found.windows[1].workload.unique_bytes, 4096, "whole blocks");
    // Nothing follows the last request.
    assert_eq!(found.windows.last().map(think), Some(0));
    let untimed: Vec<Io> =
        rows.iter().map(|row| Io { completed_ns: row.queued_ns, ..*row }).collect();
    assert_eq!(think(&of(&untimed, 60).overall), 20_000, "the mean time between arrivals");
}

/// Once, the flushes of a log counted as pauses, and writes with FUA as any others.
#[test]
fn writes_that_wait_for_the_medium_are_dsync() {
    const US: u64 = 1000;
    // Writes of 0.1 ms one after the other; after so many each a flush of 8 ms.
    let rows = |writes: u64, flags: IoFlags| {
        let (mut rows, mut queued_ns) = (Vec::new(), 0);
        let mut add = |len, flags, took_ns| {
            let completed_ns = queued_ns + took_ns;
            rows.push(Io { queued_ns, completed_ns, flags, ..io(0, Op::Write, 0, len) });
            queued_ns = completed_ns;
        };
        for i in 1..=100 {
            add(8192, flags, 100 * US);
            if i % writes == 0 {
                add(0, IoFlags::FLUSH, 8000 * US);
            }
        }
        rows
    };
    let told = |writes, flags| {
        let found = of(&rows(writes, flags)).overall;
        let flushed_ms = (1e3 * found.flush_s).round() as u64;
        (found.workload.access, found.workload.think_time_ns / US, found.syncs, flushed_ms)
    };
    assert_eq!(told(1, IoFlags::empty()), (Access::Dsync, 0, 100, 800));
    assert_eq!(told(1000, IoFlags::FUA), (Access::Dsync, 0, 100, 0));
    assert_eq!(told(4, IoFlags::empty()), (Access::Direct, 2020, 25, 200), "they are pauses");
    assert_eq!(told(1000, IoFlags::empty()), (Access::Direct, 0, 0, 0));
}

/// Once, a job with `dsync` read from the file cache what the trace had read from the device, without
/// a word; reads with FUA counted as writes; and two processes that wrote and flushed in turn had
/// no waits.
#[test]
fn only_writes_wait_and_reads_of_dsync_are_told() {
    let told = |of: &[(Op, u32, IoFlags)]| {
        let row = |(at, &(op, len, flags)): (usize, &(Op, u32, IoFlags))| {
            let queued_ns = at as u64 * 1000;
            Io { queued_ns, completed_ns: queued_ns + 500, flags, ..io(0, op, 0, len) }
        };
        let rows: Vec<Io> = of.repeat(100).iter().enumerate().map(row).collect();
        let mut seen = Characterizer::new(4096, None);
        seen.update(&rows);
        let found = seen.finish("t", &TraceInfo::default(), |_, _| ModelFit::default()).overall;
        let doubts = seen.doubts();
        (found.workload.access, doubts.first().map(ToString::to_string).unwrap_or_default())
    };
    let (fua, none) = (IoFlags::FUA, IoFlags::empty());
    let (write, flush) = ((Op::Write, 4096, none), (Op::Write, 0, IoFlags::FLUSH));
    let waiting = (Op::Write, 4096, fua);
    assert_eq!(told(&[waiting]), (Access::Dsync, String::new()));
    let (access, doubt) = told(&[waiting, waiting, (Op::Read, 4096, none)]);
    assert_eq!(access, Access::Dsync);
    assert!(doubt.starts_with("access: 33 % of the requests are reads"), "{doubt}");
    assert_eq!(told(&[(Op::Read, 4096, fua), write]).0, Access::Direct);
    assert_eq!(told(&[write, write, flush, flush]).0, Access::Dsync);
    assert_eq!(told(&[write, write, flush]).0, Access::Direct);
}

/// One request per second, each from another process to another disk.
#[test]
fn what_is_beyond_the_most_groups_is_told() {
    let row = |at: u64| Io {
        device: at as u16,
        process: at as u32,
        ..io(at * 1000, Op::Read, at * 4096, 4096)
    };
    let rows: Vec<Io> = (0..4100).map(row).collect();
    let mut seen = Characterizer::new(4096, Some(1_000_000_000));
    seen.update(&rows[..4096]);
    assert_eq!(seen.doubts(), []);
    seen.update(&rows[4096..]);
    let told: Vec<String> = seen.doubts().iter().map(ToString::to_string).collect();
    for (text, begin) in told.iter().zip([
        "disks: 4 requests are to disks beyond the first 4096",
        "processes: 4 requests are of processes beyond the first 4096",
        "windows: the trace has more than 4096 windows: those from 4096 s on are left out",
    ]) {
        assert!(text.starts_with(begin), "{text}");
    }
    assert_eq!(told.len(), 3);
}

/// Requests of `took_ns` that `processes` make one after the other, each with a pause of
/// `think_ns` before the next.
fn closed(processes: u64, took_ns: u64, think_ns: u64, each: u64) -> Vec<Io> {
    let one = |process: u64, at: u64| {
        let queued_ns = process + at * (took_ns + think_ns);
        let issued_ns = queued_ns;
        let completed_ns = queued_ns + took_ns;
        Io { queued_ns, issued_ns, completed_ns, ..io(0, Op::Read, at * 4096, 4096) }
    };
    (0..each).flat_map(|at| (0..processes).map(move |process| one(process, at))).collect()
}

/// Once, the processes were rounded down and the think time cut off at 0: up to a third of the load
/// was gone.
#[test]
fn the_workload_of_every_group_has_the_traced_rate() {
    const MS: u64 = 1_000_000;
    // One process without pauses, and another with one request in ten of its places.
    let mut rows = closed(1, MS, 0, 4000);
    rows.extend(closed(1, MS, 9 * MS / 5, 1428).iter().map(|io| Io { process: 2, ..*io }));
    rows.sort_by_key(|io| io.queued_ns);
    let found = of(&rows);
    assert_eq!((found.overall.workload.process_num, found.processes.len()), (2, 2));
    let all = [&found.overall].into_iter().chain(&found.processes).chain(&found.windows);
    for one in all {
        let workload = &one.workload;
        let each_ns = one.response_time_ns.unwrap() + workload.think_time_ns as f64;
        let rate = f64::from(workload.process_num) * 1e9 / each_ns;
        let traced = one.requests as f64 / one.elapsed_s;
        assert!((rate / traced - 1.0).abs() < 0.005, "{}: {rate} {traced}", one.name);
    }
    // No more processes than there were.
    let found = of(&closed(8, MS, 0, 4000));
    let told = [&found.overall].into_iter().chain(&found.windows).map(|one| &one.workload);
    assert!(told.clone().count() == 5 && told.clone().all(|one| one.process_num == 8));
}

/// Once, eight processes became two where three of four completions were not recorded.
#[test]
fn requests_without_completions_count_in_the_load() {
    let lost = |one_in: usize| {
        let mut rows = closed(8, 1_000_000, 0, 4000);
        let lost = rows.iter_mut().enumerate().filter(|(at, _)| (at + at / 8) % one_in == 0);
        lost.for_each(|(_, io)| io.completed_ns = io.issued_ns);
        let mut seen = Characterizer::new(4096, None);
        seen.update(&rows);
        let found = seen.finish("t", &TraceInfo::default(), |_, _| ModelFit::default()).overall;
        let doubts: Vec<String> = seen.doubts().iter().map(ToString::to_string).collect();
        (found.workload.process_num, found.workload.think_time_ns < 1000, doubts.join("\n"))
    };
    let told = "process_num, think_time_ns, response_time_ns: no response time is recorded of 8000";
    let (processes, is_busy, doubts) = lost(4);
    assert!((processes, is_busy) == (8, true) && doubts.starts_with(told), "{processes} {doubts}");
    assert_eq!(lost(100), (8, true, String::new()), "one in a hundred may be missing");
    let (processes, _, doubts) = lost(1);
    assert!(processes == 1 && doubts.contains("have no response times"), "{doubts}");
}

#[test]
fn a_disk_without_completions_is_told_where_the_trace_has_nearly_all() {
    let mut rows = closed(1, 1_000_000, 0, 4000);
    rows[2000].completed_ns = rows[2000].issued_ns;
    rows[2000].device = 1;
    let mut seen = Characterizer::new(4096, None);
    seen.update(&rows);
    let told: Vec<String> = seen.doubts().iter().map(ToString::to_string).collect();
    assert!(told.len() == 1 && told[0].starts_with("process_num: in 1 workload of"), "{told:?}");
}
