//! `ioscape evaluate`: the self-scaling evaluation of a real target, saved after every point.

use super::single_writer;
use crate::failure::Failure;
use crate::machine::{self, Machine, Measurer, NotMeasured};
use crate::output;
use crate::outputs;
use crate::relay::Relay;
use crate::save::{Keeper, Work, check_frames, counted};
use ioscape_arguments::EvaluateArgs;
use ioscape_machine::TargetFacts;
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::environment::identity;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::interrupt;
use ioscape_machine::output::Names;
use ioscape_machine::parallel::processors;
use ioscape_machine::terminal::Progress;
use ioscape_measure::session::vet_ring;
use ioscape_scaling::{EvaluationOptions, Probe, ProbeRequest, RecordedProbe};
use ioscape_schema::{
    Access, Document, Engine, Evaluation, Measurement, Settings, Warning, Workload,
};
use ioscape_study::clients;
use ioscape_study::frame::{Beginning, EvaluationFrame, KnownWriters, NotContinued};
use ioscape_study::reach::{ReachLimits, doubts};
use ioscape_study::resume::{self, GivenOptions};
use ioscape_study::ways::Way;
use ioscape_study::writers::WriterEffort;
use ioscape_workload::seed_of_round;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures and interruptions with all measurements saved.
pub fn main(args: &EvaluateArgs, typed: &GivenOptions) -> Result<(), Failure> {
    if let Some(name) = args.simulated() {
        return super::evaluate_sim::main(args, name, names(args).open()?);
    }
    if args.together.clients.is_some() {
        Relay::check_shared(&args.target)?;
    }
    let earlier = args.resume.as_deref().map(output::read_begun).transpose()?;
    if earlier.as_ref().is_some_and(|found| found.evaluation().is_none()) {
        return Err(Failure::misuse(NotContinued::OtherKind));
    }
    let outputs = names(args).open()?;
    let here = identity::of_work([("target".to_owned(), &*args.target)], Default::default());
    let before = args.resume.as_deref().zip(earlier.as_ref().map(|found| &found.environment));
    let identity = resume::identity(before, here, typed).map_err(Failure::misuse)?;
    let begun_with = before.map(|(_, environment)| args.as_begun(&environment.identity));
    let args = begun_with.as_ref().unwrap_or(args);
    let args = &EvaluateArgs { memory: machine::within_limits(args.memory), ..args.clone() };
    for access in args.accesses() {
        base(args, access, None).validate().map_err(Failure::misuse)?;
    }
    if args.engine == Some(Engine::IoUring) && args.together.clients.is_none() {
        vet_ring("--engine io_uring")?;
    }
    if args.dry_run {
        return dry_run(args, earlier.as_ref());
    }
    let begun = Instant::now();
    let mut document = output::document(args.seed);
    let memory =
        earlier.as_ref().map_or(args.memory, |d| settings(d).and_then(|s| s.memory_limit_bytes));
    let relay = Relay::of(args.together.clients, memory, args.seed);
    let flag = interrupt::flag();
    let own = memory.filter(|_| relay.is_none());
    let mut machine = Machine::open(&args.target, args.destroy_data, own, Arc::clone(&flag))?;
    machine.start(&mut document)?;
    document.environment.identity = identity;
    let keeper = Keeper::new(Work::Evaluation, outputs, &args.out, &document)?;
    let beginnings = match (&earlier, relay) {
        (Some(earlier), _) => Beginning::continued(earlier, &resolved(&args.target), &mut document)
            .map_err(Failure::misuse)?,
        (None, Some(relay)) => vec![together(args, &machine, relay)?],
        (None, None) => fresh(args, &mut machine, &mut document, begun, &flag)?,
    };
    let look = machine.share(relay);
    let limits = |one: &Settings| limits(args, &look, one.base.access, one.layout_bytes_per_s);
    let (frames, logs) = EvaluationFrame::all(&resolved(&args.target), beginnings, limits);
    check_frames(args, &frames, document.seed, earlier.as_ref())?;
    let doubts = document.warnings.iter().filter(|_| earlier.is_none()).map(|one| &one.message);
    let premise = frames.first().and_then(|frame| frame.premise.as_ref());
    doubts.chain(premise).for_each(|note| output::tell(&format!("Note: {note}")));
    if let Some(largest) = logs.iter().flatten().map(|p| p.measurement.workload.unique_bytes).max()
    {
        // The earlier probes ran on a file that was laid out, and the next ones expect the same.
        machine.layout(largest)?;
    }
    let measurer = Measurer::new(machine, relay, &mut document);
    let known = known(earlier.as_ref(), &frames, look.comes_by_pages);
    let mut work = Exploring::new(measurer, document, keeper, known);
    let finished = work.all(&frames).and_then(|()| work.curves(begun, args.budget));
    let Exploring { mut document, keeper, evaluations, .. } = work;
    document.outcome = Evaluation::joined(evaluations).map(Into::into);
    let measured = document.evaluation().is_some_and(|found| found.points_measured > 0);
    if finished.is_ok() && !measured {
        let why = "no point was measured within the budget: begin anew with a longer --budget";
        return keeper.end(document, Err(Failure::Failed(why.to_owned())));
    }
    keeper.conclude(document, finished)
}

