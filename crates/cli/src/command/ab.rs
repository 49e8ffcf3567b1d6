//! `ioscape ab`: two directories or two job files, measured in turns until it is certain which is faster.

use crate::args::{AbArgs, WorkloadArgs};
use crate::asked::{described_twice, jobs_of};
use crate::failure::{Failure, both};
use crate::machine::{Machine, RunLength};
use crate::{output, outputs};
use ioscape_machine::interrupt;
use ioscape_schema::{Document, Environment, MeasuredComparison, SystemComparison, Workload};
use ioscape_study::ab::Interleaving;
use ioscape_workload::jobs::Job;
use std::path::Path;
use std::time::Instant;

/// Chance of a false verdict, over all jobs together.
const ALPHA: f64 = 0.05;
/// A further pair is begun if it ends in time, should it take this many times as long as the longest so far.
const CAUTION: f64 = 1.1;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures and interruptions with every pair so far shown.
pub fn main(args: &AbArgs) -> Result<(), Failure> {
    let pairs = pairs(args)?;
    for (name, workloads) in &pairs {
        for workload in workloads {
            workload.validate().map_err(|e| Failure::Misuse(format!("job {name:?}: {e}")))?;
        }
    }
    let names = outputs::names_of(&args.out).reads("A", [&args.first]).reads("B", [&args.second]);
    let mut outputs = names.reads("--jobs", &args.jobs).open()?;
    let mut document = output::document(args.seed);
    let mut arms = Arms::open(args, &mut document)?;
    let mut found = Interleaving::new(pairs, ALPHA, args.margin, args.seed);
    let finished = arms.measure(args, &mut found);
    document.interrupted = finished.is_err();
    document.outcome = Some(outcome(args, &arms.environments, &found).into());
    if finished.is_err() && found.rows().is_empty() {
        return finished;
    }
    both(finished, outputs::pour(&mut outputs, &document, args.out.json))
}

/// The jobs of both arms, in order.
fn pairs(args: &AbArgs) -> Result<Vec<(String, [Workload; 2])>, Failure> {
    if !args.compares_jobs() {
        let jobs = match &args.jobs {
            Some(path) if args.workload != WorkloadArgs::default() => {
                return Err(described_twice(path));
            }
            Some(path) => jobs_of(path)?,
            None => {
                let workload = args.workload.on(Workload::default());
                vec![Job {
                    name: "run".to_owned(),
                    workload,
                    seconds: None,
                    seed: None,
                    verify: None,
                }]
            }
        };
        let twice = |job: Job| (job.name, [job.workload.clone(), job.workload]);
        return Ok(jobs.into_iter().map(twice).collect());
    }
    let are_files = |path: &Path| path.is_file();
    if !are_files(&args.first) || !are_files(&args.second) {
        return Err(Failure::Misuse(format!(
            "{} and {} are not of one kind: give two directories or two job files",
            args.first.display(),
            args.second.display()
        )));
    }
    if args.jobs.is_some() || args.workload != WorkloadArgs::default() {
        return Err(described_twice(&args.first));
    }
    let (first, second) = (jobs_of(&args.first)?, jobs_of(&args.second)?);
    if first.len() != second.len() {
        return Err(Failure::Misuse(format!(
            "{} has {} jobs and {} has {}: they are compared in order, so give as many",
            args.first.display(),
            first.len(),
            args.second.display(),
            second.len()
        )));
    }
    let name = |a: &Job, b: &Job| match a.name == b.name {
        true => a.name.clone(),
        false => format!("{} against {}", b.name, a.name),
    };
    Ok(first
        .into_iter()
        .zip(second)
        .map(|(a, b)| (name(&a, &b), [a.workload, b.workload]))
        .collect())
}

/// Where the arms are measured: two job files share one place, and so one file.
struct Arms {
    machines: Vec<Machine>,
    /// The machine as each sees it.
    environments: Vec<Environment>,
}

impl Arms {
    fn open(args: &AbArgs, document: &mut Document) -> Result<Self, Failure> {
        let places = match args.compares_jobs() {
            true => vec![args.dir.as_path()],
            false => vec![args.first.as_path(), args.second.as_path()],
        };
        let open = |place: &Path| Machine::open(place, false, args.memory, interrupt::flag());
        let mut machines: Vec<Machine> = places.into_iter().map(open).collect::<Result<_, _>>()?;
        let mut environments = Vec::new();
        for machine in &mut machines {
            machine.start(document)?;
            environments.push(document.environment.clone());
        }
        document.environment.clone_from(&environments[0]);
        Ok(Self { machines, environments })
    }

    /// Measures pairs until all verdicts are certain or time is up.
    fn measure(&mut self, args: &AbArgs, found: &mut Interleaving) -> Result<(), Failure> {
        let begun = Instant::now();
        let effort = RunLength { min_s: args.seconds / 2.0, cap_s: args.seconds, verify: false };
        let mut longest_s = 0.0f64;
        while let Some((index, order)) = found.turn() {
            if begun.elapsed().as_secs_f64() + CAUTION * longest_s > args.budget {
                break;
            }
            let (pair, mut throughputs) = (Instant::now(), [0.0; 2]);
            for arm in order {
                let workload = found.duel(index).workloads[arm].clone();
                let machine = arm.min(self.machines.len() - 1);
                let one = self.machines[machine].measure(&workload, effort, args.seed, None)?;
                throughputs[arm] = one.throughput_bytes_per_s;
            }
            found.record(index, throughputs, begun.elapsed().as_secs_f64() / args.budget);
            // The first pair lays out the files, too.
            longest_s = if longest_s == 0.0 {
                f64::MIN_POSITIVE
            } else {
                longest_s.max(pair.elapsed().as_secs_f64())
            };
            output::tell(&found.standing(index));
        }
        Ok(())
    }
}

fn outcome(args: &AbArgs, environments: &[Environment], found: &Interleaving) -> SystemComparison {
    let measured = MeasuredComparison {
        kind: "ab".to_owned(),
        systems: [&args.second, &args.first].map(|path| path.display().to_string()),
        environments: [environments.len() - 1, 0].map(|arm| environments[arm].clone()),
        rows: found.rows(),
        only_in: [0, 0],
        margin: args.margin,
        condition: None,
    };
    SystemComparison { measured: vec![measured], ..SystemComparison::default() }
}
