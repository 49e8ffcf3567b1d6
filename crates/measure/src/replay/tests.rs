//! Replays of a few requests on files of our own.

use super::hand::{Kind, kind};
use super::*;
use ioscape_machine::target::TargetOptions;
use ioscape_schema::Access;
use ioscape_schema::{IoFlags, Op, Request};

fn io(op: Op, ms: u64, offset: u64, len: u32) -> Io {
    Io { request: Request { op, offset, len }, queued_ns: ms * 1_000_000, ..Io::default() }
}

fn options(speed: Option<f64>) -> ReplayOptions {
    let (access, rows_most) = (Access::Buffered, 3);
    ReplayOptions { speed, in_flight: 3, access, largest: 8192, writes: true, rows_most }
}

fn replay(rows: Vec<Io>, options: &ReplayOptions, watch: &ReplayWatch) -> (Vec<u8>, Replayed) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, vec![0; 1 << 20]).unwrap();
    let allowed = TargetOptions { destroy_data: true, write_needed: true };
    let target = Target::open(&path, &allowed).unwrap();
    let mut rows = rows.into_iter();
    let done = run(&target, options, &Clock::new(), watch, move || rows.next()).unwrap();
    (std::fs::read(&path).unwrap(), done)
}

fn count(done: &Replayed, kind: &str) -> u64 {
    done.kinds.iter().find(|one| one.kind == kind).map_or(0, |one| one.ios)
}

#[test]
fn every_request_goes_to_its_place_and_not_before_its_time() {
    let rows = vec![
        io(Op::Write, 0, 4096, 4096),
        io(Op::Read, 5, 0, 8192),
        Io { flags: IoFlags::FUA, ..io(Op::Write, 10, 65536, 512) },
        Io { flags: IoFlags::FLUSH, ..io(Op::Write, 20, 0, 0) },
        Io { flags: IoFlags::DISCARD, ..io(Op::Write, 30, 65536, 4096) },
    ];
    let (bytes, done) = replay(rows, &options(Some(2.0)), &ReplayWatch::default());
    assert_eq!((count(&done, "read"), count(&done, "write"), count(&done, "flush")), (1, 2, 1));
    assert_eq!(count(&done, "discard") + done.refused, 1);
    assert!(bytes[..4096].iter().all(|b| *b == 0) && bytes[8192..65536].iter().all(|b| *b == 0));
    assert!(bytes[4096..8192].iter().any(|b| *b != 0), "the write is there");
    let late = done.lateness_ns.expect("times were given");
    assert_eq!(late.count, 5);
    assert_eq!(late.bins.iter().map(|bin| bin.1).sum::<u64>(), 5);
    assert!(done.elapsed_ns >= 15_000_000, "{} ns: the last was due after 15 ms", done.elapsed_ns);
    assert!(!done.interrupted);
    // As many rows as were asked for, each due at half its time: of those that were issued first, which on a busy machine may be others.
    let due = [(0, 4096), (2_500_000, 0), (5_000_000, 65536), (10_000_000, 0), (15_000_000, 65536)];
    let told: Vec<_> = done.rows.iter().map(|io| (io.queued_ns, io.request.offset)).collect();
    assert!(told.len() == 3 && told.is_sorted(), "{told:?}");
    assert!(told.iter().all(|row| due.contains(row)), "{told:?}");
    assert!(done.rows.iter().all(|io| io.issued_ns >= io.queued_ns && io.physical_ns() > 0));
}

#[test]
fn without_times_all_is_done_and_nothing_is_late() {
    let rows = (0..200).map(|i| io(Op::Write, i * 100_000, i % 100 * 8192, 8192)).collect();
    let (_, done) = replay(rows, &options(None), &ReplayWatch::default());
    assert_eq!((count(&done, "write"), done.lateness_ns), (200, None));
    assert!(done.elapsed_ns < 100_000_000_000, "the trace's own times do not hold it up");
}

#[test]
fn long_requests_go_in_parts_and_an_interruption_keeps_what_is_done() {
    let short = ReplayOptions { largest: 4096, in_flight: 1, ..options(Some(1.0)) };
    let watch = ReplayWatch::default();
    let stop = Arc::clone(&watch.interrupt);
    let told = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&told);
    let on_progress = move |issued, _| {
        seen.store(issued, Ordering::Relaxed);
        stop.store(issued == 1, Ordering::Relaxed);
    };
    let watch = ReplayWatch { on_progress: Some(Arc::new(on_progress)), ..watch };
    let rows = vec![io(Op::Write, 0, 0, 65536), io(Op::Write, 3_600_000, 0, 4096)];
    let (bytes, done) = replay(rows, &short, &watch);
    assert!(bytes[61440..65536].iter().any(|b| *b != 0) && done.interrupted);
    assert_eq!((count(&done, "write"), told.load(Ordering::Relaxed)), (1, 1));
}

#[test]
fn a_request_past_the_end_is_a_failure_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, vec![0; 8192]).unwrap();
    let allowed = TargetOptions { destroy_data: true, write_needed: false };
    let target = Target::open(&path, &allowed).unwrap();
    let mut rows = vec![io(Op::Read, 0, 0, 4096), io(Op::Read, 0, 1 << 30, 4096)].into_iter();
    let options = ReplayOptions { writes: false, in_flight: 1, ..options(None) };
    let watch = ReplayWatch::default();
    let done = run(&target, &options, &Clock::new(), &watch, move || rows.next()).unwrap();
    assert_eq!(count(&done, "read"), 1, "what was done before is kept");
    let failed = done.failed.expect("a failure").to_string();
    assert!(failed.contains("at byte 1073741824"), "{failed}");
}

#[test]
fn kinds_are_told_by_flags_first() {
    let zeroes = Io { flags: IoFlags::ZEROES, ..io(Op::Write, 0, 0, 4096) };
    assert_eq!(kind(&zeroes), Kind::Discard);
    assert_eq!(kind(&io(Op::Write, 0, 0, 0)), Kind::Flush);
    assert_eq!(kind(&io(Op::Read, 0, 0, 1)), Kind::Read);
}
