//! From the numbers of all processes to a case's result.

use super::background::Background;
use super::case::Case;
use super::division;
use super::estimate::{self, Batch, FEW_LEAST, Flaw, INTERVAL_LEAST, Number};
use super::foreign;
use super::mab;
use super::reasons::{MISNUMBERED, NEVER_ALONE, UNQUEUED, disturbed, no_time};
use super::waiting::Waiting;
use ioscape_machine::load::UNSEEN;
use ioscape_schema::statistics;
use ioscape_schema::{Contamination, OsBenchmark, OsRule, OsUnit};

/// The least number of processes that a value needs, if as many ran: a single one may have been
/// lucky.
const COUNTED_LEAST: usize = division::COUNTED_LEAST as usize;

/// What a process of a case measured: batches, or a single value for the whole.
#[derive(Debug)]
enum Measured {
    Batches(Vec<Batch>),
    /// The value and the pieces that make it up, each with its share of the time and the time of
    /// the fixed computation in it.
    Value(f64, Vec<Batch>),
}

impl Measured {
    /// Returns the operations in all batches.
    fn operations(&self) -> u64 {
        match self {
            Self::Batches(batches) => batches.iter().map(|batch| batch.ops).sum(),
            Self::Value(..) => 1,
        }
    }
}

/// The results of a case's processes so far.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    processes: Vec<(Measured, Background)>,
    refusal: Option<String>,
    /// Why some process had no time for its batches, if that happened.
    late: Option<String>,
}

impl Gathered {
    /// Adds a process by its batches, with what others did meanwhile.
    pub(crate) fn add(&mut self, batches: Vec<Batch>, background: Background) {
        self.processes.push((Measured::Batches(batches), background));
    }

    /// Adds a process that had no time for its batches; the reason applies as long as no process
    /// has any.
    pub(crate) fn add_late(&mut self, why: String, background: Background) {
        self.add(Vec::new(), background);
        self.late.get_or_insert(why);
    }

    /// Returns why not a single process had time for its batches.
    fn always_late(&self) -> Option<&String> {
        let is_in_time = |(measured, _): &(Measured, Background)| measured.operations() > 0;
        self.late.as_ref().filter(|_| !self.processes.iter().any(is_in_time))
    }

    /// Adds a process by its value, with the pieces that show the pace of its processors if that is
    /// judged.
    pub(crate) fn add_value(&mut self, value: f64, pieces: &[Batch], background: Background) {
        if value.is_finite() && value > 0.0 {
            self.processes.push((Measured::Value(value, pieces.to_vec()), background));
        }
    }

    /// Returns the best time of the fixed computation in each process, and whether its neighbours
    /// were mostly idle.
    fn paces(&self) -> impl Iterator<Item = (u64, bool)> {
        self.processes.iter().filter_map(|(measured, background)| match measured {
            Measured::Batches(batches) => Some((estimate::pace(batches)?, background.was_alone())),
            Measured::Value(..) => None,
        })
    }

    /// Returns how many processes count, given the full-speed time of the fixed computation,
    /// `fastest_ns`.
    pub(crate) fn counted(&self, case: &Case, fastest_ns: u64) -> usize {
        self.numbers(case, fastest_ns).filter(|(_, number)| number.flaw.is_none()).count()
    }

    /// Whether too few processes ran for a value because time ran out; disturbed processes, and
    /// what no further process would tell, have other reasons.
    pub(crate) fn lacks_time(&self, case: &Case, reference: Reference) -> bool {
        let counted = self.counted(case, reference.fastest_ns);
        let ran = self.count();
        let is_short = !self.refused() && ran < COUNTED_LEAST && counted == ran;
        is_short && self.untold_anyway(case, reference).is_none()
    }

