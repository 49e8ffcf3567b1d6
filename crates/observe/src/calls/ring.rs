//! An `io_uring(7)` ring in a stopped process's memory: what is submitted on it, and what has
//! completed.

use super::aio::{Asked, Control, vector_bytes};
use super::description::{Description, Shared};
use super::memory::{Bytes, read};
use super::numbers::WAITS;

/// Size of `struct io_uring_params` and offsets in it (`linux/io_uring.h`), in bytes.
const PARAMS: usize = 120;
const SUBMISSION: usize = 40;
const COMPLETION: usize = 80;

/// `IORING_SETUP_SQPOLL`: a kernel thread takes requests without any call.
const POLLED: u32 = 1 << 1;
/// `IORING_SETUP_SQE128`, `_CQE32`: entries of twice the size.
const LARGE_SUBMISSIONS: u32 = 1 << 10;
const LARGE_COMPLETIONS: u32 = 1 << 11;
/// `IORING_SETUP_NO_MMAP`: the program brings its own memory.
const OWN_MEMORY: u32 = 1 << 14;
/// `IORING_SETUP_NO_SQARRAY`: entries are taken in order.
const NO_ARRAY: u32 = 1 << 16;
/// `IORING_FEAT_SINGLE_MMAP`: both rings are in one mapping.
const ONE_MAPPING: u32 = 1;

/// Offsets for `mmap(2)` that stand for the parts of a ring.
const MAP_COMPLETIONS: u64 = 0x0800_0000;
const MAP_ENTRIES: u64 = 0x1000_0000;

/// `IOSQE_FIXED_FILE`.
const FIXED_FILE: u8 = 1;
/// More files than any ring may have.
const FILES_MOST: usize = 1 << 20;

/// An entry of a ring's table of files, and the descriptor by which it was registered, which may
/// refer to something else by now.
pub(super) type Fixed = (Shared<Description>, i32);

/// A ring, as far as its program has set it up.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    params: Bytes,
    flags: u32,
    submissions: Option<u64>,
    completions: Option<u64>,
    entries: Option<u64>,
    /// Completions up to here were seen. In an inherited ring, those for other processes are not
    /// ours.
    seen: Option<u32>,
    /// Registered files, by index; `None` for an empty or unknown entry.
    pub(super) files: Vec<Option<Fixed>>,
}

impl Ring {
    /// The ring that `io_uring_setup(_, address)` has just created; `None` if its requests cannot
    /// be seen at calls.
    pub(super) fn of(tid: i32, address: u64) -> Option<Self> {
        let params = read(tid, address, PARAMS)?;
        let flags = params.word32(8)?;
        (flags & (POLLED | OWN_MEMORY) == 0).then_some(Self {
            params,
            flags,
            submissions: None,
            completions: None,
            entries: None,
            seen: Some(0),
            files: Vec::new(),
        })
    }

    /// The same ring for a process that inherited it, and has submitted nothing to it yet.
    pub(super) fn inherited(&self) -> Self {
        Self { seen: None, ..self.clone() }
    }

    /// Notes that a part of the ring was mapped.
    pub(super) fn map(&mut self, offset: u64, address: u64) {
        match offset {
            0 => {
                self.submissions = Some(address);
                let is_one = self.params.word32(20).is_some_and(|found| found & ONE_MAPPING != 0);
                self.completions = self.completions.or(is_one.then_some(address));
            }
            MAP_COMPLETIONS => self.completions = Some(address),
            MAP_ENTRIES => self.entries = Some(address),
            _ => {}
        }
    }

    /// Replaces the entries of its table from index `first` on; `None` leaves an entry as it is.
    pub(super) fn register(&mut self, first: usize, files: Vec<Option<Option<Fixed>>>) {
        let end = first.saturating_add(files.len()).min(FILES_MOST);
        self.files.resize(self.files.len().max(end), None);
        for (known, file) in self.files.iter_mut().skip(first).zip(files) {
            if let Some(file) = file {
                *known = file;
            }
        }
    }

    /// Forgets the entry at this index, which is now another file, or none.
    pub(super) fn forget(&mut self, number: i32) {
        if let Some(known) = usize::try_from(number).ok().and_then(|at| self.files.get_mut(at)) {
            *known = None;
        }
    }

