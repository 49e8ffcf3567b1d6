//! The rows of the table in `docs/faults.md`, and the test that each names.

use std::fmt;
use std::path::{Path, PathBuf};

/// A row of the table.
pub struct Row {
    /// What has the fault.
    pub of: String,
    /// The fault.
    pub fault: String,
    /// The test that injects it.
    pub test: Test,
}

/// A test, as the table names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// A system of this program.
    System(String),
    /// A test of a crate, or of the command if there is no crate.
    Cargo { krate: Option<String>, module: String, name: String },
}

impl Test {
    fn parse(text: &str) -> Option<Self> {
        if let Some(system) = text.strip_prefix("ioscape-real ") {
            return Some(Self::System(system.to_owned()));
        }
        let (place, name) = text.split_once("::")?;
        let (krate, module) = match place.split_once('/') {
            Some((krate, module)) => (Some(krate.to_owned()), module),
            None => (None, place),
        };
        Some(Self::Cargo { krate, module: module.to_owned(), name: name.to_owned() })
    }

    /// The name of a system.
    pub fn system(&self) -> Option<&str> {
        match self {
            Self::System(name) => Some(name),
            Self::Cargo { .. } => None,
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(name) => write!(f, "ioscape-real {name}"),
            Self::Cargo { krate: Some(krate), module, name } => {
                write!(f, "{krate}/{module}::{name}")
            }
            Self::Cargo { krate: None, module, name } => write!(f, "{module}::{name}"),
        }
    }
}

/// The checkout that this program was built from.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads all rows.
///
/// # Errors
/// One sentence: no table, or an invalid row.
pub fn read() -> Result<Vec<Row>, String> {
    let path = root().join("docs/faults.md");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    let rows = text.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows: Vec<Row> =
        rows.take_while(|line| line.starts_with('|')).map(row).collect::<Result<_, _>>()?;
    if rows.is_empty() { Err("docs/faults.md holds no table".to_owned()) } else { Ok(rows) }
}

fn row(line: &str) -> Result<Row, String> {
    let columns: Vec<&str> = line.trim_end_matches('|').split('|').map(str::trim).collect();
    let parsed = || {
        let (of, fault, test) = (columns.get(1)?, columns.get(2)?, columns.get(7)?);
        let test = Test::parse(test.trim_matches('`'))?;
        Some(Row { of: (*of).to_owned(), fault: (*fault).to_owned(), test })
    };
    parsed().ok_or_else(|| format!("docs/faults.md: this row names no test: {line}"))
}

/// The rows that contain one of the words; all rows if there are no words.
///
/// # Errors
/// One sentence if no row contains a word.
pub fn chosen(rows: Vec<Row>, words: &[&str]) -> Result<Vec<Row>, String> {
    let contains = |row: &Row, word: &str| {
        row.of == word || row.fault.contains(word) || row.test.to_string().contains(word)
    };
    if let Some(word) = words.iter().find(|word| !rows.iter().any(|row| contains(row, word))) {
        return Err(format!("no row of docs/faults.md contains {word:?}"));
    }
    let is_chosen = |row: &Row| words.is_empty() || words.iter().any(|word| contains(row, word));
    Ok(rows.into_iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_chosen_by_their_words() {
        let text = "no row\n\n| of | fault | a | b | c | d | test |\n|---|---|\n\
                    | file | a hole | x | y | 1 | z | `limits::a_hole` |\n\
                    | device | a lie | x | y | 1 | z | `ioscape-real verify` |\n\
                    | memory | none | x | y | 1 | z | `measure/full::none` |\n\nmore\n| 1 | 2 |\n";
        let rows = parse(text).unwrap();
        let tests: Vec<String> = rows.iter().map(|row| row.test.to_string()).collect();
        assert_eq!(tests, ["limits::a_hole", "ioscape-real verify", "measure/full::none"]);
        assert_eq!(rows[1].test.system(), Some("verify"));
        let faults = |words: &[&str]| -> Result<Vec<String>, String> {
            Ok(chosen(parse(text)?, words)?.into_iter().map(|row| row.fault).collect())
        };
        assert_eq!(faults(&[]).unwrap().len(), 3);
        assert_eq!(faults(&["device", "full::"]).unwrap(), ["a lie", "none"]);
        assert!(faults(&["device", "nonesuch"]).unwrap_err().contains("nonesuch"));
        assert!(parse("| 1 | 2 |").is_err());
        assert!(parse("|---|\n| file | a hole | `nothing` |\n").is_err());
    }
}
