//! A stream that lets its reader look ahead, by lines or by records.

use crate::error::{Error, FilePosition};
use std::io::Read;

/// Bytes fetched at once.
const BLOCK: usize = 1 << 18;
/// The longest line or record. A longer one is broken, and would fill the memory.
pub(crate) const LONGEST: usize = 1 << 22;

/// UTF-8's byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The bytes of one source.
pub(crate) struct Input {
    name: String,
    bytes: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    at: usize,
    /// How many bytes came before the buffer.
    before: u64,
    ended: bool,
}

impl Input {
    /// Reads the source `name` from `bytes`.
    pub fn new(name: String, bytes: Box<dyn Read + Send>) -> Self {
        Self { name, bytes, buffer: Vec::new(), at: 0, before: 0, ended: false }
    }

    /// Returns the name of the source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the position of the next byte from the beginning.
    pub fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Returns the bytes that are at hand without reading more.
    pub fn at_hand(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// Fetches until at least `wanted` bytes are at hand, or fewer at the end. Returns all bytes at
    /// hand.
    pub fn peek(&mut self, wanted: usize) -> Result<&[u8], Error> {
        while self.buffer.len() - self.at < wanted && !self.ended {
            self.fetch(wanted)?;
        }
        Ok(&self.buffer[self.at..])
    }

    /// Fetches one more block; returns `false` at the end.
    pub fn more(&mut self) -> Result<bool, Error> {
        let had = self.buffer.len() - self.at;
        self.peek(had + 1)?;
        Ok(self.buffer.len() - self.at > had)
    }

    /// Skips the byte order mark of UTF-8, with which some programs begin text.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn pass_mark(&mut self) -> Result<(), Error> {
        let head = self.peek(MARK.len() + 1)?;
        let is_text = head.get(MARK.len()).is_none_or(|next| (b' '..0x7F).contains(next));
        if head.starts_with(MARK) && is_text {
            self.consume(MARK.len());
        }
        Ok(())
    }

    fn fetch(&mut self, wanted: usize) -> Result<(), Error> {
        self.before += self.at as u64;
        self.buffer.drain(..self.at);
        self.at = 0;
        let had = self.buffer.len();
        self.buffer.resize(wanted.max(BLOCK).max(2 * had), 0);
        let mut filled = had;
        while filled < self.buffer.len() {
            match self.bytes.read(&mut self.buffer[filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => filled += count,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::Read { name: self.name.clone(), source }),
            }
        }
        self.buffer.truncate(filled);
        Ok(())
    }

    /// Consumes `count` bytes, which must be at hand.
    pub fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.buffer.len());
    }

    /// Returns a header error for this source.
    pub fn bad_header(&self, reason: impl Into<String>) -> Error {
        Error::Header { name: self.name.clone(), reason: reason.into() }
    }

    /// Returns a record error for this source.
    pub fn bad_record(&self, position: FilePosition, reason: impl Into<String>) -> Error {
        Error::Record { name: self.name.clone(), position, reason: reason.into() }
    }
}
