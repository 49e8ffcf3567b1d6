//! `ioscape evaluate sim:SYSTEM`: the self-scaling evaluation of a simulated system, in virtual time.

use crate::failure::Failure;
use crate::output;
use crate::save::{Keeper, Work};
use crate::simulated::Simulated;
use ioscape_arguments::EvaluateArgs;
use ioscape_machine::interrupt;
use ioscape_machine::output::Outputs;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::{EvaluationOptions, Probe, ProbeRequest, explore};
use ioscape_schema::{Access, Document, Evaluation, Filled, Measurement, Settings, Workload};
use ioscape_simulate::system::{self, Storage, SystemParameters};
use ioscape_workload::seed_of_round;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Least time between two saves: a point takes less time than a save.
const SAVED_EVERY: Duration = Duration::from_secs(1);

/// Runs the command for the system `name`, a shipped one or a file.
///
/// # Errors
/// The system cannot be read, or the output cannot be written; failures and interruptions with
/// everything measured saved.
pub fn main(args: &EvaluateArgs, name: &str, outputs: Outputs) -> Result<(), Failure> {
    let simulated = Simulated::open(name, args.precondition)?;
    let system = &simulated.parameters;
    let accesses = system.accesses(&args.access, args.accesses())?;
    let share = args.budget / accesses.len() as f64;
    let of = |access| options(args, access, share, system, simulated.storage());
    let all = accesses.into_iter().map(of);
    let all: Vec<EvaluationOptions> = all.collect::<Result<_, _>>()?;
    if args.dry_run {
        let points: usize = all.iter().map(|one| ioscape_scaling::plan(one).points()).sum();
        return output::print(&format!(
            "{}: up to {points} points, in virtual time\n",
            system.title
        ));
    }
    let mut document = output::document(args.seed);
    document.environment.memory_bytes = system.memory_bytes();
    document.warnings.extend(simulated.warnings());
    let keeper = Keeper::new(Work::Simulation, outputs, &args.out, &document)?;
    let mut work = Exploring {
        system: &simulated,
        target: args.target.display().to_string(),
        precondition: args.precondition,
        document,
        keeper,
        evaluations: Vec::new(),
        interrupt: interrupt::flag(),
        saved: Instant::now(),
    };
    let finished = all.iter().try_for_each(|options| work.one(options));
    let Exploring { mut document, keeper, evaluations, .. } = work;
    document.outcome = Evaluation::joined(evaluations).map(Into::into);
    keeper.conclude(document, finished)
}

fn options(
    args: &EvaluateArgs,
    access: Access,
    budget_s: f64,
    system: &SystemParameters,
    storage: Storage<'_>,
) -> Result<EvaluationOptions, Failure> {
    let base = Workload { size_distribution: args.size_dist, access, ..Workload::default() };
    let extent = storage.extent();
    let settings = Settings {
        all_parameters: args.all_parameters,
        points_max: args.points,
        ..system.settings(extent, args.max_unique_bytes, base, budget_s)?
    };
    let options = EvaluationOptions {
        typical_cost_s: system::typical_cost_s(budget_s),
        ..EvaluationOptions::of_settings(&settings, args.seed)
    };
    options.validate().map_err(Failure::misuse)?;
    Ok(options)
}

/// Evaluations of a simulated system in progress, one for each access.
struct Exploring<'a> {
    system: &'a Simulated,
    target: String,
    precondition: Option<Filled>,
    document: Document,
    keeper: Keeper,
    /// The evaluations that have ended, the last one perhaps early.
    evaluations: Vec<Evaluation>,
    interrupt: Arc<AtomicBool>,
    /// When everything known was last saved.
    saved: Instant,
}

impl Exploring<'_> {
    /// Explores with one access; the evaluation is kept, whole or partial.
    fn one(&mut self, options: &EvaluationOptions) -> Result<(), Failure> {
        let progress = Progress::of_evaluation(options.budget_s);
        let mut probe = Asked { work: self, measured: Vec::new(), progress };
        let explored = explore(options, &mut probe);
        probe.progress.done();
        let (evaluation, finished) = match explored {
            Ok(evaluation) => (evaluation, Ok(())),
            Err(stopped) => (*stopped.partial, Err(stopped.error)),
        };
        self.evaluations.push(self.of_target(evaluation));
        finished
    }

    fn of_target(&self, evaluation: Evaluation) -> Evaluation {
        let (target, precondition) = (self.target.clone(), self.precondition);
        Evaluation { target, precondition, ..evaluation }
    }

    /// Saves the finished evaluations, and the state of the one in progress.
    fn save(&mut self, so_far: &Evaluation) {
        let so_far = self.of_target(so_far.clone());
        let all = self.evaluations.iter().cloned().chain([so_far]).collect();
        if let Some(joined) = Evaluation::joined(all) {
            self.keeper.save(&self.document, joined);
        }
        self.saved = Instant::now();
    }
}

/// The simulated system as a probe.
struct Asked<'a, 'b> {
    work: &'a mut Exploring<'b>,
    /// Every workload measured so far, once for each of its rounds.
    measured: Vec<Workload>,
    progress: Progress,
}

impl Asked<'_, '_> {
    /// Returns the seed of the next round of a workload.
    fn next_seed(&mut self, workload: &Workload) -> u64 {
        let before = self.measured.iter().filter(|measured| *measured == workload).count() as u64;
        self.measured.push(workload.clone());
        seed_of_round(self.work.document.seed, before)
    }
}

impl Probe for Asked<'_, '_> {
    type Error = Failure;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Failure> {
        if self.work.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted("interrupted".to_owned()));
        }
        let seed = self.next_seed(&request.workload);
        let system = self.work.system;
        let blocks_most = system::blocks_most(&system.parameters, &request.purpose);
        let measured = system.measure(&request.workload, seed, request.limits.cap_s, blocks_most);
        measured.map_err(|error| Failure::Failed(error.to_string()))
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &ioscape_scaling::Progress) {
        self.progress.advance(progress.spent_s, progress.left_s, progress.phase);
        if self.work.saved.elapsed() >= SAVED_EVERY {
            self.work.save(evaluation);
        }
    }
}