    /// A word of the submission ring, by its place among the offsets of the parameters.
    fn submission_word(&self, tid: i32, place: usize) -> Option<u32> {
        let address = self.submissions? + u64::from(self.params.word32(SUBMISSION + place)?);
        read(tid, address, 4)?.word32(0)
    }

    /// A word of the completion ring, by its place among the offsets of the parameters.
    fn completion_word(&self, tid: i32, place: usize) -> Option<u32> {
        let address = self.completions? + u64::from(self.params.word32(COMPLETION + place)?);
        read(tid, address, 4)?.word32(0)
    }

    /// The requests that `io_uring_enter` is about to take, at most `count`; `None` if the ring
    /// cannot be understood.
    pub(super) fn submitted(&mut self, tid: i32, count: u64) -> Option<Vec<Control>> {
        self.seen = self.seen.or_else(|| self.completion_word(tid, 4));
        let (head, tail) = (self.submission_word(tid, 0)?, self.submission_word(tid, 4)?);
        let mask = self.submission_word(tid, 8)?;
        let array = self.submissions? + u64::from(self.params.word32(SUBMISSION + 24)?);
        let size = if self.flags & LARGE_SUBMISSIONS == 0 { 64 } else { 128 };
        let count = u64::from(tail.wrapping_sub(head)).min(count).min(u64::from(mask) + 1);
        let one = |number: u64| {
            let at = head.wrapping_add(number as u32) & mask;
            let index = match self.flags & NO_ARRAY {
                0 => read(tid, array + 4 * u64::from(at), 4)?.word32(0)? & mask,
                _ => at,
            };
            control(tid, &read(tid, self.entries? + size * u64::from(index), 64)?)
        };
        (0..count).map(one).collect()
    }

    /// Keys and values of the completions since the last time, as far as they are still in the
    /// ring.
    pub(super) fn completed(&mut self, tid: i32) -> Option<Vec<(u64, i64)>> {
        let (tail, mask) = (self.completion_word(tid, 4)?, self.completion_word(tid, 8)?);
        let first = self.completions? + u64::from(self.params.word32(COMPLETION + 20)?);
        let size = if self.flags & LARGE_COMPLETIONS == 0 { 16 } else { 32 };
        let standing = tail.wrapping_sub(self.seen.unwrap_or(tail)).min(mask.wrapping_add(1));
        let one = |back: u32| {
            let at = u64::from(tail.wrapping_sub(back) & mask);
            let entry = read(tid, first + size * at, 16)?;
            Some((entry.word64(0)?, i64::from(entry.word32(8)? as i32)))
        };
        let found = (1..=standing).rev().map(one).collect();
        self.seen = Some(tail);
        found
    }
}

/// Decodes a submission queue entry.
fn control(tid: i32, entry: &Bytes) -> Option<Control> {
    let (pointer, len) = (entry.word64(16)?, u64::from(entry.word32(24)?));
    let flags = entry.word32(28)?;
    let (asked, len) = match entry.word8(0)? {
        1 => (Asked::Read, vector_bytes(tid, pointer, len)),
        2 => (Asked::Write, vector_bytes(tid, pointer, len)),
        4 | 22 => (Asked::Read, len),
        5 | 23 => (Asked::Write, len),
        3 => (Asked::Sync, 0),
        8 if u64::from(flags) & WAITS != 0 => (Asked::WriteBack, 0),
        18 | 28 => (Asked::Open, 0),
        19 => (Asked::Close, 0),
        _ => (Asked::Other, 0),
    };
    let (fd, is_fixed_file) = match (asked, entry.word32(44)?) {
        // For the table of files, the value is one more than the index.
        (Asked::Open | Asked::Close, place @ 1..) => ((place - 1) as i32, true),
        _ => (entry.word32(4)? as i32, entry.word8(1)? & FIXED_FILE != 0),
    };
    Some(Control {
        key: entry.word64(32)?,
        asked,
        fd,
        is_fixed_file,
        offset: entry.word64(8)?,
        len,
        flags,
    })
}
