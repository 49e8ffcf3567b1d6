//! Memory that the conductor shares with its forked workers: the phase, the live counters and the final reports.
#![expect(unsafe_code, reason = "one anonymous mapping, shared across fork, seen as atomics only")]

use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;
use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What the workers should be doing; only the conductor changes it, and only forwards.
pub mod phase {
    /// Workers prepare, then wait.
    pub const PREPARE: u32 = 0;
    /// Workers issue requests that do not count.
    pub const WARM_UP: u32 = 1;
    /// Workers issue requests that count.
    pub const MEASURE: u32 = 2;
    /// Workers report and exit.
    pub const STOP: u32 = 3;
}

/// The first cache lines: written by the conductor, and by a helper that reports its progress.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Header {
    phase: AtomicU32,
    /// Bytes that a helper has processed.
    pub progress: AtomicU64,
}

/// Live counters of one stream in their own cache lines; one writer, any number of readers.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Live {
    /// 1 when the stream is ready to start.
    pub ready: AtomicU32,
    /// 1 when the stream's measured part has begun.
    pub started: AtomicU32,
    /// Bytes read and bytes written since the stream began, warm-up included.
    pub bytes: [AtomicU64; 2],
}

/// Adds to a counter with a single writer: a load and a store, no locked instruction.
#[inline]
pub fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

/// The mapping: a header, one `Live` per stream, one area of words per stream for its report.
#[derive(Debug)]
pub struct Shared {
    base: NonNull<u8>,
    len: usize,
    streams: usize,
    words: usize,
}

// SAFETY: the mapping holds only atomics, and the pointer stays valid until the value is dropped.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps room for `streams` streams with reports of at most `words` words each; only used pages
    /// take memory.
    pub fn new(streams: usize, words: usize) -> io::Result<Self> {
        let len = Self::bytes(streams, words);
        // SAFETY: a new anonymous mapping at an address chosen by the kernel overlaps nothing.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::NORESERVE,
            )
        }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, len, streams, words })
    }

    /// Maps the same in a memory file, keeping its contents. A program that the process executes
    /// maps it again.
    ///
    /// # Errors
    /// The file cannot be made large enough, or cannot be mapped.
    pub fn in_file(file: &File, streams: usize, words: usize) -> io::Result<Self> {
        let len = Self::bytes(streams, words);
        if file.metadata()?.len() < len as u64 {
            file.set_len(len as u64)?;
        }
        let (readable, shared) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address chosen by the kernel overlaps nothing; the file is as
        // long.
        let base =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, readable, shared, file, 0) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, len, streams, words })
    }

    fn bytes(streams: usize, words: usize) -> usize {
        size_of::<Header>() + streams * (size_of::<Live>() + words * 8)
    }

    /// Returns the number of streams.
    pub fn streams(&self) -> usize {
        self.streams
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        // SAFETY: the mapping starts with a header; zeroed pages are valid atomics; pages are aligned.
        unsafe { self.base.cast::<Header>().as_ref() }
    }

    /// Returns the live counters of all streams.
    pub fn live(&self) -> &[Live] {
        // SAFETY: `streams` of them follow the header, whose size is a multiple of their alignment.
        unsafe {
            let first = self.base.as_ptr().add(size_of::<Header>()).cast::<Live>();
            std::slice::from_raw_parts(first, self.streams)
        }
    }

    /// Returns the report area of stream `index`, which must be below `streams`.
    pub fn report(&self, index: usize) -> &[AtomicU64] {
        assert!(index < self.streams, "stream {index} of {}", self.streams);
        let skipped =
            size_of::<Header>() + self.streams * size_of::<Live>() + index * self.words * 8;
        // SAFETY: `words` words per stream follow the live counters, 8-byte aligned, inside the mapping.
        unsafe {
            let first = self.base.as_ptr().add(skipped).cast::<AtomicU64>();
            std::slice::from_raw_parts(first, self.words)
        }
    }

    /// Returns the current phase.
    #[inline]
    pub fn phase(&self) -> u32 {
        self.header().phase.load(Ordering::Relaxed)
    }

    /// Sets the phase and wakes all waiters.
    pub fn set_phase(&self, phase: u32) {
        self.header().phase.store(phase, Ordering::Release);
        // Waiters that miss the wake-up see the new value when they look again, so a failure is harmless.
        let _ = futex::wake(&self.header().phase, futex::Flags::empty(), i32::MAX as u32);
    }

    /// Waits while the phase is still `PREPARE`.
    pub fn wait_for_start(&self) {
        while self.header().phase.load(Ordering::Acquire) == phase::PREPARE {
            let _ = futex::wait(&self.header().phase, futex::Flags::empty(), phase::PREPARE, None);
        }
    }

    /// Returns the bytes read and the bytes written by all streams so far.
    pub fn moved(&self) -> [u64; 2] {
        let sum = |op: usize| self.live().iter().map(|l| l.bytes[op].load(Ordering::Relaxed)).sum();
        [sum(0), sum(1)]
    }

    /// Returns whether every stream is ready to start.
    pub fn all_ready(&self) -> bool {
        self.live().iter().all(|l| l.ready.load(Ordering::Acquire) == 1)
    }

    /// Returns whether the measured part of every stream has begun.
    pub fn all_started(&self) -> bool {
        self.live().iter().all(|l| l.started.load(Ordering::Acquire) == 1)
    }

    /// Returns whether the measured part of any stream has begun.
    pub fn any_started(&self) -> bool {
        self.live().iter().any(|l| l.started.load(Ordering::Acquire) == 1)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference into it outlives `self`.
        // Failure would only leave the mapping in place.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_in_a_file_is_the_same_in_every_mapping() {
        let file =
            File::from(rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
        let one = Shared::in_file(&file, 2, 3).unwrap();
        one.report(1)[2].store(7, Ordering::Relaxed);
        let other = Shared::in_file(&file, 2, 3).unwrap();
        assert_eq!(other.report(1)[2].load(Ordering::Relaxed), 7);
        assert!(Shared::in_file(&File::open("/dev/null").unwrap(), 1, 1).is_err());
    }

    #[test]
    fn areas_do_not_overlap() {
        let shared = Shared::new(3, 10).unwrap();
        for (i, live) in shared.live().iter().enumerate() {
            live.bytes[0].store(i as u64 + 1, Ordering::Relaxed);
            live.bytes[1].store(10, Ordering::Relaxed);
        }
        for i in 0..3 {
            for word in shared.report(i) {
                assert_eq!(word.swap(u64::MAX, Ordering::Relaxed), 0);
            }
        }
        assert_eq!(shared.moved(), [6, 30]);
        assert_eq!(shared.phase(), phase::PREPARE);
        assert!(!shared.all_ready());
        shared.set_phase(phase::STOP);
        shared.wait_for_start();
        assert_eq!(shared.phase(), phase::STOP);
    }
}
