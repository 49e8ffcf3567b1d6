//! Why a source could not be compiled, assembled or linked, and where.

/// Why a source could not be compiled, assembled or linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct Fault {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 for the whole file.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

impl Fault {
    pub(crate) fn new(file: &str, line: u32, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, message: message.into() }
    }
}
