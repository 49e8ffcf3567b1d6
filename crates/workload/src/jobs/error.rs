//! Errors of job files, with their position.

/// Why a job file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The text is no TOML, or a key does not exist or has an unusable value.
    #[error("line {line}, column {column}: {message}")]
    At {
        /// Line in the file, from 1.
        line: usize,
        /// Column in the line, from 1, in characters.
        column: usize,
        /// What is wrong and what the value must be.
        message: String,
    },
    /// The file holds no job.
    #[error(
        "the file has no job: add a table [[job]] with a name and the parameters of the workload"
    )]
    NoJob,
}

impl JobError {
    /// Returns the error at a byte of the text.
    pub(super) fn at(text: &str, offset: usize, message: String) -> Self {
        let (line, column) = position(text, offset);
        Self::At { line, column, message }
    }
}

/// An error in a line of another program's job file, or in a part of its output, that cannot be
/// converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", .line.map_or(String::new(), |line| format!("line {line}: ")))]
pub struct LineError {
    /// The first line concerned, from 1; absent for errors in output.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub what: String,
}

impl LineError {
    pub(crate) fn new(line: usize, what: String) -> Self {
        Self { line: Some(line), what }
    }

    pub(crate) fn of_output(what: String) -> Self {
        Self { line: None, what }
    }
}

/// Returns line and column of a byte of the text, both from 1.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before: String =
        text.char_indices().take_while(|&(at, _)| at < offset).map(|(_, c)| c).collect();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (line, column)
}
