//! The memory that requests move: aligned for direct I/O, full of bytes that no storage can compress or merge.
#![expect(unsafe_code, reason = "aligned allocation, and locking it in memory")]

use ioscape_schema::{Op, Request};
use rustix::mm::Advice;
use std::alloc::{Layout, alloc, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Storage that merges equal blocks looks at blocks of this size or larger.
const BLOCK: usize = 4096;

/// Size of a huge page on most machines: buffers aligned to it ask for such pages.
pub(crate) const HUGE: usize = 2 << 20;

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
            // SAFETY: the range is memory of ours; huge pages change nothing in it. A kernel without them goes on without.
            let _ = unsafe {
                rustix::mm::madvise(start.as_ptr().cast(), layout.size(), Advice::LinuxHugepage)
            };
        }
        // SAFETY: the memory is ours and that long; zeroing makes every byte initialized.
        unsafe { start.as_ptr().write_bytes(0, layout.size()) };
        let mut buffer = Self { start, layout };
        fill(&mut buffer, seed);
        Some(buffer)
    }

    /// Keeps the buffer in memory until it is dropped.
    pub(crate) fn lock(&self) -> rustix::io::Result<()> {
        // SAFETY: the range is memory of ours; locking changes nothing in it.
        unsafe { rustix::mm::mlock(self.start.as_ptr().cast(), self.layout.size()) }
    }
}

impl Deref for Buffer {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is ours, that long and initialized.
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
        // SAFETY: allocated with this very layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Fills `bytes` with random ones (xorshift64*, Vigna 2016), distinct for every seed.
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

/// Scatters `seed` over all 64 bits (the finalizer of splitmix64).
pub(crate) fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Numbers that make every written block unlike all others.
#[derive(Clone, Debug)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Numbers of their own for every seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// Makes what a write takes from `buffer` unlike all that was written before; a read needs nothing.
    #[inline]
    pub(crate) fn prepare(&mut self, request: &Request, buffer: &mut [u8]) {
        if request.op == Op::Write
            && let Some(bytes) = buffer.get_mut(..request.len as usize)
        {
            self.mark(bytes);
        }
    }

    /// Changes one word in every block of `bytes`.
    #[inline]
    pub(crate) fn mark(&mut self, bytes: &mut [u8]) {
        for block in bytes.chunks_mut(BLOCK) {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            if let Some(word) = block.first_chunk_mut::<8>() {
                *word = self.0.to_le_bytes();
            }
        }
    }
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

    #[test]
    fn no_two_written_blocks_are_equal() {
        let mut buffer = Buffer::new(3 * BLOCK, BLOCK, 3).unwrap();
        let mut stamp = Stamp::new(3);
        let mut seen = HashSet::new();
        for _ in 0..100 {
            stamp.mark(&mut buffer);
            for block in buffer.chunks(BLOCK) {
                assert!(seen.insert(block.to_vec()));
            }
        }
        stamp.mark(&mut [0; 3]);
    }
}
