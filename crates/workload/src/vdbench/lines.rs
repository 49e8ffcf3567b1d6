//! The lines of a parameter file: definitions with their parameters; a line that ends with a comma
//! continues.

use crate::jobs::LineError;

/// A definition: its kind, its name, and its parameters in the order written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    /// Its first line, from 1.
    pub line: usize,
    /// The text before the first `=`: `sd`, `wd`, `rd` or a general parameter.
    pub kind: String,
    /// The text after it.
    pub name: String,
    /// Line, full key and value of the remaining parameters; a list keeps its parentheses.
    pub parameters: Vec<(usize, String, String)>,
}

impl Definition {
    /// Returns an error that names the definition.
    pub(super) fn refused(&self, why: &str) -> LineError {
        LineError::new(self.line, format!("{}={}: {why}", self.kind, self.name))
    }
}

/// Lines that belong together, because each but the last ends with a comma.
#[derive(Default)]
struct Joined {
    text: String,
    /// The start of each line in the text, and its number.
    begins: Vec<(usize, usize)>,
}

impl Joined {
    fn add(&mut self, number: usize, line: &str) {
        self.begins.push((self.text.len(), number));
        self.text += line;
    }

    /// Returns the line number of a position in the text.
    fn line_of(&self, place: usize) -> usize {
        let begun = self.begins.iter().rev().find(|(begin, _)| *begin <= place);
        begun.map_or(1, |(_, number)| *number)
    }

    /// Returns the definition; adds what cannot be parsed to `refused`.
    fn definition(&self, refused: &mut Vec<LineError>) -> Option<Definition> {
        let mut pairs = parts(&self.text).into_iter().filter_map(|(place, part)| {
            let line = self.line_of(place);
            match part.split_once('=') {
                Some((key, value)) => Some((line, whole(key), value.to_owned())),
                None => {
                    let what = format!("{part} has no value: write KEY=VALUE");
                    refused.push(LineError::new(line, what));
                    None
                }
            }
        });
        let (line, kind, name) = pairs.next()?;
        Some(Definition { line, kind, name, parameters: pairs.collect() })
    }
}

/// Returns the definitions in the order written, up to a line `eof`, and the errors. Comments are
/// lines that begin with `*`, `#` or `/`, and everything after a blank.
pub(super) fn definitions(text: &str) -> (Vec<Definition>, Vec<LineError>) {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    let mut open = Joined::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let (line, remark) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if line == "eof" {
            break;
        }
        if line.is_empty() || line.starts_with(['*', '#', '/']) {
            continue;
        }
        if line.contains('$') || line.starts_with("include=") {
            let what = format!(
                "{line}: variables and included files are not read: write the value itself"
            );
            refused.push(LineError::new(number, what));
            continue;
        }
        let lost = lost(line, remark);
        open.add(number, line);
        if !line.ends_with(',') || lost.is_some() {
            found.extend(std::mem::take(&mut open).definition(&mut refused));
        }
        refused.extend(lost.map(|what| LineError::new(number, what)));
    }
    found.extend(open.definition(&mut refused));
    (found, refused)
}

/// Returns the complaint about what vdbench takes for a comment although it looks like a parameter.
fn lost(line: &str, remark: &str) -> Option<String> {
    let word = remark.split_whitespace().next().unwrap_or_default();
    let is_parameter = word.contains('=') && word.starts_with(|c: char| c.is_ascii_alphabetic());
    let what = "stands behind a blank, where vdbench reads nothing: take the blank out";
    (is_parameter && !line.contains('"')).then(|| format!("{word} {what}"))
}

/// Parameters that may be abbreviated, in the order in which vdbench tries them.
const NAMES: [&str; 30] = [
    "host",
    "lun",
    "size",
    "threads",
    "journal",
    "hitarea",
    "openflags",
    "align",
    "skew",
    "xfersize",
    "readpct",
    "rdpct",
    "writepct",
    "wrpct",
    "range",
    "seekpct",
    "priority",
    "iorate",
    "rhpct",
    "whpct",
    "elapsed",
    "interval",
    "warmup",
    "pause",
    "forxfersize",
    "forthreads",
    "forrdpct",
    "forrhpct",
    "forwhpct",
    "forseekpct",
];

/// Expands a key: vdbench accepts its first letters, two or more.
fn whole(key: &str) -> String {
    let key = key.to_ascii_lowercase();
    if ["sd", "wd", "rd", "hd"].contains(&&*key) || key.len() < 2 {
        return key;
    }
    match NAMES.iter().find(|name| name.starts_with(&key)) {
        Some(&"readpct") => "rdpct".to_owned(),
        Some(&"writepct") => "wrpct".to_owned(),
        Some(name) => (*name).to_owned(),
        None => key,
    }
}

/// Splits at commas, with positions; a list in parentheses is one part.
fn parts(text: &str) -> Vec<(usize, String)> {
    let mut found = vec![(0, String::new())];
    let mut depth = 0_i32;
    for (place, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        match found.last_mut() {
            Some((_, part)) if c != ',' || depth > 0 => part.push(c),
            _ => found.push((place + 1, String::new())),
        }
    }
    found.retain(|(_, part)| !part.is_empty());
    found
}

/// Returns the values of a list in parentheses, or a single value.
pub(super) fn list(value: &str) -> Vec<&str> {
    value.trim_start_matches('(').trim_end_matches(')').split(',').collect()
}

/// Returns a value without the parentheses of a list of one.
pub(super) fn alone(value: &str) -> &str {
    match list(value)[..] {
        [one] => one,
        _ => value,
    }
}
