//! Proves the table of faults: runs every row's test, through cargo or as a real system, and prints
//! the result with its row.

mod rows;
mod suite;
mod verdict;

use crate::check::Outcome;
use crate::lab::Lab;
use crate::plan::Plan;
use crate::systems::System;
use crate::{attempts, say};
pub use rows::Row;
use rows::Test;
use verdict::Verdict;

/// The most characters of a reason.
const MOST: usize = 400;

/// The rows that contain one of the words; all rows if there are no words.
///
/// # Errors
/// One sentence: the table cannot be read, or no row contains a word.
pub fn chosen(words: &[&str]) -> Result<Vec<Row>, String> {
    rows::chosen(rows::read()?, words)
}

/// Runs the tests of these rows and prints each row's result; returns whether none was missed.
pub fn prove(rows: &[Row]) -> bool {
    let mut proven: Vec<(Test, Verdict)> = Vec::new();
    for suite in suite::of(rows) {
        say(&format!("== cargo {} ({} tests)", suite.words().join(" "), suite.tests.len()));
        proven.extend(suite.run());
    }
    let names: Vec<&str> = rows.iter().filter_map(|row| row.test.system()).collect();
    proven.extend(systems(&names));
    say("");
    let (mut held, mut missed, mut skipped) = (0, 0, 0);
    for row in rows {
        let found = proven.iter().find(|(test, _)| *test == row.test);
        let verdict = found.map_or_else(Verdict::absent, |(_, verdict)| verdict.clone());
        match verdict {
            Verdict::Held => held += 1,
            Verdict::Missed(_) => missed += 1,
            Verdict::Skipped(_) => skipped += 1,
        }
        let why = verdict.why().map_or_else(String::new, |why| format!(": {why:.MOST$}"));
        say(&format!("{verdict:<8}{} | {} | {}{why}", row.of, row.fault, row.test));
    }
    say(&format!("\n{held} rows held, {missed} missed, {skipped} skipped"));
    missed == 0
}

/// The outcomes of the real systems with these names.
fn systems(names: &[&str]) -> Vec<(Test, Verdict)> {
    let plan = Plan::of_systems(names, |name| names.contains(&name));
    let of = |system: &System, verdict| (Test::System(system.name.to_owned()), verdict);
    let all = |verdict: &Verdict| plan.systems.iter().map(|s| of(s, verdict.clone())).collect();
    if plan.systems.is_empty() {
        return Vec::new();
    }
    if !rustix::process::geteuid().is_root() {
        return all(&Verdict::Skipped("needs root".to_owned()));
    }
    let lab = match Lab::set_up() {
        Ok(lab) => lab,
        Err(why) => return all(&Verdict::Missed(why)),
    };
    let outcomes = attempts(&lab, &plan);
    outcomes.into_iter().map(|(system, outcome)| of(system, verdict_of(&outcome))).collect()
}

fn verdict_of(outcome: &Outcome) -> Verdict {
    match outcome {
        Outcome::Checked(checks) => {
            let missed: Vec<&str> =
                checks.iter().filter(|check| !check.holds).map(|check| &*check.what).collect();
            if missed.is_empty() { Verdict::Held } else { Verdict::Missed(missed.join("; ")) }
        }
        Outcome::Skipped(why) => Verdict::Skipped(why.clone()),
        Outcome::Broken(why) => Verdict::Missed(why.clone()),
    }
}
