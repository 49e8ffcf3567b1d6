//! `ioscape evaluate`: the self-scaling evaluation of a real target, saved after every point.

use crate::args::EvaluateArgs;
use crate::failure::Failure;
use crate::machine::{self, Machine};
use crate::progress::Progress;
use crate::save::{Keeper, Work};
use crate::{interrupt, output};
use ioscape_measure::error::Error as MeasureError;
use ioscape_scaling::{Ask, Bounds, Options, Plan, Probe, Replay};
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{
    Access, Document, Evaluation, Measurement, Settings, Warning, WarningKind, Workload,
};
use std::time::Instant;

/// Smallest set: below it the processors' caches are measured, not the file system.
const UNIQUE_BYTES_LEAST: u64 = 1 << 20;
/// Sets grow to this multiple of the memory in force: well past any file cache.
const PAST_MEMORY: u64 = 4;
/// Range of mean request sizes.
const SIZE_MEAN: [u64; 2] = [4 << 10, 4 << 20];
/// Most processes tried.
const PROCESS_MOST: u32 = 16;
/// Share of the budget for exploring; the rest is for removing the scratch file and writing the results.
const EXPLORING: f64 = 0.96;
/// Points off the curves, for the model's sake.
pub const INTERACTIONS: usize = 24;
/// Share of the budget that laying out the set may take: memory that a guest touches first costs seconds per gibibyte.
const LAYOUT_SHARE: f64 = 0.25;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures and interruptions with everything measured saved and named.
pub fn main(args: &EvaluateArgs) -> Result<(), Failure> {
    if let Some(name) = args.target.to_str().and_then(|target| target.strip_prefix("sim:")) {
        return super::evaluate_sim::main(args, name);
    }
    let earlier = args.resume.as_deref().map(output::read_result).transpose()?;
    output::check_places(args.out.files())?;
    if args.dry_run {
        return dry_run(args);
    }
    let begun = Instant::now();
    let mut document = output::document(args.seed);
    let memory =
        earlier.as_ref().map_or(args.memory, |d| settings(d).and_then(|s| s.memory_limit_bytes));
    let mut machine = Machine::open(&args.target, args.destroy_data, memory, interrupt::flag())?;
    machine.start(&mut document)?;
    let (settings, log) = match &earlier {
        Some(earlier) => continued(earlier, &mut document, args)?,
        None => (fresh(args, &mut machine, &mut document, begun)?, Vec::new()),
    };
    let options = options_of(&settings, document.seed);
    options.validate().map_err(|e| Failure::Misuse(e.to_string()))?;
    announce(&ioscape_scaling::plan(&options), &settings);
    let mut keeper = Keeper::new(Work::Evaluation, &args.out, &document)?;
    let finished = explore(&options, &settings, log, machine, &mut document, &mut keeper, args);
    keeper.conclude(document, finished)
}

/// Prints the plan on standard output and touches nothing.
fn dry_run(args: &EvaluateArgs) -> Result<(), Failure> {
    let look = machine::look(&args.target, args.destroy_data)?;
    let settings = settled(args, &look, None);
    output::print(&render(&ioscape_scaling::plan(&options_of(&settings, args.seed)), &settings))
}

fn announce(plan: &Plan, settings: &Settings) {
    output::tell(render(plan, settings).trim_end());
}

/// The plan in words.
fn render(plan: &Plan, settings: &Settings) -> String {
    let [low, high] = settings.unique_bytes.map(|b| Bytes(b as f64));
    let mut text = format!("Sets from {low} to {high}");
    if let Some(limit) = settings.memory_limit_bytes {
        text += &format!(", under a memory limit of {}", Bytes(limit as f64));
    }
    text += &format!(
        "; about {} of at most {}.\n",
        Seconds(plan.estimated_s()),
        Seconds(settings.budget_s)
    );
    for phase in &plan.phases {
        let (points, time) = (phase.points, Seconds(phase.estimated_s).to_string());
        text += &format!("  {:<44} up to {points:>3} points  {time:>9}\n", phase.name);
    }
    text
}

