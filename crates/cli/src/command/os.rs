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
    // What others disturbed was measured, and its numbers are kept as evidence.
    let is_without_numbers = outcome.results.benchmarks.iter().all(|one| one.set_aside.is_empty());
    let is_empty = measured == 0 && (outcome.without_time > 0 || is_without_numbers);
    document.interrupted |= is_empty && outcome.without_time > 0;
    let written = outputs::finish(&mut outputs, &document, args.out.json);
    let all = outcome.results.benchmarks.iter().filter_map(|one| one.not_measured.as_deref());
    let why = nothing(outcome.without_time, &all.collect::<Vec<_>>());
    let some = if is_empty { Err(Failure::Failed(why)) } else { Ok(()) };
    let finished = outcome.finished.map_err(|error| {
        let whereabouts = outputs::whereabouts(&mut outputs);
        Failure::of_measure(
            &error,
            &format!("; what {measured} cases have so far is {whereabouts}"),
        )
    });
    both(finished.and(some), written)
}

/// Why no case was measured: most lacked time, or what most of `all` say.
fn nothing(without_time: usize, all: &[&str]) -> String {
    if 2 * without_time > all.len() {
        return "no case was measured within the budget: give a longer --budget".to_owned();
    }
    let count = |why: &&&str| all.iter().filter(|one| one == why).count();
    let why = all.iter().max_by_key(count);
    format!(
        "no case was measured, mostly for this reason: {}",
        why.unwrap_or(&"there is none here")
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_budget_is_advised_only_where_most_lacked_time() {
        let all = ["no time", "others", "others"];
        assert_eq!(nothing(1, &all), "no case was measured, mostly for this reason: others");
        assert!(nothing(2, &all).contains("within the budget"));
    }
}
