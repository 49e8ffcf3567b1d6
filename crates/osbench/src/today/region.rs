//! Memory mapped for a benchmark, and unmapped when it is dropped.
#![expect(unsafe_code, reason = "maps, touches and unmaps memory of its own")]

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use std::fs::File;
use std::io;
use std::ptr;

/// Mapped memory.
#[derive(Debug)]
pub(crate) struct Region {
    base: *mut u8,
    len: usize,
    /// Where its first byte is that lies at a multiple of the alignment asked for.
    start: usize,
}

impl Region {
    /// New memory of `len` bytes aligned to `align`, never touched, with the kernel's advice about huge pages.
    pub(crate) fn new(len: usize, align: usize, advice: Advice) -> io::Result<Self> {
        let whole = len + align;
        // SAFETY: a new mapping where the kernel chooses overlaps nothing; a kernel without huge pages refuses the advice.
        let base = unsafe {
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            let base = mmap_anonymous(ptr::null_mut(), whole, rights, MapFlags::PRIVATE)?;
            let _ = madvise(base, whole, advice);
            base.cast::<u8>()
        };
        Ok(Self { base, len: whole, start: base.align_offset(align) })
    }

    /// The first `len` bytes of a file, which nothing else may shorten meanwhile.
    pub(crate) fn of_file(file: &File, len: usize) -> io::Result<Self> {
        // SAFETY: as above; stores go to private copies of the pages.
        let base = unsafe {
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            mmap(ptr::null_mut(), len, rights, MapFlags::PRIVATE, file, 0)?
        };
        Ok(Self { base: base.cast(), len, start: 0 })
    }

    /// The first aligned byte.
    pub(crate) fn start(&self) -> *mut u8 {
        // SAFETY: the alignment was added to the length.
        unsafe { self.base.add(self.start) }
    }

    /// Writes, or reads, one byte of each `step` bytes of the first `len`, which must lie within what was asked for.
    pub(crate) fn touch(&self, len: usize, step: usize, write: bool) {
        assert!(self.start + len <= self.len, "{len} bytes of {}", self.len);
        for at in (0..len).step_by(step) {
            // SAFETY: within the mapping, and no reference into it is kept.
            unsafe {
                let byte = self.start().add(at);
                if write {
                    byte.write_volatile(1);
                } else {
                    byte.read_volatile();
                }
            }
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing points into it any more; failure would leave it in place.
        let _ = unsafe { munmap(self.base.cast(), self.len) };
    }
}