/// The target as an absolute path, which still means something elsewhere.
fn resolved(target: &Path) -> String {
    let whole = std::fs::canonicalize(target);
    whole.unwrap_or_else(|_| target.to_owned()).display().to_string()
}

/// The command's inputs and outputs.
fn names(args: &EvaluateArgs) -> Names {
    let target = args.simulated().map_or(&*args.target, Path::new);
    outputs::names_of(&args.out).reads("the target", [target]).reads("--resume", &args.resume)
}

/// Prints the plan, and refuses what a run would. Leaves nothing behind: an empty scratch file and
/// the control groups that are tried are removed.
fn dry_run(args: &EvaluateArgs, earlier: Option<&Document>) -> Result<(), Failure> {
    let look = machine::look(&args.target, args.destroy_data)?;
    // Whether this control group is possible shows only when it is made; it is removed at once.
    drop(args.memory.map(MemoryGroup::create).transpose()?);
    if let Some(earlier) = earlier {
        return rest(args, earlier);
    }
    let mut told = String::new();
    let (ways, left_out) = ways(args, &look, None);
    let each = named_limits(args, &look, &ways, None);
    let target = args.target.display().to_string();
    each.iter().try_for_each(|(_, limits)| limits.check_room(&target)).map_err(Failure::Misuse)?;
    let doubts = left_out.into_iter().chain(doubts(&each)).map(|doubt| doubt.message);
    let notes = may_be_divided(args, &look).into_iter().chain(doubts);
    notes.for_each(|note| output::tell(&format!("Note: {note}")));
    for (&way, (_, limits)) in ways.iter().zip(&each) {
        let mut settings = settings_of(args, &look, way.access, limits);
        settings.budget_s = args.budget * way.share(&ways, args.memory);
        told += &plan_of(&settings, args.seed, ways.len() > 1);
    }
    output::print(&told)
}

/// Prints the plan of an earlier evaluation, and how much of it has been done; refuses to lose
/// points, as a run would.
fn rest(args: &EvaluateArgs, earlier: &Document) -> Result<(), Failure> {
    let mut document = output::document(args.seed);
    let beginnings = Beginning::continued(earlier, &resolved(&args.target), &mut document);
    let beginnings = beginnings.map_err(Failure::misuse)?;
    let plan = |(one, begun): (&Beginning, &Evaluation)| {
        let options = EvaluationOptions::of_settings(&one.settings, document.seed);
        let counted = counted(&options, begun, args)?;
        let plan = plan_of(&one.settings, document.seed, beginnings.len() > 1);
        Ok::<_, Failure>(format!("{plan}  {counted} of these were measured before.\n"))
    };
    let begun = earlier.evaluation().into_iter().flat_map(Evaluation::each_access);
    output::print(&beginnings.iter().zip(begun).map(plan).collect::<Result<String, _>>()?)
}

/// The requested accesses or, if there are none and no set outgrows the memory, the possible ways
/// that replace them; with the warnings about the other ways.
fn ways(
    args: &EvaluateArgs,
    look: &TargetFacts,
    layout_rate: Option<f64>,
) -> (Vec<Way>, Vec<Warning>) {
    let limits = limits(args, look, Access::Buffered, layout_rate);
    let group = limits.group().filter(|_| may_divide(args, look));
    Way::possible(&limits, group, &args.accesses(), |way| refusal(args, look, way))
}

