//! Errors in drives, requests and traces: each is one sentence that says where the problem is.

/// Why something was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A parameter file is invalid.
    #[error("{name}: {message}")]
    Parameter {
        /// The file or drive.
        name: String,
        /// Key, line and reason.
        message: String,
    },
    /// A request does not fit the drive it is sent to.
    #[error("request {index} (from 0): {message}")]
    Request {
        /// Row of the trace, from 0.
        index: u64,
        /// What does not fit.
        message: String,
    },
    /// A request that ends beyond the drive it is sent to.
    #[error(
        "request {index} (from 0): {len} bytes at byte {offset} are beyond the {capacity} bytes of {name}; choose the drive the trace was taken on, or a larger one"
    )]
    Beyond {
        /// Row of the trace, from 0.
        index: u64,
        /// First byte of the request.
        offset: u64,
        /// Length in bytes.
        len: u64,
        /// Capacity of the drive, in bytes.
        capacity: u64,
        /// The drive.
        name: String,
    },
    /// A combination of options that has no meaning.
    #[error("{0}")]
    Configuration(String),
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Creates an error in parameter file `name`.
    pub fn parameter(name: &str, message: impl Into<String>) -> Self {
        Self::Parameter { name: name.to_owned(), message: message.into() }
    }

    /// Parses the text of parameter file `name`; an error names the line and quotes it.
    pub(crate) fn or_parsed<T: serde::de::DeserializeOwned>(
        name: &str,
        text: &str,
    ) -> Result<T, Self> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
            let said = text.lines().nth(line - 1).unwrap_or_default().trim();
            let said: String = said.chars().filter(|c| !c.is_control()).take(60).collect();
            let message = error.message().replace('\n', "; ");
            match said.is_empty() {
                true => Self::parameter(name, format!("line {line}: {message}")),
                false => Self::parameter(name, format!("line {line} ({said}): {message}")),
            }
        })
    }

    /// Creates an error for row `index`.
    pub fn request(index: u64, message: impl Into<String>) -> Self {
        Self::Request { index, message: message.into() }
    }
}
