//! How far stored evaluations of one system agree when each is judged again by this version.

use super::{conclude, of_each_part};
use ioscape_scaling::judge;
use ioscape_scaling::judge::agreement::agreement;
use ioscape_schema::{Document, Evaluation};
use std::fs;

/// Judges the evaluations in these files again, each part of a divided budget by itself, and prints how far every two agree.
///
/// # Errors
/// One sentence: fewer than two files, or one that holds no evaluation.
pub fn judged_again(files: &[&str]) -> Result<(), String> {
    if files.len() < 2 {
        return Err("give at least two results, since pairs are compared".to_owned());
    }
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
    fn what_cannot_be_compared_is_refused() {
        assert!(judged_again(&["one.json"]).unwrap_err().contains("two"));
        let why = judged_again(&["nonesuch.json", "other.json"]).unwrap_err();
        assert!(why.starts_with("nonesuch.json: "), "{why}");
        assert!(judged_again(&["Cargo.toml", "Cargo.toml"]).unwrap_err().contains("not a result"));
    }
}
