//! `bcopy`: copying memory, in each cache and beyond all of them (Ousterhout 1990, section 7, Table 5).
#![expect(
    unsafe_code,
    reason = "copies between two parts of one allocation, by pointer and by streaming stores"
)]

use super::case::{Case, Op, not_here, wrong};
use super::sizes::Sizes;
use std::hint::black_box;
use std::io;

/// Alignment of both blocks: a cache line.
const LINE: usize = 64;

/// An offset that gives the blocks different positions within a page. At the same position the
/// processor would take a load to depend on an earlier store.
const APART: usize = 2048 + LINE;

/// Name of the benchmark.
pub(crate) const NAME: &str = "bcopy";

/// The cases of blocks in no cache: by the C library, with streaming stores, and with two blocks
/// that are together twice the last cache, the size that other benchmarks assume to be in no cache.
pub(crate) const MEMORY: &str = "memory";
pub(crate) const STREAMING: &str = "memory, streaming stores";
pub(crate) const TWICE: &str = "twice the last cache";

/// A way to copy `len` bytes between blocks that do not overlap.
type Copy = unsafe fn(to: *mut u8, from: *const u8, len: usize);

/// Two blocks of pieces: written to once, aligned and apart.
struct Blocks {
    memory: Vec<u8>,
    from: usize,
    to: usize,
    /// Bytes of a piece: the amount copied by one operation.
    len: usize,
    pieces: usize,
    /// The next piece to copy.
    next: usize,
    round: u8,
}

impl Blocks {
    fn new(len: usize, pieces: usize) -> io::Result<Self> {
        let block = len * pieces;
        // One allocation, because the blocks may be larger than the cache of a whole host.
        let memory = vec![u8::MAX; 2 * block + APART + 2 * LINE];
        let from = memory.as_ptr().align_offset(LINE);
        let to = from + (block + APART).next_multiple_of(LINE);
        let blocks = Self { memory, from, to, len, pieces, next: 0, round: 0 };
        touched(blocks.source())?;
        Ok(blocks)
    }

    fn source(&self) -> &[u8] {
        &self.memory[self.from..self.from + self.len * self.pieces]
    }

    /// Copies `count` pieces in turn, and checks that new data in the last one has arrived.
    fn copy(&mut self, copy: Copy, count: u64) -> io::Result<()> {
        self.round = self.round.wrapping_add(1);
        let last = (self.next as u64 + count.saturating_sub(1)) % self.pieces as u64;
        let last = last as usize * self.len;
        let places = [last, last + self.len / 2, last + self.len - 1];
        for place in places {
            self.memory[self.from + place] = self.round;
        }
        for _ in 0..count {
            let base = black_box(self.memory.as_mut_ptr());
            let at = self.next * self.len;
            // SAFETY: both pieces lie within the allocation and do not overlap, see `new`.
            unsafe { copy(base.add(self.to + at), base.add(self.from + at), self.len) };
            black_box(base);
            self.next = if self.next + 1 == self.pieces { 0 } else { self.next + 1 };
        }
        if places.iter().any(|place| self.memory[self.to + place] != self.round) {
            return Err(wrong(
                "the destination does not hold the source: the copy was optimised away or cut short",
            ));
        }
        Ok(())
    }
}

/// Refuses a source with pages that were never written: all of them map the same page of zeros,
/// which never leaves the cache.
fn touched(source: &[u8]) -> io::Result<()> {
    let page = ioscape_machine::cache::page_size() as usize;
    match source.chunks(page).filter(|page| page.iter().all(|byte| *byte == 0)).count() {
        0 => Ok(()),
        zeros => Err(wrong(format!(
            "{zeros} pages of the source were never written: the kernel maps them all to one page of zeros"
        ))),
    }
}

/// The C library's copy.
unsafe fn library(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller upholds the contract.
    unsafe { std::ptr::copy_nonoverlapping(from, to, len) }
}

/// Stores that bypass the caches.
#[cfg(target_arch = "x86_64")]
unsafe fn streaming(to: *mut u8, from: *const u8, len: usize) {
    use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_sfence, _mm_stream_si128};
    // SAFETY: both blocks are aligned to a line and the length is a multiple of one; SSE2 is part of the architecture.
    unsafe {
        for at in (0..len).step_by(LINE) {
            for part in (0..LINE).step_by(16) {
                let value = _mm_load_si128(from.add(at + part).cast::<__m128i>());
                _mm_stream_si128(to.add(at + part).cast::<__m128i>(), value);
            }
        }
        _mm_sfence();
    }
}

/// Returns the copy that bypasses the caches, if this architecture has one.
fn streaming_copy() -> io::Result<Copy> {
    #[cfg(target_arch = "x86_64")]
    return Ok(streaming);
    #[cfg(not(target_arch = "x86_64"))]
    Err(not_here("streaming stores are implemented for x86-64 only"))
}

