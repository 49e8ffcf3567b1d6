//! `ioscape evaluate`: the self-scaling evaluation of a real target, saved after every point.

use super::single_writer;
use crate::failure::Failure;
use crate::machine::{self, Machine};
use crate::output;
use crate::outputs;
use crate::save::{Keeper, Work};
use ioscape_arguments::EvaluateArgs;
use ioscape_machine::TargetFacts;
use ioscape_machine::environment::identity;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::interrupt;
use ioscape_machine::output::Names;
use ioscape_machine::parallel::processors;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::{EvaluationOptions, Plan, Probe, ProbeRequest, RecordedProbe};
use ioscape_schema::{Access, Document, Evaluation, Measurement, Settings, Workload};
use ioscape_study::frame::{Beginning, EvaluationFrame, KnownWriters};
use ioscape_study::reach::{PROCESS_MAX, ReachLimits};
use ioscape_study::resume::{self, GivenOptions};
use ioscape_study::writers::WriterEffort;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures and interruptions with everything measured saved and named.
pub fn main(args: &EvaluateArgs, typed: &GivenOptions) -> Result<(), Failure> {
    if let Some(name) = args.target.to_str().and_then(|target| target.strip_prefix("sim:")) {
        return super::evaluate_sim::main(args, name, names(args).open()?);
    }
    let earlier = args.resume.as_deref().map(output::read_result).transpose()?;
    let outputs = names(args).open()?;
    let here = identity::of_work([("target".to_owned(), &*args.target)], Default::default());
    let before = args.resume.as_deref().zip(earlier.as_ref().map(|found| &found.environment));
    let identity = resume::identity(before, here, typed).map_err(Failure::misuse)?;
    base(args, None).validate().map_err(Failure::misuse)?;
    if args.dry_run {
        return dry_run(args);
    }
    let begun = Instant::now();
    let mut document = output::document(args.seed);
    let memory =
        earlier.as_ref().map_or(args.memory, |d| settings(d).and_then(|s| s.memory_limit_bytes));
    let flag = interrupt::flag();
    let mut machine = Machine::open(&args.target, args.destroy_data, memory, Arc::clone(&flag))?;
    machine.start(&mut document)?;
    document.environment.identity = identity;
    let Beginning { settings, writers, probes } = match &earlier {
        Some(earlier) => {
            Beginning::continued(earlier, &args.target.display().to_string(), &mut document)
                .map_err(Failure::misuse)?
        }
        None => fresh(args, &mut machine, &mut document, begun, &flag)?,
    };
    let caps = limits(args, &machine.look(), settings.layout_bytes_per_s).caps();
    let frame = EvaluationFrame { target: resolved(&args.target), settings, writers, caps };
    let settings = &frame.settings;
    let options = EvaluationOptions::of_settings(settings, document.seed);
    options.validate().map_err(Failure::misuse)?;
    announce(&ioscape_scaling::plan(&options), settings);
    let mut keeper = Keeper::new(Work::Evaluation, outputs, &args.out, &document)?;
    if earlier.is_none() {
        document
            .warnings
            .iter()
            .for_each(|doubt| output::tell(&format!("Note: {}", doubt.message)));
    }
    let finished = explore(&options, &frame, probes, machine, &mut document, &mut keeper);
    let measured = document.evaluation().is_some_and(|found| found.points_measured > 0);
    if finished.is_ok() && !measured {
        let why = "no point was measured within the budget: give a longer --budget";
        return keeper.end(document, Err(Failure::Failed(why.to_owned())));
    }
    keeper.conclude(document, finished)
}

/// The target by its whole path, which still means something elsewhere.
pub(super) fn resolved(target: &Path) -> String {
    let whole = std::fs::canonicalize(target);
    whole.unwrap_or_else(|_| target.to_owned()).display().to_string()
}

/// What the command reads and writes.
pub(super) fn names(args: &EvaluateArgs) -> Names {
    outputs::names_of(&args.out).reads("the target", [&args.target]).reads("--resume", &args.resume)
}

/// Prints the plan on standard output and touches nothing.
fn dry_run(args: &EvaluateArgs) -> Result<(), Failure> {
    let look = machine::look(&args.target, args.destroy_data)?;
    let limits = limits(args, &look, None);
    limits.check_room(&args.target.display().to_string()).map_err(Failure::Misuse)?;
    limits.doubts().iter().for_each(|doubt| output::tell(&format!("Note: {}", doubt.message)));
    let settings = settings_of(args, &look, &limits);
    let plan = ioscape_scaling::plan(&EvaluationOptions::of_settings(&settings, args.seed));
    output::print(&plan.describe(&settings))
}

/// Says what will be done.
pub(super) fn announce(plan: &Plan, settings: &Settings) {
    output::tell(plan.describe(settings).trim_end());
}

/// The workload that all others differ from, on a target whose direct I/O needs this alignment.
fn base(args: &EvaluateArgs, direct_align: Option<u64>) -> Workload {
    Workload {
        size_distribution: args.size_dist,
        align_bytes: direct_align.filter(|_| args.direct || args.direct_above.is_some()),
        engine: args.engine.unwrap_or_default(),
        queue_depth: args.queue_depth.unwrap_or(1),
        access: if args.direct { Access::Direct } else { Access::Buffered },
        direct_above_bytes: args.direct_above,
        workers: args.workers.unwrap_or_default(),
        ..Workload::default()
    }
}

