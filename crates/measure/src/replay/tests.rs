//! Replays of a few requests on our own files.

use super::hand::{Kind, kind, way};
use super::*;
use crate::verify::block::Owner;
use ioscape_machine::target::TargetOptions;
use ioscape_schema::Access;
use ioscape_schema::{IoFlags, Op, Request};
use rustix::fs::FallocateFlags;
use std::path::Path;

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

/// Returns the file at `path`, whose data may be destroyed, and a ledger of its first 64 KiB.
fn verified(path: &Path) -> (Target, Ledger) {
    std::fs::write(path, vec![0; 1 << 20]).unwrap();
    let allowed = TargetOptions { destroy_data: true, write_needed: true };
    let ledger = Ledger::new(1 << 16, 512, Owner { run: 1, file: 0 }).unwrap();
    (Target::open(path, &allowed).unwrap(), ledger)
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
    // As many rows as requested, each due at half its time: those that were issued first. On a busy
    // machine, these may be any of them.
    let due = [(0, 4096), (2_500_000, 0), (5_000_000, 65536), (10_000_000, 0), (15_000_000, 65536)];
    let told: Vec<_> = done.rows.rows.iter().map(|io| (io.queued_ns, io.request.offset)).collect();
    assert!(told.len() == 3 && told.is_sorted(), "{told:?}");
    assert!(told.iter().all(|row| due.contains(row)), "{told:?}");
    assert!(done.rows.rows.iter().all(|io| io.issued_ns >= io.queued_ns && io.physical_ns() > 0));
}

/// Once, the time to make a write's verifiable content was no part of how late it was issued.
#[test]
fn how_late_requests_are_is_what_their_rows_say() {
    let folder = tempfile::tempdir().unwrap();
    let (target, ledger) = verified(&folder.path().join("file"));
    let mut rows = (0..5).map(|at| io(Op::Write, 2 * at, at * 8192, 8192));
    let options = ReplayOptions { rows_most: 5, ..options(Some(1.0)) };
    let (clock, watch) = (Clock::new(), ReplayWatch::default());
    let (done, _) =
        run_verified(&target, &ledger, &options, &clock, &watch, move || rows.next()).unwrap();
    let late = done.rows.rows.iter().map(|io| (io.issued_ns - io.queued_ns) as f64);
    let told = done.lateness_ns.expect("times were given");
    assert_eq!(late.fold(0.0, f64::max), told.max);
    assert_eq!(told.count, 5);
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

/// Guards against judging the stale bytes of an earlier write in the buffer, reported as a write to
/// the wrong place.
#[test]
fn of_a_read_that_fails_nothing_is_said_to_be_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (target, ledger) = verified(&path);
    let mut rows = [(Op::Write, 0), (Op::Write, 8192), (Op::Read, 0)].into_iter();
    let source = || {
        let (op, place) = rows.next()?;
        if op == Op::Read {
            std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        }
        Some(io(op, 0, place, 4096))
    };
    let one = ReplayOptions { in_flight: 1, ..options(None) };
    let (clock, watch) = (Clock::new(), ReplayWatch::default());
    let (done, report) = run_verified(&target, &ledger, &one, &clock, &watch, source).unwrap();
    assert!(done.failed.is_some_and(|error| error.to_string().contains("the file ends there")));
    assert_eq!((report.wrong_blocks(), report.checked_blocks), (0, 0), "{report:?}");
}

#[test]
fn a_reading_back_that_is_stopped_did_not_come_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (target, ledger) = verified(&folder.path().join("file"));
    let (book, watch) = (NoteBook::new(1).unwrap(), ReplayWatch::default());
    assert!(check_all(&target, &ledger, book.at_end(), &watch).unwrap());
    watch.interrupt.store(true, Ordering::Relaxed);
    assert!(!check_all(&target, &ledger, book.at_end(), &watch).unwrap());
}

#[test]
fn what_was_replayed_is_kept_where_the_rest_of_the_trace_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (target, _) = verified(&folder.path().join("file"));
    let (options, clock, watch) = (options(None), Clock::new(), ReplayWatch::default());
    let (options, clock, watch) = (&options, &clock, &watch);
    let job = ReplayJob { target: &target, ledger: None, options, clock, watch };
    let replayed = |rows: usize| {
        let mut left = rows;
        let next = |batch: &mut Vec<Io>| {
            left = left.checked_sub(1).ok_or(Error::Interrupted)?;
            batch.push(io(Op::Write, 0, 0, 4096));
            Ok::<_, Error>(true)
        };
        job.of_batches(next, |row| Placed::from(*row))
    };
    let (done, _, unread) = replayed(3).unwrap();
    assert_eq!((count(&done, "write"), unread.is_some()), (3, true));
    assert!(replayed(0).is_err(), "nothing was replayed");
}

/// Guards against requests that are late because the trace is read up to them.
#[test]
fn time_begins_when_the_first_requests_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (target, _) = verified(&folder.path().join("file"));
    let (options, clock, watch) = (options(Some(1.0)), Clock::new(), ReplayWatch::default());
    let (options, clock, watch) = (&options, &clock, &watch);
    let slow = Duration::from_secs(1);
    let mut rows = [io(Op::Write, 0, 0, 4096), io(Op::Write, 1, 4096, 4096)].into_iter();
    let mut left = rows.clone();
    let source = move || {
        std::thread::sleep(if rows.len() == 2 { slow } else { Duration::ZERO });
        rows.next()
    };
    let one_by_one = run(&target, options, clock, watch, source).unwrap();
    let job = ReplayJob { target: &target, ledger: None, options, clock, watch };
    let next = |batch: &mut Vec<Io>| {
        std::thread::sleep(slow / 2);
        batch.extend(left.next());
        Ok::<_, Error>(!batch.is_empty())
    };
    let (in_batches, ..) = job.of_batches(next, |row| Placed::from(*row)).unwrap();
    for done in [one_by_one, in_batches] {
        let late = done.lateness_ns.expect("times were given");
        assert!(late.count == 2 && late.max < 300e6, "{late:?}");
        assert!(done.elapsed_ns < 400_000_000, "{} ns", done.elapsed_ns);
    }
}

#[test]
fn kinds_are_told_by_flags_first() {
    let zeroes = Io { flags: IoFlags::ZEROES, ..io(Op::Write, 0, 0, 4096) };
    assert_eq!(kind(&zeroes), Kind::Discard);
    assert_eq!(kind(&io(Op::Write, 0, 0, 0)), Kind::Flush);
    assert_eq!(kind(&io(Op::Read, 0, 0, 1)), Kind::Read);
}

/// Once, discards were left out on most devices, and were zeroings on the others.
#[test]
fn a_block_device_is_asked_for_discards_and_a_file_for_holes() {
    let told = |flags| [false, true].map(|is_device| way(flags, is_device));
    let [hole, zeroes] = [FallocateFlags::PUNCH_HOLE, FallocateFlags::ZERO_RANGE]
        .map(|how| Some(how | FallocateFlags::KEEP_SIZE));
    assert_eq!(told(IoFlags::DISCARD), [hole, None]);
    assert_eq!(told(IoFlags::ZEROES), [zeroes, zeroes]);
}
