//! A stream with a view of what comes next, by lines or by records.

use crate::error::{Error, FilePosition};
use std::io::Read;

/// Bytes fetched at once.
const BLOCK: usize = 1 << 18;
/// No line or record is longer; a longer one is broken and would fill the memory.
pub(crate) const LONGEST: usize = 1 << 22;

/// What tells that text is UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The bytes of one source.
pub(crate) struct Input {
    name: String,
    bytes: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    at: usize,
    /// Bytes before the buffer.
    before: u64,
    ended: bool,
}

impl Input {
    /// The source `name` with its bytes.
    pub fn new(name: String, bytes: Box<dyn Read + Send>) -> Self {
        Self { name, bytes, buffer: Vec::new(), at: 0, before: 0, ended: false }
    }

    /// Name of the source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Position of the next byte from the beginning.
    pub fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    /// What is at hand without reading.
    pub fn at_hand(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// Fetches until at least `wanted` bytes are at hand; fewer only at the end.
    pub fn peek(&mut self, wanted: usize) -> Result<&[u8], Error> {
        while self.buffer.len() - self.at < wanted && !self.ended {
            self.fetch(wanted)?;
        }
        Ok(&self.buffer[self.at..])
    }

    /// Fetches one more block; `false` at the end.
    pub fn more(&mut self) -> Result<bool, Error> {
        let had = self.buffer.len() - self.at;
        self.peek(had + 1)?;
        Ok(self.buffer.len() - self.at > had)
    }

    /// Leaves the mark behind that some programs begin text with (the byte order mark of UTF-8).
    ///
    /// # Errors
    /// Bytes that cannot be read.
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

    /// Leaves `count` bytes behind, which must be at hand.
    pub fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.buffer.len());
    }

    /// A header error of this source.
    pub fn bad_header(&self, reason: impl Into<String>) -> Error {
        Error::Header { name: self.name.clone(), reason: reason.into() }
    }

    /// A record error of this source.
    pub fn bad_record(&self, position: FilePosition, reason: impl Into<String>) -> Error {
        Error::Record { name: self.name.clone(), position, reason: reason.into() }
    }
}
