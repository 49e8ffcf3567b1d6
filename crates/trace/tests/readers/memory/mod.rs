//! A file in memory, for data that is written and then read.

use std::io::{Cursor, Result, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};

/// A file in memory that outlives its writer.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Cursor<Vec<u8>>>>);

impl Memory {
    /// Takes what was written and leaves the file empty.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap()).into_inner()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Seek for Memory {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.0.lock().unwrap().seek(to)
    }
}
