//! Two halves of a stationary trace are alike or cannot be told apart; real changes are found.

use super::told::is_rate;
use super::{Condition, Course, compare};
use ioscape_schema::trace_comparison::{Change, TraceComparison, TraceDistribution, TraceFigure};
use ioscape_schema::{Io, Op, Request, TraceSummary};
use proptest::prelude::*;

/// A number from 0 to 1 (splitmix64).
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn exponential(state: &mut u64, mean: f64) -> f64 {
    -mean * (1.0 - random(state)).ln()
}

/// A stationary load with two states, in which everything differs.
#[derive(Clone, Copy, Debug)]
struct Load {
    seed: u64,
    /// Requests per second in each state.
    rates: [f64; 2],
    /// Mean length of a stay in a state, as a fraction of the trace.
    stays: [f64; 2],
    /// Mean time of a request in each state, in seconds.
    times: [f64; 2],
    reads: [f64; 2],
    sequential: [f64; 2],
}

const SPAN_S: f64 = 100.0;

/// A request that is issued on arrival and takes so long.
fn io(request: Request, queued_ns: u64, took_ns: u64) -> Io {
    let completed_ns = queued_ns.saturating_add(took_ns);
    Io { request, queued_ns, issued_ns: queued_ns, completed_ns, ..Io::default() }
}

impl Load {
    /// The trace, starting in its stationary state.
    fn trace(&self) -> Vec<Io> {
        let (mut state, s) = (self.seed, &mut self.seed.clone());
        let _ = random(&mut state);
        let share = self.stays[0] / (self.stays[0] + self.stays[1]);
        let mut now_in = usize::from(random(s) >= share);
        let (mut now, mut until) = (0.0, exponential(s, self.stays[now_in] * SPAN_S));
        let (mut rows, mut end) = (Vec::new(), 0);
        loop {
            let next = now + exponential(s, 1.0 / self.rates[now_in]);
            if next > until {
                // The distribution has no memory: the rest of the gap is drawn again.
                (now, now_in) = (until, 1 - now_in);
                until += exponential(s, self.stays[now_in] * SPAN_S);
                if now > SPAN_S {
                    return rows;
                }
                continue;
            }
            now = next;
            if now > SPAN_S {
                return rows;
            }
            let goes_on = random(s) < self.sequential[now_in];
            let offset = if goes_on { end } else { (random(s) * 1e6) as u64 * 4096 };
            let len = 4096 << (random(s) * 4.0) as u32;
            let op = if random(s) < self.reads[now_in] { Op::Read } else { Op::Write };
            let queued_ns = (now * 1e9) as u64;
            let took = (exponential(s, self.times[now_in]) * 1e9) as u64;
            rows.push(io(Request { op, offset, len }, queued_ns, took));
            end = offset + u64::from(len);
        }
    }
}

fn told(first: &[Io], second: &[Io]) -> TraceComparison {
    asked(first, second, None)
}

fn asked(first: &[Io], second: &[Io], fail_if: Option<&Condition>) -> TraceComparison {
    let courses = [first, second].map(|rows| {
        let mut course = Course::default();
        course.update(rows);
        course
    });
    compare(courses.each_ref(), [TraceSummary::default(), TraceSummary::default()], fail_if)
}

fn halves(rows: &[Io]) -> (&[Io], &[Io]) {
    rows.split_at(rows.partition_point(|io| io.queued_ns < (SPAN_S / 2.0 * 1e9) as u64))
}

/// The load with this number, with bursts that last up to a sixtieth of the trace.
fn numbered(number: u64) -> Load {
    let s = &mut number.wrapping_mul(0x1234_5678_9abc_def1);
    let mut between = |low: f64, high: f64| low * (high / low).powf(random(s));
    let mut pair = |low: f64, high: f64| [between(low, high), between(low, high)];
    Load {
        rates: pair(10.0, 200.0),
        stays: pair(1e-4, 1.0 / 60.0),
        times: pair(1e-4, 1e-2),
        reads: pair(0.1, 0.9),
        sequential: pair(0.1, 0.9),
        seed: number,
    }
}

#[test]
fn halves_of_a_stationary_trace_are_told_apart_one_time_in_twenty_at_most() {
    let cases = 160;
    let wrong = (0..cases).filter(|&number| {
        let rows = numbered(number).trace();
        let (first, second) = halves(&rows);
        told(first, second).verdict == Change::Changed
    });
    let wrong = wrong.count();
    assert!(wrong <= cases as usize / 20, "{wrong} of {cases}");
}

