//! Sustained rates: the long runs that measure them.
//!
//! Writes and reads run long enough for their rates to fall. If one falls, the drive rests, and
//! another run shows how much credit came back. Small requests show whether operations or bytes are
//! limited.

use super::course::{is_bucket, judge, recovered, says, withhold};
use super::explained::{Before, conclude, correct, last, summary};
use super::plan::base;
use super::rest;
use crate::ssd::Limit;
use ioscape_schema::sustained::{CourseKind, Sustained};
use ioscape_schema::{Bounded, Engine, Measurement, SizeDistribution, Workload};

/// Request sizes: large ones reach every byte limit, and most systems count them as single
/// operations.
const LARGE: u64 = 256 << 10;
const SMALL: u64 = 4 << 10;
/// Queue depths of large and of small requests.
const DEPTHS: [u32; 2] = [8, 32];
/// Run time of small requests, as a share of that of large ones.
const SMALL_SHARE: f64 = 0.25;
/// Most steps of a course, and fewest operations of a step.
const STEPS_MOST: usize = 240;
const OPERATIONS: u64 = 8;
/// Number of courses: large and small writes, large and small reads.
const COURSES: usize = 4;

/// Runs workloads for long.
pub trait Endure {
    /// Why a workload could not be run.
    type Error;

    /// Runs a workload for `seconds`; returns its measurement, and the bytes moved over time.
    ///
    /// # Errors
    /// The requests could not be carried out, or the run was cut off with no data left.
    fn course(
        &mut self,
        workload: &Workload,
        seconds: f64,
    ) -> Result<Ran<Self::Error>, Self::Error>;

    /// Stays idle for `seconds`.
    ///
    /// # Errors
    /// The user interrupts.
    fn rest(&mut self, seconds: f64) -> Result<(), Self::Error>;
}

/// A long run of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran<E> {
    /// Its measurement.
    pub measurement: Measurement,
    /// Pairs of the seconds since its beginning and the bytes moved by then, in order.
    pub moved: Vec<[f64; 2]>,
    /// Seconds from the start of the first earlier transfer to the start of this run.
    pub since_s: f64,
    /// What cut it off, if it did not run to its end.
    pub cut_off: Option<E>,
}

/// The long runs, and the conclusions from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endured {
    /// Large and small writes, then large and small reads, each with its course.
    pub measurements: Vec<Measurement>,
    /// Limits that explain the courses.
    pub limits: Vec<Limit>,
    /// The report on them, including what cannot be told.
    pub summary: Vec<String>,
    /// For writes and for reads: [`Ran::since_s`] of the large requests, and when the last of them
    /// ended on the same clock.
    large_s: Vec<[f64; 2]>,
}

impl Endured {
    /// Restores kept long runs with their reports, without a limit that no longer follows; derives
    /// the limits from the courses again.
    pub fn kept(mut measurements: Vec<Measurement>, before: Before) -> Self {
        let limits = conclude(&mut measurements.clone(), before, &[], false);
        correct(&mut measurements);
        let summary = summary(&measurements);
        Self { measurements, limits, summary, large_s: Vec::new() }
    }

    /// Whether every course was measured and shows whether its rate holds.
    pub fn is_told(&self) -> bool {
        let courses = self.measurements.iter().filter_map(|one| one.sustained.as_deref());
        let told = courses.filter(|course| course.kind != CourseKind::CannotBeTold);
        told.count() >= COURSES
    }
}

/// The most seconds that [`endure`] takes if every workload runs for `seconds`.
pub fn longest_s(seconds: f64) -> f64 {
    2.0 * (1.0 + rest::MOST + 1.0 + SMALL_SHARE) * seconds
}

