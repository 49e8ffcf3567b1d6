//! Tests of where the requests of a replay go, and what is said of it.

use super::*;
use ioscape_schema::{ReplayedKind, Request};
use proptest::prelude::*;

fn io(device: u16, offset: u64, len: u32) -> Io {
    Io { device, request: Request { offset, len, ..Request::default() }, ..Io::default() }
}

#[test]
fn devices_lie_side_by_side_and_what_is_beyond_wraps() {
    let rows = [io(0, STEP, 512), io(1, 4096, 4096), io(1, STEP - 512, 512)];
    let mut survey = Survey::default();
    survey.update(&rows);
    assert_eq!((survey.bytes(), survey.largest), (3 * STEP, 4096));
    assert_eq!((survey.reads, survey.writes), (true, false));
    let whole = Placement::new(&survey, survey.bytes(), 512, ReplayFit::Wrap);
    let places = rows.map(|row| whole.place(&row));
    assert_eq!(places.map(|p| p.io.request.offset), [STEP, 2 * STEP + 4096, 3 * STEP - 512]);
    assert!(places.iter().all(|p| !p.moved && !p.rounded && !p.cut));
    let half = Placement::new(&survey, 2 * STEP, 4096, ReplayFit::Wrap);
    let placed = rows.map(|row| half.place(&row));
    assert_eq!(placed.map(|p| p.io.request.offset), [STEP, 4096, STEP - 4096]);
    assert_eq!(placed[0].io.request.len, 4096);
    assert_eq!(placed.map(|p| p.moved), [false, true, true]);
    assert_eq!(placed.map(|p| p.rounded), [true, false, true]);
    let third = Placement::new(&survey, STEP, 512, ReplayFit::Scale);
    let placed = rows.map(|row| third.place(&row).io.request.offset);
    assert_eq!(placed, [STEP / 3 / 512 * 512, (2 * STEP + 4096) / 3 / 512 * 512, STEP - 512]);
}

#[test]
fn what_a_replay_will_take_is_said_before_it_begins() {
    let late = |mut io: Io, queued_ns| {
        io.queued_ns = queued_ns;
        io
    };
    let mut survey = Survey::default();
    survey.update(&[io(0, 0, 512), late(io(0, 3 * STEP - 512, 512), 7_200_000_000_000)]);
    let told = |target: u64, speed| {
        let placement = Placement::new(&survey, target, 512, ReplayFit::Wrap);
        announced(&placement.replayed(&survey, speed), &survey)
    };
    assert_eq!(told(3 * STEP, Some(1.0)), "2 requests, arriving within 2 h 0 m");
    assert_eq!(told(3 * STEP, Some(2.0)), "2 requests, arriving within 1 h 0 m");
    let small = told(2 * STEP, None);
    let words = "2 requests; its devices need 3 MiB, so some go to other places of the 2 MiB here";
    assert_eq!(small, words);
}

#[test]
fn a_request_longer_than_the_target_is_cut_and_said_to_be() {
    let rows = [io(0, 0, 1 << 20), io(0, 0, 4096)];
    let mut survey = Survey::default();
    survey.update(&rows);
    let small = Placement::new(&survey, 65_536, 1, ReplayFit::Wrap);
    let placed = rows.map(|row| small.place(&row));
    assert_eq!(placed.map(|p| (p.cut, p.io.request.len)), [(true, 65_536), (false, 4096)]);
    let result = TraceReplay { cut: 1, target_bytes: 65_536, ..TraceReplay::default() };
    let told = doubts(&result, &survey, &TraceInfo::default());
    assert!(told[0].message.contains("1 requests were made shorter, to the 64 KiB"), "{told:?}");
}

/// Guards against rows that report the trace's errors and queue lengths although every request
/// of the replay succeeded.
#[test]
fn what_the_trace_tells_of_its_own_device_is_not_told_of_the_target() {
    let write = Request { op: Op::Write, len: 512, ..Request::default() };
    let row = Io { request: write, queue_length: 37, error: 5, partition: 2, ..Io::default() };
    let mut survey = Survey::default();
    survey.update(&[row, row, io(0, 0, 4096)]);
    assert_eq!((survey.writes, survey.changed_mebibytes()), (true, Some(1)));
    let placement = Placement::new(&survey, STEP, 512, ReplayFit::Wrap);
    assert_eq!(placement.place(&row).io, Io { request: write, ..Io::default() });
}

