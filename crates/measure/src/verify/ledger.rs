//! Records which write every block of a file holds, shared by all workers, and which blocks are
//! being written.
//!
//! Each block has a word in shared memory: the number of its last write, and how many writes to it
//! are under way. A block is judged only if none was under way while it was read. After two
//! requests wrote a block at the same time, it may hold either write, or parts of both. It is then
//! not judged until the next write that runs alone.

use super::block::Owner;
use crate::engine::buffer::check_room;
use ioscape_machine::cache::page_size;
use ioscape_machine::error::Error;
use ioscape_machine::shared::Shared;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bit of a word where the count of writes under way begins; the number of the last write is
/// below it.
const UNDER_WAY: u32 = 48;
const ONE: u64 = 1 << UNDER_WAY;
const NUMBER: u64 = ONE - 1;

/// The number of the write that laid the file out; 0 means that the contents are unknown.
const LAID_OUT: u64 = 1;

/// Size of the pieces of a file for which the ledger knows whether they were written. The words of
/// unwritten pieces are not even read, since reading them would already allocate memory.
pub(crate) const PIECE: u64 = 1 << 20;

/// What to do if there is not enough memory for the ledger of a workload's blocks.
pub(crate) const LESS: &str = "verify less, or in larger blocks";

/// The word of a block before a request was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

impl Entry {
    /// The write that the block must hold, if that is known.
    pub(crate) fn write(self) -> Option<u64> {
        (self.0 >> UNDER_WAY == 0 && self.0 != 0).then_some(self.0)
    }
}

/// Records which write every block of a file holds, and which blocks are being written; shared by
/// all workers.
#[derive(Debug)]
pub struct Ledger {
    words: Shared,
    /// For each piece of the file, whether any of it was written.
    pieces: Shared,
    /// The owner of the blocks.
    pub(crate) owner: Owner,
    /// Size of a block in bytes, a power of two.
    pub(crate) block_bytes: u64,
}

/// Memory in bytes that a ledger takes for the first `bytes` of a file if at most `pieces` of its
/// pieces are written; absent: all of them may be.
pub(crate) fn memory_of(bytes: u64, block_bytes: u64, pieces: Option<u64>) -> u64 {
    let words = |bytes: u64| bytes / block_bytes * size_of::<u64>() as u64;
    let Some(pieces) = pieces else { return words(bytes) };
    // The words of a piece, all of which are read in the end, may begin anywhere in a page.
    words(bytes).min(pieces.saturating_mul(words(PIECE) + page_size()))
}

/// Refuses ledgers of `needed` bytes in total if they would take more than half of the available
/// memory, or of what a `limit` leaves of it. `advice` says what to do.
pub(crate) fn check_memory(needed: u64, limit: Option<u64>, advice: &str) -> Result<(), Error> {
    let advice = format!("verification keeps 8 bytes for each block written: {advice}");
    check_room(needed, "the account of its blocks needs", limit, &advice)
}