fn access(args: &EvaluateArgs) -> Access {
    if args.direct { Access::Direct } else { Access::Buffered }
}

/// What the evaluation is asked to do on this target.
fn settled(args: &EvaluateArgs, look: &machine::Look, layout_rate: Option<f64>) -> Settings {
    let base = Workload {
        size_distribution: args.size_dist,
        align_bytes: if args.direct { look.direct_align } else { None },
        engine: args.engine,
        access: access(args),
        workers: args.workers,
        ..Workload::default()
    };
    let memory = args.memory.or(look.memory_bytes).unwrap_or(1 << 30);
    let mut most = look.capacity_bytes;
    if let Some(asked) = args.max_unique_bytes {
        most = most.min(asked);
    } else {
        most = most.min(memory.saturating_mul(PAST_MEMORY));
        if let Some(rate) = layout_rate {
            most = most.min((rate * args.budget * LAYOUT_SHARE) as u64);
        }
    }
    // Whole mebibytes keep every offset aligned and the figures readable.
    let most = (most >> 20 << 20).max(UNIQUE_BYTES_LEAST);
    Settings {
        unique_bytes: [UNIQUE_BYTES_LEAST, most],
        size_mean: size_mean(args.memory),
        process_num: [1, PROCESS_MOST],
        base,
        budget_s: args.budget,
        all_parameters: args.all_parameters,
        points_max: args.points,
        flush_interval_s: look.flush_interval_s,
        layout_bytes_per_s: layout_rate,
        memory_limit_bytes: args.memory,
    }
}

/// Range of mean request sizes. Under a memory limit the workers' buffers take from the file cache: with all processes
/// and requests of up to eight times the mean they stay within a quarter of it.
fn size_mean(memory_limit: Option<u64>) -> [u64; 2] {
    let [least, most] = SIZE_MEAN;
    let room = memory_limit.map_or(most, |limit| limit / (4 * 8 * u64::from(PROCESS_MOST)));
    [least, room.clamp(2 * least, most)]
}

/// Settings of a new evaluation; laying out the first part of the set tells how large it may become.
fn fresh(
    args: &EvaluateArgs,
    machine: &mut Machine,
    document: &mut Document,
    begun: Instant,
) -> Result<Settings, Failure> {
    let look = machine.look();
    let wish = settled(args, &look, None);
    if args.max_unique_bytes.is_some_and(|asked| asked > look.capacity_bytes) {
        return Err(Failure::Misuse(format!(
            "--max-unique-bytes is more than {} holds for a test: at most {} (half of the free space); give a smaller size",
            args.target.display(),
            Bytes(look.capacity_bytes as f64)
        )));
    }
    let rate = machine.layout_rate(wish.unique_bytes[1])?;
    let mut settings = settled(args, &look, rate);
    settings.budget_s =
        (args.budget * EXPLORING - begun.elapsed().as_secs_f64()).max(0.1 * args.budget);
    if settings.unique_bytes[1] < wish.unique_bytes[1] {
        let most = Bytes(settings.unique_bytes[1] as f64);
        document.warn(Warning::new(
            WarningKind::SetLimited,
            format!("laying out larger sets than {most} would take more than a quarter of the budget; give a longer --budget to reach further"),
        ));
    }
    let memory = args.memory.or(look.memory_bytes).unwrap_or(0);
    if !args.direct && settings.unique_bytes[1] < memory / 4 * 5 {
        document.warn(Warning::new(
            WarningKind::SetLimited,
            format!(
                "the largest set, {}, does not reach well past the memory of {}: a border of the file cache may lie beyond it; free space, --max-unique-bytes or --budget limit it",
                Bytes(settings.unique_bytes[1] as f64),
                Bytes(memory as f64)
            ),
        ));
    }
    Ok(settings)
}

