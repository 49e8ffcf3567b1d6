//! How far stored evaluations of one system agree when this version judges each of them again.

use super::{conclude, of_each_part};
use ioscape_scaling::judge;
use ioscape_scaling::judge::testing_agreement::agreement;
use ioscape_schema::{Document, Evaluation};
use std::fs;

/// Budgets within this factor are the same: the time for laying out differs from run to run.
const BUDGETS_ALIKE: f64 = 1.25;

/// Judges the evaluations in these files again, each part of a divided budget separately, and
/// prints how far every two agree.
///
/// # Errors
/// One sentence: a file has no evaluation, or two evaluations had different settings.
pub fn judged_again(files: &[&str]) -> Result<(), String> {
    let evaluations = files.iter().map(|file| stored(file)).collect::<Result<Vec<_>, _>>()?;
    check_alike(files, &evaluations)?;
    let found: Vec<_> = evaluations.iter().map(|one| of_each_part(&again(one))).collect();
    conclude(&agreement(&found));
    Ok(())
}

fn stored(file: &str) -> Result<Evaluation, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let document: Document = serde_json::from_str(&text)
        .map_err(|e| format!("{file} is not a result of ioscape: {e}"))?;
    document.evaluation().cloned().ok_or_else(|| format!("{file} holds no evaluation"))
}

/// Refuses evaluations that may differ for reasons other than chance.
fn check_alike(files: &[&str], evaluations: &[Evaluation]) -> Result<(), String> {
    for (file, evaluation) in files.iter().zip(evaluations) {
        if let Some(what) = difference(&evaluations[0], evaluation) {
            return Err(format!(
                "{} and {file} differ in their {what}: give results of one retest",
                files[0]
            ));
        }
    }
    Ok(())
}

/// The setting in which two evaluations differ.
fn difference(one: &Evaluation, other: &Evaluation) -> Option<&'static str> {
    let limit = |of: &Evaluation| of.settings.as_ref().and_then(|asked| asked.memory_limit_bytes);
    let budget_s = |of: &Evaluation| -> f64 {
        of.each_access().filter_map(|part| part.settings.as_ref()).map(|asked| asked.budget_s).sum()
    };
    let [mine, others] = [one, other].map(budget_s);
    let differ = [
        ("target", one.target != other.target),
        ("memory limit", limit(one) != limit(other)),
        ("budget", mine.max(others) > BUDGETS_ALIKE * mine.min(others)),
    ];
    differ.into_iter().find_map(|(what, differs)| differs.then_some(what))
}

fn again(evaluation: &Evaluation) -> Evaluation {
    let mut judged = judge(evaluation);
    judged.other_accesses = evaluation.other_accesses.iter().map(again).collect();
    judged
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Settings, Workload};

    fn asked(budget_s: f64, memory_limit_bytes: Option<u64>) -> Settings {
        Settings {
            unique_bytes: [1, 1 << 30],
            size_mean: [512, 1 << 20],
            process_num: [1, 8],
            base: Workload::default(),
            budget_s,
            all_parameters: false,
            points_max: None,
            flush_interval_s: None,
            layout_bytes_per_s: None,
            memory_limit_bytes,
        }
    }

    #[test]
    fn what_is_no_evaluation_is_refused() {
        let why = judged_again(&["nonesuch.json", "other.json"]).unwrap_err();
        assert!(why.starts_with("nonesuch.json: "), "{why}");
        assert!(judged_again(&["Cargo.toml", "Cargo.toml"]).unwrap_err().contains("not a result"));
    }

    #[test]
    fn evaluations_that_were_asked_differently_are_not_compared() {
        let of = |target: &str, budget_s, memory_limit_bytes| Evaluation {
            target: target.to_owned(),
            settings: Some(asked(budget_s, memory_limit_bytes)),
            ..Evaluation::default()
        };
        let refusal = |last| {
            let all = [of("/d", 55.0, Some(1)), of("/d", 57.0, Some(1)), last];
            check_alike(&["a", "b", "c"], &all).err()
        };
        let said = |what: &str| {
            Some(format!("a and c differ in their {what}: give results of one retest"))
        };
        assert_eq!(refusal(of("/d", 50.0, Some(1))), None);
        assert_eq!(refusal(of("/e", 55.0, Some(1))), said("target"));
        assert_eq!(refusal(of("/d", 164.0, Some(1))), said("budget"));
        assert_eq!(refusal(of("/d", 55.0, None)), said("memory limit"));
        // A divided budget counts as a whole.
        let other_accesses = vec![of("/d", 27.0, None)];
        let divided = Evaluation { other_accesses, ..of("/d", 28.0, Some(1)) };
        assert_eq!(refusal(divided), None);
    }
}
