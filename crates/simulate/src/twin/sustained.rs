//! Rates that hold for long: what is measured for them, and the rate limits that explain what came out.
//!
//! Writes and reads run long enough for their rates to fall; where one did, the drive rests, and the same again tells how much
//! credit came back. Small requests tell whether operations or bytes are limited.

use super::course::{is_bucket, judge, recovered, says, withhold};
use super::plan::base;
use super::rest;
use crate::ssd::{Limit, Only};
use ioscape_schema::sustained::{CourseKind, Sustained};
use ioscape_schema::units::Bytes;
use ioscape_schema::{
    Bounded, Engine, Measurement, SizeDistribution, Warning, WarningKind, Workload,
};

/// Sizes of the requests: large ones reach every rate in bytes, and are single operations to most that count them.
const LARGE: u64 = 256 << 10;
const SMALL: u64 = 4 << 10;
/// In flight of each.
const DEPTHS: [u32; 2] = [8, 32];
/// Small requests run for this share of the time.
const SMALL_SHARE: f64 = 0.25;
/// Steps of a course at most, and operations of a step at least.
const STEPS_MOST: usize = 240;
const OPERATIONS: u64 = 8;
/// Rates that differ by less than this share are one limit's.
const SAME: f64 = 0.06;

/// What runs for long.
pub trait Endure {
    /// Why it cannot.
    type Error;

    /// Runs a workload for so many seconds; gives its measurement, and how many bytes were moved by how many seconds.
    ///
    /// # Errors
    /// The requests could not be carried out, or nothing is left of what was cut off.
    fn course(
        &mut self,
        workload: &Workload,
        seconds: f64,
    ) -> Result<Ran<Self::Error>, Self::Error>;

    /// Does nothing for so many seconds.
    ///
    /// # Errors
    /// The user interrupts.
    fn rest(&mut self, seconds: f64) -> Result<(), Self::Error>;
}

/// A workload that ran for long.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran<E> {
    /// Its measurement.
    pub measurement: Measurement,
    /// Seconds from the beginning, and bytes moved by then, in order.
    pub moved: Vec<[f64; 2]>,
    /// Seconds from when the first of what was moved before began to be moved to its own beginning.
    pub since_s: f64,
    /// What cut it off, where it did not run to its end.
    pub cut_off: Option<E>,
}

/// What was moved before the first course, and may have used up credit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Bytes, at least.
    pub bytes: u64,
    /// Whether these are all, were all written, and without a pause.
    pub is_all: bool,
}

/// What was measured for long, and what follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endured {
    /// Writes, reads, and both with small requests; each with its course.
    pub measurements: Vec<Measurement>,
    /// Limits that explain the courses.
    pub limits: Vec<Limit>,
    /// What was found of them, and what cannot be told.
    pub summary: Vec<String>,
    /// [`Ran::since_s`] of the first course.
    since_s: Option<f64>,
}

impl Endured {
    /// What was measured for long before and is kept with what was said of it; the limits follow from the courses again.
    pub fn kept(measurements: Vec<Measurement>, before: Before) -> Self {
        let mut again = Self { measurements: measurements.clone(), ..Self::default() };
        conclude(&mut again, before);
        let said = |(one, (_, what)): (&Measurement, (Only, &str))| -> Vec<String> {
            let courses = one.sustained.iter().flat_map(|course| &course.sentences);
            courses.map(|said| format!("{what}: {said}")).collect()
        };
        let summary = measurements.iter().step_by(2).zip(WHAT).flat_map(said).collect();
        Self { measurements, limits: again.limits, summary, since_s: None }
    }
}

/// Seconds that [`endure`] takes at most, when every workload runs for `seconds`.
pub fn longest_s(seconds: f64) -> f64 {
    2.0 * (1.0 + rest::MOST + 1.0 + SMALL_SHARE) * seconds
}

