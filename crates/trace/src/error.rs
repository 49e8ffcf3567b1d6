//! What can go wrong with a trace. Each message is a sentence that says what, where, and what to
//! do.

use std::io;

/// Why a trace could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes could not be read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The file.
        name: String,
        /// The error of the system or the decompressor.
        source: io::Error,
    },
    /// The result could not be written.
    #[error("cannot write the trace: {0}")]
    Write(#[source] io::Error),
    /// The first bytes match no known format.
    #[error("{name} is of no known trace format: {advice}")]
    Unknown {
        /// The file.
        name: String,
        /// What to do about it.
        advice: String,
    },
    /// The file is empty.
    #[error("{name} is empty")]
    Empty {
        /// The file.
        name: String,
    },
    /// Several formats fit, and they would give different rows.
    #[error("{name} is ambiguous: its lines can be {formats}; name the format with --format")]
    Ambiguous {
        /// The file.
        name: String,
        /// The formats that fit, and how they differ.
        formats: String,
    },
    /// The header is broken, so nothing was read.
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
        /// The line, or the record and its first byte.
        position: FilePosition,
        /// What is wrong with it.
        reason: String,
    },
    /// The trace needs something that this program does not do.
    #[error("{0}")]
    Unsupported(String),
}

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePosition {
    /// A line of text, counted from 1.
    Line(u64),
    /// A binary record.
    Record {
        /// Number of the record, from 1.
        number: u64,
        /// Its first byte, counted from the beginning of the decompressed file.
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
