//! Tests of the tally: counters and rows of one run give the same measurement, with consistent
//! figures.

use super::*;
use crate::{Io, Measurement, Op, Phase, Request, Stop, Workload};
use proptest::prelude::*;

const RULE: StopRule = StopRule { min_s: 1.0, cap_s: 4.0, confidence: 0.03 };

/// A request of 4 KiB that does not wait in a queue.
fn row(process: u32, op: Op, queued_ns: u64, completed_ns: u64) -> Io {
    let request = Request { op, offset: 0, len: 4096 };
    Io { request, process, queued_ns, issued_ns: queued_ns, completed_ns, ..Io::default() }
}

/// Streams that issue one request after another; `time` gives the duration of a request by its
/// number.
fn rows(processes: u32, each: u64, time: impl Fn(u64) -> u64) -> Vec<Io> {
    let mut all = Vec::new();
    for process in 0..processes {
        let mut now = 0;
        for number in 0..each {
            let op = if number % 4 == 0 { Op::Write } else { Op::Read };
            all.push(row(process, op, now, now + time(number)));
            now += time(number);
        }
    }
    all.sort_by_key(|io| io.completed_ns);
    all
}

fn tallied(rows: &[Io]) -> Measurement {
    let mut tally = RowTally::new(RULE, 0, 0, None);
    rows.iter().for_each(|io| tally.add(io));
    let end = rows.iter().map(|io| io.completed_ns).max().unwrap_or(0);
    tally.finish(end, Stop::TimeCap).measurement(&Workload::default(), 0.0)
}

#[test]
fn a_steady_run_is_known_exactly() {
    let m = tallied(&rows(1, 5000, |_| 1_000_000));
    assert_eq!((m.ios, m.bytes, m.elapsed_s), (5000, 5000 * 4096, 5.0));
    assert_eq!(m.throughput_bytes_per_s, 4_096_000.0);
    assert!(m.relative_error() < 0.002 && m.burst_ratio.is_some_and(|b| b < 1.1), "{m:?}");
    assert_eq!((m.read.unwrap().ios, m.write.unwrap().ios), (3750, 1250));
    assert_eq!((m.io_time_frac, m.io_limited), (1.0, Some(true)));
    let law = m.response_time_littles_law_ns.unwrap();
    assert!((law / m.response_time_ns.mean - 1.0).abs() < 1e-9);
}

#[test]
fn a_run_with_stalls_is_known_badly_and_bursts() {
    let m = tallied(&rows(
        1,
        2000,
        |number| if number % 500 == 499 { 1_000_000_000 } else { 1_000_000 },
    ));
    assert!(m.relative_error() > 0.2, "{m:?}");
    assert!(m.burst_ratio.unwrap() > 2.0);
    assert!(doubt_of_confidence(&m, 0.03).unwrap().message.contains("known to"));
}

/// Nine slices of one request and one of a hundred, as behind a cache that absorbs a burst. Guards
/// against an interval that ended at twice the throughput.
#[test]
fn only_the_lower_end_of_an_interval_is_cut_off() {
    let rates: Vec<f64> = (0..10).map(|slice| if slice == 4 { 100.0 } else { 1.0 }).collect();
    let mut tally = Tally::new(rates, Stop::TimeCap);
    let mut writes = Counters::new();
    (0..109).for_each(|_| writes.add(1, 1_000_000));
    tally.add_stream(&[Counters::new(), writes], 10_000_000_000);
    let m = tally.measurement(&Workload::default(), 0.0);
    let [low, high] = m.throughput_ci95;
    assert_eq!((m.throughput_bytes_per_s, low), (10.9, 0.0));
    assert!((33.0..34.0).contains(&high) && m.relative_error() > 2.0, "{m:?}");
    assert!(doubt_of_confidence(&m, 0.03).unwrap().message.contains("known to 205 % only"));
}

/// Guards against "known to 3 % only, and not to 3 %".
#[test]
fn what_is_known_is_not_rounded_to_what_was_aimed_for() {
    let m = |half: f64| Measurement {
        throughput_bytes_per_s: 100.0,
        throughput_ci95: [100.0 - half, 100.0 + half],
        stop: Stop::TimeCap,
        ..Measurement::empty(Workload::default(), Stop::TimeCap)
    };
    let said = |half| doubt_of_confidence(&m(half), 0.03).map(|doubt| doubt.message);
    assert!(said(3.2).unwrap().contains("known to 3.2 % only, not to the 3 %"), "{:?}", said(3.2));
    assert!(said(12.4).unwrap().contains("known to 12 % only, not to the 3 %"));
    assert_eq!(said(2.9), None);
}

/// Guards against "known to inf % only" for a run without requests.
#[test]
fn of_a_run_without_a_request_it_is_said_that_it_was_too_short() {
    let none = Measurement::empty(Workload::default(), Stop::TimeCap);
    let told = doubt_of_confidence(&none, 0.03).unwrap().message;
    assert!(told.starts_with("no request ended") && told.contains("--seconds"), "{told}");
    assert!(!told.contains("inf"), "{told}");
}

#[test]
fn rows_and_counters_of_one_run_are_one_measurement() {
    let rows = rows(3, 4000, |number| 500_000 + number % 7 * 100_000);
    let from_rows = tallied(&rows);
    let mut counters = [(); 3].map(|()| [Counters::new(), Counters::new()]);
    let mut ended = [0; 3];
    for io in &rows {
        let stream = io.process as usize;
        counters[stream][io.request.op as usize].add(4096, io.elapsed_ns());
        ended[stream] = io.completed_ns;
    }
    let mut slices = Slices::new(0);
    rows.iter().for_each(|io| slices.add(io.completed_ns, 4096));
    let mut live = Tally::new(slices.rates(ended[0]), Stop::TimeCap);
    counters.iter().zip(ended).for_each(|(one, ended)| live.add_stream(one, ended));
    assert_eq!(from_rows, live.measurement(&Workload::default(), 0.0));
}

