//! Reads bytes of a Parquet file: from the file for its metadata and the pages of a large row
//! group, from memory for the columns of other row groups.

use crate::read::source::ReadSeek;
use ::bytes::{Buf, Bytes, buf::Reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, Read, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The most bytes that the pages of a row group's columns hold at a time, unpacked. A writer that
/// makes each column one page needs 6 GB for 50 million rows.
pub(super) const MOST_PAGES: u64 = 8 << 30;

/// The size that a page may always have, in bytes: some writers record a wrong total size of a
/// column's pages.
const SMALL_PAGE: u64 = 64 << 20;
/// How many bytes from its beginning hold the head of a page.
const PAGE_HEAD: u64 = 4 << 10;
/// In Thrift's compact protocol, the heads of a 32-bit and of a 64-bit field whose number is one
/// more than the previous field's. The sizes of a page are 32-bit, but some writers declare all
/// numbers as 64-bit, with the same bytes.
const NEXT_WORD: u8 = 0x15;
const NEXT_LONG: u8 = 0x16;

/// The file, used by one reader at a time.
pub(super) struct File {
    file: Mutex<Box<dyn ReadSeek>>,
    length: u64,
}

impl File {
    /// Opens the file and finds its length.
    pub fn new(mut file: Box<dyn ReadSeek>) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        Ok(Self { file: Mutex::new(file), length })
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn ReadSeek>> {
        self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn fetch(&self, from: u64, length: usize) -> io::Result<Bytes> {
        if from.saturating_add(length as u64) > self.length {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "a part beyond the file's end",
            ));
        }
        let mut file = self.lock();
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = vec![0; length];
        file.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

impl Length for File {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for File {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let length = self.length.saturating_sub(start);
        Ok(self.get_bytes(start, usize::try_from(length)?)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        Ok(self.fetch(start, length)?)
    }
}

/// One column of one row group.
pub(super) struct Span {
    file: Arc<File>,
    from: u64,
    length: u64,
    /// All its bytes, unless each page is read when needed.
    bytes: Option<Bytes>,
    /// The most bytes that a page may have, unpacked.
    most_page: u64,
    /// The bytes of its largest page so far, unpacked.
    largest: AtomicU64,
    /// The sum of `largest` over all columns of the row group.
    pages: Arc<AtomicU64>,
}

impl Span {
    /// Reads a column now, or page by page if `is_paged`. Its place and lengths must not be
    /// negative. `pages` is shared by all columns of its row group.
    pub fn fetch(
        file: &Arc<File>,
        chunk: &ColumnChunkMetaData,
        is_paged: bool,
        pages: &Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let (from, length) = chunk.byte_range();
        let bytes = match is_paged {
            true => None,
            false => Some(file.fetch(from, usize::try_from(length).map_err(io::Error::other)?)?),
        };
        Ok(Self {
            file: Arc::clone(file),
            from,
            length,
            bytes,
            most_page: chunk.uncompressed_size().unsigned_abs().max(SMALL_PAGE),
            largest: AtomicU64::new(0),
            pages: Arc::clone(pages),
        })
    }

    /// Returns `length` bytes from `start` on, or all. Without a `length`, a column that is not in
    /// memory returns only the head of a page.
    fn part(&self, start: u64, length: Option<usize>) -> Result<Bytes> {
        let at = start.checked_sub(self.from);
        let left = at.and_then(|at| self.length.checked_sub(at));
        let left = left.filter(|left| length.is_none_or(|length| *left >= length as u64));
        let (Some(at), Some(left)) = (at, left) else {
            return Err(ParquetError::EOF("a page beyond its column's end".to_owned()));
        };
        let Some(bytes) = &self.bytes else {
            let head = left.min(PAGE_HEAD).min(self.file.length.saturating_sub(start));
            let length = length.map_or_else(|| usize::try_from(head), Ok)?;
            return Ok(self.file.fetch(start, length)?);
        };
        let at = usize::try_from(at)?;
        Ok(bytes.slice(at..length.map_or(bytes.len(), |length| at + length)))
    }

    /// Whether a page of `page` bytes fits beside the pages of the other columns.
    fn has_room(&self, page: u64) -> bool {
        let more = page.saturating_sub(self.largest.fetch_max(page, Ordering::Relaxed));
        self.pages.fetch_add(more, Ordering::Relaxed).saturating_add(more) <= MOST_PAGES
    }
}

impl Length for Span {
    fn len(&self) -> u64 {
        self.from + self.length
    }
}

impl ChunkReader for Span {
    type T = Reader<Bytes>;

    /// Reads from the head of a page on. The library trusts the page's size and zeroes that much
    /// memory before it unpacks anything, so the size is checked here.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let bytes = self.part(start, None)?;
        let Some(page) = unpacked_bytes(&bytes).filter(|page| *page <= self.most_page) else {
            let why = "a page of more bytes than its column, or with a damaged head";
            return Err(ParquetError::General(why.to_owned()));
        };
        match self.has_room(page) {
            true => Ok(bytes.reader()),
            false => Err(ParquetError::General("pages that fill the memory".to_owned())),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.part(start, Some(length))
    }
}

/// Returns the unpacked bytes of a page: the second field of its head, after the kind of page.
/// `None` if the head begins otherwise.
fn unpacked_bytes(head: &[u8]) -> Option<u64> {
    let mut bytes = head.iter();
    let mut field = || {
        if !matches!(*bytes.next()?, NEXT_WORD | NEXT_LONG) {
            return None;
        }
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let byte = bytes.next()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                // The lowest bit is the sign; the library refuses negative sizes.
                return Some(value >> 1);
            }
        }
        None
    };
    field()?;
    field()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A span of all but ten bytes at either end of a file of `bytes`, in memory.
    fn span(bytes: Vec<u8>, pages: &Arc<AtomicU64>) -> Span {
        let file = Arc::new(File::new(Box::new(io::Cursor::new(bytes))).unwrap());
        let (from, length) = (10, file.length - 20);
        let bytes = Some(file.fetch(from, length as usize).unwrap());
        let (most_page, largest, pages) = (SMALL_PAGE, AtomicU64::new(0), Arc::clone(pages));
        Span { file, from, length, bytes, most_page, largest, pages }
    }

    /// Guards against allocating and filling a page's memory before anything is unpacked.
    #[test]
    fn a_page_is_not_larger_than_its_column() {
        // A data page, 2^31 - 1 bytes unpacked and 10 packed.
        let large = [NEXT_WORD, 0, NEXT_WORD, 0xfe, 0xff, 0xff, 0xff, 0x0f, NEXT_WORD, 20];
        let small = [NEXT_WORD, 0, NEXT_WORD, 0x80, 0x10, NEXT_WORD, 20];
        let long = small.map(|byte| if byte == NEXT_WORD { NEXT_LONG } else { byte });
        assert_eq!(unpacked_bytes(&large), Some((1 << 31) - 1));
        assert_eq!([small, long].map(|head| unpacked_bytes(&head)), [Some(1 << 10); 2]);
        let endless = [&[NEXT_LONG, 0, NEXT_LONG][..], &[0xff; 20]].concat();
        assert_eq!(unpacked_bytes(&endless), None);
        let read = |head: &[u8]| {
            let file = [&[0; 10][..], head, &[0; 10]].concat();
            span(file, &Arc::default()).get_read(10).is_ok()
        };
        assert!(read(&small) && read(&long));
        assert!(!read(&large) && !read(&endless) && !read(&[0, 0]) && !read(&[]));
    }

    #[test]
    fn a_column_that_stays_in_the_file_gives_what_it_gives_from_memory() {
        let bytes: Vec<u8> = (0..=250).cycle().take(10_020).collect();
        let whole = span(bytes.clone(), &Arc::default());
        let paged = Span { bytes: None, ..span(bytes, &Arc::default()) };
        for (start, length) in [(10, 10_000), (5000, 100), (10_010, 0)] {
            let [from_memory, from_file] =
                [&whole, &paged].map(|span| span.part(start, Some(length)).unwrap());
            assert_eq!(from_memory, from_file);
            let [all, head] = [&whole, &paged].map(|span| span.part(start, None).unwrap());
            assert!(all.starts_with(&head) && head.len() == all.len().min(4096));
        }
        for (start, length) in [(9, 1), (10_000, 11), (10_011, 0)] {
            assert!([&whole, &paged].iter().all(|span| span.part(start, Some(length)).is_err()));
        }
    }

    /// Guards against pages that each fit their column but together fill the memory.
    #[test]
    fn the_pages_of_all_columns_fit_into_the_memory_together() {
        let pages = Arc::default();
        let [one, other] = [(); 2].map(|()| span(vec![0; 20], &pages));
        assert!(one.has_room(MOST_PAGES - 1) && one.has_room(MOST_PAGES - 2) && other.has_room(1));
        assert!(!other.has_room(2));
    }
}
