//! `ioscape evaluate sim:SYSTEM`: the self-scaling evaluation of a simulated system, in virtual time.

use crate::drives::DriveFiles;
use crate::failure::Failure;
use crate::output;
use crate::save::{Keeper, Work};
use ioscape_arguments::EvaluateArgs;
use ioscape_machine::output::Outputs;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::{EvaluationOptions, Probe, ProbeRequest, explore};
use ioscape_schema::{Access, Document, Engine, Evaluation, Measurement, Settings, Workload};
use ioscape_simulate::catalog::{self, Target};
use ioscape_simulate::system::{self, Host, Storage, SystemParameters};

/// What a point costs of the budget, in seconds: as many points are measured as on a real machine in that time.
const COST_S: f64 = 4.0;
/// Bounds of the other parameters.
const SIZE_MEAN: [u64; 2] = [4 << 10, 1 << 20];
const PROCESS_MOST: u32 = 8;

/// Runs the command for the system `name`, a shipped one or a file.
///
/// # Errors
/// A system that cannot be read, and output that cannot be written.
pub fn main(args: &EvaluateArgs, name: &str, outputs: Outputs) -> Result<(), Failure> {
    let system = catalog::system(name, &DriveFiles)?;
    let drive = Target::named(&system.drive, None, &DriveFiles);
    let drive = drive.map_err(|why| Failure::Misuse(format!("{name}: {why}")))?;
    let accesses = accesses(args, &system)?;
    let share = args.budget / accesses.len() as f64;
    let of = |access| options(args, access, share, &system, drive.storage());
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
    let keeper = Keeper::new(Work::Evaluation, outputs, &args.out, &document)?;
    let one = |options: &EvaluationOptions| {
        let progress = Progress::of_evaluation(options.budget_s);
        let mut probe =
            Simulated { system: &system, storage: drive.storage(), document: &document, progress };
        let explored = explore(options, &mut probe);
        let evaluation = explored.map_err(|stopped| Failure::Failed(stopped.error.to_string()))?;
        probe.progress.done();
        Ok(Evaluation { target: args.target.display().to_string(), ..evaluation })
    };
    let evaluations: Vec<Evaluation> = all.iter().map(one).collect::<Result<_, Failure>>()?;
    document.outcome = Evaluation::joined(evaluations).map(Into::into);
    keeper.conclude(document, Ok(()))
}

/// The accesses to evaluate: a drive alone knows direct access only.
fn accesses(args: &EvaluateArgs, system: &SystemParameters) -> Result<Vec<Access>, Failure> {
    if !system.is_bare() {
        return Ok(args.accesses());
    }
    match args.access.iter().find(|&&access| access != Access::Direct) {
        Some(_) => Err(Failure::Misuse(format!(
            "sim:{} is a drive alone: with no file cache every request is direct; leave out --access, or name a system",
            system.name
        ))),
        None => Ok(vec![Access::Direct]),
    }
}

fn options(
    args: &EvaluateArgs,
    access: Access,
    budget_s: f64,
    system: &SystemParameters,
    storage: Storage<'_>,
) -> Result<EvaluationOptions, Failure> {
    let extent = storage.extent();
    let unique_bytes = system.sets_up_to(args.max_unique_bytes, extent.name, extent.bytes())?;
    let base = Workload {
        size_distribution: args.size_dist,
        engine: Engine::Sim,
        access,
        ..Workload::default()
    };
    let settings = Settings {
        unique_bytes,
        size_mean: SIZE_MEAN,
        process_num: [1, PROCESS_MOST],
        base,
        budget_s,
        all_parameters: args.all_parameters,
        points_max: args.points,
        flush_interval_s: system.cache.flush_interval_s,
        layout_bytes_per_s: None,
        memory_limit_bytes: None,
    };
    let options = EvaluationOptions {
        typical_cost_s: COST_S.min(budget_s / 150.0),
        ..EvaluationOptions::of_settings(&settings, args.seed)
    };
    options.validate().map_err(Failure::misuse)?;
    Ok(options)
}

/// A simulated system as a probe.
struct Simulated<'a> {
    system: &'a SystemParameters,
    storage: Storage<'a>,
    document: &'a Document,
    progress: Progress,
}

impl Probe for Simulated<'_> {
    type Error = ioscape_simulate::Error;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Self::Error> {
        let workload = &request.workload;
        let mut host = Host::new(self.system, self.storage, workload.unique_bytes)?;
        let mut streams = ioscape_workload::streams(workload, self.document.seed);
        let next = |process: usize| streams[process].request();
        Ok(system::measure(self.system, &mut host, workload, next, self.cost_s(request)))
    }

    fn progress(&mut self, _: &Evaluation, progress: &ioscape_scaling::Progress) {
        self.progress.advance(progress.spent_s, progress.left_s, progress.phase);
    }
}

impl Simulated<'_> {
    fn cost_s(&self, request: &ProbeRequest) -> f64 {
        COST_S.min(request.limits.cap_s.max(0.1))
    }
}