#[test]
fn thinking_is_no_io() {
    let workload = Workload { think_time_ns: 3_000_000, ..Workload::default() };
    let mut tally = RowTally::new(RULE, 0, workload.think_time_ns, None);
    for number in 0..1000 {
        tally.add(&row(0, Op::Read, number * 4_000_000, number * 4_000_000 + 1_000_000));
    }
    assert_eq!(tally.look(4_000_000_000), Some(Stop::Confident));
    let m = tally.finish(4_000_000_000, Stop::Confident).measurement(&workload, 0.0);
    assert_eq!((m.elapsed_s, m.io_time_frac, m.io_limited), (4.0, 0.25, Some(false)));
    assert!(doubt_of_io_share(&m).is_some() && doubt_of_confidence(&m, 0.03).is_none());
}

/// Guards against blaming this program, which took a hundredth of a percent, for 10 ms pauses
/// between writes of 0.2 ms.
#[test]
fn pauses_that_a_workload_asks_for_are_not_called_the_programs_own_time() {
    let said = |think_time_ns, overhead_ns| {
        let mut counters = [Counters::new(), Counters::new()];
        (0..1000).for_each(|_| counters[1].add(4096, 200_000));
        let mut tally = Tally::new(Vec::new(), Stop::TimeCap);
        tally.add_stream(&counters, 10_200_000_000);
        let workload = Workload { think_time_ns, ..Workload::default() };
        let m = tally.measurement(&workload, overhead_ns);
        doubt_of_io_share(&m).map(|doubt| doubt.message).unwrap_or_default()
    };
    let pauses = said(10_000_000, 1000.0);
    assert!(pauses.starts_with("98 % of the time was spent in the pauses"), "{pauses}");
    let program = said(0, 10_000_000.0);
    assert!(program.starts_with("only 2 % of the time was spent in I/O"), "{program}");
}

/// Streams that end at different times never ran together at the sum of their rates.
#[test]
fn what_is_carried_out_once_takes_as_long_as_its_longest_stream() {
    let mut tally = Tally::new(Vec::new(), Stop::PhasesOver);
    for ended_ns in [1_000_000_000, 2_000_000_000] {
        let mut counters = [Counters::new(), Counters::new()];
        counters[0].add(1_000_000, ended_ns);
        tally.add_stream(&counters, ended_ns);
    }
    let phases = vec![Phase::default()];
    let once = tally.measurement(&Workload { phases, ..Workload::default() }, 0.0);
    assert_eq!((once.elapsed_s, once.throughput_bytes_per_s), (2.0, 1e6));
    let law = once.response_time_littles_law_ns.unwrap();
    assert_eq!(law, once.response_time_ns.mean, "who is done has nothing in flight");
    let steady = tally.measurement(&Workload::default(), 0.0);
    assert_eq!(steady.throughput_bytes_per_s, 1.5e6);
}

/// Guards against counting all the time as thinking: a call of 256 MiB is four requests, and only
/// one of them follows a pause.
#[test]
fn in_phases_what_was_thought_is_no_io() {
    let mut tally = Tally::new(Vec::new(), Stop::PhasesOver);
    let mut counters = [Counters::new(), Counters::new()];
    (0..400).for_each(|_| counters[0].add(64 << 20, 64_000_000));
    tally.add_stream(&counters, 35_500_000_000);
    tally.add_thinking(9_900_000_000);
    let phases = vec![Phase { think_time_ns: 24_800_000, ..Phase::default() }];
    let workload = Workload { think_time_ns: 100_000_000, phases, ..Workload::default() };
    let m = tally.measurement(&workload, 0.0);
    assert!((m.io_time_frac - 0.72).abs() < 0.01, "{}", m.io_time_frac);
    assert!(doubt_of_io_share(&m).is_none());
}

/// Guards against counting pauses as response: 17 ms for requests of 1 ms, of which eight are in
/// flight and then followed by a pause of 16 ms.
#[test]
fn pauses_are_no_response() {
    let mut tally = Tally::new(Vec::new(), Stop::TimeCap);
    let mut counters = [Counters::new(), Counters::new()];
    (0..800).for_each(|_| counters[0].add(4096, 1_000_000));
    tally.add_stream(&counters, 1_700_000_000);
    let workload = Workload { queue_depth: 8, think_time_ns: 2_000_000, ..Workload::default() };
    let law = tally.measurement(&workload, 0.0).response_time_littles_law_ns.unwrap();
    assert!((law / 1e6 - 1.0).abs() < 1e-9, "{law}");
}

#[test]
fn nothing_is_measured_of_nothing() {
    let m = Tally::new(Vec::new(), Stop::Interrupted).measurement(&Workload::default(), 0.0);
    assert_eq!((m.ios, m.throughput_bytes_per_s, m.burst_ratio), (0, 0.0, None));
    assert_eq!((m.read, m.write, m.response_time_littles_law_ns), (None, None, None));
}

proptest! {
    /// Any order of a run's rows that keeps each stream's own order gives the same measurement.
    #[test]
    fn the_order_among_streams_makes_no_difference(times in proptest::collection::vec(1u64..5_000_000, 20..200)) {
        let all = rows(4, times.len() as u64, |number| times[number as usize]);
        let mut by_stream = all.clone();
        by_stream.sort_by_key(|io| io.process);
        prop_assert_eq!(tallied(&all), tallied(&by_stream));
    }
}
