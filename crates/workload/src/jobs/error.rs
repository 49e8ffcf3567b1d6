//! Why a job file cannot be used, with the place in it.

/// Why a job file cannot be used. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The text is not TOML.
    #[error("line {line}, column {column}: this is not TOML: {message}")]
    Syntax {
        /// Line in the file.
        line: usize,
        /// Column in the line.
        column: usize,
        /// What the TOML parser met.
        message: String,
    },
    /// A key that does not exist.
    #[error("line {line}, column {column}: {table} has the unknown key {key:?}: use {known}")]
    UnknownKey {
        /// Line in the file.
        line: usize,
        /// Column in the line.
        column: usize,
        /// The part of the file, such as `job "mail"`.
        table: String,
        /// The key as written.
        key: String,
        /// The keys that exist there.
        known: String,
    },
    /// A key whose value cannot be used.
    #[error("line {line}, column {column}: {table}: {message}")]
    Value {
        /// Line in the file.
        line: usize,
        /// Column in the line.
        column: usize,
        /// The part of the file, such as `job "mail"`.
        table: String,
        /// What is wrong with its value and what it must be; begins with the key.
        message: String,
    },
    /// The file holds no job.
    #[error(
        "the file has no job: add a table [[job]] with a name and the parameters of the workload"
    )]
    NoJob,
}

/// Where a byte of the text stands for its reader: line and column from 1.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before: String =
        text.char_indices().take_while(|&(at, _)| at < offset).map(|(_, c)| c).collect();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (line, column)
}
