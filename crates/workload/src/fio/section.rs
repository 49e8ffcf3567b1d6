//! The sections of a job file: a name in brackets, and below it `key=value`, one a line.

use super::options::FioError;

/// A section with its keys, each with its line.
pub(super) struct Section {
    /// What stands in brackets.
    pub name: String,
    /// Line of the name, from 1.
    pub line: usize,
    /// Line, key and value; a key alone has an empty value.
    pub settings: Vec<(usize, String, String)>,
}

/// The sections in the order written; lines that begin with `#` or `;` are remarks.
pub(super) fn sections(text: &str) -> Result<Vec<Section>, FioError> {
    let mut found: Vec<Section> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default().trim().to_owned();
            found.push(Section { name, line: number, settings: Vec::new() });
            continue;
        }
        if line.contains('$') || line.starts_with("include ") {
            let what = "variables and included files are not read: write the value itself";
            return Err(FioError::new(number, what.to_owned()));
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
        match found.last_mut() {
            Some(section) => section.settings.push((number, key, value)),
            None => {
                return Err(FioError::new(number, format!("{key} stands above the first [NAME]")));
            }
        }
    }
    Ok(found)
}
