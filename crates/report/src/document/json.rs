//! The document as JSON and back, with errors that say where a file is wrong.

use super::finite;
use crate::text::inert;
use ioscape_schema::{Document, SCHEMA};
use serde_json::Value;

/// Why a document cannot be written: a producer stored a number that is not finite.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the result cannot be written: {place} is not a finite number; this is a fault of ioscape, please report it"
)]
pub struct NotFinite {
    /// Path of the field.
    pub place: String,
}

/// Why text is not a document; every message is one sentence with the file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
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
    /// The text is no JSON.
    #[error(
        "{name} is not JSON: {place}line {line}, column {column}: {reason}; give a result of ioscape"
    )]
    NotJson {
        /// File name.
        name: String,
        /// Path of the first fault with a comma; empty at the beginning of the text.
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
        /// What stands where the schema should.
        found: String,
    },
    /// A result of a newer version.
    #[error(
        "{name} was written by a newer ioscape (schema {schema}, this one reads up to {SCHEMA}): update ioscape"
    )]
    Newer {
        /// File name.
        name: String,
        /// Schema of the file.
        schema: String,
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
/// The first number that is NaN or infinite, by its path: JSON has no word for it.
pub fn json(document: &Document) -> Result<String, NotFinite> {
    finite::check(document).map_err(|found| match found {
        finite::Found::Number(place) | finite::Found::Refused(place) => NotFinite { place },
    })?;
    let mut text =
        serde_json::to_string_pretty(document).map_err(|e| NotFinite { place: e.to_string() })?;
    text.push('\n');
    Ok(text)
}

/// Reads a document; `name` stands for the file in messages.
///
/// # Errors
/// Text that is truncated, no JSON, of another program, of a newer ioscape, or has a field that is missing,
/// of another type, or out of its range.
pub fn from_json(text: &str, name: &str) -> Result<Document, ReadError> {
    let name = inert(name).into_owned();
    let value: Value = serde_json::from_str(text).map_err(|error| syntax(&error, text, &name))?;
    check_schema(&value, &name)?;
    let mut parser = serde_json::Deserializer::from_str(text);
    let document: Document = serde_path_to_error::deserialize(&mut parser).map_err(|error| {
        let place = match error.path().to_string() {
            path if path == "." => "the document".to_owned(),
            path => inert(&path).into_owned(),
        };
        ReadError::Field {
            name: name.clone(),
            place,
            reason: inert(&error.inner().to_string()).into_owned(),
        }
    })?;
    let mut path = Vec::new();
    check_ranges(&value, &mut path).map_err(|reason| ReadError::Field {
        place: place(&path),
        name,
        reason,
    })?;
    Ok(document)
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

/// Path of the first fault of `text`, such as `seed, `: a NaN is where its field's name says it.
fn fault(text: &str) -> String {
    let mut parser = serde_json::Deserializer::from_str(text);
    let found = serde_path_to_error::deserialize::<_, Value>(&mut parser).err();
    match found.map(|error| error.path().to_string()) {
        Some(path) if path != "." => format!("{}, ", inert(&path)),
        _ => String::new(),
    }
}

fn check_schema(value: &Value, name: &str) -> Result<(), ReadError> {
    let other = |found: String| ReadError::OtherKind { name: name.to_owned(), found };
    let Some(schema) = value.get("schema") else {
        return Err(other("it has no \"schema\"".to_owned()));
    };
    let number = schema.as_str().and_then(Document::schema_number);
    match (number, Document::schema_number(SCHEMA)) {
        (Some(theirs), Some(ours)) if theirs > ours => Err(ReadError::Newer {
            name: name.to_owned(),
            schema: inert(schema.as_str().unwrap_or_default()).into_owned(),
        }),
        (Some(1..), _) => Ok(()),
        _ => {
            let shown: String = schema.to_string().chars().take(40).collect();
            Err(other(format!("its schema is {}", inert(&shown))))
        }
    }
}

/// Fields that are shares of a whole.
const FRACTIONS: [&str; 4] = ["read_frac", "seq_frac", "resident_frac", "goodness"];

/// Fields that measure something that cannot be negative; whole numbers are checked by their type.
const NOT_NEGATIVE: [&str; 32] = [
    "throughput_bytes_per_s",
    "throughputs",
    "rounds",
    "unique_bytes",
    "value",
    "elapsed_s",
    "median",
    "mean",
    "interval90",
    "iops",
    "response_time_ns",
    "ratio",
    "median_error",
    "throughput_per_price",
    "price",
    "low",
    "high",
    "spread",
    "performs_well",
    "budget_s",
    "spent_s",
    "flush_interval_s",
    "layout_bytes_per_s",
    "at_least_bytes_per_s",
    "unique_bytes_range",
    "warm_up_s",
    "cost_s",
    "p75_error",
    "p90_error",
    "repeatability_error",
    "rounds_bytes_per_s",
    "repeated_bytes_per_s",
];

/// Walks the value; on a fault the path of the offending field is left in `path`.
fn check_ranges(value: &Value, path: &mut Vec<String>) -> Result<(), String> {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let named = path.iter().rev().find(|step| !step.starts_with('['));
            let name = named.map_or("", String::as_str);
            if FRACTIONS.contains(&name) && !(0.0..=1.0).contains(&number) {
                return Err(format!("{number} is not a fraction from 0 to 1"));
            }
            if NOT_NEGATIVE.contains(&name) && !(number >= 0.0 && number.is_finite()) {
                return Err(format!("{number} cannot be negative"));
            }
            Ok(())
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                path.push(format!("[{index}]"));
                check_ranges(value, path)?;
                path.pop();
            }
            Ok(())
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push(name.clone());
                check_ranges(value, path)?;
                path.pop();
            }
            Ok(())
        }
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn place(path: &[String]) -> String {
    let mut text = String::new();
    for step in path {
        if !text.is_empty() && !step.starts_with('[') {
            text.push('.');
        }
        text.push_str(&inert(step));
    }
    text
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
