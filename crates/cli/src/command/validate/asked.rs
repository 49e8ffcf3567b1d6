//! What a validation is asked to do: the part of the evaluation, what is exchanged in it, and the
//! workloads.

use crate::command::predict::{exchange, refused};
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use ioscape_arguments::{ValidateArgs, WhatIfArg};
use ioscape_machine::output::Names;
use ioscape_scaling::System;
use ioscape_scaling::model::{
    bounds_of, orthogonal_sample, random_workloads, single_point_workload,
};
use ioscape_scaling::system::ChangedSystem;
use ioscape_schema::{Access, Document, ValidationLog, Workload};
use ioscape_study::validation::{
    EarlierValidation, NotContinued, Schedule, ValidationProgress, ValidationSample,
};
use std::path::Path;

/// Default time limit of the whole validation, in seconds.
const BUDGET_S: f64 = 1200.0;
/// Random workloads drawn for each one wanted: where something is exchanged, nothing is known about
/// some of them.
const DRAWN: usize = 8;

/// The part of the system that was evaluated with the requested access.
///
/// # Errors
/// Nothing was evaluated with that access.
pub fn part(whole: &System, access: Option<Access>) -> Result<&System, Failure> {
    let Some(access) = access else { return Ok(whole) };
    let part = whole.with_access(access);
    let asked = Workload { access, ..part.model.base().clone() };
    part.predict(None, &asked).map(|_| part).map_err(refused)
}

/// The system that is predicted: the evaluated one with the exchanges listed in the log.
///
/// # Errors
/// What is exchanged cannot be read, or does not apply to this system.
pub fn exchanged<'a>(
    system: &'a System,
    log: &ValidationLog,
) -> Result<ChangedSystem<'a>, Failure> {
    let named = log.what_if.iter().map(|text| text.parse::<WhatIfArg>());
    let named = named.collect::<Result<Vec<_>, _>>().map_err(Failure::Misuse)?;
    let exchanges = named.iter().map(exchange).collect::<Result<Vec<_>, _>>()?;
    ChangedSystem::new(system, exchanges).map_err(Failure::misuse)
}

/// Returns the workloads to be measured. Random workloads that are left out, and an exchange
/// without effect, are warned about.
///
/// # Errors
/// With the exchange, nothing is known about any workload.
pub fn schedule(
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
    changed.doubts().into_iter().chain(doubt).for_each(|doubt| document.warn(doubt));
    let orthogonal = if log.orthogonal { orthogonal_sample(&bounds, base) } else { Vec::new() };
    let single = single_point_workload(&bounds, base);
    Ok(Schedule::new(&ValidationSample { single, random, orthogonal }, log.rounds as usize))
}

/// Reads an earlier validation of this target from the result at `path`.
///
/// # Errors
/// The result cannot be read, or is about something else.
pub fn earlier(path: &Path, args: &ValidateArgs) -> Result<EarlierValidation, Failure> {
    let found = EarlierValidation::of(output::read_begun(path)?, &args.target);
    found.map_err(|why| not_continued(args, &why))
}

fn not_continued(args: &ValidateArgs, why: &NotContinued) -> Failure {
    let file = args.resume.as_deref().unwrap_or(Path::new(""));
    Failure::Misuse(format!("--resume {}: {why}", file.display()))
}

/// The command's inputs and outputs, except for the target.
pub fn names(args: &ValidateArgs) -> Names {
    outputs::names_of(&args.out)
        .reads("the result", [&args.result])
        .reads("--what-if", args.what_if.iter().filter_map(WhatIfArg::storage))
        .reads("--resume", &args.resume)
}

/// The document to be filled, with the seed, the start and the lasting warnings of the earlier run.
pub fn document(args: &ValidateArgs, earlier: Option<&EarlierValidation>) -> Document {
    let mut document = output::document(args.seed);
    if let Some(earlier) = earlier {
        document.seed = earlier.seed;
        document.started_at.clone_from(&earlier.started_at);
        document.warnings.clone_from(&earlier.doubts);
    }
    document
}

/// The validation at its start, or where the earlier run stopped.
///
/// # Errors
/// The earlier run had another schedule.
pub fn begun(
    args: &ValidateArgs,
    earlier: Option<EarlierValidation>,
    schedule: Schedule,
) -> Result<ValidationProgress, Failure> {
    match earlier {
        None => Ok(ValidationProgress::new(schedule)),
        Some(earlier) => earlier.restored(schedule).map_err(|why| not_continued(args, &why)),
    }
}

/// What is to be done: as the earlier run was asked, or else as the arguments ask; `limit` is the
/// evaluation's memory limit.
pub fn log(
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
