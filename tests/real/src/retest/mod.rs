//! Evaluates the same systems again and again and counts how often two evaluations agree, finding by finding.

mod again;
mod parts;
mod words;

pub use again::judged_again;
pub use words::{Retest, usage};

use crate::lab::Lab;
use crate::say;
use ioscape_scaling::judge::agreement::{Agreement, Finding, agreement, findings};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, Evaluation};
use parts::Part;
use std::fs;

/// The Debian packages that the parts need.
#[cfg(test)]
pub fn packages() -> impl Iterator<Item = &'static &'static str> {
    parts::ALL.iter().flat_map(|part| part.packages)
}

/// Runs the parts and says how far the evaluations of each agree; whether all reached what is aimed at.
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

/// One part: its evaluations, then a line for each finding.
fn one(lab: &Lab, part: &Part, asked: &Retest) -> Result<bool, String> {
    let missing = part.packages.iter().flat_map(|name| crate::packages::programs(name));
    if let Some(program) = missing.into_iter().find(|program| !lab.has(program)) {
        say(&format!("\n== {}: SKIPPED, {program} is not installed", part.name));
        return Ok(true);
    }
    let runs = asked.runs.unwrap_or(part.runs);
    let budget = asked.budget.as_deref().unwrap_or(part.budget);
    say(&format!("\n== {}: {} ({runs} evaluations of {budget})", part.name, part.about));
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
    let share = conclude(&agreement(&all));
    say(&format!("   aim: {:.0} %", part.aim * 100.0));
    Ok(share >= part.aim)
}

/// The findings of an evaluation; where its budget was divided, those of every part. What is found in control groups of different sizes, which depend on how
/// fast sets were laid out, is not of one system.
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

/// Prints the lines and the sum, and gives the share of the pairs that agree.
fn conclude(found: &[Agreement]) -> f64 {
    for one in found {
        let mark = if one.agreeing == one.pairs { "    " } else { "  ! " };
        let line = format!("{mark}{:<60} {:>3} of {:>3}", one.name, one.agreeing, one.pairs);
        say(&format!("{line}   {}", one.shown.join(" | ")));
    }
    let sum = |count: fn(&Agreement) -> usize| found.iter().map(count).sum::<usize>();
    let (agreeing, pairs) = (sum(|one| one.agreeing), sum(|one| one.pairs));
    let share = if pairs == 0 { 0.0 } else { agreeing as f64 / pairs as f64 };
    let (told, contradicting) = (sum(Agreement::told), sum(|one| one.contradicting));
    let withholding = sum(|one| one.withholding);
    say(&format!(
        "   {agreeing} of {pairs} pairs agree: {:.0} %, {told} in what both tell and {} by telling nothing; {contradicting} contradict each other, in {withholding} one withholds the verdict and the bounds overlap, {} differ otherwise",
        share * 100.0,
        agreeing - told,
        pairs - agreeing - contradicting - withholding
    ));
    share
}
