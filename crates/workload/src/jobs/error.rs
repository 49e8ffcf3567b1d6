//! Why a job file cannot be used, with the place in it.

/// Why a job file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The text is not TOML, or it has a key that does not exist or whose value cannot be used.
    #[error("line {line}, column {column}: {message}")]
    At {
        /// Line in the file, from 1.
        line: usize,
        /// Column in the line, from 1, in characters.
        column: usize,
        /// What is wrong and what it must be.
        message: String,
    },
    /// The file holds no job.
    #[error(
        "the file has no job: add a table [[job]] with a name and the parameters of the workload"
    )]
    NoJob,
}

impl JobError {
    /// What is wrong at a byte of the text.
    pub(super) fn at(text: &str, offset: usize, message: String) -> Self {
        let (line, column) = position(text, offset);
        Self::At { line, column, message }
    }
}

/// A line of another program's file of jobs, or a part of its output, that cannot be taken over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", .line.map_or(String::new(), |line| format!("line {line}: ")))]
pub struct LineError {
    /// The line, from 1, or the first of several that belong together; absent of what is wrong with output.
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

/// Where a byte of the text stands for its reader: line and column from 1.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before: String =
        text.char_indices().take_while(|&(at, _)| at < offset).map(|(_, c)| c).collect();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (line, column)
}
