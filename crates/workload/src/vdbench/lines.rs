//! The lines of a parameter file: definitions with their parameters, continued where a line ends with a comma.

/// A line of a parameter file that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct VdbenchError {
    /// The line, from 1: the first of a definition that goes over several.
    pub line: usize,
    /// What is wrong and what to do.
    pub what: String,
}

impl VdbenchError {
    pub(super) fn new(line: usize, what: String) -> Self {
        Self { line, what }
    }
}

/// A definition: its kind and name, and its parameters in the order written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    /// Its first line, from 1.
    pub line: usize,
    /// What stands before the first `=`: `sd`, `wd`, `rd` or a general parameter.
    pub kind: String,
    /// What stands behind it.
    pub name: String,
    /// Key and value of the others; a list keeps its parentheses.
    pub parameters: Vec<(String, String)>,
}

impl Definition {
    /// An error that names the definition.
    pub(super) fn refused(&self, why: &str) -> VdbenchError {
        VdbenchError::new(self.line, format!("{}={}: {why}", self.kind, self.name))
    }
}

/// The definitions in the order written, up to a line `eof`. Lines that begin with `*`, `#` or `/` are remarks.
pub(super) fn definitions(text: &str) -> Result<Vec<Definition>, VdbenchError> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        // What follows a blank is a remark.
        let line = line.split_whitespace().next().unwrap_or_default();
        if line == "eof" {
            break;
        }
        if line.is_empty() || line.starts_with(['*', '#', '/']) {
            continue;
        }
        if line.contains('$') || line.starts_with("include=") {
            let what = "variables and included files are not read: write the value itself";
            return Err(VdbenchError::new(number, what.to_owned()));
        }
        let (first, so_far) = open.take().unwrap_or((number, String::new()));
        let whole = so_far + line;
        match whole.ends_with(',') {
            true => open = Some((first, whole)),
            false => found.push(definition(first, &whole)?),
        }
    }
    if let Some((first, whole)) = open {
        found.push(definition(first, whole.trim_end_matches(','))?);
    }
    Ok(found)
}

fn definition(line: usize, text: &str) -> Result<Definition, VdbenchError> {
    let mut pairs = parts(text).into_iter().map(|part| match part.split_once('=') {
        Some((key, value)) => Ok((key.to_ascii_lowercase(), value.to_owned())),
        None => Err(VdbenchError::new(line, format!("{part} has no value: write KEY=VALUE"))),
    });
    let (kind, name) = pairs.next().unwrap_or_else(|| Ok(Default::default()))?;
    Ok(Definition { line, kind, name, parameters: pairs.collect::<Result<_, _>>()? })
}

/// The parts between commas; a list in parentheses is one part.
fn parts(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0_i32;
    for c in text.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        match found.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => found.push(String::new()),
        }
    }
    found.retain(|part| !part.is_empty());
    found
}

/// The values of a list in parentheses, or the one value.
pub(super) fn list(value: &str) -> Vec<&str> {
    value.trim_start_matches('(').trim_end_matches(')').split(',').collect()
}