/// The layout rate below which the evaluation will be divided, if that is open until it is known.
fn may_be_divided(args: &EvaluateArgs, look: &TargetFacts) -> Option<String> {
    let has = |access, memory_limit_bytes| {
        refusal(args, look, Way { access, memory_limit_bytes }).is_none()
    };
    let limits = may_divide(args, look).then(|| limits(args, look, Access::Buffered, None))?;
    limits.divided_below(|limit| has(Access::Buffered, Some(limit)), has(Access::Direct, None))
}

/// Whether no access was chosen, on a target that has a separate file cache.
fn may_divide(args: &EvaluateArgs, look: &TargetFacts) -> bool {
    let is_chosen = args.direct || args.direct_above.is_some() || !args.access.is_empty();
    // Requests that drop their pages are like direct ones, of which there is only one kind.
    !is_chosen && !look.is_in_memory && args.engine != Some(Engine::Dontcache)
}

/// The plan in words, preceded by the name of the access if there are several.
fn plan_of(settings: &Settings, seed: u64, is_one_of_several: bool) -> String {
    let plan = ioscape_scaling::plan(&EvaluationOptions::of_settings(settings, seed));
    let name = match is_one_of_several {
        true => format!("Access {}: ", settings.base.access),
        false => String::new(),
    };
    name + &plan.describe(settings)
}

/// The workload from which all others differ; direct I/O on the target needs this alignment.
fn base(args: &EvaluateArgs, access: Access, direct_align: Option<u64>) -> Workload {
    let may_be_direct = access == Access::Direct || args.direct_above.is_some();
    Workload {
        size_distribution: args.size_dist,
        align_bytes: direct_align.filter(|_| may_be_direct),
        engine: args.engine.unwrap_or_default(),
        queue_depth: args.queue_depth.unwrap_or(1),
        access,
        direct_above_bytes: args.direct_above,
        workers: args.workers.unwrap_or_default(),
        ..Workload::default()
    }
}

/// The limits on the sets on this target.
fn limits(
    args: &EvaluateArgs,
    look: &TargetFacts,
    access: Access,
    layout_rate: Option<f64>,
) -> ReachLimits {
    ReachLimits {
        budget_s: args.budget,
        max_unique_bytes: args.max_unique_bytes,
        memory_limit_bytes: args.memory,
        memory_bytes: look.memory_bytes,
        capacity_bytes: look.capacity_bytes,
        is_in_memory: look.is_in_memory,
        layout_bytes_per_s: layout_rate,
        direct: access == Access::Direct,
        is_part: false,
    }
}

/// The limits on the sets of each of these ways, by name.
fn named_limits(
    args: &EvaluateArgs,
    look: &TargetFacts,
    ways: &[Way],
    layout_rate: Option<f64>,
) -> Vec<(String, ReachLimits)> {
    let is_divided = Way::are_divided(ways, &args.accesses());
    let share = |way: Way| is_divided.then(|| way.share(ways, args.memory));
    let of = |&way: &Way| way.limits(share(way), limits(args, look, way.access, layout_rate));
    ways.iter().map(|way| (way.name(), of(way))).collect()
}

/// The settings of the evaluation of this target with one access.
fn settings_of(
    args: &EvaluateArgs,
    look: &TargetFacts,
    access: Access,
    limits: &ReachLimits,
) -> Settings {
    Settings {
        all_parameters: args.all_parameters,
        points_max: args.points,
        ..limits.settings(base(args, access, look.direct_align), look.flush_interval_s)
    }
}

/// The beginning of a new evaluation by several clients.
fn together(args: &EvaluateArgs, machine: &Machine, relay: Relay) -> Result<Beginning, Failure> {
    let (access, look) = (args.accesses()[0], machine.share(Some(relay)));
    let most = args.max_unique_bytes.unwrap_or(0);
    let target = args.target.display().to_string();
    clients::check_sets(&target, relay.clients, most, look.capacity_bytes)
        .map_err(Failure::Misuse)?;
    let mut settings = settings_of(args, &look, access, &limits(args, &look, access, None));
    settings.budget_s = clients::exploring_s(settings.budget_s, relay.clients);
    let left_out = Some("several clients each write to a file of their own".to_owned());
    let writers = KnownWriters { left_out, ..KnownWriters::default() };
    Ok(Beginning { settings, writers, probes: Vec::new() })
}

