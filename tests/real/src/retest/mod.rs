//! Evaluates systems repeatedly and counts how often two evaluations agree, finding by finding.

mod again;
mod parts;
mod sums;
mod words;

pub use again::judged_again;
pub use words::{Retest, usage};

use crate::lab::Lab;
use crate::say;
use ioscape_scaling::judge::testing_agreement::{Agreement, Finding, agreement, findings};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, Evaluation};
use parts::Part;
use std::fs;
use std::path::Path;
use sums::Sums;

/// The Debian packages that the parts need.
#[cfg(test)]
pub fn packages() -> impl Iterator<Item = &'static &'static str> {
    parts::ALL.iter().flat_map(|part| part.packages)
}

/// Runs the parts and prints how far the evaluations of each agree; returns whether all reached
/// their aim.
///
/// # Errors
/// One sentence: a part cannot be brought up or evaluated.
pub fn run(lab: &Lab, asked: &Retest) -> Result<bool, String> {
    let mut reached = true;
    for part in &asked.parts {
        reached &= one(lab, part, asked)?;
        lab.stop_if_interrupted();
    }
    Ok(reached)
}

/// Runs one part: its evaluations, then a line for each finding.
fn one(lab: &Lab, part: &Part, asked: &Retest) -> Result<bool, String> {
    let missing = part.packages.iter().flat_map(|name| crate::packages::programs(name));
    if let Some(program) = missing.into_iter().find(|program| !lab.has(program)) {
        say(&format!("\n== {}: SKIPPED, {program} is not installed", part.name));
        return Ok(true);
    }
    let runs = asked.runs.unwrap_or(part.runs);
    let budget = asked.budget.as_deref().unwrap_or(part.budget);
    say(&format!("\n== {}: {} ({runs} evaluations of {budget})", part.name, part.about));
    remove_earlier(&lab.path("results"), part.name)?;
    let mut all: Vec<Vec<Finding>> = Vec::new();
    for run in 1..=runs {
        let mut up = lab.up();
        let target = (part.begin)(&mut up)?;
        let document = lab.evaluate(target, &format!("{} --budget {budget}", part.options))?;
        drop(up);
        lab.stop_if_interrupted();
        let kept = lab.path(&format!("results/retest-{}-{run}.ioscape.json", part.name));
        let text = serde_json::to_string(&document).map_err(|e| format!("the result: {e}"))?;
        fs::write(&kept, text).map_err(|e| format!("{}: {e}", kept.display()))?;
        let found = document.evaluation().ok_or("the result holds no evaluation")?;
        say(&format!("   {run}: {} points in {:.0} s", found.points_measured, found.elapsed_s));
        all.push(of_each_part(found));
    }
    let sums = conclude(&agreement(&all));
    say(&format!("   aim: {:.0} % of all pairs, and something that both tell", part.aim * 100.0));
    Ok(sums.reach(part.aim))
}

/// Removes the results of a part's earlier runs, which may have had another budget or version.
fn remove_earlier(results: &Path, part: &str) -> Result<(), String> {
    let fails = |e: std::io::Error| format!("{}: {e}", results.display());
    for entry in fs::read_dir(results).map_err(fails)? {
        let entry = entry.map_err(fails)?;
        if is_result_of(&entry.file_name().to_string_lossy(), part) {
            fs::remove_file(entry.path()).map_err(fails)?;
        }
    }
    Ok(())
}

/// Whether a file is an evaluation of this part, not of one whose name merely begins the same.
fn is_result_of(file: &str, part: &str) -> bool {
    let rest = file.strip_prefix(&format!("retest-{part}-"));
    let number = rest.and_then(|rest| rest.strip_suffix(".ioscape.json"));
    number.is_some_and(|number| number.parse::<usize>().is_ok())
}

/// The findings of an evaluation; if its budget was divided, those of every part. Control groups of
/// different sizes, which depend on how fast sets were laid out, count as different systems.
fn of_each_part(evaluation: &Evaluation) -> Vec<Finding> {
    let of = |one: &Evaluation| {
        let limit = one.settings.as_ref().and_then(|settings| settings.memory_limit_bytes);
        let whose = match (limit, one.access()) {
            (Some(limit), _) => format!("in the group of {}: ", Bytes(limit as f64)),
            (None, Access::Direct) => "direct: ".to_owned(),
            (None, _) => String::new(),
        };
        findings(one).into_iter().map(|found| found.of_part(&whose)).collect::<Vec<Finding>>()
    };
    match evaluation.other_accesses.is_empty() {
        true => findings(evaluation),
        false => evaluation.each_access().flat_map(of).collect(),
    }
}

/// Prints the lines and the sums, and returns the sums.
fn conclude(found: &[Agreement]) -> Sums {
    for one in found {
        let mark = if one.agreeing == one.pairs { "    " } else { "  ! " };
        let line = format!("{mark}{:<60} {:>3} of {:>3}", one.name, one.agreeing, one.pairs);
        say(&format!("{line}   {}", one.shown.join(" | ")));
    }
    let sums = Sums::of(found);
    for line in sums.lines() {
        say(&format!("   {line}"));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_earlier_runs_of_a_part_left_is_removed_and_nothing_else() {
        let name = format!("ioscape-real-retest-{}", std::process::id());
        let results = std::env::temp_dir().join(name);
        fs::create_dir_all(&results).unwrap();
        let kept = ["retest-root-loaded-1.ioscape.json", "retest-root-1.ioscape.json.old", "other"];
        let removed = ["retest-root-1.ioscape.json", "retest-root-12.ioscape.json"];
        for file in kept.iter().chain(&removed) {
            fs::write(results.join(file), "{}").unwrap();
        }
        remove_earlier(&results, "root").unwrap();
        assert!(kept.iter().all(|file| results.join(file).exists()));
        assert!(removed.iter().all(|file| !results.join(file).exists()));
        fs::remove_dir_all(&results).unwrap();
    }
}
