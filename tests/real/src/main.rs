//! Evaluates real systems whose truth is known, made by the laboratory's recipes, and compares with the numbers.
//!
//! Needs root and the laboratory's scripts (`IOSCAPE_LAB`, default `../shared/lab`); says loudly what it skips.
//! `ioscape-real [NAME...]` tries only the systems whose names contain one of the words; `ioscape-real prediction` holds
//! predictions against measurements on six of them, for an hour and a half.

mod check;
mod lab;
mod systems;

use check::Outcome;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use systems::System;

/// Attempts at a system before a miss counts: memory speed on a shared machine changes twofold within minutes.
const ATTEMPTS: u32 = 3;
/// Systems, of seventeen, that may miss a number in every attempt without failing the whole: others' load may last for all of them. A
/// system that cannot be brought up or evaluated is never tolerated.
const TOLERATED: usize = 3;
/// After this time nothing is tried again.
const RETRY_UNTIL: Duration = Duration::from_secs(40 * 60);

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let lab = match lab::Lab::set_up() {
        Ok(lab) => lab,
        Err(why) => {
            say(&format!("SKIPPED: all tests on real systems: {why}"));
            say(&format!("0 held, 0 missed, {} skipped", systems::ALL.len()));
            return ExitCode::SUCCESS;
        }
    };
    let begun = Instant::now();
    let mut count = [0usize; 3];
    let mut missed = Vec::new();
    let mut broken = false;
    let is_named = |system: &&System| wanted.iter().any(|word| system.name.contains(word.as_str()));
    let usual = systems::ALL.iter().filter(|system| wanted.is_empty() || is_named(system));
    for system in usual.chain(systems::ON_REQUEST.iter().filter(is_named)) {
        say(&format!("\n== {} ({})", system.name, system.truth));
        let last = (1..=ATTEMPTS).find_map(|attempt| {
            let started = Instant::now();
            let outcome = system.attempt(&lab);
            show(&outcome);
            say(&format!("   {:.0} s", started.elapsed().as_secs_f64()));
            let is_last = attempt == ATTEMPTS || begun.elapsed() > RETRY_UNTIL;
            if outcome.is_good() || is_last {
                return Some(outcome);
            }
            say(&format!(
                "   once more, for the machine may have been disturbed (attempt {})",
                attempt + 1
            ));
            None
        });
        tally(last.as_ref(), &mut count);
        broken |= matches!(last, Some(Outcome::Broken(_)));
        if last.is_some_and(|outcome| !outcome.is_good()) {
            missed.push(system.name);
        }
    }
    say(&format!("\n{} held, {} missed, {} skipped", count[0], count[1], count[2]));
    if !missed.is_empty() {
        say(&format!("missed in every attempt: {} (at most {TOLERATED} may)", missed.join(", ")));
    }
    if broken || missed.len() > TOLERATED { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Prints what came of one attempt.
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

/// Counts what held, what did not and what was skipped in the last attempt.
fn tally(outcome: Option<&Outcome>, count: &mut [usize; 3]) {
    match outcome {
        Some(Outcome::Checked(checks)) => {
            for check in checks {
                count[usize::from(!check.holds)] += 1;
            }
        }
        Some(Outcome::Skipped(_)) => count[2] += 1,
        Some(Outcome::Broken(_)) | None => count[1] += 1,
    }
}

fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
