//! `ioscape validate RESULT sim:SYSTEM`: the workloads are simulated, in virtual time.

use super::asked::{exchanged, log, part, schedule};
use super::course::{Work, conclude};
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::save::{self, Keeper};
use crate::simulated::Simulated;
use ioscape_arguments::{ValidateArgs, WhatIfArg};
use ioscape_machine::interrupt;
use ioscape_scaling::System;
use ioscape_schema::Engine;
use ioscape_study::validation::ValidationProgress;
use std::sync::atomic::Ordering;

/// Runs the command for the simulated system `name`, with what was evaluated.
///
/// # Errors
/// A system that cannot be read or has no such access, and output that cannot be written.
pub fn main(args: &ValidateArgs, whole: &System, name: &str) -> Result<(), Failure> {
    let names = outputs::names_of(&args.out)
        .reads("the result", [&args.result])
        .reads("--what-if", args.what_if.iter().filter_map(WhatIfArg::storage));
    let outputs = names.open()?;
    let target = Simulated::open(name)?;
    let log = log(None, args, None);
    let system = part(whole, log.access)?;
    let base = system.model.base();
    if base.engine != Engine::Sim {
        let (result, simulated) = (args.result.display(), &log.target);
        return Err(Failure::Misuse(format!(
            "{result} was measured, and {simulated} is simulated: run `ioscape evaluate {simulated} -o FILE` and give that FILE"
        )));
    }
    target.parameters.accesses(&[base.access], Vec::new())?;
    let changed_system = exchanged(system, &log)?;
    let mut document = output::document(args.seed);
    document.environment.memory_bytes = target.parameters.memory_bytes();
    let mut run = ValidationProgress::new(schedule(&changed_system, system, &log, &mut document)?);
    let room = target.storage().extent().bytes();
    run.schedule().check_room(&log.target, room).map_err(Failure::Misuse)?;
    let mut keeper = Keeper::new(save::Work::Validation, outputs, &args.out, &document)?;
    output::tell(&run.describe(&log));
    let (mut seed, flag) = (document.seed, interrupt::flag());
    let mut work = Work { log: &log, document: &mut document, keeper: &mut keeper };
    let finished = work.measure(&mut run, |next, _| {
        if flag.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted("interrupted".to_owned()));
        }
        // Requests of their own for each: in rounds of the same ones nothing would vary.
        seed = seed.wrapping_add(1);
        Ok(target.measure(&next.step.workload, seed, next.cap_s)?)
    });
    let what_if = (!log.what_if.is_empty()).then(|| changed_system.what_if());
    conclude(&run, &system.evaluation, what_if, &mut document)?;
    keeper.conclude(document, finished)
}
