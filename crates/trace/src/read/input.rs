//! A stream that lets its reader look ahead, by lines or by records.

use crate::error::{Error, FilePosition};
use std::io::Read;

/// Bytes fetched at once.
const BLOCK: usize = 1 << 18;
/// Bytes fetched at once where many sources share that.
const LEAST: usize = 1 << 14;
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
    /// Bytes fetched at once, unless more are wanted.
    block: usize,
    /// How many bytes came before the buffer.
    before: u64,
    ended: bool,
}

impl Input {
    /// Reads the source `name` from `bytes`, one of `sources` that are open at once and share the
    /// memory of one.
    pub fn new(name: String, bytes: Box<dyn Read + Send>, sources: usize) -> Self {
        let block = (BLOCK / sources.max(1)).max(LEAST);
        Self { name, bytes, buffer: Vec::new(), at: 0, block, before: 0, ended: false }
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
        self.buffer.resize(wanted.max(self.block).max(2 * had), 0);
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
        self.buffer.shrink_to(if self.ended { 0 } else { self.block });
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a defect: each of 4,000 files of 2 KB held 256 KiB while all were open.
    #[test]
    fn many_sources_share_the_memory_of_one_and_a_short_one_holds_its_bytes() {
        let of = |length: u64, sources: usize| {
            let bytes = Box::new(std::io::repeat(b'7').take(length));
            Input::new("here".to_owned(), bytes, sources)
        };
        let mut short = of(2000, 1);
        assert_eq!(short.peek(1).unwrap().len(), 2000);
        assert!(short.buffer.capacity() < LEAST);
        let mut long = of(1 << 20, 1000);
        for _ in 0..3 {
            // Detection looks farther ahead than one block.
            let count = long.peek(4 * LEAST).unwrap().len();
            long.consume(count);
        }
        long.more().unwrap();
        assert!(long.buffer.capacity() < 2 * LEAST);
    }
}
