//! `bcopy`: copying memory, in each cache and beyond all of them (Ousterhout 1990, section 7, Table 5).
#![expect(
    unsafe_code,
    reason = "copies between two parts of one allocation, by pointer and by streaming stores"
)]

use super::case::{Case, Op, not_here, wrong};
use super::result::withdraw;
use super::sizes::Sizes;
use ioscape_schema::OsBenchmark;
use std::hint::black_box;
use std::io;

/// Alignment of both blocks: a cache line.
const LINE: usize = 64;

/// Distance that keeps the blocks from the same place within a page, where stores and loads would be taken for the same.
const APART: usize = 2048 + LINE;

/// The case of blocks that no cache holds.
const MEMORY: &str = "memory";

/// A copy within a cache that several cores share is faster than one in memory by more than this factor, or the cache is not at hand.
const FASTER: f64 = 1.05;

/// A way to copy `len` bytes between blocks that do not overlap.
type Copy = unsafe fn(to: *mut u8, from: *const u8, len: usize);

/// Two blocks, touched, aligned and apart.
struct Blocks {
    memory: Vec<u8>,
    from: usize,
    to: usize,
    len: usize,
    round: u8,
}

impl Blocks {
    fn new(len: usize) -> io::Result<Self> {
        // In one go, for the blocks may be larger than a cache of the whole host.
        let memory = vec![u8::MAX; 2 * len + APART + 2 * LINE];
        let from = memory.as_ptr().align_offset(LINE);
        let to = from + (len + APART).next_multiple_of(LINE);
        let blocks = Self { memory, from, to, len, round: 0 };
        touched(blocks.source())?;
        Ok(blocks)
    }

    fn source(&self) -> &[u8] {
        &self.memory[self.from..self.from + self.len]
    }

    /// Copies `count` times and makes sure that what was new in the source has arrived.
    fn copy(&mut self, copy: Copy, count: u64) -> io::Result<()> {
        self.round = self.round.wrapping_add(1);
        let places = [0, self.len / 2, self.len - 1];
        for place in places {
            self.memory[self.from + place] = self.round;
        }
        for _ in 0..count {
            let base = black_box(self.memory.as_mut_ptr());
            // SAFETY: both blocks lie within the allocation and do not overlap, see `new`.
            unsafe { copy(base.add(self.to), base.add(self.from), self.len) };
            black_box(base);
        }
        if places.iter().any(|place| self.memory[self.to + place] != self.round) {
            return Err(wrong(
                "the destination does not hold the source: the copy was optimised away or cut short",
            ));
        }
        Ok(())
    }
}

/// Refuses a source with pages that nobody wrote to: they are all one page of zeros, which never leaves the cache.
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
    // SAFETY: as the caller promises.
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

/// The way to copy past the caches, where there is one.
fn streaming_copy() -> io::Result<Copy> {
    #[cfg(target_arch = "x86_64")]
    return Ok(streaming);
    #[cfg(not(target_arch = "x86_64"))]
    Err(not_here("streaming stores are implemented for x86-64 only"))
}

/// The cases for these caches; of them `memory` counts.
pub(crate) fn cases(sizes: &Sizes) -> Vec<Case> {
    let mut all = Vec::new();
    for (level, &bytes) in (1u32..).zip(&sizes.caches) {
        let name = format!("level {level} cache");
        let len = sizes.block_within(level, bytes);
        let one = case(name, len, false, "Copying within this cache.");
        // From the third level on, caches are shared by several cores.
        all.push(if level > 2 { one.sharing() } else { one });
    }
    let past = sizes.block_past_caches();
    let teaches = "Copying memory that is in no cache: the bandwidth available for buffers, messages and files.";
    all.push(case(MEMORY.to_owned(), past.clone(), false, teaches).sharing().effort(3.0));
    let teaches = "The same with stores that bypass the caches: what the library could gain.";
    all.push(
        case("memory, streaming stores".to_owned(), past, true, teaches).sharing().effort(3.0),
    );
    all
}