/// The beginning of a new evaluation for each access; a trial layout shows how large sets may be.
fn fresh(
    args: &EvaluateArgs,
    machine: &mut Machine,
    document: &mut Document,
    begun: Instant,
    interrupt: &Arc<AtomicBool>,
) -> Result<Vec<Beginning>, Failure> {
    let look = machine.look();
    let untimed = limits(args, &look, args.accesses()[0], None);
    untimed.check_room(&args.target.display().to_string()).map_err(Failure::Misuse)?;
    let [_, wished] = untimed.unique_bytes();
    let layout_rate = machine.layout_rate(wished, untimed.layout_trial_s())?;
    let mut writers = writers(args, layout_rate, interrupt)?;
    let (ways, left_out) = ways(args, &look, layout_rate);
    let left_s = untimed.exploring_s(begun.elapsed().as_secs_f64());
    let each = named_limits(args, &look, &ways, layout_rate);
    left_out.into_iter().chain(doubts(&each)).for_each(|doubt| document.warn(doubt));
    let begin = |(&way, (_, limits)): (&Way, &(String, ReachLimits))| {
        let mut settings = settings_of(args, &look, way.access, limits);
        settings.budget_s = left_s * way.share(&ways, args.memory);
        // Concurrent writers are tried once, buffered and direct: the first access reports both.
        Beginning { settings, writers: std::mem::take(&mut writers), probes: Vec::new() }
    };
    Ok(ways.iter().zip(&each).map(begin).collect())
}

/// Why a way of evaluating the target that nobody asked for is not possible.
fn refusal(args: &EvaluateArgs, look: &TargetFacts, way: Way) -> Option<String> {
    if let Some(limit) = way.memory_limit_bytes {
        let why = |refusal| match refusal {
            // Since nobody gave the option for the limit, the refusal does not name it.
            MeasureError::Unsupported { why, .. } => why,
            other => other.to_string(),
        };
        let unlimited = look.unlimited.map(str::to_owned);
        return unlimited.or_else(|| MemoryGroup::create(limit).err().map(why));
    }
    let doubtful = look.direct_doubt.clone();
    let invalid = base(args, way.access, look.direct_align).validate().err();
    doubtful.or(invalid.map(|e| e.to_string())).or_else(|| look.direct_refusal.clone())
}

/// Finds out whether concurrent writers to one file wait for one another, if that is possible.
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

/// The state of each way after an earlier run, which is saved until that way's turn comes; or, for a
/// new evaluation, what is known beforehand.
fn known(
    earlier: Option<&Document>,
    frames: &[EvaluationFrame],
    comes_by_pages: bool,
) -> Vec<Evaluation> {
    let apart = |one: &Evaluation| Evaluation { other_accesses: Vec::new(), ..one.clone() };
    let first = Evaluation { by_page: Some(comes_by_pages), ..Evaluation::default() };
    let begun = |frame: &EvaluationFrame| frame.around(first.clone());
    match earlier.and_then(Document::evaluation) {
        Some(found) => found.each_access().map(apart).collect(),
        None => frames.iter().map(begun).collect(),
    }
}

/// Evaluations of one target in progress, one for each way.
struct Exploring {
    measurer: Measurer,
    document: Document,
    keeper: Keeper,
    /// The state of each of them.
    evaluations: Vec<Evaluation>,
    /// Least set, in bytes, without room; tried once for all ways, since a try takes others' room.
    least_without_room: Option<u64>,
    /// When the last measurement ended; absent before the first.
    answered: Option<Instant>,
}

impl Exploring {
    fn new(
        measurer: Measurer,
        document: Document,
        keeper: Keeper,
        evaluations: Vec<Evaluation>,
    ) -> Self {
        let refused = evaluations.iter().flat_map(|one| &one.refused_sets);
        let least_without_room = refused.map(|one| one.unique_bytes).min();
        let answered = None;
        Self { measurer, document, keeper, evaluations, least_without_room, answered }
    }

    /// Explores with each access in turn.
    fn all(&mut self, frames: &[EvaluationFrame]) -> Result<(), NotMeasured> {
        let seed = self.document.seed;
        for (index, frame) in frames.iter().enumerate() {
            output::tell(plan_of(&frame.settings, seed, frames.len() > 1).trim_end());
            self.one(index, frame)?;
        }
        Ok(())
    }

