//! `ioscape validate`: measures random workloads over the evaluated space and shows how far off their predictions were.

mod resume;
mod schedule;

use crate::args::ValidateArgs;
use crate::failure::Failure;
use crate::machine::{Effort, Machine};
use crate::progress::Progress;
use crate::save::{self, Keeper};
use crate::systems::System;
use crate::{interrupt, output};
use ioscape_machine::error::Error as MeasureError;
use ioscape_scaling::model::{
    ModelKind, OrthogonalModel, Predict, SinglePointModel, Validated, bounds_of, validate,
};
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{
    Document, Environment, Evaluation, Measurement, Outcome, Probe, ValidationLog, ValidationRun,
    Warning, WarningKind,
};
use schedule::{Purpose, Schedule};
use std::time::Instant;

/// Share of a point's time that is spent measuring; layout and warm-up take the rest.
const MEASURED_SHARE: f64 = 0.5;
/// Bounds of the longest time to measure a point, in seconds.
const CAP_S: [f64; 2] = [0.2, 5.0];

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures and interruptions with everything measured saved and named.
pub fn main(args: &ValidateArgs) -> Result<(), Failure> {
    let system = System::read(&args.result, ModelKind::Default)?;
    output::check_places(args.out.files())?;
    let earlier = resume::read(args)?;
    let limit = system.evaluation.settings.as_ref().and_then(|s| s.memory_limit_bytes);
    let log = resume::log(earlier.as_ref(), args, limit);
    let mut document = output::document(args.seed);
    if let Some(earlier) = &earlier {
        document.seed = earlier.seed;
        document.started_at.clone_from(&earlier.started_at);
    }
    let mut done = Done::new(schedule(&system, &log, document.seed));
    earlier.map_or(Ok(()), |earlier| earlier.restore(&mut done))?;
    let memory = log.memory_limit_bytes;
    let mut machine = Machine::open(&args.target, args.destroy_data, memory, interrupt::flag())?;
    check_room(&machine, &done.schedule, args)?;
    machine.start(&mut document)?;
    // What a growing file still has to write would slow the first round of every larger set.
    machine.layout(done.schedule.largest_set())?;
    let there = &system.document.environment;
    changed(there, &document.environment).into_iter().for_each(|doubt| document.warn(doubt));
    let mut keeper = Keeper::new(save::Work::Validation, &args.out, &document)?;
    announce(&done, &log);
    let mut work = Work { log: &log, document: &mut document, keeper: &mut keeper };
    let finished = work.measure(&mut done, &mut machine);
    // A second look at the models costs nothing beside the measurements: it is made for what there is.
    conclude(&done, &system.evaluation, &mut document)?;
    drop(machine);
    keeper.conclude(document, finished)
}

/// What follows from what is asked for.
fn schedule(system: &System, log: &ValidationLog, seed: u64) -> Schedule {
    Schedule::new(
        &bounds_of(&system.evaluation),
        system.model.base(),
        log.workloads as usize,
        log.rounds as usize,
        log.orthogonal,
        seed,
    )
}

fn check_room(machine: &Machine, schedule: &Schedule, args: &ValidateArgs) -> Result<(), Failure> {
    let (needed, capacity) = (schedule.largest_set(), machine.look().capacity_bytes);
    if needed <= capacity {
        return Ok(());
    }
    Err(Failure::Misuse(format!(
        "{} holds a test of at most {} (half of the free space), but the evaluation reaches to {}: make room",
        args.target.display(),
        Bytes(capacity as f64),
        Bytes(needed as f64)
    )))
}

fn announce(done: &Done, log: &ValidationLog) {
    let orthogonal = if log.orthogonal { ", and 162 points of an orthogonal sample" } else { "" };
    output::tell(&format!(
        "{} random workloads in {} rounds{orthogonal}: sets up to {}; at most {}.",
        log.workloads,
        log.rounds,
        Bytes(done.schedule.largest_set() as f64),
        Seconds(log.budget_s)
    ));
    if done.taken() > 0 {
        let (taken, all) = (done.taken(), done.schedule.steps.len());
        output::tell(&format!("{taken} of {all} measurements were taken before."));
    }
}

/// One doubt when this does not look like what was evaluated.
fn changed(there: &Environment, here: &Environment) -> Option<Warning> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let limit = |e: &Environment| {
        e.memory_limit_bytes.map_or("none".to_owned(), |bytes| Bytes(bytes as f64).to_string())
    };
    let both = [
        ("file system", text(&there.file_system), text(&here.file_system)),
        ("device", text(&there.device), text(&here.device)),
        ("processor", text(&there.cpu_model), text(&here.cpu_model)),
        ("kernel", text(&there.kernel), text(&here.kernel)),
        ("memory limit", limit(there), limit(here)),
    ];
    let differs = |(what, a, b): (&str, String, String)| {
        (a != b).then(|| format!("{what} {b} instead of {a}"))
    };
    let found: Vec<String> = both.into_iter().filter_map(differs).collect();
    (!found.is_empty()).then(|| {
        let what = found.join(", ");
        let message =
            format!("this is not what was evaluated ({what}): errors may be those of the change");
        Warning::new(WarningKind::DifferentKinds, message)
    })
}

