//! What can go wrong with a trace: a sentence that says what, where, and what to do.

use std::io;

/// Why a trace could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes could not be had.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The file.
        name: String,
        /// What the system or the decompressor said.
        source: io::Error,
    },
    /// The result could not be written.
    #[error("cannot write the trace: {0}")]
    Write(#[source] io::Error),
    /// No format fits the first bytes.
    #[error("{name} is of no known trace format: {advice}")]
    Unknown {
        /// The file.
        name: String,
        /// What to do about it.
        advice: String,
    },
    /// There are no bytes.
    #[error("{name} is empty")]
    Empty {
        /// The file.
        name: String,
    },
    /// Several formats fit, which mean different things.
    #[error("{name} is ambiguous: its lines can be {formats}; name the format with --format")]
    Ambiguous {
        /// The file.
        name: String,
        /// The formats that fit, with what they differ in.
        formats: String,
    },
    /// The head of the file is broken; nothing was read.
    #[error("{name}: {reason}")]
    Header {
        /// The file.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// One record is broken.
    #[error("{name}, {position}: {reason}; --skip-bad leaves such records out and counts them")]
    Record {
        /// The file.
        name: String,
        /// The line, or the record and its byte.
        position: FilePosition,
        /// What is wrong with it.
        reason: String,
    },
    /// The trace asks for something this program does not do.
    #[error("{0}")]
    Unsupported(String),
}

/// Where in a file something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePosition {
    /// A line of text, counted from 1.
    Line(u64),
    /// A record counted from 1 and its first byte.
    Record {
        /// Number of the record, from 1.
        number: u64,
        /// Its first byte, from the beginning of the decompressed file.
        byte: u64,
    },
}

impl std::fmt::Display for FilePosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Record { number, byte } => write!(f, "record {number} (byte {byte})"),
        }
    }
}
