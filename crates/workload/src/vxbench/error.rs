//! Why the words of `vxbench` make no job.

/// Why words make no job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VxError {
    /// A word that is none of those known.
    #[error("{word:?} is no {kind}{}: choose from {}", Nearest(.nearest), .valid.join(", "))]
    Unknown {
        /// What was expected, such as `workload`.
        kind: &'static str,
        /// What was given.
        word: String,
        /// The known word that it most resembles, if it resembles one.
        nearest: Option<&'static str>,
        /// All known words.
        valid: Vec<&'static str>,
    },
    /// A suboption without the value it needs.
    #[error("{0} needs a value: write {0}=N")]
    NoValue(&'static str),
    /// A word with a value where none belongs.
    #[error("{0} takes no value: write {0} alone")]
    NeedlessValue(&'static str),
    /// A value that cannot be.
    #[error("{name}={text}: {why}")]
    Value {
        /// The option.
        name: &'static str,
        /// What was given.
        text: String,
        /// What is wrong and what to write.
        why: String,
    },
    /// The same suboption twice.
    #[error("{0} is given twice: give it once")]
    Twice(&'static str),
    /// Words that do not go together.
    #[error("{0}")]
    Contradiction(String),
}

/// Shows ` (did you mean "read"?)`, or neither.
struct Nearest<'a>(&'a Option<&'static str>);

impl std::fmt::Display for Nearest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |word| write!(f, " (did you mean {word:?}?)"))
    }
}