fn case(name: String, len: Result<u64, String>, past: bool, teaches: &'static str) -> Case {
    let moved = *len.as_ref().unwrap_or(&1);
    let ready = move |_: &_| -> io::Result<Op> {
        let len = len.clone().map_err(not_here)?;
        let copy = if past { streaming_copy()? } else { library };
        let len = usize::try_from(len).map_err(|_| not_here("the block is too large"))?;
        let mut blocks = Blocks::new(len)?;
        Ok(Box::new(move |count| blocks.copy(copy, count)))
    };
    Case::new("bcopy", name, teaches, ready).moving(moved)
}

/// Takes the value from a shared cache's case that is no faster than memory, or where it is not known how fast that is: a virtual machine is
/// told of caches that it has no or only a small share of.
pub(crate) fn withdraw_absent_caches(all: &mut [OsBenchmark]) {
    let of_copy = |one: &&OsBenchmark| one.name == "bcopy" && one.case == MEMORY;
    let memory = all.iter().find(of_copy).and_then(|one| one.value);
    let shared = |case: &str| {
        let level = case.strip_prefix("level ").and_then(|rest| rest.split(' ').next());
        level.and_then(|level| level.parse::<u32>().ok()).is_some_and(|level| level > 2)
    };
    for one in all.iter_mut().filter(|one| one.name == "bcopy" && shared(&one.case)) {
        let Some(value) = one.value else { continue };
        let why = match memory {
            Some(memory) if value > memory * FASTER => continue,
            Some(_) => {
                "it is no faster than a copy in memory, so this machine has no such cache for itself, whatever the kernel reports"
            }
            None => {
                "whether this machine has such a cache for itself cannot be told, for the copy in memory has no value to compare with"
            }
        };
        withdraw(one, why.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_is_as_slow_as_memory_is_none() {
        let one = |case: &str, value: f64| OsBenchmark {
            name: "bcopy".into(),
            case: case.into(),
            value: Some(value),
            processes: vec![value; 6],
            ..OsBenchmark::default()
        };
        let mut all = [one("level 2 cache", 10e9), one("level 3 cache", 10.2e9), one(MEMORY, 10e9)];
        withdraw_absent_caches(&mut all);
        assert!(all[0].value.is_some() && all[2].value.is_some());
        assert!(all[1].value.is_none() && all[1].set_aside.len() == 6);
        let mut all = [one("level 3 cache", 30e9), one(MEMORY, 10e9)];
        withdraw_absent_caches(&mut all);
        assert!(all[0].value.is_some());
        all[1].value = None;
        withdraw_absent_caches(&mut all);
        assert_eq!((all[0].value, all[0].set_aside.len()), (None, 6));
        assert!(all[0].not_measured.as_ref().unwrap().contains("cannot be told"));
        let mut all = [one("level 2 cache", 30e9)];
        withdraw_absent_caches(&mut all);
        assert!(all[0].value.is_some(), "the core's own");
    }

    #[test]
    fn both_ways_copy_everything() {
        for copy in [library as Copy, streaming_copy().unwrap_or(library)] {
            let mut blocks = Blocks::new(64 * LINE).unwrap();
            blocks.memory.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at % 251) as u8);
            blocks.copy(copy, 3).unwrap();
            let (from, to, len) = (blocks.from, blocks.to, blocks.len);
            assert_eq!(blocks.memory[from..from + len], blocks.memory[to..to + len]);
            assert_eq!(from % LINE, to % LINE);
        }
    }

    #[test]
    fn a_copy_removed_on_purpose_is_found_out() {
        unsafe fn removed(_: *mut u8, _: *const u8, _: usize) {}
        unsafe fn halved(to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: half of what the caller promises.
            unsafe { library(to, from, len / 2) }
        }
        for fault in [removed as Copy, halved] {
            let error = Blocks::new(4096).unwrap().copy(fault, 5).unwrap_err();
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
        assert_eq!(names, ["level 1 cache", "level 2 cache", "memory", "memory, streaming stores"]);
        assert_eq!(Sizes { memory: 1 << 20, ..sizes }.block_within(1, 48 << 10), Ok(12 << 10));
    }
}
