//! Memory mapped for a benchmark and unmapped on drop.
#![expect(unsafe_code, reason = "maps, touches and unmaps memory of its own")]

use crate::case::not_here;
use ioscape_machine::usage::usage;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use std::fs::File;
use std::io;
use std::ptr;

/// Bytes of a huge page with base pages of 4 KiB; no other size is supported.
pub(crate) const HUGE: usize = 2 << 20;

/// Mapped memory.
#[derive(Debug)]
pub(crate) struct Region {
    base: *mut u8,
    len: usize,
    /// Offset of the first byte with the requested alignment.
    start: usize,
}

impl Region {
    /// Maps `len` bytes of new, untouched memory aligned to `align`, with advice about huge pages.
    pub(crate) fn new(len: usize, align: usize, advice: Advice) -> io::Result<Self> {
        let whole = len + align;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing; a kernel
        // without huge pages refuses the advice.
        let base = unsafe {
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            let base = mmap_anonymous(ptr::null_mut(), whole, rights, MapFlags::PRIVATE)?;
            let _ = madvise(base, whole, advice);
            base.cast::<u8>()
        };
        Ok(Self { base, len: whole, start: base.align_offset(align) })
    }

    /// Maps the first `len` bytes of a file, which nothing may shorten meanwhile.
    pub(crate) fn of_file(file: &File, len: usize) -> io::Result<Self> {
        // SAFETY: as in `new`; stores go to private copies of the pages.
        let base = unsafe {
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            mmap(ptr::null_mut(), len, rights, MapFlags::PRIVATE, file, 0)?
        };
        Ok(Self { base: base.cast(), len, start: 0 })
    }

    /// Returns the first aligned byte.
    pub(crate) fn start(&self) -> *mut u8 {
        // SAFETY: the mapping is longer than requested by the alignment.
        unsafe { self.base.add(self.start) }
    }

    /// Writes or reads one byte in every `step` bytes of the first `len`, which must lie within the
    /// requested length.
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

/// Refuses `len` bytes that should lie in huge pages but do not. `further` counts the faults of
/// touching all of it beyond the first in each huge page. Ordinary pages, and folios of
/// intermediate sizes, take at least one more in each.
///
/// # Errors
/// The memory is not in huge pages.
pub(crate) fn in_huge_pages(further: u64, len: usize) -> io::Result<()> {
    let huge_pages = len / HUGE;
    if further < huge_pages as u64 {
        return Ok(());
    }
    Err(not_here(format!(
        "the kernel gives no transparent huge pages of 2 MB here, or too few: memory for {huge_pages} of them took {further} further faults"
    )))
}

/// Returns the page faults of this process so far that needed no I/O.
pub(crate) fn faults() -> u64 {
    usage(libc::RUSAGE_SELF).ru_minflt as u64
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing points into it any more; on failure it would
        // stay mapped.
        let _ = unsafe { munmap(self.base.cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_pages_and_folios_of_any_size_are_no_huge_ones() {
        let huge_pages = 4;
        let len = huge_pages * HUGE;
        for folio in [4 << 10, 16 << 10, 64 << 10, 128 << 10, 512 << 10, 1 << 20] {
            let further = len / folio - huge_pages;
            let why = in_huge_pages(further as u64, len).unwrap_err();
            assert_eq!(why.kind(), io::ErrorKind::Unsupported, "{folio}");
            assert!(why.to_string().contains("memory for 4 of them took"), "{why}");
        }
        assert!(in_huge_pages(0, len).is_ok());
        assert!(in_huge_pages(3, len).is_ok(), "some are the reading's own");
    }
}