fn settings(document: &Document) -> Option<&Settings> {
    document.evaluation.as_ref()?.settings.as_ref()
}

/// Settings and log of an interrupted evaluation.
fn continued(
    earlier: &Document,
    document: &mut Document,
    args: &EvaluateArgs,
) -> Result<(Settings, Vec<ioscape_schema::Probe>), Failure> {
    let (Some(settings), Some(evaluation)) = (settings(earlier), &earlier.evaluation) else {
        return Err(Failure::Misuse(
            "--resume: the file holds no evaluation to continue".to_owned(),
        ));
    };
    if evaluation.target != args.target.display().to_string() {
        return Err(Failure::Misuse(format!(
            "--resume: the file is about {:?}, not {:?}",
            evaluation.target, args.target
        )));
    }
    document.seed = earlier.seed;
    document.started_at.clone_from(&earlier.started_at);
    // That it was interrupted is no doubt about what goes on.
    let kept = earlier.warnings.iter().filter(|doubt| doubt.kind != WarningKind::Interrupted);
    document.warnings = kept.cloned().collect();
    Ok((settings.clone(), evaluation.probes.clone()))
}

fn options_of(settings: &Settings, seed: u64) -> Options {
    Options {
        bounds: Bounds {
            unique_bytes: settings.unique_bytes,
            size_mean: settings.size_mean,
            process_num: settings.process_num,
        },
        base: settings.base.clone(),
        budget_s: settings.budget_s,
        seed,
        all_parameters: settings.all_parameters,
        interactions: INTERACTIONS,
        points_max: settings.points_max.map(|points| points as usize),
        typical_cost_s: (settings.budget_s / 150.0).clamp(0.3, 4.0),
        flush_interval_s: settings.flush_interval_s,
        layout_bytes_per_s: settings.layout_bytes_per_s,
    }
}

/// The machine as a probe: measures, shows progress, saves.
struct MachineProbe<'a> {
    machine: Machine,
    document: &'a mut Document,
    settings: &'a Settings,
    target: String,
    keeper: &'a mut Keeper,
    progress: Progress,
}

impl Probe for MachineProbe<'_> {
    type Error = MeasureError;

    fn measure(&mut self, ask: &Ask) -> Result<Measurement, MeasureError> {
        let effort = machine::Effort { min_s: ask.effort.min_s, cap_s: ask.effort.cap_s };
        self.machine.measure(&ask.workload, effort, self.document.seed, Some(&self.progress))
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &ioscape_scaling::Progress) {
        self.progress.advance(progress.spent_s, progress.left_s, progress.phase);
        self.keeper.save(self.document, &named(evaluation.clone(), &self.target, self.settings));
    }
}

fn named(mut evaluation: Evaluation, target: &str, settings: &Settings) -> Evaluation {
    evaluation.target = target.to_owned();
    evaluation.settings = Some(settings.clone());
    evaluation
}

/// Explores with the machine behind the log; the document holds the evaluation, whole or partial, in the end.
fn explore(
    options: &Options,
    settings: &Settings,
    log: Vec<ioscape_schema::Probe>,
    machine: Machine,
    document: &mut Document,
    keeper: &mut Keeper,
    args: &EvaluateArgs,
) -> Result<(), MeasureError> {
    let target = args.target.display().to_string();
    let progress = Progress::of_evaluation(options.budget_s);
    let probe = MachineProbe {
        machine,
        document: &mut *document,
        settings,
        target: target.clone(),
        keeper,
        progress,
    };
    let mut probe = Replay::new(log, probe);
    let outcome = ioscape_scaling::explore(options, &mut probe);
    let probe = probe.into_inner();
    probe.progress.done();
    drop(probe);
    let (evaluation, finished) = match outcome {
        Ok(evaluation) => (evaluation, Ok(())),
        Err(stopped) => (*stopped.partial, Err(stopped.error)),
    };
    document.evaluation = Some(named(evaluation, &target, settings));
    finished
}
