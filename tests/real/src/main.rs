//! Makes real systems whose truth is known, evaluates them, and compares the results.

mod check;
mod clients;
mod disk;
mod lab;
mod packages;
mod plan;
mod retest;
mod systems;
mod table;
mod wire;

use check::Outcome;
use lab::Lab;
use plan::Plan;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;
use systems::System;

const MISUSE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let served = match words[..] {
        ["help" | "--help" | "-h"] => {
            say(&usage());
            Ok(())
        }
        ["packages"] => {
            say(&packages::names());
            Ok(())
        }
        ["list"] => {
            list();
            Ok(())
        }
        ["clean"] => Lab::swept().map(drop),
        ["disk", mount_point, ..] => disk::serve(mount_point, &arguments[2..]),
        ["cable", first, second, delay_us, mbit] => cable([first, second], delay_us, mbit),
        ["judge-again", _, _, ..] => retest::judged_again(&words[1..]),
        ["judge-again", ..] => return misused("judge-again compares pairs: give two results"),
        ["retest", ..] => return retested(&words[1..]),
        ["clients", python] => return around_a_server(python),
        ["faults-table", ..] => return faults_proven(&words[1..]),
        _ => return tried(&words),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            complain(&why);
            ExitCode::FAILURE
        }
    }
}

fn misused(why: &str) -> ExitCode {
    complain(&format!("{why}\n{}", usage()));
    ExitCode::from(MISUSE)
}

fn cable(ends: [&str; 2], delay_us: &str, mbit: &str) -> Result<(), String> {
    let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is not a whole number"));
    wire::serve(ends, number(delay_us)?, number(mbit)?)
}

fn list() {
    for system in systems::ALL {
        say(&format!("{:<17} {}", system.name, system.truth));
    }
}

fn usage() -> String {
    format!(
        "\
usage: ioscape-real quick [PART]     today's part of the systems, or PART (1 to {parts}): up to 10 minutes
       ioscape-real full             all of them, the predictions too: 2 to 3 hours
       ioscape-real NAME...          those whose names contain one of the words
       ioscape-real clients PYTHON   four clients of one server under MPI, of a Python that has mpi4py: 25 minutes
       ioscape-real faults-table [WORD...]    the test of every row of docs/faults.md, or of those that contain a word
{retest}       ioscape-real judge-again RESULT...    how far stored evaluations agree, each judged again by this version
       ioscape-real list             the systems and what is known of them
       ioscape-real packages         the Debian packages that they need
       ioscape-real clean            undo what a killed run left
       ioscape-real disk MOUNT-POINT [NAME=VALUE...]    a simulated disk, until it is unmounted
         parameters and their values if left out:{names}
         orders, to write to its file `ctl`: {orders}
       ioscape-real cable NAMESPACE NAMESPACE DELAY-US MBIT/S    a cable between two network namespaces
All but judge-again, list and packages need root; without it faults-table leaves out what needs it.",
        parts = plan::QUICK.len(),
        names = disk::names(),
        retest = retest::usage(),
        orders = disk::ORDERS,
    )
}

/// Tries what the arguments ask for.
fn tried(words: &[&str]) -> ExitCode {
    let plan = match Plan::of(words) {
        Ok(plan) => plan,
        Err(why) => return misused(&why),
    };
    match Lab::set_up() {
        Ok(lab) => conclude(&plan, &attempts(&lab, &plan)),
        Err(why) => {
            complain(&format!("nothing was tried: {why}"));
            ExitCode::FAILURE
        }
    }
}

/// Evaluates the same systems repeatedly.
fn retested(words: &[&str]) -> ExitCode {
    let asked = match retest::Retest::of(words) {
        Ok(asked) => asked,
        Err(why) => return misused(&why),
    };
    match Lab::set_up().and_then(|lab| retest::run(&lab, &asked)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            complain(&why);
            ExitCode::FAILURE
        }
    }
}

/// Proves the table of faults.
fn faults_proven(words: &[&str]) -> ExitCode {
    match table::chosen(words) {
        Ok(rows) if table::prove(&rows) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            complain(&why);
            ExitCode::from(MISUSE)
        }
    }
}

/// Measures several clients of one server together.
fn around_a_server(python: &str) -> ExitCode {
    let checks = Lab::set_up().and_then(|lab| clients::Clients::of(&lab, python)?.try_all(&lab));
    let outcome = checks.map_or_else(Outcome::Broken, Outcome::Checked);
    show(&outcome);
    if outcome.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The outcome of every system's last attempt.
fn attempts<'a>(lab: &Lab, plan: &Plan<'a>) -> Vec<(&'a System, Outcome)> {
    let begun = Instant::now();
    let mut outcomes = Vec::new();
    for &system in &plan.systems {
        say(&format!("\n== {} ({})", system.name, system.truth));
        for attempt in 1.. {
            let started = Instant::now();
            let outcome = system.attempt(lab);
            lab.stop_if_interrupted();
            show(&outcome);
            say(&format!("   {:.0} s", started.elapsed().as_secs_f64()));
            if outcome.is_good() || plan.is_last(attempt, begun.elapsed()) {
                outcomes.push((system, outcome));
                break;
            }
            say(&format!(
                "   once more, for the machine may have been disturbed (attempt {})",
                attempt + 1
            ));
        }
    }
    say(&format!("\n{:.0} s in all", begun.elapsed().as_secs_f64()));
    outcomes
}

/// Sums up, and decides whether the run passes.
fn conclude(plan: &Plan<'_>, outcomes: &[(&System, Outcome)]) -> ExitCode {
    let (mut held, mut failed, mut skipped) = (0, 0, 0);
    let mut missed = Vec::new();
    for (system, outcome) in outcomes {
        match outcome {
            Outcome::Checked(checks) => {
                held += checks.iter().filter(|check| check.holds).count();
                failed += checks.iter().filter(|check| !check.holds).count();
            }
            Outcome::Skipped(_) => skipped += 1,
            Outcome::Broken(_) => failed += 1,
        }
        if !outcome.is_good() {
            missed.push(system.name);
        }
    }
    say(&format!("{held} held, {failed} missed, {skipped} systems skipped of `{}`", plan.name));
    if !missed.is_empty() {
        say(&format!("missed in every attempt: {}", missed.join(", ")));
        let tolerated = plan.tolerated();
        say(&format!("of those that need not hold, {tolerated} may be missed, for others' load"));
    }
    if plan.is_met(outcomes) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints the outcome of an attempt.
fn show(outcome: &Outcome) {
    match outcome {
        Outcome::Checked(checks) => {
            for check in checks {
                let verdict = if check.holds { "ok  " } else { "MISS" };
                say(&format!(
                    "   {verdict} {:<52} want {:<26} found {}",
                    check.what, check.want, check.found
                ));
            }
        }
        Outcome::Skipped(why) => say(&format!("   SKIPPED: {why}")),
        Outcome::Broken(why) => say(&format!("   FAILED: {why}")),
    }
}

/// Prints a line of the result.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "ioscape-real: {line}");
}
