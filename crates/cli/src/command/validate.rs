//! `ioscape validate`: measures random workloads over the evaluated space and shows how far off their predictions were.

use super::predict::{exchange, refused};
use crate::failure::Failure;
use crate::machine::{Machine, Measurer, RunLength};
use crate::output;
use crate::outputs;
use crate::relay::Relay;
use crate::save::{self, Keeper};
use ioscape_arguments::{ValidateArgs, WhatIfArg};
use ioscape_machine::environment::identity;
use ioscape_machine::interrupt;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::System;
use ioscape_scaling::model::{
    ModelKind, Validated, WhatIf, bounds_of, orthogonal_sample, random_workloads,
    single_point_workload, validate_with_rivals,
};
use ioscape_scaling::system::ChangedSystem;
use ioscape_schema::{
    Access, Document, Evaluation, Outcome, ValidationLog, ValidationRun, Workload,
};
use ioscape_study::clients::check_number;
use ioscape_study::resume::{self, GivenOptions};
use ioscape_study::validation::{
    EarlierValidation, NotContinued, Schedule, ValidationProgress, ValidationSample, changed,
};
use std::path::Path;
use std::time::Instant;

/// Time the whole may take unless it is given, in seconds.
const BUDGET_S: f64 = 1200.0;
/// Random workloads that are drawn for each that is wanted: of some nothing is known where something is exchanged.
const DRAWN: usize = 8;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures and interruptions with everything measured saved and named.
pub fn main(args: &ValidateArgs, typed: &GivenOptions) -> Result<(), Failure> {
    let system = System::of(&args.result, output::read_result(&args.result)?, ModelKind::Default);
    let whole = system.map_err(Failure::misuse)?;
    let clients = args.together.clients;
    check_number(&whole.evaluation, clients.unwrap_or(1)).map_err(Failure::Misuse)?;
    if clients.is_some() {
        Relay::check_shared(&args.target)?;
    }
    let names = outputs::names_of(&args.out)
        .reads("the result", [&args.result])
        .reads("--what-if", args.what_if.iter().filter_map(WhatIfArg::storage))
        .reads("--resume", &args.resume);
    let outputs = names.reads("the target", [&args.target]).open()?;
    let earlier = args.resume.as_deref().map(|path| earlier(path, args)).transpose()?;
    let here = identity::of_work([("target".to_owned(), &*args.target)], Default::default());
    let before = args.resume.as_deref().zip(earlier.as_ref().map(|found| &found.environment));
    let options = typed.without(&["--budget"]);
    let identity = resume::identity(before, here, &options).map_err(Failure::misuse)?;
    let limit = whole.evaluation.settings.as_ref().and_then(|s| s.memory_limit_bytes);
    let log = log(earlier.as_ref(), args, limit);
    let system = part(&whole, log.access)?;
    let changed_system = exchanged(system, &log)?;
    let mut document = output::document(args.seed);
    if let Some(earlier) = &earlier {
        document.seed = earlier.seed;
        document.started_at.clone_from(&earlier.started_at);
    }
    let schedule = schedule(&changed_system, system, &log, &mut document)?;
    let mut run = match earlier {
        None => ValidationProgress::new(schedule),
        Some(earlier) => earlier.restored(schedule).map_err(|why| not_continued(args, &why))?,
    };
    let memory = log.memory_limit_bytes;
    let relay = Relay::of(clients, memory, document.seed);
    let own = memory.filter(|_| relay.is_none());
    let mut machine = Machine::open(&args.target, args.destroy_data, own, interrupt::flag())?;
    let (target, each) = (args.target.display().to_string(), machine.share(relay).capacity_bytes);
    run.schedule().check_room(&target, each).map_err(Failure::Misuse)?;
    machine.start(&mut document)?;
    document.environment.identity = identity;
    if relay.is_none() {
        // What a growing file still has to write would slow the first round of every larger set.
        machine.layout(run.schedule().largest_set())?;
    }
    let mut measurer = Measurer::new(machine, relay, &mut document);
    changed(&changed_system.environment(), &document.environment)
        .into_iter()
        .for_each(|doubt| document.warn(doubt));
    let mut keeper = Keeper::new(save::Work::Validation, outputs, &args.out, &document)?;
    output::tell(&run.describe(&log));
    let mut work = Work { log: &log, document: &mut document, keeper: &mut keeper };
    let finished = work.measure(&mut run, &mut measurer);
    // The models are judged on whatever was measured: that costs nothing compared with the measurements.
    let what_if = (!log.what_if.is_empty()).then(|| changed_system.what_if());
    conclude(&run, &system.evaluation, what_if, &mut document)?;
    drop(measurer);
    keeper.conclude(document, finished)
}

/// The part of the system that was evaluated with the access that is asked for.
fn part(whole: &System, access: Option<Access>) -> Result<&System, Failure> {
    let Some(access) = access else { return Ok(whole) };
    let part = whole.with_access(access);
    let asked = Workload { access, ..part.model.base().clone() };
    part.predict(None, &asked).map(|_| part).map_err(refused)
}

/// The system that is predicted: the evaluated one with what the log says is exchanged.
fn exchanged<'a>(system: &'a System, log: &ValidationLog) -> Result<ChangedSystem<'a>, Failure> {
    let named = log.what_if.iter().map(|text| text.parse::<WhatIfArg>());
    let named = named.collect::<Result<Vec<_>, _>>().map_err(Failure::Misuse)?;
    let exchanges = named.iter().map(exchange).collect::<Result<Vec<_>, _>>()?;
    ChangedSystem::new(system, exchanges).map_err(Failure::misuse)
}