/// Runs writes and reads on a set of `unique_bytes` for so many seconds each, and what their rates make necessary, just after `before`
/// was moved. Gives what follows from all that was measured, and what ended it early.
pub fn endure<E: Endure>(
    on: &mut E,
    unique_bytes: u64,
    seconds: f64,
    before: Before,
) -> (Endured, Result<(), E::Error>) {
    let mut endured = Endured::default();
    let ended = direction(on, unique_bytes, 0.0, seconds, &mut endured)
        .and_then(|()| direction(on, unique_bytes, 1.0, seconds, &mut endured));
    conclude(&mut endured, before);
    (endured, ended)
}

/// What follows from writes, and from reads, as far as they were measured.
fn conclude(endured: &mut Endured, before: Before) {
    let both = [Direction::of(&endured.measurements, 0), Direction::of(&endured.measurements, 1)];
    let shared = shared(&both);
    let since_s = endured.since_s.unwrap_or_default();
    let whole = both[0].and_then(|writes| Whole::of(&writes, before, since_s));
    // Where it is known, nothing that was used is missing.
    let before_bytes = if whole.is_some() { 0 } else { before.bytes };
    let doubts = doubts(&both, shared, before_bytes);
    let explained = WHAT.map(|(which, what)| {
        let one = both[usize::from(which == Only::Reads)];
        let whole = whole.filter(|_| which == Only::Writes);
        one.map_or((None, None), |one| match shared {
            true => explained(&one, whole, None, "reads and writes together"),
            false => explained(&one, whole, Some(which), what),
        })
    });
    for ((at, (limit, said)), doubts) in explained.into_iter().enumerate().zip(doubts) {
        endured.limits.extend(limit);
        let large = endured.measurements.get_mut(2 * at);
        if let Some(course) = large.and_then(|large| large.sustained.as_deref_mut()) {
            course.sentences.extend(said.into_iter().chain(doubts));
            let told = course.sentences.iter().map(|said| format!("{}: {said}", WHAT[at].1));
            endured.summary.extend(told);
        }
    }
}

/// The directions, in the order in which they run.
const WHAT: [(Only, &str); 2] = [(Only::Writes, "writes"), (Only::Reads, "reads")];

/// One direction that ran for long: large requests, and small ones unless these were cut off.
#[derive(Clone, Copy)]
struct Direction<'a> {
    large: &'a Measurement,
    small: Option<&'a Measurement>,
}

impl<'a> Direction<'a> {
    /// That of this place, of measurements of large and small requests in turn.
    fn of(measured: &'a [Measurement], at: usize) -> Option<Self> {
        let large = measured.get(2 * at)?;
        Some(Self { large, small: measured.get(2 * at + 1) })
    }

    /// What large requests show, where they have a course.
    fn kind(&self) -> Option<CourseKind> {
        self.large.sustained.as_deref().map(|course| course.kind)
    }

    /// The last rate of large requests, in bytes per second, where there is one.
    fn last(&self) -> Option<Bounded> {
        last(self.large.sustained.as_deref()?)
    }

    /// The last rate of small requests, in bytes per second, where there is one.
    fn last_of_small(&self) -> Option<Bounded> {
        last(self.small?.sustained.as_deref()?)
    }

    /// Bytes of credit, where the drive behaves as a token bucket.
    fn credit(&self) -> Option<Bounded> {
        let large = self.large.sustained.as_deref()?;
        let is_one = is_bucket(large.recovered_bytes_per_s?, last(large)?)?;
        large.credit_bytes.filter(|_| is_one)
    }

    /// Whether small requests are as large as large ones, as in a set that holds no more than one of them.
    fn is_of_one_size(&self) -> bool {
        self.small.is_some_and(|small| small.workload.size_mean == self.large.workload.size_mean)
    }

    /// What is limited: that of which small and large requests came to as many a second.
    fn unit(&self) -> Option<Unit> {
        let (large, small) = (self.last()?, self.last_of_small()?);
        let sizes = [self.large, self.small?].map(|one| one.workload.size_mean as f64);
        let larger = |bytes: f64| bytes * sizes[0] / sizes[1];
        let as_large = Bounded {
            value: larger(small.value),
            low: larger(small.low),
            high: larger(small.high),
        };
        match [is_same(large, small), is_same(large, as_large)] {
            [true, false] => Some(Unit::Bytes),
            [false, true] => Some(Unit::Operations),
            _ => None,
        }
    }
}