/// Reads of a steady load, and in each half `bursts` bursts of writes, like write-back.
fn written_back(number: u64, bursts: u64) -> Vec<Io> {
    let load = Load { rates: [100.0; 2], times: [1e-3; 2], reads: [1.0; 2], ..numbered(number) };
    let (mut rows, s) = (load.trace(), &mut (number + 1000));
    for at in 0..2 * bursts {
        let begin_s = SPAN_S / 2.0 * ((at / bursts) as f64 + 0.9 * random(s));
        for n in 0..200 {
            let queued_ns = (begin_s * 1e9) as u64 + n * 1000;
            let len = 4096 << (random(s) * 4.0) as u32;
            let request = Request { op: Op::Write, offset: n * 65_536, len };
            rows.push(io(request, queued_ns, 1 + (exponential(s, 1e-3) * 1e9) as u64));
        }
    }
    rows.sort_by_key(|io| io.queued_ns);
    rows
}

#[test]
fn of_requests_in_one_or_two_windows_a_change_cannot_be_told() {
    let cases: Vec<(u64, u64)> = (0..20).flat_map(|number| [(number, 1), (number, 2)]).collect();
    let mut wrong = 0;
    for &(number, bursts) in &cases {
        let rows = written_back(number, bursts);
        let (first, second) = halves(&rows);
        let found = told(first, second);
        wrong += usize::from(found.verdict == Change::Changed);
        assert_eq!(found.times_as_long, None, "nobody knows how rare the bursts are");
        for one in &found.figures {
            let of_writes =
                matches!(one.name, TraceFigure::WriteBytesMean | TraceFigure::WriteElapsedNsMean);
            assert!(one.ci95[0] < one.ci95[1], "{one:?}");
            assert!(!of_writes || one.verdict == Change::CannotBeTold, "{one:?}");
        }
        for one in &found.distributions {
            let of_writes = matches!(
                one.name,
                TraceDistribution::WriteBytes | TraceDistribution::WriteElapsedNs
            );
            assert!(!of_writes || one.ci95[0] < one.ci95[1], "{one:?}");
            assert!(!of_writes || one.verdict == Change::CannotBeTold, "{one:?}");
        }
    }
    assert!(wrong <= cases.len() / 10, "{wrong} of {}", cases.len());
}

#[test]
fn what_stops_or_begins_altogether_meets_a_condition() {
    let find = |found: &TraceComparison, name: TraceFigure| {
        *found.figures.iter().find(|one| one.name == name).expect("one of both has it")
    };
    let load = Load { rates: [100.0; 2], reads: [0.5; 2], ..numbered(1) };
    let (both, written) = (load.trace(), Load { reads: [0.0; 2], seed: 7, ..load }.trace());
    for (first, second, text) in
        [(&both, &written, "throughput < 0.5"), (&written, &both, "throughput > 2")]
    {
        let condition: Condition = text.parse().expect("a condition");
        let found = asked(first, second, Some(&condition));
        let reads = find(&found, TraceFigure::ReadBytesPerS);
        assert_eq!(reads.verdict, Change::Changed, "{reads:?}");
        assert!(condition.failure(&found).is_some(), "{text}: {:?}", found.condition);
    }
    // A single burst may be chance.
    let rows = written_back(2, 1);
    let (first, second) = halves(&rows);
    let read: Vec<Io> = second.iter().copied().filter(|io| io.request.op == Op::Read).collect();
    let condition: Condition = "throughput < 0.5".parse().expect("a condition");
    let found = asked(first, &read, Some(&condition));
    let writes = find(&found, TraceFigure::WriteBytesPerS);
    assert_eq!(writes.verdict, Change::CannotBeTold, "{writes:?}");
    assert_eq!(condition.failure(&found), None, "{:?}", found.condition);
}

#[test]
fn a_change_is_found_and_named() {
    let cases = 40;
    let found = (0..cases).filter(|&number| {
        let load = numbered(number);
        let more = Load { rates: load.rates.map(|rate| rate * 3.0), seed: number + 1000, ..load };
        let told = told(&load.trace(), &more.trace());
        let rate = told.figures.iter().find(|one| one.name == TraceFigure::RequestsPerS);
        rate.is_some_and(|rate| rate.verdict == Change::Changed && rate.ratio > 1.0)
    });
    let found = found.count();
    assert!(found >= 32, "{found} of {cases}");
    let load = Load { rates: [100.0; 2], times: [1e-3; 2], ..numbered(1) };
    let slow = Load { times: [3e-3; 2], seed: 7, ..load };
    let told = told(&load.trace(), &slow.trace());
    let times = told.distributions.iter().find(|d| d.name == TraceDistribution::ReadElapsedNs);
    let times = times.expect("both have reads");
    assert!(times.verdict == Change::Changed && times.shares[1] < times.shares[0], "{times:?}");
    assert!(told.distributions.iter().any(|one| one.verdict == Change::Alike), "{told:?}");
}

/// Reads of one size at equal time intervals.
fn even(per_second: u64) -> Vec<Io> {
    let row = |at: u64| {
        let queued_ns = at * 1_000_000_000 / per_second;
        let request = Request { op: Op::Read, offset: at * 4096, len: 4096 };
        io(request, queued_ns, 50_000 + (at * 7_919) % 10_000)
    };
    (0..per_second * SPAN_S as u64).map(row).collect()
}

