//! `ioscape validate`: measures random workloads over the evaluated space and shows how far off
//! their predictions were.

mod asked;
mod course;
mod simulated;

use crate::failure::Failure;
use crate::machine::{Machine, Measurer, RunLength, within_limits};
use crate::output;
use crate::relay::Relay;
use crate::save::{self, Keeper};
use asked::{begun, earlier, exchanged, log, names, part, schedule};
use course::{Work, conclude};
use ioscape_arguments::ValidateArgs;
use ioscape_machine::environment::identity;
use ioscape_machine::interrupt;
use ioscape_scaling::System;
use ioscape_scaling::model::ModelKind;
use ioscape_schema::ValidationLog;
use ioscape_study::clients::check_number;
use ioscape_study::comparison::other_pages;
use ioscape_study::reach::LAYOUT_TRIAL_SHARE;
use ioscape_study::resume::{self, GivenOptions};
use ioscape_study::validation::{ValidationProgress, changed};
use ioscape_workload::seed_of_round;
use std::time::Instant;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures and interruptions with everything measured saved and named.
pub fn main(args: &ValidateArgs, typed: &GivenOptions) -> Result<(), Failure> {
    let system = System::of(&args.result, output::read_result(&args.result)?, ModelKind::Default);
    let whole = system.map_err(Failure::misuse)?;
    if let Some(name) = args.simulated() {
        return simulated::main(args, typed, &whole, name);
    }
    let clients = args.together.clients;
    check_number(&whole.evaluation, clients.unwrap_or(1)).map_err(Failure::Misuse)?;
    if clients.is_some() {
        Relay::check_shared(&args.target)?;
    }
    let outputs = names(args).reads("the target", [&args.target]).open()?;
    let earlier = args.resume.as_deref().map(|path| earlier(path, args)).transpose()?;
    let here = identity::of_work([("target".to_owned(), &*args.target)], Default::default());
    let before = args.resume.as_deref().zip(earlier.as_ref().map(|found| &found.environment));
    let options = typed.without(&["--budget"]);
    let identity = resume::identity(before, here, &options).map_err(Failure::misuse)?;
    let limit = whole.evaluation.settings.as_ref().and_then(|s| s.memory_limit_bytes);
    let log = log(earlier.as_ref(), args, limit);
    let system = part(&whole, log.access)?;
    let changed_system = exchanged(system, &log)?;
    let mut document = asked::document(args, earlier.as_ref());
    let schedule = schedule(&changed_system, system, &log, &mut document)?;
    let was = earlier.as_ref().map(|found| found.environment.clone());
    let mut run = begun(args, earlier, schedule)?;
    let memory = within_limits(log.memory_limit_bytes);
    let relay = Relay::of(clients, memory, document.seed);
    let own = memory.filter(|_| relay.is_none());
    let mut machine = Machine::open(&args.target, args.destroy_data, own, interrupt::flag())?;
    let (target, look) = (args.target.display().to_string(), machine.share(relay));
    run.schedule().check_room(&target, look.capacity_bytes).map_err(Failure::Misuse)?;
    machine.start(&mut document)?;
    document.environment.identity = identity;
    output::tell(&run.describe(&log));
    let mut keeper = Keeper::new(save::Work::Validation, outputs, &args.out, &document)?;
    let laid_out = if relay.is_none() { lay_out(&mut machine, &run, &log) } else { Ok(()) };
    if let Err(misuse @ Failure::Misuse(_)) = laid_out {
        return Err(misuse);
    }
    if laid_out.is_err() {
        document.outcome = Some(run.unjudged(&log, log.spent_s).into());
    }
    let mut measurer = Measurer::new(machine, relay, &mut document);
    let here = (target.as_str(), Some(Some(look.comes_by_pages)));
    let pages = other_pages(here, (system.name.as_str(), system.evaluation.came_by_page()));
    let since = was.and_then(|was| resume::changed_since(&was, &document.environment));
    changed(&changed_system.environment(), &document.environment)
        .into_iter()
        .chain(pages)
        .chain(since)
        .for_each(|doubt| document.warn(doubt));
    let mut work = Work { log: &log, document: &mut document, keeper: &mut keeper };
    // Different requests each time, as in an evaluation.
    let (seed, mut number) = (work.document.seed, run.taken() as u64);
    let finished = laid_out.and_then(|()| {
        work.measure(&mut run, |next, progress| {
            let length = RunLength::new(next.min_s, next.cap_s);
            let seed = seed_of_round(seed, number);
            number += 1;
            Ok(measurer.measure(&next.step.workload, length, seed, progress)?)
        })
    });
    // The models are judged by whatever was measured: that costs nothing compared with the
    // measurements.
    let changed = (!log.what_if.is_empty()).then_some(&changed_system);
    conclude(&run, &log, &system.evaluation, changed, &mut document)?;
    drop(measurer);
    keeper.conclude(document, finished)
}

/// Lays out the largest set: otherwise a growing file would slow the first round of every larger
/// set.
///
/// # Errors
/// The set cannot be laid out or, if nothing was measured before, doing so takes longer than the
/// budget.
fn lay_out(
    machine: &mut Machine,
    run: &ValidationProgress,
    log: &ValidationLog,
) -> Result<(), Failure> {
    let bytes = run.schedule().largest_set();
    if run.taken() == 0 {
        let begun = Instant::now();
        let rate = machine.layout_rate(bytes, LAYOUT_TRIAL_SHARE * log.budget_s)?;
        // A set too small to show a rate is complete by now.
        let rate = rate.unwrap_or_else(|| bytes as f64 / begun.elapsed().as_secs_f64());
        run.schedule().check_time(rate, log.budget_s).map_err(Failure::Failed)?;
    }
    Ok(machine.layout(bytes)?)
}
