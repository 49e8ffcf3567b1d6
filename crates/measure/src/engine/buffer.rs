//! The buffers that requests read into and write from. They are aligned for direct I/O. Their bytes
//! cannot be deduplicated, nor compressed where the file system says that it compresses.
#![expect(unsafe_code, reason = "aligned allocation, and locking it in memory")]

use ioscape_machine::cgroup::available_memory;
use ioscape_machine::error::Error;
use ioscape_schema::chance::mix;
use ioscape_schema::{Op, Request};
use rustix::mm::Advice;
use rustix::time::{ClockId, clock_gettime};
use std::alloc::{Layout, alloc, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Storage that deduplicates works on blocks of this size or larger.
const BLOCK: usize = 4096;

/// Size of a huge page on most machines. Buffers aligned to it ask for huge pages.
pub(crate) const HUGE: usize = 2 << 20;

/// The most common use of memory, in the words of [`check_room`].
pub(crate) const BUFFERS: &str = "its buffers need";

/// Refuses a demand for memory of `needed` bytes in total that exceeds half of the available
/// memory, or of what a `limit` leaves of it.
///
/// `what` names the demand, as in "its buffers need", and `advice` says what to do. A mebibyte is
/// always granted.
pub(crate) fn check_room(
    needed: u64,
    what: &str,
    limit: Option<u64>,
    advice: &str,
) -> Result<(), Error> {
    let available = available_memory().min(limit.unwrap_or(u64::MAX));
    if needed <= (available / 2).max(1 << 20) {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: "this run".into(),
        why: format!(
            "{what} {} MiB, more than half of the available memory ({} MiB): {advice}",
            needed >> 20,
            available >> 20
        ),
    })
}

/// The largest request for which the time of changing all its bytes is measured, in bytes, and how
/// often it is measured.
const MARKED_MOST: usize = 4 << 20;
const MARKED_TIMES: usize = 9;

/// A buffer of fixed size and alignment.
#[derive(Debug)]
pub(crate) struct Buffer {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the buffer owns its memory alone.
unsafe impl Send for Buffer {}

impl Buffer {
    /// Takes `len` bytes aligned to at least `align`, filled from `seed`; `None` if there is no memory.
    pub(crate) fn new(len: usize, align: usize, seed: u64) -> Option<Self> {
        let align = align.max(BLOCK).checked_next_power_of_two()?;
        let layout = Layout::from_size_align(len.max(1), align).ok()?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        if align >= HUGE {
            // SAFETY: the range is our own memory; huge pages change nothing in it. Without them
            // the buffer works too.
            let _ = unsafe {
                rustix::mm::madvise(start.as_ptr().cast(), layout.size(), Advice::LinuxHugepage)
            };
        }
        // SAFETY: the memory is ours and has that size; zeroing initializes every byte.
        unsafe { start.as_ptr().write_bytes(0, layout.size()) };
        let mut buffer = Self { start, layout };
        fill(&mut buffer, seed);
        Some(buffer)
    }

    /// Locks the buffer in memory until it is dropped.
    pub(crate) fn lock(&self) -> rustix::io::Result<()> {
        // SAFETY: the range is memory of ours; locking changes nothing in it.
        unsafe { rustix::mm::mlock(self.start.as_ptr().cast(), self.layout.size()) }
    }
}

impl Deref for Buffer {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is ours, has that length and is initialized.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this same layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Fills `bytes` with random bytes (xorshift64*, Vigna 2016), distinct for every seed.
pub(crate) fn fill(bytes: &mut [u8], seed: u64) {
    let mut state = mix(seed) | 1;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_le_bytes()
    };
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = next();
    }
    rest.copy_from_slice(&next()[..rest.len()]);
}

/// Changes all whole words of `block`, which stays as random as it was.
fn change(block: &mut [u8], by: u64) {
    let (words, _) = block.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ by).to_ne_bytes();
    }
}

/// Returns a number that is unique across runs and within this one.
pub(crate) fn new_number() -> u64 {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let time = clock_gettime(ClockId::Realtime);
    let process = u64::from(std::process::id()) << 32;
    let drawn = mix(DRAWN.fetch_add(1, Ordering::Relaxed));
    mix(time.tv_sec as u64 ^ ((time.tv_nsec as u64) << 20) ^ process ^ drawn)
}

