//! `ioscape evaluate sim:SYSTEM`: the self-scaling evaluation of a simulated system, in virtual time.

use crate::failure::Failure;
use crate::output;
use crate::save::{Keeper, Work};
use crate::simulated::Simulated;
use ioscape_arguments::EvaluateArgs;
use ioscape_machine::output::Outputs;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::{EvaluationOptions, Probe, ProbeRequest, explore};
use ioscape_schema::{Access, Evaluation, Measurement, Settings, Workload};
use ioscape_simulate::system::{self, Storage, SystemParameters};
use ioscape_workload::seed_of_round;

/// Runs the command for the system `name`, a shipped one or a file.
///
/// # Errors
/// A system that cannot be read, and output that cannot be written.
pub fn main(args: &EvaluateArgs, name: &str, outputs: Outputs) -> Result<(), Failure> {
    let simulated = Simulated::open(name)?;
    let system = &simulated.parameters;
    let accesses = system.accesses(&args.access, args.accesses())?;
    let share = args.budget / accesses.len() as f64;
    let of = |access| options(args, access, share, system, simulated.storage());
    let all = accesses.into_iter().map(of);
    let all: Vec<EvaluationOptions> = all.collect::<Result<_, _>>()?;
    if args.dry_run {
        let points: usize = all.iter().map(|options| ioscape_scaling::plan(options).points()).sum();
        return output::print(&format!(
            "{}: up to {points} points, in virtual time\n",
            system.title
        ));
    }
    let mut document = output::document(args.seed);
    document.environment.memory_bytes = system.memory_bytes();
    let keeper = Keeper::new(Work::Evaluation, outputs, &args.out, &document)?;
    let one = |options: &EvaluationOptions| {
        let progress = Progress::of_evaluation(options.budget_s);
        let mut probe =
            Asked { system: &simulated, seed: document.seed, measured: Vec::new(), progress };
        let explored = explore(options, &mut probe);
        let evaluation = explored.map_err(|stopped| Failure::Failed(stopped.error.to_string()))?;
        probe.progress.done();
        Ok(Evaluation { target: args.target.display().to_string(), ..evaluation })
    };
    let evaluations: Vec<Evaluation> = all.iter().map(one).collect::<Result<_, Failure>>()?;
    document.outcome = Evaluation::joined(evaluations).map(Into::into);
    keeper.end(document, Ok(()))
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

/// A simulated system as a probe.
struct Asked<'a> {
    system: &'a Simulated,
    seed: u64,
    /// Each workload measured so far, once for each of its rounds.
    measured: Vec<Workload>,
    progress: Progress,
}

impl Asked<'_> {
    /// The seed of the next round of a workload.
    fn next_seed(&mut self, workload: &Workload) -> u64 {
        let before = self.measured.iter().filter(|measured| *measured == workload).count() as u64;
        self.measured.push(workload.clone());
        seed_of_round(self.seed, before)
    }
}

impl Probe for Asked<'_> {
    type Error = ioscape_simulate::Error;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Self::Error> {
        let seed = self.next_seed(&request.workload);
        self.system.measure(&request.workload, seed, request.limits.cap_s)
    }

    fn progress(&mut self, _: &Evaluation, progress: &ioscape_scaling::Progress) {
        self.progress.advance(progress.spent_s, progress.left_s, progress.phase);
    }
}