/// Runs writes and reads for `seconds` each on a set of `unique_bytes`, with the further runs that
/// their rates require, just after the transfers in `before`. `is_largest` says that there is no
/// room for a larger set. Returns the conclusions from all runs, and what ended them early.
pub fn endure<E: Endure>(
    on: &mut E,
    unique_bytes: u64,
    is_largest: bool,
    seconds: f64,
    before: Before,
) -> (Endured, Result<(), E::Error>) {
    let mut endured = Endured::default();
    let ended = direction(on, unique_bytes, 0.0, seconds, &mut endured)
        .and_then(|()| direction(on, unique_bytes, 1.0, seconds, &mut endured));
    endured.limits = conclude(&mut endured.measurements, before, &endured.large_s, is_largest);
    endured.summary = summary(&endured.measurements);
    (endured, ended)
}

/// Runs the large and then the small requests of one direction, and adds the measurements to
/// `endured`.
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
    let mut ended_s = since_s + large.sustained.as_deref().map_or(0.0, says::length_s);
    let ended = cut_off.map_or(Ok(()), Err);
    let is_whole = ended.is_ok();
    let recovered = match large.sustained.as_deref_mut() {
        Some(course) if course.kind == CourseKind::Burst => {
            let recovered =
                ended.and_then(|()| again(on, &workload(0), course, seconds, &mut ended_s));
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
    endured.large_s.push([since_s, ended_s]);
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

/// Prepends to a measurement's course that it was cut off, if it did not run for all of its
/// `seconds`.
fn marked(mut measurement: Measurement, is_whole: bool, seconds: f64) -> Measurement {
    if let Some(course) = measurement.sustained.as_deref_mut().filter(|_| !is_whole) {
        let ran = says::seconds(says::length_s(course));
        let said = format!(
            "interrupted after {ran} of {}: what follows is of these",
            says::seconds(seconds)
        );
        course.sentences.insert(0, said);
    }
    measurement
}

/// Withdraws the verdict on a measurement's course if other processes disturbed it, since they may
/// have set its rates. The verdict stays if a second witness agrees: the credit that came back in a
/// rest.
fn believed(mut measurement: Measurement) -> Measurement {
    if let Some(course) = measurement.sustained.as_deref_mut().filter(|_| measurement.disturbed) {
        let agrees = course.recovered_bytes_per_s.zip(last(course));
        if agrees.and_then(|(back, last)| is_bucket(back, last)) != Some(true) {
            withhold(course);
        }
    }
    measurement
}

/// Rests, runs again, and returns how much credit came back, or why that cannot be told. The course
/// ended at `ended_s` on the clock of [`Ran::since_s`]; sets `ended_s` to the end of the second
/// run.
fn again<E: Endure>(
    on: &mut E,
    workload: &Workload,
    course: &Sustained,
    seconds: f64,
    ended_s: &mut f64,
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
    let in_flight = (u64::from(workload.queue_depth) * workload.size_mean) as f64;
    let idle_s = rest::idle_s(course, last, rest_s, [*ended_s, ran.since_s], in_flight);
    let (step_s, rates) = steps(&ran.moved, ran.measurement.ios);
    *ended_s = ran.since_s + step_s * rates.len() as f64;
    let back = |idle_s| recovered(step_s, &rates, last, idle_s).ok_or(rest::NOT_FALLEN);
    Ok(idle_s.ok_or(rest::TOO_LONG).and_then(back))
}

/// Converts the bytes moved over time to the rates of equal steps, as many as the number of
/// requests and of time marks allows; returns the seconds of a step, and the rates.
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

/// The bytes moved by a time, interpolated linearly between the known times.
fn moved_by(moved: &[[f64; 2]], at_s: f64) -> f64 {
    let next = moved.partition_point(|[s, _]| *s < at_s);
    let [to_s, to] = moved[next.min(moved.len() - 1)];
    let [from_s, from] = if next == 0 { [0.0, 0.0] } else { moved[next - 1] };
    let share = if to_s > from_s { (at_s - from_s) / (to_s - from_s) } else { 1.0 };
    from + (to - from) * share.clamp(0.0, 1.0)
}
