//! Evaluates real systems whose truth is known, made by the laboratory's recipes, and compares with the numbers.
//!
//! Needs root and the laboratory's scripts (`IOSCAPE_LAB`, default `../shared/lab`); says loudly what it skips.
//! `ioscape-real [NAME...]` tries only the systems whose names contain one of the words.

mod check;
mod lab;
mod systems;

use check::Outcome;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let lab = match lab::Lab::set_up() {
        Ok(lab) => lab,
        Err(why) => {
            say(&format!("SKIPPED: all tests on real systems: {why}"));
            say(&format!("0 passed, 0 failed, {} skipped", systems::ALL.len()));
            return ExitCode::SUCCESS;
        }
    };
    let mut count = [0usize; 3];
    for system in systems::ALL {
        if !wanted.is_empty() && !wanted.iter().any(|word| system.name.contains(word.as_str())) {
            continue;
        }
        say(&format!("\n== {} ({})", system.name, system.truth));
        let started = std::time::Instant::now();
        let outcome = system.attempt(&lab);
        report(&outcome, &mut count);
        say(&format!("   {:.0} s", started.elapsed().as_secs_f64()));
    }
    say(&format!("\n{} passed, {} failed, {} skipped", count[0], count[1], count[2]));
    if count[1] == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints what came of one system and counts its expectations.
fn report(outcome: &Outcome, count: &mut [usize; 3]) {
    match outcome {
        Outcome::Checked(checks) => {
            for check in checks {
                count[usize::from(!check.holds)] += 1;
                let verdict = if check.holds { "ok  " } else { "MISS" };
                say(&format!(
                    "   {verdict} {:<52} want {:<26} found {}",
                    check.what, check.want, check.found
                ));
            }
        }
        Outcome::Skipped(why) => {
            count[2] += 1;
            say(&format!("   SKIPPED: {why}"));
        }
        Outcome::Broken(why) => {
            count[1] += 1;
            say(&format!("   FAILED: {why}"));
        }
    }
}

fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