/// The cases for these caches; the relative speed is computed from `memory`.
pub(crate) fn cases(sizes: &Sizes) -> Vec<Case> {
    let mut all = Vec::new();
    for (level, &bytes) in (1u32..).zip(&sizes.caches) {
        let name = format!("level {level} cache");
        let len = sizes.block_within(level, bytes);
        let one = case(&name, (len, 1), false, "Copying within this cache.");
        // Caches from the third level on are shared by several cores.
        all.push(if level > 2 { one.sharing() } else { one });
    }
    // Pieces keep a batch as short as with smaller blocks.
    let past = |pieces| (sizes.block_past_caches(), pieces);
    let whole = sizes.pieces_past_all();
    let teaches = "Copying memory that is in no cache: the bandwidth available for buffers, messages and files.";
    all.push(case(MEMORY, past(whole), false, teaches).sharing().effort(3.0));
    let teaches = "The same with stores that bypass the caches: what the library could gain.";
    all.push(case(STREAMING, past(whole), true, teaches).sharing().effort(3.0));
    if whole > 1 {
        let teaches = "The same within twice the last cache that the kernel tells of: where that is faster than in memory, a cache holds a part of it.";
        all.push(case(TWICE, past(1), false, teaches).sharing());
    }
    all
}

/// The case that copies between blocks of `pieces` pieces of `len` bytes.
fn case(
    name: &str,
    (len, pieces): (Result<u64, String>, u64),
    past: bool,
    teaches: &'static str,
) -> Case {
    let moved = *len.as_ref().unwrap_or(&1);
    let ready = move |_: &_| -> io::Result<Op> {
        let len = len.clone().map_err(not_here)?;
        let copy = if past { streaming_copy()? } else { library };
        let fits =
            |size: u64| usize::try_from(size).map_err(|_| not_here("the block is too large"));
        let mut blocks = Blocks::new(fits(len)?, fits(pieces)?)?;
        Ok(Box::new(move |count| blocks.copy(copy, count)))
    };
    Case::new(NAME, name, teaches, ready).moving(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_copy_everything() {
        for copy in [library as Copy, streaming_copy().unwrap_or(library)] {
            let mut blocks = Blocks::new(64 * LINE, 1).unwrap();
            blocks.memory.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at % 251) as u8);
            blocks.copy(copy, 3).unwrap();
            let (from, to, len) = (blocks.from, blocks.to, blocks.len);
            assert_eq!(blocks.memory[from..from + len], blocks.memory[to..to + len]);
            assert_eq!(from % LINE, to % LINE);
        }
    }

    #[test]
    fn pieces_are_copied_in_turns() {
        let mut blocks = Blocks::new(4 * LINE, 3).unwrap();
        blocks.memory.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at % 251) as u8);
        let arrived = |blocks: &Blocks| -> Vec<bool> {
            let piece =
                |block: usize, at: usize| &blocks.memory[block + at * blocks.len..][..blocks.len];
            (0..3).map(|at| piece(blocks.from, at) == piece(blocks.to, at)).collect()
        };
        blocks.copy(library, 2).unwrap();
        assert_eq!(arrived(&blocks), [true, true, false]);
        blocks.copy(library, 1).unwrap();
        assert_eq!(arrived(&blocks), [true; 3]);
        blocks.copy(library, 7).unwrap();
        assert_eq!(blocks.next, 1);
    }

    #[test]
    fn a_copy_removed_on_purpose_is_found_out() {
        unsafe fn removed(_: *mut u8, _: *const u8, _: usize) {}
        unsafe fn halved(to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: half of the range that the caller guarantees.
            unsafe { library(to, from, len / 2) }
        }
        for fault in [removed as Copy, halved] {
            let error = Blocks::new(4096, 1).unwrap().copy(fault, 5).unwrap_err();
            assert!(error.to_string().contains("does not hold the source"), "{error}");
        }
    }

    #[test]
    fn a_source_of_zero_pages_is_found_out() {
        let page = ioscape_machine::cache::page_size() as usize;
        let mut source = vec![0u8; 4 * page];
        assert!(touched(&source).unwrap_err().to_string().starts_with("4 pages"));
        for at in 0..4 {
            source[at * page + 7] = 1;
        }
        assert!(touched(&source).is_ok());
    }

    #[test]
    fn every_cache_and_memory_have_a_case() {
        let sizes = Sizes { caches: vec![48 << 10, 1 << 20], ..Sizes::default() };
        let names: Vec<String> = cases(&sizes).into_iter().map(|case| case.case).collect();
        assert_eq!(names, ["level 1 cache", "level 2 cache", MEMORY, STREAMING]);
        let roomy = Sizes { memory: 8 << 30, ..sizes.clone() };
        let names: Vec<String> = cases(&roomy).into_iter().map(|case| case.case).collect();
        assert_eq!(names[2..], [MEMORY, STREAMING, TWICE]);
        assert_eq!(Sizes { memory: 1 << 20, ..sizes }.block_within(1, 48 << 10), Ok(12 << 10));
    }
}