impl Ledger {
    /// A ledger for the first `bytes` of a file, none of which is known yet.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn new(bytes: u64, block_bytes: u64, owner: Owner) -> io::Result<Self> {
        let room = |words: u64| {
            Shared::new(1, usize::try_from(words).map_err(|_| io::ErrorKind::OutOfMemory)?)
        };
        let (words, pieces) = (room(1 + bytes / block_bytes)?, room(bytes.div_ceil(PIECE))?);
        words.report(0)[0].store(LAID_OUT, Ordering::Relaxed);
        Ok(Self { words, pieces, owner, block_bytes })
    }

    fn entries(&self) -> &[AtomicU64] {
        &self.words.report(0)[1..]
    }

    /// The number of bytes that the ledger covers.
    pub(crate) fn bytes(&self) -> u64 {
        self.entries().len() as u64 * self.block_bytes
    }

    /// The indices of the blocks that `range` touches.
    fn touched(&self, range: &Range<u64>) -> Range<usize> {
        let end = range.end.div_ceil(self.block_bytes).min(self.entries().len() as u64);
        (range.start / self.block_bytes).min(end) as usize..end as usize
    }

    /// The places of the blocks that lie entirely in `range`.
    pub(crate) fn whole(&self, range: &Range<u64>) -> impl Iterator<Item = u64> + use<> {
        let first = range.start.next_multiple_of(self.block_bytes);
        let step = self.block_bytes as usize;
        (first..range.end.min(self.bytes()) / self.block_bytes * self.block_bytes).step_by(step)
    }

    /// What is known of the block at `place`.
    #[inline]
    pub(crate) fn entry(&self, place: u64) -> Entry {
        let word = self.entries().get((place / self.block_bytes) as usize);
        let word = word.filter(|_| self.is_written(place));
        Entry(word.map_or(0, |word| word.load(Ordering::Acquire)))
    }

    /// The blocks that lie entirely in `range` and whose contents are known: the place of each, and
    /// what is known.
    pub(crate) fn known(&self, range: Range<u64>) -> impl Iterator<Item = (u64, Entry)> {
        let (start, end) = (range.start, range.end.min(self.bytes()));
        let pieces = (start / PIECE..end.div_ceil(PIECE)).map(|piece| piece * PIECE);
        pieces
            .filter(move |piece| self.is_written(*piece))
            .flat_map(move |piece| self.whole(&(start.max(piece)..end.min(piece + PIECE))))
            .map(move |place| (place, self.entry(place)))
            .filter(|(_, entry)| entry.write().is_some())
    }

    /// Whether anything in the piece that contains `place` was written.
    fn is_written(&self, place: u64) -> bool {
        let piece = self.pieces.report(0).get((place / PIECE) as usize);
        piece.is_some_and(|piece| piece.load(Ordering::Acquire) != 0)
    }

    /// Notes that something in `range` is about to be written.
    fn mark(&self, range: &Range<u64>) {
        let pieces = self.pieces.report(0);
        let end = range.end.div_ceil(PIECE).min(pieces.len() as u64);
        for piece in &pieces[(range.start / PIECE).min(end) as usize..end as usize] {
            piece.store(1, Ordering::Release);
        }
    }

    /// Notes that `range` is laid out; returns the number of that write.
    pub(crate) fn lay_out(&self, range: &Range<u64>) -> u64 {
        self.mark(range);
        for place in self.whole(range) {
            self.entries()[(place / self.block_bytes) as usize].store(LAID_OUT, Ordering::Release);
        }
        LAID_OUT
    }

    /// Notes that a write to `range` is about to be issued; returns its number.
    pub(crate) fn begin(&self, range: &Range<u64>) -> u64 {
        let number = self.words.report(0)[0].fetch_add(1, Ordering::Relaxed) + 1;
        self.mark(range);
        for (word, block) in self.words_of(range) {
            let is_whole = range.start <= block && block + self.block_bytes <= range.end;
            let alone = if is_whole { number } else { 0 };
            change(word, |old| {
                let number = if old >> UNDER_WAY == 0 { alone } else { 0 };
                ((old & !NUMBER) + ONE) | number
            });
        }
        number
    }

    /// Notes that the write to `range` that the same worker began last is done.
    pub(crate) fn end(&self, range: &Range<u64>) {
        for (word, _) in self.words_of(range) {
            word.fetch_sub(ONE, Ordering::AcqRel);
        }
    }

    /// Notes that the contents of `range` are no longer known.
    pub(crate) fn forget(&self, range: &Range<u64>) {
        for (word, _) in self.words_of(range) {
            change(word, |old| old & !NUMBER);
        }
    }

    /// Notes that a block is wrong, so that it is reported once and not at every read. Returns
    /// whether this caller is the one to report it.
    pub(crate) fn condemn(&self, place: u64, entry: Entry) -> bool {
        let word = self.entries().get((place / self.block_bytes) as usize);
        let swap = |word: &AtomicU64| {
            word.compare_exchange(entry.0, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        word.is_some_and(swap)
    }

    fn words_of(&self, range: &Range<u64>) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let touched = self.touched(range);
        let places = (touched.start as u64..).map(|block| block * self.block_bytes);
        self.entries()[touched].iter().zip(places)
    }
}