/// What is measured; random workloads that are not are a doubt.
fn schedule(
    changed: &ChangedSystem<'_>,
    system: &System,
    log: &ValidationLog,
    document: &mut Document,
) -> Result<Schedule, Failure> {
    let (bounds, base) = (bounds_of(&system.evaluation), system.model.base());
    let draw = |count: usize| random_workloads(&bounds, base, count, document.seed);
    let wanted = log.workloads as usize;
    let (random, doubt) = match log.what_if.is_empty() {
        true => (draw(wanted), None),
        false => changed.known(draw(wanted.saturating_mul(DRAWN)), wanted).map_err(refused)?,
    };
    doubt.into_iter().for_each(|doubt| document.warn(doubt));
    let orthogonal = if log.orthogonal { orthogonal_sample(&bounds, base) } else { Vec::new() };
    let single = single_point_workload(&bounds, base);
    Ok(Schedule::new(&ValidationSample { single, random, orthogonal }, log.rounds as usize))
}

/// What the result at `path` tells of a validation of this target.
fn earlier(path: &Path, args: &ValidateArgs) -> Result<EarlierValidation, Failure> {
    let found = EarlierValidation::of(output::read_result(path)?, &args.target);
    found.map_err(|why| not_continued(args, &why))
}

fn not_continued(args: &ValidateArgs, why: &NotContinued) -> Failure {
    let file = args.resume.as_deref().unwrap_or(Path::new(""));
    Failure::Misuse(format!("--resume {}: {why}", file.display()))
}

/// What is to be done: as the earlier run was asked, or else as the arguments ask; `limit` is the evaluation's memory limit.
fn log(
    earlier: Option<&EarlierValidation>,
    args: &ValidateArgs,
    limit: Option<u64>,
) -> ValidationLog {
    let exchanged = args.what_if.iter().find_map(|one| match one {
        WhatIfArg::Memory(bytes) => Some(*bytes),
        WhatIfArg::Storage(_) | WhatIfArg::WritePolicy(_) => None,
    });
    let mut log = match earlier {
        Some(earlier) => earlier.log.clone(),
        None => ValidationLog {
            target: args.target.display().to_string(),
            workloads: args.workloads,
            rounds: args.rounds,
            orthogonal: args.orthogonal,
            memory_limit_bytes: args.memory.or(exchanged).or(limit),
            access: args.access,
            what_if: args.what_if.iter().map(ToString::to_string).collect(),
            budget_s: BUDGET_S,
            ..ValidationLog::default()
        },
    };
    log.budget_s = args.budget.unwrap_or(log.budget_s);
    log
}

/// Measuring, and where it is kept on the way.
struct Work<'a> {
    log: &'a ValidationLog,
    document: &'a mut Document,
    keeper: &'a mut Keeper,
}

impl Work<'_> {
    /// Measures what is left, saving after each measurement; in the end the document holds the measurements and the log,
    /// unless all was measured.
    fn measure(
        &mut self,
        run: &mut ValidationProgress,
        measurer: &mut Measurer,
    ) -> Result<(), Failure> {
        let (started, budget_s) = (Instant::now(), self.log.budget_s);
        let spent_s = || self.log.spent_s + started.elapsed().as_secs_f64();
        let progress = Progress::of_evaluation(budget_s);
        let outcome = loop {
            let left_s = budget_s - spent_s();
            let next = match run.next(left_s) {
                Ok(Some(next)) => next,
                Ok(None) => break Ok(()),
                Err(out_of_time) => {
                    self.document.warn(out_of_time);
                    break Ok(());
                }
            };
            progress.advance(spent_s(), left_s.max(0.0), next.step.purpose.word());
            let length = RunLength::new(next.min_s, next.cap_s);
            let (workload, seed) = (&next.step.workload, self.document.seed);
            match measurer.measure(workload, length, seed, &progress).map_err(Failure::from) {
                Ok(measurement) => run.record(measurement),
                // A workload that the evaluation never asked for may be too much for a small memory limit.
                Err(Failure::Misuse(why)) => run.refuse(why),
                Err(failure) => break Err(failure),
            }
            self.keeper.save(self.document, run.unjudged(self.log, spent_s()));
        };
        progress.done();
        if !run.is_whole() {
            self.document.outcome = Some(run.unjudged(self.log, spent_s()).into());
        }
        outcome
    }
}

/// Judges all models by what was measured.
fn conclude(
    run: &ValidationProgress,
    evaluation: &Evaluation,
    what_if: Option<&WhatIf>,
    document: &mut Document,
) -> Result<(), Failure> {
    run.left_out().into_iter().for_each(|doubt| document.warn(doubt));
    let validated = run.rounds().into_iter();
    let validated: Vec<Validated> =
        validated.map(|(measurement, repeated)| Validated { measurement, repeated }).collect();
    if validated.is_empty() {
        // Without a log nothing is left to continue: what remains are runs.
        document.outcome.get_or_insert_with(|| run.measurements().into());
        return Ok(());
    }
    let orthogonal = run.schedule().orthogonal.gt(&0).then(|| run.orthogonal());
    let (validation, doubts) =
        validate_with_rivals(evaluation, what_if, run.single(), orthogonal.as_deref(), &validated)
            .map_err(|e| Failure::Failed(format!("{e}; everything measured is saved")))?;
    let partial = match document.outcome.take() {
        Some(Outcome::Validation(run)) => *run,
        _ => ValidationRun::default(),
    };
    let whole = ValidationRun { validation: Some(validation), ..partial };
    document.outcome = Some(whole.into());
    let probes = Evaluation { probes: run.probes(), ..Evaluation::default() };
    doubts.into_iter().chain(probes.doubts()).for_each(|doubt| document.warn(doubt));
    Ok(())
}
