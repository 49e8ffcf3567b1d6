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
