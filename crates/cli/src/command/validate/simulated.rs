//! `ioscape validate RESULT sim:SYSTEM`: simulates the workloads, in virtual time.

use super::asked::{self, begun, earlier, exchanged, log, names, part, schedule};
use super::course::{Work, conclude};
use crate::failure::Failure;
use crate::output;
use crate::save::{self, Keeper};
use crate::simulated::Simulated;
use ioscape_arguments::ValidateArgs;
use ioscape_machine::interrupt;
use ioscape_scaling::System;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Engine, Filled, Warning, WarningKind};
use ioscape_simulate::system::{BLOCKS_MOST, Storage};
use ioscape_study::resume::{self, GivenOptions};
use std::sync::atomic::Ordering;

/// Runs the command for the simulated system `name` and the evaluated one.
///
/// # Errors
/// The system cannot be read or has no such access, or the output cannot be written.
pub fn main(
    args: &ValidateArgs,
    typed: &GivenOptions,
    whole: &System,
    name: &str,
) -> Result<(), Failure> {
    let outputs = names(args).open()?;
    let earlier = args.resume.as_deref().map(|path| earlier(path, args)).transpose()?;
    let before = args.resume.as_deref().zip(earlier.as_ref().map(|found| &found.environment));
    let options = typed.without(&["--budget"]);
    let identity =
        resume::identity(before, Default::default(), &options).map_err(Failure::misuse)?;
    let log = log(earlier.as_ref(), args, None);
    let system = part(whole, log.access)?;
    let base = system.model.base();
    if base.engine != Engine::Sim {
        let (result, simulated) = (args.result.display(), &log.target);
        return Err(Failure::Misuse(format!(
            "{result} was measured, and {simulated} is simulated: run `ioscape evaluate {simulated} -o FILE` and give that FILE"
        )));
    }
    let changed_system = exchanged(system, &log)?;
    let target = opened(name, changed_system.precondition())?;
    target.parameters.accesses(&[base.access], Vec::new())?;
    let mut document = asked::document(args, earlier.as_ref());
    document.environment.identity = identity;
    document.environment.memory_bytes = target.parameters.memory_bytes();
    document.warnings.extend(target.warnings());
    let schedule = schedule(&changed_system, system, &log, &mut document)?;
    let mut run = begun(args, earlier, schedule)?;
    check_room(&log.target, run.schedule().largest_set(), target.storage().extent().bytes())?;
    let evaluated = &system.evaluation.target;
    if log.what_if.is_empty() && *evaluated != log.target {
        let message = format!("{evaluated} was evaluated, and {} is simulated", log.target);
        document.warn(Warning::new(WarningKind::DifferentKinds, message));
    }
    let mut keeper = Keeper::new(save::Work::Validation, outputs, &args.out, &document)?;
    output::tell(&run.describe(&log));
    // Each measurement has its own requests: rounds of the same ones would not vary.
    let mut seed = document.seed.wrapping_add(run.taken() as u64);
    let flag = interrupt::flag();
    let mut work = Work { log: &log, document: &mut document, keeper: &mut keeper };
    let finished = work.measure(&mut run, |next, _| {
        if flag.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted("interrupted".to_owned()));
        }
        seed = seed.wrapping_add(1);
        Ok(target.measure(&next.step.workload, seed, next.cap_s, BLOCKS_MOST)?)
    });
    let changed = (!log.what_if.is_empty()).then_some(&changed_system);
    conclude(&run, &log, &system.evaluation, changed, &mut document)?;
    keeper.conclude(document, finished)
}

/// Opens the system in this state, unless its drive is a disk, which has none.
fn opened(name: &str, filled: Option<Filled>) -> Result<Simulated, Failure> {
    let target = Simulated::open(name, None)?;
    match (target.storage(), filled) {
        (Storage::Flash(_), Some(_)) => Simulated::open(name, filled),
        _ => Ok(target),
    }
}

fn check_room(target: &str, needed: u64, capacity: u64) -> Result<(), Failure> {
    let [needed, holds] = [needed, capacity].map(|bytes| Bytes(bytes as f64));
    match needed.0 <= holds.0 {
        true => Ok(()),
        false => Err(Failure::Misuse(format!(
            "{target} holds {holds}, but the evaluation went up to sets of {needed}: evaluate it again with --max-unique-bytes"
        ))),
    }
}