/// What was measured so far.
struct Done {
    schedule: Schedule,
    /// One measurement for each step of the schedule that was taken, in its order.
    measured: Vec<(usize, Measurement)>,
    /// Steps that are not possible here, and why.
    refused: Vec<(usize, String)>,
}

impl Done {
    fn new(schedule: Schedule) -> Self {
        Self { schedule, measured: Vec::new(), refused: Vec::new() }
    }

    /// Steps that were taken or refused: always the first ones.
    fn taken(&self) -> usize {
        self.measured.len() + self.refused.len()
    }

    fn measurements(&self) -> Vec<Measurement> {
        self.measured.iter().map(|(_, one)| one.clone()).collect()
    }

    fn all_of(&self, purpose: Purpose) -> impl Iterator<Item = &Measurement> {
        let is =
            move |(step, _): &&(usize, Measurement)| self.schedule.steps[*step].purpose == purpose;
        self.measured.iter().filter(is).map(|(_, measurement)| measurement)
    }

    fn of(&self, purpose: Purpose) -> Option<&Measurement> {
        self.all_of(purpose).next()
    }

    fn validated(&self) -> Vec<Validated> {
        let one = |number: usize| {
            let measurement = self.of(Purpose::First(number))?.clone();
            let repeated = self.all_of(Purpose::Again(number)).cloned().collect();
            Some(Validated { measurement, repeated })
        };
        (0..self.schedule.workloads).filter_map(one).collect()
    }

    /// The orthogonal sample in its own order, as far as it was measured.
    fn orthogonal(&self) -> Vec<Measurement> {
        let one = |number| self.of(Purpose::Orthogonal(number)).cloned();
        (0..self.schedule.orthogonal).map_while(one).collect()
    }
}

/// Measuring, and where it is kept on the way.
struct Work<'a> {
    log: &'a ValidationLog,
    document: &'a mut Document,
    keeper: &'a mut Keeper,
}

impl Work<'_> {
    /// Takes the steps of the schedule that are left, saving after each; the time for a step is its share of what is left. In the
    /// end the document holds the measurements and the log, unless all steps were taken.
    fn measure(&mut self, done: &mut Done, machine: &mut Machine) -> Result<(), MeasureError> {
        let (started, budget_s) = (Instant::now(), self.log.budget_s);
        let spent_s = || self.log.spent_s + started.elapsed().as_secs_f64();
        let progress = Progress::of_evaluation(budget_s);
        let count = done.schedule.steps.len();
        let mut outcome = Ok(());
        for index in done.taken()..count {
            let left_s = budget_s - spent_s();
            if left_s <= 0.0 && done.schedule.may_stop_before(index) {
                self.document.warn(out_of_time(&done.schedule, index));
                break;
            }
            let step = done.schedule.steps[index].clone();
            progress.advance(spent_s(), left_s.max(0.0), step.purpose.word());
            let share_s = left_s / (count - index) as f64 * MEASURED_SHARE;
            let cap_s = share_s.clamp(CAP_S[0], CAP_S[1]);
            let effort = Effort { min_s: cap_s / 8.0, cap_s };
            match machine.measure(&step.workload, effort, self.document.seed, Some(&progress)) {
                Ok(measurement) => done.measured.push((index, measurement)),
                // What the evaluation never asked for may be too much for a small memory limit: it is left out, and told.
                Err(error) if error.is_misuse() => done.refused.push((index, error.to_string())),
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
            let so_far = Document { interrupted: true, ..self.document.clone() };
            let so_far = self.with_log(so_far, done, spent_s());
            self.keeper.save_document(&so_far);
        }
        progress.done();
        if done.taken() < count {
            let document = std::mem::take(self.document);
            *self.document = self.with_log(document, done, spent_s());
        }
        outcome
    }

    fn with_log(&self, document: Document, done: &Done, spent_s: f64) -> Document {
        let log = Some(resume::so_far(self.log, done, spent_s));
        let run = ValidationRun { validation: None, measurements: done.measurements(), log };
        Document { outcome: Some(run.into()), ..document }
    }
}

fn out_of_time(schedule: &Schedule, index: usize) -> Warning {
    let left = |is: fn(&Purpose) -> bool| {
        schedule.steps[index..].iter().filter(|step| is(&step.purpose)).count()
    };
    let first = left(|purpose| matches!(purpose, Purpose::First(_)));
    let again = left(|purpose| matches!(purpose, Purpose::Again(_)));
    let rival = left(|purpose| matches!(purpose, Purpose::Orthogonal(_)));
    let message = format!(
        "the budget was spent before {first} of the workloads were measured, {again} measured again, and {rival} points of the \
         orthogonal sample measured; give a longer --budget"
    );
    Warning::new(WarningKind::BudgetSpent, message)
}

