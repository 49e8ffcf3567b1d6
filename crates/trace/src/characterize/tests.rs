//! Requests are counted for the whole, the disks, the processes and the windows, each for itself.

use super::*;
use crate::testing::model;
use ioscape_schema::{ModelFit, RequestCounts, Workload};

fn of(rows: &[Io]) -> TraceCharacterization {
    let mut seen = Characterizer::new(4096, Some(1_000_000_000));
    seen.update(rows);
    seen.finish("t", &TraceInfo::default(), |_, _| ModelFit::default())
}

#[test]
fn what_is_counted_of_each_group_is_what_the_measure_gets() {
    // A measure that gives back what it was given: counts over 10 000 as distances.
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
