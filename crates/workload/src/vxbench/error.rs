//! Errors in the words of `vxbench`.

/// Why the words do not describe a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VxError {
    /// An unknown word.
    #[error("{word:?} is no {kind}{}: choose from {}", Nearest(.nearest), .valid.join(", "))]
    Unknown {
        /// The kind of word expected, such as `workload`.
        kind: &'static str,
        /// The given word.
        word: String,
        /// The known word that resembles it most, if any does.
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
    /// An invalid value.
    #[error("{name}={text}: {why}")]
    Value {
        /// The option.
        name: &'static str,
        /// The given value.
        text: String,
        /// What is wrong and what to write.
        why: String,
    },
    /// A suboption given twice.
    #[error("{0} is given twice: give it once")]
    Twice(&'static str),
    /// Words that contradict each other.
    #[error("{0}")]
    Contradiction(String),
}

/// Shows ` (did you mean "read"?)`, or nothing.
struct Nearest<'a>(&'a Option<&'static str>);

impl std::fmt::Display for Nearest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |word| write!(f, " (did you mean {word:?}?)"))
    }
}