fn left_out(done: &Done) -> Option<Warning> {
    let (_, why) = done.refused.first()?;
    let count = |is: fn(&Purpose) -> bool| {
        let steps = done.refused.iter().map(|(step, _)| &done.schedule.steps[*step].purpose);
        steps.filter(|purpose| is(purpose)).count()
    };
    let first = count(|purpose| matches!(purpose, Purpose::First(_)));
    let rival = count(|purpose| matches!(purpose, Purpose::Orthogonal(_)));
    let message = format!(
        "{first} of {} workloads and {rival} points of the orthogonal sample were left out, for example: {why}",
        done.schedule.workloads
    );
    Some(Warning::new(WarningKind::Unsupported, message))
}

/// Holds all models against what was measured.
fn conclude(done: &Done, evaluation: &Evaluation, document: &mut Document) -> Result<(), Failure> {
    let validated = done.validated();
    left_out(done).into_iter().for_each(|doubt| document.warn(doubt));
    if validated.is_empty() {
        // Without a log nothing is left to continue: what remains are runs.
        document.outcome.get_or_insert_with(|| done.measurements().into());
        return Ok(());
    }
    let single = done.of(Purpose::Single).and_then(|one| SinglePointModel::new(one).ok());
    let sample = done.orthogonal();
    let orthogonal = OrthogonalModel::new(&bounds_of(evaluation), &sample).ok();
    if done.schedule.orthogonal > 0 && orthogonal.is_none() {
        let message = "the orthogonal sample was not measured whole, so its model is not shown";
        document.warn(Warning::new(WarningKind::Unsupported, message));
    }
    let mut rivals: Vec<(&str, &dyn Predict)> = Vec::new();
    if let Some(model) = &single {
        rivals.push(("single_point", model));
    }
    if let Some(model) = &orthogonal {
        rivals.push(("orthogonal", model));
    }
    let validation = validate(evaluation, &rivals, &validated)
        .map_err(|e| Failure::Failed(format!("{e}; everything measured is saved")))?;
    let run = match document.outcome.take() {
        Some(Outcome::Validation(run)) => *run,
        _ => ValidationRun::default(),
    };
    let run = ValidationRun { validation: Some(validation), ..run };
    document.outcome = Some(run.into());
    let probe = |(step, measurement): &(usize, Measurement)| Probe {
        purpose: done.schedule.steps[*step].purpose.word().to_owned(),
        measurement: measurement.clone(),
    };
    let probes = done.measured.iter().map(probe).collect();
    for doubt in (Evaluation { probes, ..Evaluation::default() }).doubts() {
        document.warn(doubt);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_scaling::Bounds;
    use ioscape_schema::{Stop, Workload};

    fn done(orthogonal: bool) -> Done {
        let bounds = Bounds {
            unique_bytes: [1 << 20, 1 << 28],
            size_mean: [4096, 1 << 20],
            process_num: [1, 8],
        };
        Done::new(Schedule::new(&bounds, &Workload::default(), 7, 2, orthogonal, 3))
    }

    #[test]
    fn what_was_measured_is_found_by_its_purpose() {
        let mut done = done(true);
        for (index, step) in done
            .schedule
            .steps
            .clone()
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(index, _)| !(10..15).contains(index))
        {
            let mut one = Measurement::empty(step.workload.clone(), Stop::Confident);
            one.throughput_bytes_per_s = 1e6 + index as f64;
            done.measured.push((index, one));
        }
        let validated = done.validated();
        assert_eq!((validated.len(), done.orthogonal().len()), (7, 162));
        assert_eq!(validated.iter().filter(|one| !one.repeated.is_empty()).count(), 2);
        for one in &validated {
            assert!(one.repeated.iter().all(|m| m.workload == one.measurement.workload));
        }
        assert_eq!(left_out(&done), None);
        done.refused.push((3, "too large".to_owned()));
        assert!(left_out(&done).unwrap().message.contains("1 of 7 workloads and 0 points"));
        let told = out_of_time(&done.schedule, 10).message;
        assert!(told.contains("before 0 of") && told.contains("5 measured again"), "{told}");
    }

    #[test]
    fn another_machine_is_told() {
        let there = Environment { file_system: Some("ext4".into()), ..Environment::default() };
        assert_eq!(changed(&there, &there), None);
        let here = Environment { file_system: Some("xfs".into()), ..there.clone() };
        assert!(changed(&there, &here).unwrap().message.contains("xfs instead of ext4"));
    }
}
