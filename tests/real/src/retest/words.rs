//! The arguments of `retest`: which parts, how many evaluations, and how long each.

use super::parts::{self, Part};

/// What is to be done.
pub struct Retest {
    /// The parts, in order.
    pub parts: Vec<&'static Part>,
    /// Evaluations of each part; `None` for the part's default.
    pub runs: Option<usize>,
    /// Budget of each evaluation; `None` for the part's default.
    pub budget: Option<String>,
}

impl Retest {
    /// Parses the words after `retest`; without a part, all are meant.
    ///
    /// # Errors
    /// One sentence about a word that means nothing.
    pub fn of(words: &[&str]) -> Result<Self, String> {
        let mut asked = Self { parts: Vec::new(), runs: None, budget: None };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{word} needs a value"));
            match *word {
                "--runs" => {
                    let number = value()?;
                    let runs = number.parse().ok().filter(|runs| *runs >= 2);
                    asked.runs = Some(runs.ok_or_else(|| {
                        format!(
                            "--runs {number}: give a number of at least 2, since pairs are compared"
                        )
                    })?);
                }
                "--budget" => asked.budget = Some((*value()?).to_owned()),
                name => {
                    let part = parts::ALL.iter().find(|part| part.name == name);
                    let names = || parts::ALL.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
                    let unknown = || format!("retest has no part {name:?}: they are {}", names());
                    asked.parts.push(part.ok_or_else(unknown)?);
                }
            }
        }
        if asked.parts.is_empty() {
            asked.parts = parts::ALL.iter().collect();
        }
        Ok(asked)
    }
}

/// The usage message, one line each.
pub fn usage() -> String {
    let name = |part: &Part| format!("         {:<12} {}\n", part.name, part.about);
    let parts: String = parts::ALL.iter().map(name).collect();
    format!(
        "       ioscape-real retest [PART...] [--runs N] [--budget TIME]    how far evaluations of one system agree; about 2 hours\n{parts}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_can_be_chosen_and_made_short() {
        let all = Retest::of(&[]).unwrap();
        assert_eq!(all.parts.len(), parts::ALL.len());
        let short = Retest::of(&["slow", "fast", "--runs", "2", "--budget", "20s"]).unwrap();
        let names: Vec<&str> = short.parts.iter().map(|part| part.name).collect();
        assert_eq!(names, ["slow", "fast"]);
        assert_eq!((short.runs, short.budget.as_deref()), (Some(2), Some("20s")));
        for bad in [&["quick"][..], &["--runs"], &["--runs", "1"], &["fast", "--budget"]] {
            assert!(Retest::of(bad).is_err(), "{bad:?}");
        }
    }
}
