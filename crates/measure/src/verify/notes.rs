//! The findings of each stream about the data, and how they pass from a worker to the conductor
//! through shared words.

use super::block::Wrong;
use ioscape_machine::shared::{Shared, bump};
use ioscape_schema::{VerifyFinding, VerifyKind, VerifyReport};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most findings that a report lists one by one. Each stream has room for that many, since it
/// may be the only one that finds any.
const TOLD: usize = 20;
/// Stands for an unknown number; a sum that includes it is unknown too.
const UNTOLD: u64 = u64::MAX;
/// Words of a finding: kind, offset, expected and found write, place and file of the block found,
/// and the file it was found in.
const FINDING_WORDS: usize = 7;
/// Number of words before the counts by kind.
const SUMS: usize = 2;
const FIRST: usize = SUMS + VerifyKind::ALL.len();
const WORDS: usize = FIRST + TOLD * FINDING_WORDS;

/// One area per stream, and one more for reading back at the end.
#[derive(Debug)]
pub(crate) struct NoteBook(Shared);

/// The area of one stream, to which only that stream writes: blocks checked, blocks not judged
/// (when reading back: cached bytes), wrong blocks of each kind, findings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notes<'a>(&'a [AtomicU64]);

impl NoteBook {
    /// Makes areas for `streams` streams and for reading back.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn new(streams: usize) -> io::Result<Self> {
        Shared::new(streams + 1, WORDS).map(Self)
    }

    /// The area of stream `index`.
    pub(crate) fn of(&self, index: usize) -> Notes<'_> {
        Notes(self.0.report(index))
    }

    /// The area for reading back.
    pub(crate) fn at_end(&self) -> Notes<'_> {
        self.of(self.0.streams() - 1)
    }

    /// Sums up all areas, for blocks of `block_bytes`; `name` returns the name of a file.
    pub(crate) fn report(&self, block_bytes: u64, name: impl Fn(usize) -> String) -> VerifyReport {
        let mut report = VerifyReport { block_bytes, ..VerifyReport::default() };
        let end = self.0.streams() - 1;
        for index in 0..=end {
            let words = self.0.report(index);
            let load = |at: usize| words[at].load(Ordering::Relaxed);
            if index == end {
                report.read_back_blocks = load(0);
                let cached = load(1) as f64 / (report.read_back_blocks * block_bytes).max(1) as f64;
                report.from_storage_frac =
                    (load(1) != UNTOLD).then_some((1.0 - cached).clamp(0.0, 1.0));
            } else {
                report.checked_blocks += load(0);
                report.unjudged_blocks += load(1);
            }
            for (at, kind) in (SUMS..).zip(VerifyKind::ALL) {
                *report.count_mut(kind) += load(at);
            }
            let told = words[FIRST..].chunks_exact(FINDING_WORDS);
            report.findings.extend(told.map_while(|words| finding(words, index == end, &name)));
        }
        report.findings.truncate(TOLD);
        report
    }
}

fn finding(
    words: &[AtomicU64],
    at_end: bool,
    name: impl Fn(usize) -> String,
) -> Option<VerifyFinding> {
    let [kind, offset, expected_write, write, place, file, found_in] =
        std::array::from_fn(|at| words[at].load(Ordering::Relaxed));
    let kind = *VerifyKind::ALL.get((kind as usize).checked_sub(1)?)?;
    let misplaced = kind == VerifyKind::Misplaced;
    Some(VerifyFinding {
        kind,
        file: name(found_in as usize),
        offset,
        expected_write,
        found_write: (write > 0).then_some(write),
        found_offset: misplaced.then_some(place),
        found_file: (misplaced && file != found_in).then(|| name(file as usize)),
        at_end,
    })
}

impl Notes<'_> {
    /// Notes that a block was checked.
    #[inline]
    pub(crate) fn checked(&self) {
        bump(&self.0[0], 1);
    }

    /// Notes that a block could not be judged.
    #[inline]
    pub(crate) fn unjudged(&self) {
        bump(&self.0[1], 1);
    }

    /// Notes how many bytes of the data to be read back are in the file cache, where that is known.
    pub(crate) fn cached(&self, bytes: Option<u64>) {
        let sum = self.0[1].load(Ordering::Relaxed).saturating_add(bytes.unwrap_or(UNTOLD));
        self.0[1].store(sum, Ordering::Relaxed);
    }

    /// Notes that the block at `offset` of `file` should hold write `expected` but is wrong.
    #[cold]
    pub(crate) fn found(&self, file: u32, offset: u64, expected: u64, wrong: &Wrong) {
        let number = VerifyKind::ALL.iter().position(|kind| *kind == wrong.kind).unwrap_or(0);
        bump(&self.0[SUMS + number], 1);
        let mut places = self.0[FIRST..].chunks_exact(FINDING_WORDS);
        let Some(free) = places.find(|words| words[0].load(Ordering::Relaxed) == 0) else { return };
        let Wrong { write, place, file: of, .. } = *wrong;
        let values =
            [number as u64 + 1, offset, expected, write, place, u64::from(of), u64::from(file)];
        free.iter().zip(values).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_of_all_and_the_first_findings_are_told() {
        let book = NoteBook::new(2).unwrap();
        let wrong = Wrong { kind: VerifyKind::Misplaced, write: 5, place: 4096, file: 1 };
        for n in 0..30 {
            book.of(1).found(0, n * 4096, 9, &wrong);
            book.of(1).checked();
        }
        book.of(0).unjudged();
        book.at_end().checked();
        let torn = Wrong { kind: VerifyKind::Torn, write: 3, place: 0, file: 0 };
        book.at_end().found(0, 0, 4, &torn);
        let report = book.report(4096, |file| format!("f{file}"));
        assert_eq!((report.misplaced, report.torn, report.wrong_blocks()), (30, 1, 31));
        assert_eq!((report.checked_blocks, report.unjudged_blocks), (30, 1));
        assert_eq!(report.read_back_blocks, 1);
        assert_eq!(report.findings.len(), TOLD, "one stream alone fills the report");
        let first = &report.findings[0];
        assert_eq!((first.found_offset, first.found_write), (Some(4096), Some(5)));
        assert_eq!((first.file.as_str(), first.found_file.as_deref()), ("f0", Some("f1")));
    }

    #[test]
    fn what_is_found_at_the_end_is_told_as_that() {
        let book = NoteBook::new(1).unwrap();
        let wrong = Wrong { kind: VerifyKind::Torn, write: 5, place: 4096, file: 0 };
        book.of(0).found(0, 4096, 9, &wrong);
        book.at_end().found(0, 8192, 9, &wrong);
        let found = book.report(4096, |file| format!("f{file}")).findings;
        let at_end: Vec<bool> = found.iter().map(|one| one.at_end).collect();
        assert_eq!(at_end, [false, true]);
        assert_eq!(found[1].found_file, None);
    }

    #[test]
    fn what_cannot_be_told_of_one_file_cannot_be_told_of_all() {
        let share = |files: &[Option<u64>]| {
            let book = NoteBook::new(1).unwrap();
            for bytes in files {
                book.at_end().cached(*bytes);
                book.at_end().checked();
            }
            book.report(4096, |_| String::new()).from_storage_frac
        };
        assert_eq!(share(&[Some(0), Some(4096)]), Some(0.5));
        assert_eq!(share(&[None, None]), None);
        assert_eq!(share(&[None, Some(4096)]), None);
        assert_eq!(share(&[Some(4096), None, Some(0)]), None);
    }
}
