//! The data of the simulated disk: anonymous memory that takes only as much as was written.

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The bytes of a disk, initially zero.
pub struct Store {
    memory: File,
}

impl Store {
    /// Creates a store of `size_bytes`.
    ///
    /// # Errors
    /// The kernel refuses the memory.
    pub fn new(size_bytes: u64) -> io::Result<Self> {
        let memory = memfd_create("ioscape-disk", MemfdFlags::CLOEXEC)?;
        ftruncate(&memory, size_bytes)?;
        Ok(Self { memory: memory.into() })
    }

    /// Reads `length` bytes, all of which must lie in the store.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut data = vec![0; length];
        self.memory.read_exact_at(&mut data, offset)?;
        Ok(data)
    }

    /// Writes all of `data`.
    ///
    /// # Errors
    /// The kernel refuses: no memory is left.
    pub fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.memory.write_all_at(data, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_the_rest_is_zero() {
        let store = Store::new(1 << 20).unwrap();
        store.write(4096, b"data").unwrap();
        assert_eq!(store.read(4095, 6).unwrap(), b"\0data\0");
        assert!(store.read((1 << 20) - 1, 2).is_err());
    }
}