    /// If clients measure, adds the curves over their number in what is left of the budget.
    fn curves(&mut self, begun: Instant, budget_s: f64) -> Result<(), NotMeasured> {
        let Measurer::Clients(relay) = self.measurer else { return Ok(()) };
        // The allowance of the last point does not apply.
        let (relay, seed) = (Relay { fill_s: 0.0, ..relay }, self.document.seed);
        let is_over = || begun.elapsed().as_secs_f64() > budget_s;
        let measure = |focal: &Workload, min_s, cap_s, clients: u32| {
            // None of these is a round of the focal point, or the seed of other clients.
            let seed = seed_of_round(seed, u64::from(clients) << 8);
            Ok(relay.measure(focal, min_s, cap_s, clients, seed)?)
        };
        let all = &mut self.evaluations;
        all.iter_mut().try_for_each(|one| clients::curves(one, relay.clients, is_over, measure))
    }

    /// Explores with the machine after the log's probes are repeated. The evaluation is kept, whole
    /// or partial.
    fn one(&mut self, index: usize, frame: &EvaluationFrame) -> Result<(), NotMeasured> {
        let options = EvaluationOptions::of_settings(&frame.settings, self.document.seed);
        if let Measurer::Here(machine) = &mut self.measurer {
            machine.limit_memory(frame.settings.memory_limit_bytes)?;
        }
        let begun = &self.evaluations[index];
        let (log, refused) = (begun.probes.clone(), begun.refused_sets.clone());
        let progress = Progress::of_evaluation(options.budget_s);
        let probe = MachineProbe { work: self, index, frame, progress };
        let mut probe = RecordedProbe::new(log, probe).with_refused(refused);
        let outcome = ioscape_scaling::explore(&options, &mut probe);
        probe.into_inner().progress.done();
        let (evaluation, finished) = match outcome {
            Ok(evaluation) => (evaluation, Ok(())),
            Err(stopped) => (*stopped.partial, Err(stopped.error)),
        };
        self.keep(index, frame, evaluation);
        finished
    }

    /// Takes over the state of an evaluation.
    fn keep(&mut self, index: usize, frame: &EvaluationFrame, evaluation: Evaluation) {
        let kept = &mut self.evaluations[index];
        *kept = Evaluation { by_page: kept.by_page, ..frame.around(evaluation) };
    }
}

/// The machine or the clients as a probe: measures, shows progress, saves.
struct MachineProbe<'a> {
    work: &'a mut Exploring,
    /// The index of the evaluation in progress.
    index: usize,
    frame: &'a EvaluationFrame,
    progress: Progress,
}

impl Probe for MachineProbe<'_> {
    type Error = NotMeasured;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, NotMeasured> {
        let length = request.limits.into();
        let before = request.purpose.round().saturating_sub(1) as u64;
        let seed = seed_of_round(self.work.document.seed, before);
        let workload = &request.workload;
        let deciding_s = self.work.answered.map(|at| at.elapsed().as_secs_f64());
        self.work.measurer.fill_for(request.fill_s);
        let measured = self.work.measurer.measure(workload, length, seed, &self.progress);
        if measured.as_ref().is_err_and(|error| self.lacks_room(workload, error)) {
            self.work.least_without_room = Some(workload.unique_bytes);
        }
        self.work.answered = Some(Instant::now());
        measured.map(|found| Measurement { deciding_s, ..found })
    }

    fn lacks_room(&self, workload: &Workload, error: &NotMeasured) -> bool {
        match (&self.work.measurer, error) {
            (Measurer::Here(machine), NotMeasured::Here(error)) => {
                machine.session.lacks_room(workload.unique_bytes, error)
            }
            _ => false,
        }
    }

    fn refused_s(&mut self, workload: &Workload) -> Option<f64> {
        let least = self.work.least_without_room?;
        (workload.unique_bytes >= least).then_some(0.0)
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &ioscape_scaling::Progress) {
        self.progress.advance(progress.spent_s, progress.left_s, progress.phase);
        self.work.keep(self.index, self.frame, evaluation.clone());
        let Exploring { document, keeper, evaluations, .. } = &mut *self.work;
        if let Some(joined) = Evaluation::joined(evaluations.clone()) {
            keeper.save(document, joined);
        }
    }
}
