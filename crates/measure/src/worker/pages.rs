//! Brings a set into the file cache page by page, as random requests do.
//!
//! Large writes and read-ahead leave large folios. In these, ext4 of Linux 6.18 takes 22 to 37 us
//! to overwrite 4 KiB and 120 to 140 us for 1 MiB; in single pages, it takes 2.7 and 268 us. Cached
//! files have both kinds, but all rounds and sizes must meet the same kind.

use ioscape_machine::cache::{self, page_size};
use rustix::fs::Advice;
use std::fs::File;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

/// How far ahead of the reading the pages of a set are requested, in bytes.
pub(super) const AHEAD_BYTES: u64 = 8 << 20;

/// Bytes requested at a time. Of a longer range, the kernel reads no more than the largest request
/// that the device accepts.
const ASKED_BYTES: usize = 128 << 10;

/// Write-back begins after each of this many bytes; otherwise, it would wait for the end.
const BEGUN_BYTES: u64 = 8 << 20;

/// Bytes to write at a time so that pages are cached one by one: a page, or a whole block of the
/// layer below, since a part of a block would have to be read first.
pub(super) fn piece_bytes(file: &File) -> usize {
    let block = file.metadata().map_or(0, |found| found.blksize());
    page_size().max(block) as usize
}

/// The pieces in which `len` bytes from `place` are written, as ranges from 0; each but the last
/// ends at a multiple of `piece`.
pub(super) fn pieces(place: u64, len: usize, piece: usize) -> impl Iterator<Item = Range<usize>> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = place + done as u64;
        let next = (done + piece - (at % piece as u64) as usize).min(len);
        let one = done..next;
        done = next;
        (!one.is_empty()).then_some(one)
    })
}

/// Begins write-back of what was just written up to `end`, in a part that begins at `start`,
/// whenever enough has accumulated.
pub(super) fn begin_writing(file: &File, start: u64, end: u64) {
    if end.is_multiple_of(BEGUN_BYTES) {
        let from = start.max(end - BEGUN_BYTES);
        cache::begin_writing(file, from, end - from);
    }
}

/// Turns off the kernel's own read-ahead, which would come in large folios.
pub(super) fn read_nothing_ahead(file: &File) {
    // A kernel that declines reads as usual.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::Random);
}

/// Requests the pages of `range`, which arrive one by one, later.
pub(super) fn ask_for(file: &File, range: Range<u64>) {
    for at in range.clone().step_by(ASKED_BYTES) {
        let len = NonZeroU64::new((range.end - at).min(ASKED_BYTES as u64));
        // Pages that do not arrive now are read when they are needed.
        let _ = rustix::fs::fadvise(file, at, len, Advice::WillNeed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_whole_pages_wherever_they_begin() {
        let of = |place, len| pieces(place, len, 4096).collect::<Vec<_>>();
        assert_eq!(of(8192, 8192), [0..4096, 4096..8192]);
        assert_eq!(of(5000, 8192), [0..3192, 3192..7288, 7288..8192]);
        assert_eq!(of(4095, 2), [0..1, 1..2]);
        assert_eq!(of(0, 0), []);
    }

    #[test]
    fn what_storage_begins_to_write_stays_in_the_cache() {
        let file = tempfile::tempfile_in(ioscape_machine::testing::build_directory()).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &vec![1; BEGUN_BYTES as usize], 0).unwrap();
        begin_writing(&file, 0, BEGUN_BYTES);
        std::thread::sleep(std::time::Duration::from_millis(100));
        begin_writing(&file, 0, BEGUN_BYTES);
        if let Some(there) = cache::resident_bytes(&file, 0, BEGUN_BYTES) {
            assert!(there * 10 >= 9 * BEGUN_BYTES, "{there}");
        }
    }

    #[test]
    fn a_piece_is_a_page_or_a_larger_block() {
        let file = tempfile::tempfile_in(ioscape_machine::testing::build_directory()).unwrap();
        let piece = piece_bytes(&file) as u64;
        assert!(piece >= page_size() && piece.is_multiple_of(page_size()), "{piece}");
    }
}
