//! The sections of a job file: a name in brackets, followed by lines of `key=value`.

use crate::jobs::LineError;

/// A section with its keys.
pub(super) struct Section {
    /// The text in brackets.
    pub name: String,
    /// Line of the name, from 1.
    pub line: usize,
    /// Line, key and value; a key alone has an empty value.
    pub settings: Vec<(usize, String, String)>,
}

/// Returns the sections in the order written, and the lines that cannot be parsed. `#` and `;`
/// begin comments.
pub(super) fn sections(text: &str) -> (Vec<Section>, Vec<LineError>) {
    let (mut found, mut refused) = (Vec::<Section>::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split([';', '#']).next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default().trim().to_owned();
            found.push(Section { name, line: number, settings: Vec::new() });
            continue;
        }
        if line.contains('$') || line.starts_with("include ") {
            let what = format!(
                "{line}: variables and included files are not read: write the value itself"
            );
            refused.push(LineError::new(number, what));
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
        match found.last_mut() {
            Some(section) => section.settings.push((number, key, value)),
            None => {
                let what = format!("{key} stands above the first [NAME]");
                refused.push(LineError::new(number, what));
            }
        }
    }
    (found, refused)
}
