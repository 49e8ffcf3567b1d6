//! `ioscape os`: the operating-system micro-benchmarks, rated and compared with those of 1990.

use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use ioscape_andrew::Andrew;
use ioscape_arguments::OsArgs;
use ioscape_machine::interrupt;
use ioscape_machine::terminal::Progress;
use ioscape_osbench::{OsOptions, Outcome, Program};
use ioscape_schema::{Document, Warning, WarningKind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Least time between two saves: a save costs as much as a short process, and happens between two
/// of them.
const SAVED_EVERY: Duration = Duration::from_secs(2);

/// First word of the hidden command that runs one step of a benchmark in its own process.
const STEP: &str = "os-step";

/// Runs the step that the command line requests, before anything else is examined, since a process
/// per step is what is measured. `None` if it requests no step.
pub fn step() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != STEP {
        return None;
    }
    let words: Vec<_> = words.collect();
    Some(match ioscape_osbench::step(&words, program) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(Failure::from(error).report()),
    })
}

/// This program as the one that runs single steps.
fn program() -> Option<Program> {
    let path = std::env::current_exe().ok()?;
    Some(Program { path, first: vec![STEP.to_owned()], toolchain: &Andrew })
}

/// Runs the command.
///
/// # Errors
/// Misuse before anything is measured; other failures with all finished cases saved.
pub fn main(args: &OsArgs) -> Result<(), Failure> {
    ioscape_osbench::check_names(&args.only).map_err(Failure::Misuse)?;
    let mut outputs = outputs::names_of(&args.out).open()?;
    let usual = if args.quick { OsOptions::quick() } else { OsOptions::full() };
    let options = OsOptions {
        budget_s: args.budget.unwrap_or(usual.budget_s),
        only: args.only.clone(),
        directories: args.directories.clone(),
        program: program(),
        compiler: args.compiler.clone(),
        interrupt: interrupt::flag(),
        ..usual
    };
    let empty = output::document(0);
    let progress = Progress::of_steps(1);
    let mut saved = Instant::now();
    let outcome = ioscape_osbench::run(&options, &mut |step, so_far| {
        progress.step(step.done, step.of, &format!("{}: {}", step.name, step.case));
        if saved.elapsed() >= SAVED_EVERY {
            outputs::save(&mut outputs, &document(&empty, args, &so_far()));
            saved = Instant::now();
        }
    });
    progress.done();
    let outcome = outcome?;
    let mut document = document(&empty, args, &outcome);
    let measured = outcome.results.benchmarks.iter().filter(|one| one.value.is_some()).count();
    let is_empty = measured == 0 && outcome.without_time > 0;
    document.interrupted |= is_empty;
    let finished = outcome.finished;
    let written = outputs::finish(&mut outputs, &document, args.out.json);
    let finished = finished.map_err(|error| {
        let whereabouts = outputs::whereabouts(&mut outputs);
        Failure::of_measure(
            &error,
            &format!("; what {measured} cases have so far is {whereabouts}"),
        )
    });
    let why = "no case was measured within the budget: give a longer --budget";
    let some = if is_empty { Err(Failure::Failed(why.to_owned())) } else { Ok(()) };
    both(finished.and(some), written)
}

/// The document of a run, or of its state so far.
fn document(empty: &Document, args: &OsArgs, outcome: &Outcome) -> Document {
    let mut results = outcome.results.clone();
    results.rate(args.mips);
    let mut document = Document {
        environment: outcome.environment.clone(),
        interrupted: outcome.finished.is_err(),
        outcome: Some(results.into()),
        ..empty.clone()
    };
    outcome.warnings.iter().for_each(|warning| document.warn(warning.clone()));
    if let Err(error) = &outcome.finished {
        let text = format!("the run is partial: {error}");
        document.warn(Warning::new(WarningKind::Interrupted, text));
    }
    document
}
