//! The members of a gzip or bzip2 file, one behind another, and what follows the last.

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// Size of the buffer of compressed bytes.
const BUFFER: usize = 32 << 10;

/// The compressed bytes from a member's first on.
type Bytes = io::Chain<Cursor<Vec<u8>>, BufReader<Box<dyn Read + Send>>>;

/// The decompressor of one member.
pub(crate) trait Member: Read + Sized {
    /// The first bytes of each member.
    const MARK: &'static [u8];

    /// Begins a member.
    fn open(bytes: Bytes) -> Self;

    /// Returns the bytes behind a member that was read to its end.
    fn into_rest(self) -> Bytes;
}

/// A member of gzip.
pub(crate) type Gzip = GzDecoder<Bytes>;
/// A member of bzip2.
pub(crate) type Bzip2 = BzDecoder<Bytes>;

impl Member for Gzip {
    const MARK: &'static [u8] = &[0x1f, 0x8b];

    fn open(bytes: Bytes) -> Self {
        Self::new(bytes)
    }

    fn into_rest(self) -> Bytes {
        self.into_inner()
    }
}

impl Member for Bzip2 {
    const MARK: &'static [u8] = b"BZh";

    fn open(bytes: Bytes) -> Self {
        Self::new(bytes)
    }

    fn into_rest(self) -> Bytes {
        self.into_inner()
    }
}

/// The members of a file. Zeros behind the last pad the file, as on tapes, and are passed over.
pub(crate) struct Members<M>(Option<M>);

impl<M: Member> Members<M> {
    /// Reads `bytes`, which begin with the first member.
    pub fn new(bytes: Box<dyn Read + Send>) -> Self {
        let bytes = BufReader::with_capacity(BUFFER, bytes);
        Self(Some(M::open(Cursor::new(Vec::new()).chain(bytes))))
    }
}

impl<M: Member> Read for Members<M> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(into)?;
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            // A member is longer than its mark, so nothing of that is left.
            let rest = self.0.take().map(|member| member.into_rest().into_inner().1);
            self.0 = rest.map(next).transpose()?.flatten();
        }
        Ok(0)
    }
}

/// Begins the next member, if there is one.
///
/// # Errors
/// What follows is neither a member nor padding.
fn next<M: Member>(mut bytes: BufReader<Box<dyn Read + Send>>) -> io::Result<Option<M>> {
    let mut mark = Vec::new();
    bytes.by_ref().take(M::MARK.len() as u64).read_to_end(&mut mark)?;
    // A part of the mark is a member that is cut off.
    if !mark.is_empty() && M::MARK.starts_with(&mark) {
        return Ok(Some(M::open(Cursor::new(mark).chain(bytes))));
    }
    if is_padding(Cursor::new(mark).chain(bytes))? {
        return Ok(None);
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, NoMember))
}

/// Whether all bytes are zeros.
fn is_padding(mut bytes: impl BufRead) -> io::Result<bool> {
    loop {
        let some = bytes.fill_buf()?;
        let count = some.len();
        if count == 0 || some.iter().any(|byte| *byte != 0) {
            return Ok(count == 0);
        }
        bytes.consume(count);
    }
}

/// Bytes that follow the last member and are none.
#[derive(Debug)]
pub(crate) struct NoMember;

impl fmt::Display for NoMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes that are no further compressed data")
    }
}

impl std::error::Error for NoMember {}