/// The credit of a limit of bytes before the first of what was moved before used some of it.
#[derive(Clone, Copy)]
struct Whole {
    credit: Bounded,
    /// What was missing of it when the course began, in bytes.
    used: f64,
}

impl Whole {
    /// That of writes, `since_s` seconds after the first of what came before; `None` where it cannot be known.
    fn of(writes: &Direction<'_>, before: Before, since_s: f64) -> Option<Self> {
        let (left, rate) = (writes.credit()?, writes.last()?);
        // Had it been used up on the way, no more could be left than came back since.
        let was_never_empty = left.low > rate.high * since_s;
        if !before.is_all || !was_never_empty || writes.unit() != Some(Unit::Bytes) {
            return None;
        }
        let used = |rate: f64| (before.bytes as f64 - rate * since_s).max(0.0);
        let credit = Bounded {
            value: left.value + used(rate.value),
            low: left.low + used(rate.high),
            high: left.high + used(rate.low),
        };
        Some(Self { credit, used: used(rate.value) })
    }
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Bytes,
    Operations,
}

/// Runs large requests of a direction, and small ones; what was measured is kept.
fn direction<E: Endure>(
    on: &mut E,
    unique_bytes: u64,
    read_frac: f64,
    seconds: f64,
    endured: &mut Endured,
) -> Result<(), E::Error> {
    let workload = |which: usize| Workload {
        unique_bytes,
        size_mean: [LARGE, SMALL][which].min(unique_bytes),
        size_distribution: SizeDistribution::Fixed,
        read_frac,
        seq_frac: 0.0,
        queue_depth: DEPTHS[which],
        engine: Engine::IoUring,
        ..base()
    };
    let CourseRun { measurement: mut large, since_s, cut_off } = told(on, &workload(0), seconds)?;
    endured.since_s.get_or_insert(since_s);
    let ended = cut_off.map_or(Ok(()), Err);
    let is_whole = ended.is_ok();
    let recovered = match large.sustained.as_deref_mut() {
        Some(course) if course.kind == CourseKind::Burst => {
            let recovered = ended.and_then(|()| again(on, &workload(0), course, since_s, seconds));
            let (back, said) = match &recovered {
                Ok(back) => (back.ok(), rest::recovery(*back, last(course))),
                Err(_) => (None, rest::CUT_OFF.to_owned()),
            };
            course.recovered_bytes_per_s = back;
            course.sentences.push(said);
            recovered.map(drop)
        }
        _ => ended,
    };
    endured.measurements.push(marked(believed(large), is_whole, seconds));
    recovered?;
    let seconds = SMALL_SHARE * seconds;
    let CourseRun { measurement: small, cut_off, .. } = told(on, &workload(1), seconds)?;
    endured.measurements.push(marked(believed(small), cut_off.is_none(), seconds));
    cut_off.map_or(Ok(()), Err)
}

/// A measurement with its course.
struct CourseRun<E> {
    measurement: Measurement,
    since_s: f64,
    cut_off: Option<E>,
}

fn told<E: Endure>(
    on: &mut E,
    workload: &Workload,
    seconds: f64,
) -> Result<CourseRun<E::Error>, E::Error> {
    let Ran { mut measurement, moved, since_s, cut_off } = on.course(workload, seconds)?;
    let (step_s, rates) = steps(&moved, measurement.ios);
    measurement.sustained = Some(Box::new(judge(step_s, &rates)));
    Ok(CourseRun { measurement, since_s, cut_off })
}

/// A measurement whose course says first that it was cut off, where it did not run for all of its `seconds`.
fn marked(mut measurement: Measurement, is_whole: bool, seconds: f64) -> Measurement {
    if let Some(course) = measurement.sustained.as_deref_mut().filter(|_| !is_whole) {
        let ran = says::seconds(course.step_s * course.bytes_per_s.len() as f64);
        let said = format!(
            "interrupted after {ran} of {}: what follows is of these",
            says::seconds(seconds)
        );
        course.sentences.insert(0, said);
    }
    measurement
}

