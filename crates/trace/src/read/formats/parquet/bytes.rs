//! Bytes of a Parquet file: from the file for its metadata, from memory for the columns of one row group.

use crate::read::source::ReadSeek;
use ::bytes::{Buf, Bytes, buf::Reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, Read, SeekFrom};
use std::sync::{Mutex, MutexGuard};

/// The file; one reader at a time.
pub(super) struct File {
    file: Mutex<Box<dyn ReadSeek>>,
    length: u64,
}

impl File {
    /// Finds the file's length.
    pub fn new(mut file: Box<dyn ReadSeek>) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        Ok(Self { file: Mutex::new(file), length })
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn ReadSeek>> {
        self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn fetch(&self, from: u64, length: usize) -> io::Result<Bytes> {
        if from.saturating_add(length as u64) > self.length {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "a part beyond the file's end",
            ));
        }
        let mut file = self.lock();
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = vec![0; length];
        file.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

impl Length for File {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for File {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let length = self.length.saturating_sub(start);
        Ok(self.get_bytes(start, usize::try_from(length)?)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        Ok(self.fetch(start, length)?)
    }
}

/// One column of one row group, in memory.
pub(super) struct Span {
    from: u64,
    bytes: Bytes,
}

impl Span {
    /// Reads `length` bytes at `from`.
    pub fn fetch(file: &File, from: u64, length: usize) -> io::Result<Self> {
        Ok(Self { from, bytes: file.fetch(from, length)? })
    }

    fn slice(&self, start: u64, length: Option<usize>) -> Result<Bytes> {
        let start = start.checked_sub(self.from).and_then(|start| usize::try_from(start).ok());
        let end = start.and_then(|start| match length {
            Some(length) => start.checked_add(length),
            None => Some(self.bytes.len()),
        });
        match (start, end) {
            (Some(start), Some(end)) if start <= end && end <= self.bytes.len() => {
                Ok(self.bytes.slice(start..end))
            }
            _ => Err(ParquetError::EOF("a page beyond its column's end".to_owned())),
        }
    }
}

impl Length for Span {
    fn len(&self) -> u64 {
        self.from + self.bytes.len() as u64
    }
}

impl ChunkReader for Span {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(self.slice(start, None)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.slice(start, Some(length))
    }
}