/// Guards against counting each write to a hot place, and each flush, as a place of its own.
#[test]
fn what_is_written_again_is_changed_once() {
    let write = |device, offset, len| {
        let request = Request { op: Op::Write, offset, len };
        Io { device, request, ..Io::default() }
    };
    let mut survey = Survey::default();
    let hot: Vec<Io> = (0..10_000).map(|i| write(0, i % 256 * 4096, 4096)).collect();
    survey.update(&hot);
    survey.update(&[io(0, 1 << 40, 4096), write(0, 5 * STEP + 1, 0)]);
    assert_eq!(survey.changed_mebibytes(), Some(1));
    // Spans three mebibytes, the first already written; and one on another device.
    survey.update(&[write(0, STEP - 512, 1024 + (1 << 20)), write(1, 100 * STEP, 512)]);
    assert_eq!(survey.changed_mebibytes(), Some(4));
    (0..1 << 20).for_each(|i| survey.update(&[write(2, i << 26, 512)]));
    assert_eq!(survey.changed_mebibytes(), None);
}

/// Guards against counting a lost completion as a time of 0.
#[test]
fn the_mean_is_that_of_the_requests_whose_completion_is_told() {
    let timed = Io { issued_ns: 5, completed_ns: 10_000_000, ..io(0, 0, 512) };
    let mut survey = Survey::default();
    survey.update(&[timed, io(0, 512, 512), Io { request: Request::default(), ..timed }]);
    assert_eq!(survey.elapsed_mean_ns(), Some(10e6));
    assert_eq!(survey.empty, 1, "a read of no bytes");
}

/// Guards against advice to raise `--in-flight` or lower `--speed`, which does not help where
/// the trace has no times.
#[test]
fn requests_that_all_arrive_at_one_time_are_not_said_to_be_late() {
    let result = late(1000, 1e9, 1e9);
    let info = TraceInfo::default();
    let mut survey = Survey::default();
    (0..1000).for_each(|_| survey.update(&[io(0, 0, 4096)]));
    let told = doubts(&result, &survey, &info);
    assert_eq!((told.len(), told[0].kind), (1, WarningKind::TimesUnknown));
    let said = &told[0].message;
    assert!(said.contains("--as-fast-as-possible") && !said.contains("--speed"), "{said}");
    survey.update(&[Io { queued_ns: 1, ..io(0, 0, 4096) }]);
    let told = doubts(&result, &survey, &info);
    assert_eq!((told.len(), told[0].kind), (1, WarningKind::NotSteady));
    let fast = doubts(&TraceReplay::default(), &survey, &info);
    assert!(fast.is_empty(), "as fast as possible");
}

/// A result of `count` requests, at most 64 in flight, at their times.
fn late(count: u64, p50: f64, p99: f64) -> TraceReplay {
    let lateness_ns = Some(Distribution { count, p50, p99, ..Distribution::default() });
    let timing = ReplayTiming::Speed(1.0);
    TraceReplay { in_flight: 64, timing, lateness_ns, ..TraceReplay::default() }
}

/// Guards against "one request in a hundred was late" of three requests, and against advice for a
/// replay that followed a trace whose requests come in another order than their times.
#[test]
fn a_replay_is_late_by_what_its_requests_can_tell() {
    let survey = Survey { last_ns: 1, ..Survey::default() };
    let told = |result: &TraceReplay, info: &TraceInfo| {
        doubts(result, &survey, info).into_iter().map(|one| one.message).collect::<String>()
    };
    let info = TraceInfo::default();
    assert!(told(&late(3, 12e6, 21e6), &info).contains("half of the requests were issued 12 ms"));
    assert_eq!(told(&late(99, 1e3, 21e6), &info), "", "one of them alone");
    assert!(told(&late(100, 1e3, 21e6), &info).contains("one request in a hundred was issued 21"));
    let info = noted("rows out of order", "7");
    for result in [late(10, 21e6, 21e6), late(100, 1e3, 21e6)] {
        let said = told(&result, &info);
        let is_open = said.starts_with("7 requests are out of order") && !said.contains("--in");
        assert!(is_open, "{said}");
    }
    // One row out of order had hidden delays of 6 s.
    assert!(told(&late(10_000, 1e3, 21e6), &info).contains("one request in a hundred was"));
    assert!(told(&late(1000, 12e6, 21e6), &info).contains("half of the requests were issued 12"));
}

