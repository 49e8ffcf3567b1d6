//! The measured requests one by one: all that are counted, or the first of them and a note about
//! the rest.

use crate::common::{quick, run_with, session, workload};
use ioscape_measure::{RunOptions, Session};
use ioscape_schema::{
    Direction, Engine, Io, IoFlags, Measurement, Op, WarningKind, Workers, Workload,
};
use std::time::SystemTime;

fn run(session: &mut Session, workload: &Workload, rows_most: usize) -> (Measurement, Vec<Io>) {
    let options = RunOptions { rows_most, ..quick() };
    let now_ns = || SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as i64;
    let before_ns = now_ns();
    let measurement = run_with(session, workload, &options).unwrap();
    let kept = session.take_rows();
    if let Some(began_ns) = kept.began_unix_ns {
        assert!((before_ns..=now_ns()).contains(&began_ns), "{before_ns} {began_ns}");
    }
    assert_eq!(kept.began_unix_ns.is_some(), !kept.rows.is_empty());
    (measurement, kept.rows)
}

#[test]
fn rows_are_what_is_counted_with_every_engine() {
    let (_dir, mut session) = session();
    for (engine, queue_depth, workers) in [
        (Engine::Psync, 1, Workers::Processes),
        (Engine::Psync, 1, Workers::Threads),
        (Engine::Mmap, 1, Workers::Processes),
        (Engine::IoUring, 4, Workers::Processes),
    ] {
        let shape = Workload { engine, queue_depth, workers, process_num: 2, ..workload() };
        let think = Workload { think_time_ns: 200_000, ..shape };
        let (measurement, rows) = run(&mut session, &think, 1 << 20);
        let count = |op| rows.iter().filter(|io| io.request.op == op).count() as u64;
        let ios = |half: &Option<Direction>| half.as_ref().map_or(0, |half| half.ios);
        let counted = (ios(&measurement.read), ios(&measurement.write));
        assert_eq!((count(Op::Read), count(Op::Write)), counted, "{engine:?} {workers:?}");
        assert!(rows.is_sorted_by_key(|io| io.queued_ns) && rows[0].queued_ns == 0);
        assert!(rows.iter().all(|io| io.end() <= think.unique_bytes && io.request.len == 4096));
        let processes = [1, 2].map(|n| rows.iter().filter(|io| io.process == n).count());
        assert_eq!(processes.iter().sum::<usize>(), rows.len(), "{engine:?}: {processes:?}");
        let sum: u64 = rows.iter().map(Io::physical_ns).sum();
        let mean = sum as f64 / rows.len() as f64;
        let told = measurement.response_time_ns.mean;
        assert!((mean / told - 1.0).abs() < 1e-6, "{engine:?}: {mean} for {told}");
        let waited = rows.iter().all(|io| io.flags.contains(IoFlags::SYNC));
        assert_eq!(waited, queue_depth == 1, "{engine:?}");
        assert!(measurement.warnings.iter().all(|w| w.kind != WarningKind::TraceIncomplete));
    }
}

#[test]
fn rows_are_bounded_and_none_are_kept_unasked() {
    let (_dir, mut session) = session();
    let two = Workload { process_num: 2, ..workload() };
    let (measurement, rows) = run(&mut session, &two, 20);
    assert!(!rows.is_empty() && rows.len() <= 20 && measurement.ios > 20);
    let told = format!("the first {} of {} measured", rows.len(), measurement.ios);
    let doubt = measurement.warnings.iter().find(|w| w.kind == WarningKind::TraceIncomplete);
    assert!(doubt.is_some_and(|w| w.message.contains(&told)), "{doubt:?}");
    let (measurement, rows) = run(&mut session, &two, 0);
    assert!(rows.is_empty() && measurement.ios > 0);
    assert!(measurement.warnings.iter().all(|w| w.kind != WarningKind::TraceIncomplete));
}

/// Guards against bursts: late wakeups were made up for by up to 100 ms of requests without pauses,
/// which with pauses of 10 us were 93 of 100.
#[test]
fn a_late_wakeup_shortens_the_next_pause_and_no_other() {
    let (_dir, mut session) = session();
    let asked_ns = 10_000;
    let think = Workload { think_time_ns: asked_ns, process_num: 1, ..workload() };
    let (_, rows) = run(&mut session, &think, 1 << 20);
    let pauses = rows.windows(2).map(|two| two[1].issued_ns.saturating_sub(two[0].completed_ns));
    let whole = pauses.filter(|ns| *ns >= asked_ns).count();
    assert!(3 * whole >= rows.len(), "{whole} of {} pauses", rows.len());
}