/// 1000 requests per second are 9.3 % more than 915. 905 are 9.5 % less than 1000, and 1000 are
/// 10.5 % more than 905.
#[test]
fn what_is_alike_is_so_whichever_trace_comes_first() {
    let rate = |first: &[Io], second: &[Io]| {
        let told = told(first, second);
        let rate = told.figures.into_iter().find(|one| one.name == TraceFigure::RequestsPerS);
        rate.expect("both have requests")
    };
    let thousand = even(1000);
    for (per_second, verdict) in [(915, Change::Alike), (905, Change::Changed)] {
        let other = even(per_second);
        let both = [rate(&thousand, &other), rate(&other, &thousand)];
        assert_eq!(both.map(|one| one.verdict), [verdict; 2], "{per_second}: {both:?}");
        assert!((both[0].ratio * both[1].ratio - 1.0).abs() < 1e-9, "{both:?}");
    }
}

#[test]
fn little_is_said_of_little() {
    let rows = numbered(3).trace();
    for few in [&rows[..0], &rows[..1], &rows[..20]] {
        let told = told(&rows, few);
        assert_ne!(told.verdict, Change::Alike);
        assert!(told.figures.iter().all(|one| one.ci95.iter().all(|end| end.is_finite())));
    }
    assert_eq!(told(&rows, &rows).verdict, told(&rows[..], &rows.clone()).verdict);
}

#[test]
fn few_requests_and_those_of_one_instant_have_no_rate() {
    let rows = numbered(3).trace();
    let at_once: Vec<Io> =
        rows[..20].iter().map(|io| Io { queued_ns: 0, issued_ns: 0, ..*io }).collect();
    for (few, has_rate) in [(&rows[..1], false), (&rows[..9], false), (&rows[..10], true)] {
        let told = [told(few, &rows), told(&rows, few), told(few, &at_once)];
        let rates = told.map(|one| one.figures.iter().any(|one| is_rate(one.name)));
        assert_eq!(rates, [has_rate, has_rate, false], "{} requests", few.len());
    }
}

proptest! {
    #[test]
    fn any_rows_give_finite_numbers(rows in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u32>(), any::<u32>(), any::<bool>()), 0..80)) {
        let mut rows: Vec<Io> = rows
            .into_iter()
            .map(|(queued_ns, offset, len, took, read)| {
                let op = if read { Op::Read } else { Op::Write };
                io(Request { op, offset, len }, queued_ns, took.into())
            })
            .collect();
        rows.sort_by_key(|io| io.queued_ns);
        let (first, second) = rows.split_at(rows.len() / 2);
        let told = told(first, second);
        for one in told.figures {
            prop_assert!(one.ci95[0] <= one.ratio && one.ratio <= one.ci95[1], "{one:?}");
            prop_assert!(one.ci95[1].is_finite() && one.values.iter().all(|value| value.is_finite()));
        }
        for one in told.distributions {
            let inside = one.ci95[0] <= one.distance && one.distance <= one.ci95[1];
            prop_assert!(inside && one.ci95[1] <= 1.0, "{one:?}");
        }
    }
}

#[test]
fn requests_without_a_completion_are_in_no_time_or_queue() {
    let row = |at: u64| {
        let took = if at.is_multiple_of(5) { 0 } else { 100_000 };
        io(Request::default(), at * 1_000_000, took)
    };
    let mut course = Course::default();
    course.update(&(0..100).map(row).collect::<Vec<_>>());
    let windows = course.windows().1;
    for of in [TraceDistribution::ReadElapsedNs, TraceDistribution::QueueLength] {
        assert_eq!(windows.iter().map(|one| one.seen(of).count()).sum::<u64>(), 80, "{of:?}");
    }
    assert_eq!(windows.iter().map(super::Window::ios).sum::<u64>(), 100);
    assert!(course.is_timed());
}

/// Once, the same requests recorded without their arrivals were "a changed workload".
#[test]
fn what_follows_from_arrivals_is_compared_where_both_traces_have_them() {
    let rows = numbered(3).trace();
    let mut course = Course::default();
    course.update(&rows);
    let mut lacking = TraceSummary { ios: rows.len() as u64, ..TraceSummary::default() };
    let note = |count: usize| ("requests without an arrival".to_owned(), count.to_string());
    for (missing, figures, distributions) in [(rows.len() / 100, 8, 9), (rows.len() / 50, 5, 3)] {
        lacking.info.notes = [note(missing)].into();
        let found = compare([&course; 2], [TraceSummary::default(), lacking.clone()], None);
        assert_eq!((found.figures.len(), found.distributions.len()), (figures, distributions));
    }
}