/// Numbers that make every written block unique, across runs too. Otherwise, storage that
/// deduplicates would keep the second of two identical runs off the medium.
#[derive(Debug)]
pub(crate) struct Stamp {
    last: u64,
    /// Whether all words of a block are changed rather than just one.
    is_whole: bool,
}

impl Stamp {
    /// Starts from a number that is used nowhere else.
    pub(crate) fn new() -> Self {
        Self { last: new_number(), is_whole: false }
    }

    /// Like [`Self::new`]. If `compresses`, two blocks have nothing in common, so that neither can
    /// be stored as a difference from the other. That takes as long as copying the block, a
    /// fraction of the time that it takes to write the block to memory.
    pub(crate) fn against(compresses: bool) -> Self {
        Self { is_whole: compresses, ..Self::new() }
    }

    /// Makes the bytes that a write takes from `buffer` unlike all that was written before. Does
    /// nothing for a read.
    #[inline]
    pub(crate) fn prepare(&mut self, request: &Request, buffer: &mut [u8]) {
        if request.op == Op::Write
            && let Some(bytes) = buffer.get_mut(..request.len as usize)
        {
            self.mark(bytes);
        }
    }

    /// Changes one word in every block of `bytes`, or all of them.
    #[inline]
    pub(crate) fn mark(&mut self, bytes: &mut [u8]) {
        for block in bytes.chunks_mut(BLOCK) {
            self.last = self.last.wrapping_add(0x9E37_79B9_7F4A_7C15);
            if self.is_whole {
                change(block, mix(self.last));
            }
            if let Some(word) = block.first_chunk_mut::<8>() {
                *word = self.last.to_le_bytes();
            }
        }
    }
}

/// Nanoseconds that it takes to change all bytes of a request of this size: the minimum of several
/// trials.
pub(crate) fn time_of_marking(bytes: usize) -> f64 {
    let Some(mut buffer) = Buffer::new(bytes.min(MARKED_MOST), BLOCK, 1) else { return 0.0 };
    let mut stamp = Stamp::against(true);
    let mut time = || {
        let begun = Instant::now();
        stamp.mark(std::hint::black_box(&mut buffer));
        begun.elapsed()
    };
    let least = (0..MARKED_TIMES).map(|_| time()).min().unwrap_or_default();
    let parts = bytes as f64 / buffer.len().max(1) as f64;
    least.as_secs_f64() * 1e9 * parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn buffers_are_aligned_and_noisy() {
        let buffer = Buffer::new(100_000, 512, 1).unwrap();
        assert_eq!(buffer.len(), 100_000);
        assert_eq!(buffer.as_ptr() as usize % 4096, 0);
        let zeros = buffer.iter().filter(|b| **b == 0).count();
        assert!((300..500).contains(&zeros), "{zeros} zero bytes of 100000, not one in 256");
        assert_ne!(buffer[..64], Buffer::new(64, 512, 2).unwrap()[..]);
        assert!(Buffer::new(usize::MAX, 4096, 1).is_none());
    }

    /// Guards against writes that differ in only one word of each block: a file of those was stored
    /// in a thirtieth of its size.
    #[test]
    fn nothing_repeats_where_it_would_be_compressed() {
        let mut buffer = Buffer::new(2 * BLOCK, BLOCK, 3).unwrap();
        let mut stamp = Stamp::against(true);
        let mut seen = HashSet::new();
        for _ in 0..50 {
            stamp.mark(&mut buffer);
            let (words, _) = buffer.as_chunks::<8>();
            assert!(words.iter().all(|word| seen.insert(*word)));
        }
        let [small, large] = [BLOCK, 64 * BLOCK].map(time_of_marking);
        assert!(small > 0.0 && large > 4.0 * small, "{small} {large}");
        let mut plain = Buffer::new(BLOCK, BLOCK, 3).unwrap();
        let before = plain.to_vec();
        Stamp::new().mark(&mut plain);
        assert_eq!(before[8..], plain[8..], "elsewhere the time for it is saved");
    }

    #[test]
    fn no_two_written_blocks_are_equal() {
        let mut buffer = Buffer::new(3 * BLOCK, BLOCK, 3).unwrap();
        let mut seen = HashSet::new();
        // As in two identical runs.
        for mut stamp in [Stamp::new(), Stamp::new()] {
            for _ in 0..100 {
                stamp.mark(&mut buffer);
                for block in buffer.chunks(BLOCK) {
                    assert!(seen.insert(block.to_vec()));
                }
            }
            stamp.mark(&mut [0; 3]);
        }
    }
}