    /// Why no process of the case has a value, however many there are, if that is so.
    fn untold_anyway(&self, case: &Case, reference: Reference) -> Option<&'static str> {
        let numbers: Vec<Number> =
            self.numbers(case, reference.fastest_ns).map(|one| one.1).collect();
        match reference.unseen {
            _ if self.count() == 0 => None,
            Some(why) => Some(why),
            None if case.pinned && !reference.ever_alone => Some(NEVER_ALONE),
            None => is_without_witness(case, &numbers).then_some(UNQUEUED),
        }
    }

    /// Returns what others did during each process.
    pub(crate) fn backgrounds(&self) -> impl Iterator<Item = &Background> {
        self.processes.iter().map(|(_, background)| background)
    }

    /// Returns the seconds that all processes took.
    pub(crate) fn elapsed_s(&self) -> f64 {
        self.backgrounds().map(|background| background.elapsed_s).sum()
    }

    /// Returns the number of processes that ran.
    pub(crate) fn count(&self) -> usize {
        self.processes.len()
    }

    /// Records why the case cannot be measured; earlier values then do not count.
    pub(crate) fn refuse(&mut self, why: String) {
        self.refusal.get_or_insert(why);
    }

    /// Whether the case is known not to be measurable. That includes cases whose first
    /// [`COUNTED_LEAST`] processes all had no time for it, because the other cases need theirs.
    pub(crate) fn refused(&self) -> bool {
        let is_given_up = self.count() >= COUNTED_LEAST && self.always_late().is_some();
        self.refusal.is_some() || is_given_up
    }

    /// Returns the value of each process, with its number and flaws.
    fn numbers(&self, case: &Case, fastest_ns: u64) -> impl Iterator<Item = (f64, Number)> {
        self.processes.iter().filter_map(move |(measured, background)| {
            let mut number = match measured {
                Measured::Batches(batches) => estimate::number(batches, case.rule, fastest_ns)?,
                Measured::Value(value, pieces) => estimate::whole(*value, pieces, fastest_ns),
            };
            number.flaw = flaw(case, background, measured.operations(), &number);
            let value = match measured {
                Measured::Batches(_) => case.value(number.ns_per_op),
                Measured::Value(value, _) => *value,
            };
            Some((value, number))
        })
    }

    /// Returns what is wrong with each process. Processes without a number were interrupted before
    /// one batch was long enough. If all are late, the machine itself may be slow, which is no
    /// disturbance.
    pub(crate) fn flaws(&self, case: &Case, fastest_ns: u64) -> impl Iterator<Item = Option<Flaw>> {
        let told: Vec<_> = self.numbers(case, fastest_ns).map(|(_, number)| number.flaw).collect();
        let untold = if self.always_late().is_some() { 0 } else { self.count() - told.len() };
        told.into_iter().chain(std::iter::repeat_n(Some(Flaw::Interrupted), untold))
    }

    /// Returns the median number of processors that others kept busy in the disturbed processes;
    /// kernel threads are included if they count.
    fn busy_beside(&self, case: &Case) -> Option<f64> {
        let there = self.backgrounds().filter(|background| background.has_others(case));
        let busy: Vec<f64> = there.filter_map(|background| background.busy(case)).collect();
        estimate::median(&busy)
    }

    fn contamination(&self, numbers: &[Number]) -> Contamination {
        let clean: Vec<f64> = numbers.iter().filter_map(|number| number.clean_frac).collect();
        let delay: Vec<f64> = numbers.iter().filter_map(|number| number.run_delay_frac).collect();
        let is_slow = |flaw: &Flaw| matches!(flaw, Flaw::Slowed | Flaw::Unexplained);
        let slowed = numbers.iter().filter(|number| number.flaw.as_ref().is_some_and(is_slow));
        let slowed = slowed.count();
        let sum = |of: fn(&Background) -> f64| self.backgrounds().map(of).sum::<f64>();
        let (total, elapsed) = (sum(|b| b.total_s), sum(|b| b.elapsed_s));
        let others: Vec<f64> = self.backgrounds().filter_map(Background::others).collect();
        Contamination {
            clean_frac: estimate::median(&clean),
            run_delay_frac: estimate::median(&delay),
            steal_frac: (total > 0.0).then(|| sum(|b| b.steal_s) / total),
            slowed_frac: (!numbers.is_empty()).then(|| slowed as f64 / numbers.len() as f64),
            other_cpus: estimate::median(&others),
            throttled_frac: (elapsed > 0.0).then(|| sum(|b| b.throttled_s) / elapsed),
        }
    }
}