/// What bounds the sets on this target.
pub(super) fn limits(
    args: &EvaluateArgs,
    look: &TargetFacts,
    layout_rate: Option<f64>,
) -> ReachLimits {
    ReachLimits {
        budget_s: args.budget,
        max_unique_bytes: args.max_unique_bytes,
        memory_limit_bytes: args.memory,
        memory_bytes: look.memory_bytes,
        capacity_bytes: look.capacity_bytes,
        layout_bytes_per_s: layout_rate,
        direct: args.direct,
    }
}

/// What the evaluation is asked to do on this target.
pub(super) fn settings_of(
    args: &EvaluateArgs,
    look: &TargetFacts,
    limits: &ReachLimits,
) -> Settings {
    Settings {
        unique_bytes: limits.unique_bytes(),
        size_mean: limits.size_mean(),
        process_num: [1, PROCESS_MAX],
        base: base(args, look.direct_align),
        budget_s: args.budget,
        all_parameters: args.all_parameters,
        points_max: args.points,
        flush_interval_s: look.flush_interval_s,
        layout_bytes_per_s: limits.layout_bytes_per_s,
        memory_limit_bytes: args.memory,
    }
}

/// What a new evaluation begins with; laying out the first part of the set tells how large it may become.
fn fresh(
    args: &EvaluateArgs,
    machine: &mut Machine,
    document: &mut Document,
    begun: Instant,
    interrupt: &Arc<AtomicBool>,
) -> Result<Beginning, Failure> {
    let look = machine.look();
    let untimed = limits(args, &look, None);
    untimed.check_room(&args.target.display().to_string()).map_err(Failure::Misuse)?;
    let [_, wished] = untimed.unique_bytes();
    let limits = limits(args, &look, machine.layout_rate(wished)?);
    let mut settings = settings_of(args, &look, &limits);
    let writers = writers(args, limits.layout_bytes_per_s, interrupt)?;
    settings.budget_s = limits.exploring_s(begun.elapsed().as_secs_f64());
    limits.doubts().into_iter().for_each(|doubt| document.warn(doubt));
    Ok(Beginning { settings, writers, probes: Vec::new() })
}

/// Finds out whether concurrent writers to one file wait for one another, where files can be made and the time allows.
fn writers(
    args: &EvaluateArgs,
    layout_rate: Option<f64>,
    interrupt: &Arc<AtomicBool>,
) -> Result<KnownWriters, Failure> {
    let left_out =
        |why: String| Ok(KnownWriters { left_out: Some(why), ..KnownWriters::default() });
    if !args.target.is_dir() {
        return Ok(KnownWriters::default());
    }
    let (effort, processors) = (WriterEffort::SHORT, processors() as u32);
    if let Err(why) = effort.fits(args.budget, layout_rate, processors) {
        return left_out(why);
    }
    let progress = Progress::of_jobs(0, 1, "single writer");
    let watch = super::vxbench::watch(interrupt, &progress);
    let outcome = single_writer::diagnose(&args.target, effort, &watch, None);
    progress.done();
    match outcome {
        Ok(diagnosis) => Ok(KnownWriters { found: diagnosis.found, left_out: None }),
        Err(interrupted @ Failure::Interrupted(_)) => Err(interrupted),
        Err(failure) => left_out(failure.to_string()),
    }
}

fn settings(document: &Document) -> Option<&Settings> {
    document.evaluation()?.settings.as_ref()
}

/// The machine as a probe: measures, shows progress, saves.
struct MachineProbe<'a> {
    machine: Machine,
    document: &'a mut Document,
    frame: &'a EvaluationFrame,
    keeper: &'a mut Keeper,
    progress: Progress,
    /// Probes of an earlier run.
    known: usize,
}

impl Probe for MachineProbe<'_> {
    type Error = MeasureError;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, MeasureError> {
        let effort = machine::RunLength {
            min_s: request.limits.min_s,
            cap_s: request.limits.cap_s,
            verify: false,
        };
        self.machine.measure(&request.workload, effort, self.document.seed, Some(&self.progress))
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &ioscape_scaling::Progress) {
        self.progress.advance(progress.spent_s, progress.left_s, progress.phase);
        // What the file to continue holds already would only be less on the way there.
        if evaluation.probes.len() > self.known {
            self.keeper.save(self.document, self.frame.around(evaluation.clone()));
        }
    }
}

/// Explores with the machine behind the log; the document holds the evaluation, whole or partial, in the end.
fn explore(
    options: &EvaluationOptions,
    frame: &EvaluationFrame,
    log: Vec<ioscape_schema::Probe>,
    machine: Machine,
    document: &mut Document,
    keeper: &mut Keeper,
) -> Result<(), MeasureError> {
    let progress = Progress::of_evaluation(options.budget_s);
    let known = log.len();
    let probe = MachineProbe { machine, document: &mut *document, frame, keeper, progress, known };
    let mut probe = RecordedProbe::new(log, probe);
    let outcome = ioscape_scaling::explore(options, &mut probe);
    let probe = probe.into_inner();
    probe.progress.done();
    drop(probe);
    let (evaluation, finished) = match outcome {
        Ok(evaluation) => (evaluation, Ok(())),
        Err(stopped) => (*stopped.partial, Err(stopped.error)),
    };
    document.outcome = Some(frame.around(evaluation).into());
    finished
}