fn change(word: &AtomicU64, how: impl Fn(u64) -> u64) {
    // The closure always returns a value, so the update cannot fail.
    let _ = word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| Some(how(old)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        Ledger::new(10 * 4096 + 100, 4096, Owner { run: 1, file: 0 }).unwrap()
    }

    #[test]
    fn a_block_is_known_after_one_write_alone() {
        let ledger = ledger();
        assert_eq!(ledger.bytes(), 40960);
        assert_eq!(ledger.entry(4096).write(), None, "nothing is known at first");
        assert_eq!(ledger.lay_out(&(0..40960)), 1);
        let number = ledger.begin(&(4096..12288));
        assert_eq!(number, 2);
        assert_eq!(ledger.entry(4096).write(), None, "it is being written");
        assert_eq!(ledger.entry(0).write(), Some(1));
        ledger.end(&(4096..12288));
        assert_eq!(
            [4096, 8192, 12288].map(|at| ledger.entry(at).write()),
            [Some(2), Some(2), Some(1)]
        );
    }

    #[test]
    fn what_two_wrote_at_a_time_is_unknown_until_the_next_write() {
        let ledger = ledger();
        let (first, second) = (0..8192, 4096..8192);
        ledger.begin(&first);
        ledger.begin(&second);
        ledger.end(&first);
        assert_eq!(ledger.entry(4096).write(), None);
        ledger.end(&second);
        assert_eq!(ledger.entry(4096).write(), None);
        assert_eq!(ledger.entry(0).write(), Some(2));
        let number = ledger.begin(&second);
        ledger.end(&second);
        assert_eq!(ledger.entry(4096).write(), Some(number));
    }

    #[test]
    fn parts_and_what_was_given_back_are_unknown_and_places_beyond_are_ignored() {
        let ledger = ledger();
        ledger.lay_out(&(0..40960));
        let part = 100..8192;
        ledger.begin(&part);
        ledger.end(&part);
        assert_eq!([0, 4096].map(|at| ledger.entry(at).write()), [None, Some(2)]);
        ledger.forget(&(8000..8300));
        assert_eq!([4096, 8192, 12288].map(|at| ledger.entry(at).write()), [None, None, Some(1)]);
        let beyond = 36864..1 << 40;
        ledger.begin(&beyond);
        ledger.end(&beyond);
        assert_eq!(ledger.whole(&(100..1 << 50)).last(), Some(36864));
        let entry = ledger.entry(36864);
        assert!(ledger.condemn(36864, entry) && !ledger.condemn(36864, entry));
        assert_eq!(ledger.entry(36864).write(), None);
    }

    #[test]
    fn known_are_the_blocks_of_a_range_that_were_written_in_any_of_its_pieces() {
        let ledger = Ledger::new(3 * PIECE, 4096, Owner { run: 1, file: 0 }).unwrap();
        for range in [0..4096, 2 * PIECE - 4096..2 * PIECE + 8192] {
            ledger.begin(&range);
            ledger.end(&range);
        }
        let places = |range| ledger.known(range).map(|(place, _)| place).collect::<Vec<_>>();
        let (before, behind) = (2 * PIECE - 4096, 2 * PIECE);
        assert_eq!(places(0..u64::MAX), [0, before, behind, behind + 4096]);
        assert_eq!(places(4096..behind), [before]);
        assert!(places(4096..before).is_empty());
        assert_eq!(places(behind + 4096..3 * PIECE), [behind + 4096]);
    }

    #[test]
    fn memory_is_counted_for_what_is_written_and_not_for_the_addresses() {
        let tib = 1 << 40;
        assert_eq!(memory_of(tib, 512, None), 16u64 << 30);
        assert_eq!(memory_of(tib, 512, Some(0)), 0);
        assert_eq!(memory_of(tib, 512, Some(10)), 10 * ((16 << 10) + page_size()));
        assert_eq!(memory_of(1 << 20, 4096, Some(u64::MAX)), 2048);
        let fits = |needed| check_memory(needed, None, LESS).is_ok();
        assert!(!fits(u64::MAX) && fits(2048));
    }
}