/// Returns what is wrong with a number, judged by what others did meanwhile and by its batches.
fn flaw(case: &Case, background: &Background, operations: u64, number: &Number) -> Option<Flaw> {
    let others = case.shares && background.has_others(case);
    // A busy host takes a little from every processor, which does not explain a much longer wait of
    // the case.
    let explains = || background.waited_for_hypervisor(number.run_delay_frac.unwrap_or(0.0));
    let stolen = background.lost_to_hypervisor(case)
        && (number.flaw != Some(Flaw::Interrupted) || explains());
    match number.flaw {
        // Even what ran between the stops does not count: a processor that idled for 80 ms of 100
        // has cold caches and another clock for many batches, and nothing in them shows it.
        _ if background.throttled_s > 0.0 => Some(Flaw::Throttled),
        _ if background.stops > 0 => Some(Flaw::Stopped),
        _ if others => Some(Flaw::Others),
        _ if is_whole(case) && stolen => Some(Flaw::Stolen),
        _ if foreign::is_there(case, background, operations) => Some(Flaw::Storage),
        // A cold run reads back what was evicted from the file cache, which counts as waiting for
        // memory.
        _ if case.shares && background.lacks_memory() && !mab::is_cold(case) => Some(Flaw::Memory),
        // If the kernel excludes stolen time from a task's own time, it looks as if another program
        // had used it.
        Some(Flaw::Interrupted) if stolen => Some(Flaw::Stolen),
        Some(Flaw::Slowed) if background.is_quiet(case) => Some(Flaw::Unexplained),
        other => other,
    }
}

/// Whether nothing could show that other programs used the processors. For a case that sleeps, only
/// the kernel's count of its waiting can.
fn is_without_witness(case: &Case, numbers: &[Number]) -> bool {
    let needs = matches!(case.rule, OsRule::CleanQuartile | OsRule::Mean);
    let untold = numbers.iter().all(|number| number.clean_frac.is_none());
    needs && case.waiting == Waiting::Queued && untold && !numbers.is_empty()
}

/// Withdraws a case's value and records why; its numbers stay as evidence.
pub(crate) fn withdraw(one: &mut OsBenchmark, why: String) {
    (one.value, one.ci95) = (None, None);
    // `slower` has this order: those that counted first.
    one.processes.append(&mut one.set_aside);
    one.set_aside = std::mem::take(&mut one.processes);
    one.not_measured = Some(why);
}

/// Whether a case's number includes everything that was measured, disturbed or not.
fn is_whole(case: &Case) -> bool {
    case.rule != OsRule::CleanQuartile
}

/// The processors' counters, which move every 10 ms, have surely moved in more seconds than this if
/// they work.
const COUNTED_S: f64 = 0.05;

/// What is known about the whole run when its cases are judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// Time of the fixed computation at full speed.
    pub(crate) fastest_ns: u64,
    /// Whether that is the speed of a core without active neighbours: in some process of the run
    /// they were mostly idle.
    pub(crate) ever_alone: bool,
    /// Why nothing showed what other programs did, if nothing did: the processors' counters were
    /// absent, never moved, or belonged to other processors.
    pub(crate) unseen: Option<&'static str>,
    /// The time limit of the run in seconds, if that ended it.
    pub(crate) no_time_s: Option<f64>,
}

impl Reference {
    /// Derives it from the processes of a run's cases.
    pub(crate) fn of<'a>(all: impl Iterator<Item = (&'a Case, &'a Gathered)>) -> Self {
        let all: Vec<_> = all.collect();
        let backgrounds = || all.iter().flat_map(|(_, found)| found.backgrounds());
        let looked_s: f64 = backgrounds().map(|one| one.elapsed_s).sum();
        let unseen = looked_s > COUNTED_S && backgrounds().all(|one| one.total_s == 0.0);
        let why = if backgrounds().any(|one| one.misnumbered) { MISNUMBERED } else { UNSEEN };
        let pinned = all.iter().filter(|(case, _)| case.pinned);
        let paces: Vec<(u64, bool)> = pinned.flat_map(|(_, found)| found.paces()).collect();
        let alone = paces.iter().filter(|(_, alone)| *alone).map(|(pace, _)| *pace).collect();
        let full = estimate::full_pace(alone);
        let least = || paces.iter().map(|(pace, _)| *pace).min().unwrap_or(u64::MAX);
        let (fastest_ns, ever_alone) = (full.unwrap_or_else(least), full.is_some());
        Self { fastest_ns, ever_alone, unseen: unseen.then_some(why), no_time_s: None }
    }
}