/// Guards against calling a replay late for the place that a request has within its second, and
/// against "cannot be told" where the requests of a second take longer than it.
#[test]
fn whole_seconds_tell_only_what_is_later_than_their_end() {
    let survey = Survey { last_ns: 1, ..Survey::default() };
    let info = noted("seconds", "");
    let within = late(100, 0.5e9, 1.005e9);
    assert_eq!(doubts(&within, &survey, &info), []);
    assert_eq!(without_place(within.clone(), &TraceInfo::default()), within);
    assert_eq!(without_place(within, &info).lateness_ns, None);
    let twice = TraceReplay { timing: ReplayTiming::Speed(2.0), ..late(100, 0.1e9, 0.52e9) };
    for (result, ms) in [(late(100, 0.5e9, 1.5e9), "500 ms"), (twice, "20 ms")] {
        let told = doubts(&result, &survey, &info);
        assert!(told[0].message.contains(&format!("was issued {ms} late")), "{told:?}");
    }
    assert_eq!(doubts(&late(100, 9e9, 9e9), &survey, &noted("arrivals", "")), []);
}

fn noted(note: &str, text: &str) -> TraceInfo {
    TraceInfo { notes: [(note.to_owned(), text.to_owned())].into(), ..TraceInfo::default() }
}

fn discard(offset: u64, len: u32) -> Io {
    let request = Request { op: Op::Write, offset, len };
    Io { request, flags: IoFlags::DISCARD, ..Io::default() }
}

/// Guards against the speed of a hole told as that of the storage.
#[test]
fn reads_of_what_was_discarded_are_counted_until_it_is_written_again() {
    let step = STEP as u32;
    let write = Io { flags: IoFlags::default(), ..discard(2 * STEP, 512) };
    let mut survey = Survey::default();
    survey.update(&[io(0, STEP, 4096), discard(STEP - 512, 2 * step + 512)]);
    survey.update(&[io(0, 0, 4096), io(1, STEP, 4096), io(0, 3 * STEP, 4096)]);
    assert_eq!(survey.of_emptied, 0, "before it, beside it, or on another device");
    survey.update(&[io(0, STEP, 4096), io(0, 2 * STEP, 4096), write, io(0, 2 * STEP, 4096)]);
    assert_eq!((survey.of_emptied, survey.changed_mebibytes()), (2, Some(3)));
    let done = ReplayedKind { kind: "discard".to_owned(), ..ReplayedKind::default() };
    let result = TraceReplay { kinds: vec![done], ..TraceReplay::default() };
    let said = doubt_of_emptied(&result, &survey).expect("a warning").message;
    assert!(said.starts_with("at least 2 reads are of places"), "{said}");
    assert_eq!(doubt_of_emptied(&TraceReplay::default(), &survey), None, "none was carried out");
}

/// Guards against a discard of 4 GiB that was "made shorter, to the 5 GiB of the target".
#[test]
fn discards_are_rounded_inwards_and_cut_by_the_target_alone() {
    let rows = [discard(512, 8192), discard(0, u32::MAX - 511), io(0, 0, u32::MAX - 511)];
    let mut survey = Survey::default();
    survey.update(&rows);
    let large = Placement::new(&survey, 5 << 30, 4096, ReplayFit::Wrap);
    let placed = rows.map(|row| large.place(&row));
    assert_eq!(placed.map(|p| (p.cut, p.rounded)), [(false, false), (false, false), (false, true)]);
    let place = placed.map(|p| (p.io.request.offset, p.io.request.len));
    assert_eq!(place, [(4096, 4096), (0, u32::MAX - 4095), (0, u32::MAX - 4095)]);
    let small = Placement::new(&survey, 1 << 30, 4096, ReplayFit::Wrap);
    assert!(small.place(&rows[1]).cut);
}

proptest! {
    #[test]
    fn every_request_lies_within_the_target(
        rows in prop::collection::vec((any::<u16>(), any::<u64>(), any::<u32>()), 1..20),
        blocks in 1u64..1 << 40,
        align in 0u32..13,
        scale in any::<bool>(),
    ) {
        let rows: Vec<Io> = rows.into_iter().map(|(d, o, l)| io(d, o, l)).collect();
        let mut survey = Survey::default();
        survey.update(&rows);
        let (align, fit) = (1u64 << align, if scale { ReplayFit::Scale } else { ReplayFit::Wrap });
        let target = blocks.saturating_mul(align);
        let placement = Placement::new(&survey, target, align, fit);
        for row in &rows {
            let placed = placement.place(row).io.request;
            prop_assert!(placed.len == 0 || placed.offset + u64::from(placed.len) <= target);
            prop_assert!(placed.len == 0 || placed.offset.is_multiple_of(align));
            prop_assert_eq!(u64::from(placed.len) % align, 0);
            prop_assert_eq!(placed.len == 0, row.request.len == 0);
        }
    }
}
