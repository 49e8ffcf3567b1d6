//! Writes and reads a document as JSON, with errors that say where a file is wrong.

use super::finite::{self, NotFinite};
use super::place::last_value;
use crate::text::inert;
use ioscape_schema::{Document, SCHEMA, Tool};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The longest text, in bytes, in which the path of a fault is searched: this takes many times the
/// memory of the text.
const PLACED: usize = 16 << 20;

/// Why a text is not a document. Every message is one sentence with the file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is no text.
    #[error("{name} is empty: what should have written it wrote nothing; give a result of ioscape")]
    Empty {
        /// File name.
        name: String,
    },
    /// The text ends in the middle.
    #[error(
        "{name} ends in the middle at line {line}: the file is truncated, copy or measure it again"
    )]
    Truncated {
        /// File name.
        name: String,
        /// Last line.
        line: usize,
    },
    /// The text is not JSON.
    #[error(
        "{name} is not JSON: {place}line {line}, column {column}: {reason}; give a result of ioscape"
    )]
    NotJson {
        /// File name.
        name: String,
        /// Path of the first fault, followed by a comma; empty at the beginning of the text.
        place: String,
        /// Line of the first fault.
        line: usize,
        /// Column of the first fault.
        column: usize,
        /// What the parser objected to.
        reason: String,
    },
    /// JSON of another program.
    #[error(
        "{name} is not a result of ioscape: {found}; give a file that ioscape wrote with -o or --json"
    )]
    OtherKind {
        /// File name.
        name: String,
        /// What the text holds in place of the schema.
        found: String,
    },
    /// A result of a newer version.
    #[error("{name} was written by a newer ioscape ({what}): update ioscape")]
    Newer {
        /// File name.
        name: String,
        /// What this version does not know.
        what: String,
    },
    /// A field is missing, of the wrong type, or out of its range.
    #[error("{name} is damaged: {place}: {reason}; restore the file or measure again")]
    Field {
        /// File name.
        name: String,
        /// Path of the field.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// The document as indented JSON with a newline at its end.
///
/// # Errors
/// The path of the first number that is NaN or infinite, which JSON cannot express.
pub fn json(document: &Document) -> Result<String, NotFinite> {
    finite::check(document)?;
    let mut text =
        serde_json::to_string_pretty(document).map_err(|e| NotFinite { place: e.to_string() })?;
    text.push('\n');
    Ok(text)
}

/// Reads a document; `name` stands for the file in messages.
///
/// # Errors
/// If the text is empty or truncated, is not JSON, or was written by another program or a newer ioscape; or
/// if a field is missing, has the wrong type, or is out of range.
pub fn from_json(text: &str, name: &str) -> Result<Document, ReadError> {
    let name = inert(name).into_owned();
    if text.trim().is_empty() {
        return Err(ReadError::Empty { name });
    }
    check_schema(schema(text, &name)?.as_deref(), &name)?;
    let document: Document = serde_json::from_str(text).map_err(|error| match error.is_data() {
        true => field(&error, text, &name),
        false => syntax(&error, text, &name),
    })?;
    match document.outcome.is_none() && document.tool.is_newer() {
        true => Err(ReadError::Newer { name, what: "it holds no outcome of a known kind".into() }),
        false => Ok(document),
    }
}

/// The error of a field. Kinds and choices grow: a newer version may know a word that this one does
/// not, and its file is whole.
fn field(error: &serde_json::Error, text: &str, name: &str) -> ReadError {
    #[derive(Deserialize)]
    struct Written {
        tool: Tool,
    }
    let (name, place) = (name.to_owned(), place(text, error));
    let reason = inert(&error.to_string()).into_owned();
    let is_newer = || serde_json::from_str(text).is_ok_and(|one: Written| one.tool.is_newer());
    match reason.starts_with("unknown variant") && is_newer() {
        true => ReadError::Newer { name, what: format!("{place}: {reason}") },
        false => ReadError::Field { name, place, reason },
    }
}

/// The part that is read first. All else is skipped: keeping it would take many times the text's
/// memory.
#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

fn schema(text: &str, name: &str) -> Result<Option<String>, ReadError> {
    let found = match text.trim_start().starts_with('{') {
        true => serde_json::from_str::<Head>(text).map(|head| head.schema),
        false => serde_json::from_str::<IgnoredAny>(text).map(|_| None),
    };
    found.map_err(|error| match error.is_data() {
        true => other(name, &error.to_string()),
        false => syntax(&error, text, name),
    })
}

fn other(name: &str, found: &str) -> ReadError {
    ReadError::OtherKind { name: name.to_owned(), found: inert(found).into_owned() }
}

/// The path of the field that the parser refused.
fn place(text: &str, error: &serde_json::Error) -> String {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let read = text.get(..lines.map(str::len).sum::<usize>() + error.column()).unwrap_or(text);
    // The parser stops at the beginning of these two types, but at the end of all others.
    let told = error.to_string();
    let is_ahead =
        ["map", "sequence"].iter().any(|w| told.starts_with(&format!("invalid type: {w}")));
    let path = last_value(read, is_ahead);
    path.map_or_else(|| "the document".to_owned(), |path| inert(&path).into_owned())
}

fn syntax(error: &serde_json::Error, text: &str, name: &str) -> ReadError {
    let (line, column, name) = (error.line(), error.column(), name.to_owned());
    if error.is_eof() {
        return ReadError::Truncated { name, line };
    }
    let told = error.to_string();
    let reason = told.split(" at line ").next().unwrap_or_default();
    ReadError::NotJson {
        name,
        place: fault(text),
        line,
        column,
        reason: inert(reason).into_owned(),
    }
}

/// The path of the first fault of `text`, such as `seed, `, which tells the field of a NaN.
fn fault(text: &str) -> String {
    if text.len() > PLACED {
        return String::new();
    }
    let mut parser = serde_json::Deserializer::from_str(text);
    let found = serde_path_to_error::deserialize::<_, Value>(&mut parser).err();
    match found.map(|error| error.path().to_string()) {
        Some(path) if path != "." => format!("{}, ", inert(&path)),
        _ => String::new(),
    }
}

fn check_schema(schema: Option<&str>, name: &str) -> Result<(), ReadError> {
    let Some(schema) = schema else { return Err(other(name, "it has no \"schema\"")) };
    match (Document::schema_number(schema), Document::schema_number(SCHEMA)) {
        (Some(theirs), Some(ours)) if theirs > ours => {
            let what = format!("schema {}, this one reads up to {SCHEMA}", inert(schema));
            Err(ReadError::Newer { name: name.to_owned(), what })
        }
        (Some(1..), _) => Ok(()),
        _ => {
            let shown: String = Value::from(schema).to_string().chars().take(40).collect();
            Err(other(name, &format!("its schema is {shown}")))
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