/// Returns whether a number counts. It counts without a flaw. If fewer than [`COUNTED_LEAST`] of
/// the `processes` are flawless, a number from a processor that was slow for no visible reason
/// counts too, because it may never be faster; but only if there are enough numbers for an
/// interval, because a single number would be off. A whole benchmark is never repeated, so for it
/// [`COUNTED_LEAST`] numbers suffice.
fn judge(case: &Case, numbers: &[Number], processes: usize) -> impl Fn(&Number) -> bool {
    let least = if case.rule == OsRule::Single { COUNTED_LEAST } else { INTERVAL_LEAST };
    let sound = numbers.iter().filter(|number| number.flaw.is_none()).count();
    let too_few = sound < COUNTED_LEAST.min(processes) && numbers.len() >= least;
    move |number| match number.flaw {
        None => true,
        Some(flaw) => too_few && flaw == Flaw::Unexplained,
    }
}

/// Returns the result of a case. With fewer than [`COUNTED_LEAST`] numbers that count, it has no
/// value but a reason.
pub(crate) fn benchmark(case: &Case, found: &Gathered, reference: Reference) -> OsBenchmark {
    let (all, numbers): (Vec<f64>, Vec<Number>) = found.numbers(case, reference.fastest_ns).unzip();
    let contamination = found.contamination(&numbers);
    let counts = judge(case, &numbers, found.count());
    let pairs = all.into_iter().zip(&numbers);
    let (mut good, mut flawed): (Vec<_>, Vec<_>) = pairs.partition(|(_, number)| counts(number));
    let refusal = found.refusal.as_ref().or(found.always_late()).cloned().or_else(|| {
        let too_few = || {
            let beside = found.busy_beside(case);
            disturbed(&numbers, found.count(), good.len(), (&contamination, beside))
        };
        let late = || {
            let lacks = found.lacks_time(case, reference);
            reference.no_time_s.filter(|_| lacks).map(|s| no_time(found.count(), s))
        };
        let anyway = found.untold_anyway(case, reference).map(str::to_owned);
        anyway.or_else(too_few).or_else(late)
    });
    if refusal.is_some() {
        flawed.append(&mut good);
    }
    let of = |some: &[(f64, &Number)]| some.iter().map(|(value, _)| *value).collect::<Vec<f64>>();
    let (values, set_aside) = (of(&good), of(&flawed));
    let value = estimate::median(&values);
    let untold = || "the run ended before this case".to_owned();
    let slower = |(_, number): &(f64, &Number)| number.flaw.map_or(1.0, |_| number.slower);
    OsBenchmark {
        name: case.name.to_owned(),
        case: case.case.clone(),
        place: case.place.map(|(_, place)| place),
        value,
        unit: case.unit,
        tasks: case.tasks.map(|(count, _)| count),
        task_kind: case.tasks.map(|(_, kind)| kind),
        ci95: interval(&values)
            .map(|ends| with_faster(ends, &set_aside, case.unit == OsUnit::Nanos))
            .map(|ends| with_full_speed(ends, &good, case.unit == OsUnit::Nanos)),
        rule: case.rule,
        slower: good.iter().chain(&flawed).map(slower).collect(),
        elapsed_s: found.elapsed_s(),
        processes: values,
        set_aside,
        contamination,
        not_measured: value.is_none().then(|| refusal.unwrap_or_else(untold)),
        teaches: case.teaches.to_owned(),
        ..OsBenchmark::default()
    }
}

/// Returns the interval of the values that count: by order, or Student's if they are too few for
/// that. Disturbed processes are known to be off, so they do not contribute.
fn interval(values: &[f64]) -> Option<[f64; 2]> {
    statistics::interval(values).filter(|_| values.len() >= FEW_LEAST)
}

/// Widens the interval to values that were set aside but are faster still. A disturbance only ever
/// adds time, so the values that count were then disturbed as well, unnoticed by any witness.
fn with_faster(ends: [f64; 2], set_aside: &[f64], is_time: bool) -> [f64; 2] {
    set_aside.iter().fold(ends, |[low, high], &value| match is_time {
        true => [low.min(value), high],
        false => [low, high.max(value)],
    })
}

/// Widens the interval to what the numbers would be at full speed if slowness cost the case as much
/// as the fixed computation. It costs other work less, so the number of an unshared processor lies
/// between the two.
fn with_full_speed(ends: [f64; 2], counted: &[(f64, &Number)], is_time: bool) -> [f64; 2] {
    let slow = counted.iter().filter(|(_, number)| number.flaw.is_some());
    slow.fold(ends, |[low, high], (value, number)| match is_time {
        true => [low.min(value / number.slower), high],
        false => [low, high.max(value * number.slower)],
    })
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;
