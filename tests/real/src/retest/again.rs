//! How far stored evaluations of one system agree when each is judged again by this version.

use super::{conclude, of_each_part};
use ioscape_scaling::judge;
use ioscape_scaling::judge::agreement::agreement;
use ioscape_schema::{Document, Evaluation};
use std::fs;

/// Judges the evaluations in these files again, each part of a divided budget by itself, and prints how far every two agree.
///
/// # Errors
/// One sentence: a file that holds no evaluation.
pub fn judged_again(files: &[&str]) -> Result<(), String> {
    let evaluations = files.iter().map(|file| stored(file)).collect::<Result<Vec<_>, _>>()?;
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

fn again(evaluation: &Evaluation) -> Evaluation {
    let mut judged = judge(evaluation);
    judged.other_accesses = evaluation.other_accesses.iter().map(again).collect();
    judged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_evaluation_is_refused() {
        let why = judged_again(&["nonesuch.json", "other.json"]).unwrap_err();
        assert!(why.starts_with("nonesuch.json: "), "{why}");
        assert!(judged_again(&["Cargo.toml", "Cargo.toml"]).unwrap_err().contains("not a result"));
    }
}
