//! What a part of a trace leaves for a merge: a file with everything learned from it, and what its
//! neighbours need to know.
//!
//! The first line names the format. The second is the [`Header`] in JSON, which says what the part
//! covers. Then come the analyses ([postcard](https://postcard.jamesmunns.com/wire-format)), and
//! the 8-byte XXH3 hash of everything before it.
//!
//! Its size: 8 to 25 bytes for each block touched; up to 20 bytes for each block followed for miss
//! ratios (262,144 in total, or more with `exact_blocks`); up to 200 KB for each disk; up to 30
//! bytes for each stretch of 32 KiB written to in the first or the last 30 seconds.

mod header;
mod merge;
mod order;
mod tables;

pub use crate::clock::TraceClock;
pub use header::{Asked, DiskStretch, Header};
pub use merge::Merge;

use super::Analysis;
use ioscape_schema::text::STATE_MARK;
use serde::Deserialize;
use std::hash::Hasher;
use std::io::{self, Write};
use twox_hash::XxHash3_64;

/// The first line.
pub const MAGIC: &[u8] = b"ioscape-state 6\n";
/// The longest header accepted.
const MOST_HEADER: usize = 1 << 28;
/// Bytes of the hash at the end.
const HASH: usize = 8;

/// Why a state cannot be used: the end of a sentence that begins with the file's name.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The file could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error(
        "is not the state of an analysis: `ioscape trace analyze TRACE --state FILE` writes one"
    )]
    Foreign,
    /// Another version of this program wrote it.
    #[error(
        "was written by another version ({0}), whose states this one does not read: analyze that part again"
    )]
    Version(String),
    /// The bytes differ from those written.
    #[error("is damaged or cut off: analyze that part again")]
    Damaged,
}

/// One analyzed part.
#[derive(Debug)]
pub struct Part {
    /// What the part covers.
    pub header: Header,
    /// What was learned, by an analysis started with [`Analysis::part`].
    pub analysis: Analysis,
}

impl Part {
    /// Writes the state; `out` should be buffered.
    pub fn write(&self, out: impl Write) -> Result<(), StateError> {
        let mut out = Hashed { inner: out, hash: XxHash3_64::new() };
        out.write_all(MAGIC)?;
        serde_json::to_writer(&mut out, &self.header).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
        let failed = |e: postcard::Error| io::Error::other(e.to_string());
        postcard::to_io(&self.analysis, &mut out).map_err(failed)?;
        let hash = out.hash.finish();
        out.inner.write_all(&hash.to_le_bytes())?;
        out.inner.flush()?;
        Ok(())
    }

    /// Reads a state.
    ///
    /// # Errors
    /// The bytes are no state, a state of another version, or damaged.
    pub fn read(bytes: &[u8]) -> Result<Self, StateError> {
        check(bytes)?;
        let (header, from) = head(bytes)?;
        let body = &bytes[from..bytes.len() - HASH];
        let mut body = postcard::Deserializer::from_bytes(body);
        let analysis = Analysis::deserialize(&mut body).map_err(|_| StateError::Damaged)?;
        let rest = body.finalize().map_err(|_| StateError::Damaged)?;
        if rest.is_empty() { Ok(Self { header, analysis }) } else { Err(StateError::Damaged) }
    }
}

impl Header {
    /// Reads the header of a state and checks all of its bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, StateError> {
        check(bytes)?;
        head(bytes).map(|(header, _)| header)
    }
}

/// Checks that the bytes are those written.
fn check(bytes: &[u8]) -> Result<(), StateError> {
    if !bytes.starts_with(MAGIC) {
        let line = bytes.iter().position(|&b| b == b'\n').unwrap_or(bytes.len()).min(64);
        return Err(match bytes[..line].strip_prefix(STATE_MARK.as_bytes()) {
            Some(version) => StateError::Version(String::from_utf8_lossy(version).into_owned()),
            None => StateError::Foreign,
        });
    }
    let Some((content, hash)) = bytes.split_last_chunk::<HASH>() else {
        return Err(StateError::Damaged);
    };
    let found = XxHash3_64::oneshot(content).to_le_bytes();
    if found == *hash { Ok(()) } else { Err(StateError::Damaged) }
}

/// The header, and where the analyses begin.
fn head(bytes: &[u8]) -> Result<(Header, usize), StateError> {
    let rest = bytes.get(MAGIC.len()..).unwrap_or_default();
    let end = rest.iter().take(MOST_HEADER).position(|&b| b == b'\n').ok_or(StateError::Damaged)?;
    let header: Header = serde_json::from_slice(&rest[..end]).map_err(|_| StateError::Damaged)?;
    let version = env!("CARGO_PKG_VERSION");
    if header.version != version {
        return Err(StateError::Version(header.version));
    }
    Ok((header, MAGIC.len() + end + 1))
}

/// Hashes what is written.
struct Hashed<W> {
    inner: W,
    hash: XxHash3_64,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hash.write(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests;
