//! A validation that was interrupted, and where it goes on.

use super::Done;
use crate::args::ValidateArgs;
use crate::failure::Failure;
use crate::output;
use ioscape_schema::{Document, Measurement, Outcome, RefusedStep, ValidationLog, ValidationRun};
use std::path::{Path, PathBuf};

/// Time the whole may take unless it is given, in seconds.
const BUDGET_S: f64 = 1200.0;

/// What an earlier run left.
pub struct Earlier {
    path: PathBuf,
    /// Seed of its random choices.
    pub seed: u64,
    /// When it began.
    pub started_at: String,
    /// What it was asked to do, and how far it came.
    pub log: ValidationLog,
    measured: Vec<Measurement>,
}

/// Reads the result that the arguments ask to be continued, if they do.
///
/// # Errors
/// A file that cannot be read, holds no validation that could be continued, or is about another target.
pub fn read(args: &ValidateArgs) -> Result<Option<Earlier>, Failure> {
    let Some(path) = &args.resume else { return Ok(None) };
    let found = output::read_result(path)?;
    let Document { seed, started_at, outcome, .. } = found;
    let run = match outcome {
        Some(Outcome::Validation(run)) => *run,
        _ => ValidationRun::default(),
    };
    let log = run.log.ok_or_else(|| match run.validation {
        Some(_) => misuse(path, "the validation is whole: there is nothing to continue"),
        None => misuse(path, "the file holds no validation to continue"),
    })?;
    if Path::new(&log.target) != args.target {
        let there = format!("the file is about {:?}, not {:?}", log.target, args.target);
        return Err(misuse(path, &there));
    }
    Ok(Some(Earlier { path: path.clone(), seed, started_at, log, measured: run.measurements }))
}

fn misuse(path: &Path, what: &str) -> Failure {
    Failure::Misuse(format!("--resume {}: {what}", path.display()))
}

/// What is to be done: as the earlier run was asked, or else as the arguments ask; `limit` is the evaluation's memory limit.
pub fn log(earlier: Option<&Earlier>, args: &ValidateArgs, limit: Option<u64>) -> ValidationLog {
    let mut log = match earlier {
        Some(earlier) => earlier.log.clone(),
        None => ValidationLog {
            target: args.target.display().to_string(),
            workloads: args.workloads,
            rounds: args.rounds,
            orthogonal: args.orthogonal,
            memory_limit_bytes: args.memory.or(limit),
            budget_s: BUDGET_S,
            ..ValidationLog::default()
        },
    };
    log.budget_s = args.budget.unwrap_or(log.budget_s);
    log
}

impl Earlier {
    /// Puts what was measured where it belongs.
    ///
    /// # Errors
    /// The measurements are not those of this schedule: another evaluation, or a damaged file.
    pub fn restore(self, done: &mut Done) -> Result<(), Failure> {
        let Self { path, log, measured, .. } = self;
        let steps = &done.schedule.steps;
        let fits = |(step, one): (&u32, &Measurement)| {
            steps.get(*step as usize).is_some_and(|step| step.workload == one.workload)
        };
        let refused = log.refused.iter().map(|one| one.step);
        let mut taken: Vec<u32> = log.steps.iter().copied().chain(refused).collect();
        taken.sort_unstable();
        let from_the_first = taken.iter().copied().eq(0..taken.len() as u32);
        let whole = log.steps.len() == measured.len() && taken.len() <= steps.len();
        if !(whole && from_the_first && log.steps.iter().zip(&measured).all(fits)) {
            let what = "the file is about another evaluation: give the one that it began with";
            return Err(misuse(&path, what));
        }
        done.measured = log.steps.iter().map(|step| *step as usize).zip(measured).collect();
        let reason = |one: RefusedStep| (one.step as usize, one.reason);
        done.refused = log.refused.into_iter().map(reason).collect();
        Ok(())
    }
}

/// The log of what was done so far.
pub fn so_far(log: &ValidationLog, done: &Done, spent_s: f64) -> ValidationLog {
    let refused = done.refused.iter();
    ValidationLog {
        spent_s,
        steps: done.measured.iter().map(|(step, _)| *step as u32).collect(),
        refused: refused
            .map(|(step, reason)| RefusedStep { step: *step as u32, reason: reason.clone() })
            .collect(),
        ..log.clone()
    }
}