/// A measurement without the verdict on its course where others had the processors meanwhile, so that they may have set its rates: unless
/// a second witness agrees, the credit that came back in a rest.
fn believed(mut measurement: Measurement) -> Measurement {
    use WarningKind::{LoadByOthers, Steal, Stopped};
    let is_load = |w: &Warning| matches!(w.kind, LoadByOthers | Steal | Stopped);
    if let Some(course) = measurement.sustained.as_deref_mut()
        && measurement.warnings.iter().any(is_load)
    {
        let agrees = course.recovered_bytes_per_s.zip(last(course));
        if agrees.and_then(|(back, last)| is_bucket(back, last)) != Some(true) {
            withhold(course);
        }
    }
    measurement
}

/// Rests, runs again, and says how much credit came back, or why that cannot be told; `since_s` is [`Ran::since_s`] of the course.
fn again<E: Endure>(
    on: &mut E,
    workload: &Workload,
    course: &Sustained,
    since_s: f64,
    seconds: f64,
) -> Result<Result<Bounded, &'static str>, E::Error> {
    let (Some(first), Some(last)) = (course.phases.first(), last(course)) else {
        return Ok(Err(rest::NOT_FALLEN));
    };
    let Some(rest_s) = rest::seconds(course, last, seconds) else {
        return Ok(Err(rest::TOO_SHORT));
    };
    let over = (first.bytes_per_s.value - last.value).max(0.01 * last.value);
    let length_s = (2.0 * rest_s * last.value / over + 20.0 * course.step_s).min(seconds);
    on.rest(rest_s)?;
    let ran = on.course(workload, length_s)?;
    ran.cut_off.map_or(Ok(()), Err)?;
    let ended_s = since_s + course.step_s * course.bytes_per_s.len() as f64;
    let in_flight = (u64::from(workload.queue_depth) * workload.size_mean) as f64;
    let idle_s = rest::idle_s(course, last, rest_s, [ended_s, ran.since_s], in_flight);
    let (step_s, rates) = steps(&ran.moved, ran.measurement.ios);
    let back = |idle_s| recovered(step_s, &rates, last, idle_s).ok_or(rest::NOT_FALLEN);
    Ok(idle_s.ok_or(rest::TOO_LONG).and_then(back))
}

/// The rate that held at last.
fn last(course: &Sustained) -> Option<Bounded> {
    let is_told = course.kind != CourseKind::CannotBeTold;
    course.phases.last().filter(|_| is_told).map(|phase| phase.bytes_per_s)
}

/// Rates of equal steps, as many as requests and marks give, from what was moved by some times.
pub fn steps(moved: &[[f64; 2]], operations: u64) -> (f64, Vec<f64>) {
    let Some(&[end_s, _]) = moved.last().filter(|[end_s, _]| *end_s > 0.0) else {
        return (0.0, Vec::new());
    };
    let most = usize::try_from(operations / OPERATIONS).unwrap_or(STEPS_MOST).min(moved.len() / 2);
    let count = most.clamp(1, STEPS_MOST);
    let step_s = end_s / count as f64;
    let by: Vec<f64> = (0..=count).map(|step| moved_by(moved, step as f64 * step_s)).collect();
    (step_s, by.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0) / step_s).collect())
}

/// Bytes moved by a time, in a straight line between the times that are known.
fn moved_by(moved: &[[f64; 2]], at_s: f64) -> f64 {
    let next = moved.partition_point(|[s, _]| *s < at_s);
    let [to_s, to] = moved[next.min(moved.len() - 1)];
    let [from_s, from] = if next == 0 { [0.0, 0.0] } else { moved[next - 1] };
    let share = if to_s > from_s { (at_s - from_s) / (to_s - from_s) } else { 1.0 };
    from + (to - from) * share.clamp(0.0, 1.0)
}

/// Whether reads that had no burst of their own came to the rate to which writes had fallen: one limit of both explains that.
fn shared(both: &[Option<Direction<'_>>; 2]) -> bool {
    let [Some(write), Some(read)] = both else { return false };
    let lasts = write.last().zip(read.last());
    write.credit().is_some()
        && read.kind() != Some(CourseKind::Burst)
        && lasts.is_some_and(|(write, read)| is_same(write, read))
}

/// Whether reads had a credit of their own: that of writes was used up when they began, since small writes had come to its rate.
fn apart(both: &[Option<Direction<'_>>; 2]) -> bool {
    let [Some(write), Some(read)] = both else { return false };
    write.credit().is_some() && write.unit().is_some() && read.credit().is_some()
}

/// What was used up before writes, and before reads, was measured, and what is not known of the other.
fn doubts(both: &[Option<Direction<'_>>; 2], shared: bool, before_bytes: u64) -> [Vec<String>; 2] {
    let [write, read] = *both;
    let kinds = both.map(|one| one?.kind());
    let is_burst = kinds[0] == Some(CourseKind::Burst);
    let before = Bytes(before_bytes as f64);
    let moved = (is_burst && before_bytes > 0).then(|| {
        format!("at least {before} had been moved before: the credit may be larger by what they used of it")
    });
    let ended = is_burst && kinds[1] == Some(CourseKind::Steady);
    let hidden = ended.then(|| {
        "measured after the writes had used up their burst: one of reads that shares its credit does not show"
            .to_owned()
    });
    let is_open = !shared && !apart(both);
    let open = |one, other, others| may_share(one, other, others).filter(|_| is_open);
    let of_writes = moved.into_iter().chain(open(write, read, "reads"));
    let of_reads = hidden.into_iter().chain(open(read, write, "writes"));
    [of_writes.collect(), of_reads.collect()]
}

/// That the others may share the limit of one direction, unless they held a higher rate.
fn may_share(
    one: Option<Direction<'_>>,
    other: Option<Direction<'_>>,
    others: &str,
) -> Option<String> {
    let limit = one.filter(|one| one.credit().is_some())?.last()?;
    let why = match other.and_then(|other| other.last()) {
        None => format!("the rate of {others} that holds is not known"),
        Some(held) if held.low > limit.high => return None,
        Some(held) => format!("they held {}, not surely more than it allows", says::rate(held)),
    };
    Some(format!("cannot be told: whether {others} share the limit, since {why}"))
}

/// The limit that explains a direction, of all requests unless it is of `only` some, and what is said of it.
fn explained(
    one: &Direction<'_>,
    whole: Option<Whole>,
    only: Option<Only>,
    what: &str,
) -> (Option<Limit>, Option<String>) {
    let Some((credit, last)) = one.credit().zip(one.last()) else { return (None, None) };
    let large = one.large.workload.size_mean as f64;
    match one.unit() {
        Some(Unit::Bytes) => {
            let used = whole.map(|whole| whole.used).filter(|used| *used > 0.0);
            let used = used.map_or_else(String::new, |used| {
                format!(", of which {} had been used before, if it was whole then", Bytes(used))
            });
            let credit = whole.map_or(credit, |whole| whole.credit);
            let said = format!(
                "a limit of bytes, of {what}: {} with a credit of {}{used}",
                says::rate(last),
                says::bytes(credit)
            );
            let bytes_per_s = Some(last.value);
            let limit = Limit { operations_per_s: None, bytes_per_s, only, credit: credit.value };
            (Some(limit), Some(said))
        }
        Some(Unit::Operations) => {
            let [rate, credit] = [last.value, credit.value].map(|bytes| bytes / large);
            let said = format!(
                "a limit of operations, of {what}: {rate:.0} a second with a credit of {credit:.0}"
            );
            let operations_per_s = Some(rate);
            (Some(Limit { operations_per_s, bytes_per_s: None, only, credit }), Some(said))
        }
        None => {
            let why = match one.last_of_small() {
                Some(_) if one.is_of_one_size() => {
                    "requests of one size do not tell; a larger set would (--unique-bytes)"
                }
                Some(_) => "small requests came to neither rate",
                None => "the rate of small requests that holds is not known",
            };
            let said =
                format!("cannot be told: whether operations or bytes of {what} are limited; {why}");
            (None, Some(said))
        }
    }
}

/// Whether two rates may be one.
fn is_same(a: Bounded, b: Bounded) -> bool {
    let near = (a.value - b.value).abs() <= SAME * a.value.max(b.value);
    near && a.low <= b.high * (1.0 + SAME / 2.0) && b.low <= a.high * (1.0 + SAME / 2.0)
}
