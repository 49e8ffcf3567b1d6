//! Where the bytes of a trace come from: named streams that the caller opened.

use super::damage::{Damage, Taken, UpToDamage};
use super::decompress;
use super::head::Head;
use super::input::Input;
use crate::error::Error;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Bytes that can be read from any position.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// The bytes of a source, seekable or not.
enum Bytes {
    /// Readable in one pass only, such as a pipe.
    Stream(Box<dyn Read + Send>),
    /// A seekable file, which Parquet needs.
    File(Box<dyn ReadSeek>),
}

/// One named stream of bytes.
pub struct Source {
    name: String,
    bytes: Bytes,
}

impl Source {
    /// Creates a source from a stream that is read once, such as a pipe. `name` is for messages and
    /// for formats whose file name carries information.
    pub fn stream(name: impl Into<String>, bytes: impl Read + Send + 'static) -> Self {
        Self { name: name.into(), bytes: Bytes::Stream(Box::new(bytes)) }
    }

    /// Creates a source from a seekable file; reading starts at its beginning.
    pub fn file(name: impl Into<String>, bytes: impl ReadSeek + 'static) -> Self {
        Self { name: name.into(), bytes: Bytes::File(Box::new(bytes)) }
    }
}

/// First and last bytes of a Parquet file.
pub(crate) const PARQUET: &[u8] = b"PAR1";

/// Whether a source that begins with `head`, of at least four bytes, needs a seekable file rather
/// than one pass.
pub fn needs_file(head: &[u8]) -> bool {
    head.starts_with(PARQUET)
}

/// A source whose first bytes were examined.
pub(crate) enum Opened {
    /// Unpacked bytes to read in one pass.
    Input(Input),
    /// A Parquet file.
    Parquet(String, Box<dyn ReadSeek>),
}

impl Opened {
    /// Returns the name of the source.
    pub fn name(&self) -> &str {
        match self {
            Self::Input(input) => input.name(),
            Self::Parquet(name, _) => name,
        }
    }

    /// Returns the first bytes of the source.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn head(&mut self) -> Result<Head<'_>, Error> {
        match self {
            Self::Input(input) => Head::of(input),
            Self::Parquet(..) => Ok(Head::of_bytes(PARQUET)),
        }
    }

    /// Returns the bytes to read in one pass.
    ///
    /// # Errors
    /// The source is a Parquet file.
    pub fn into_input(self) -> Result<Input, Error> {
        match self {
            Self::Input(input) => Ok(input),
            Self::Parquet(name, _) => {
                let reason = "a Parquet file, which is read as no other format".to_owned();
                Err(Error::Header { name, reason })
            }
        }
    }
}

/// Examines the first bytes of one of `count` sources and unpacks compressed ones; with `skip_bad`,
/// up to any damage.
pub(crate) fn open(
    source: Source,
    count: usize,
    skip_bad: bool,
) -> Result<(Opened, Damage), Error> {
    let Source { name, bytes } = source;
    let failed = |source: io::Error| Error::Read { name: name.clone(), source };
    let damage = Damage::default();
    let mut length = None;
    let bytes: Box<dyn Read + Send> = match bytes {
        Bytes::Stream(bytes) => bytes,
        Bytes::File(mut file) => {
            length = Some(file.seek(SeekFrom::End(0)).map_err(failed)?);
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            if head(&mut file).map_err(failed)?.starts_with(PARQUET) {
                return Ok((Opened::Parquet(name, file), damage));
            }
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            Box::new(file)
        }
    };
    let mut bytes = bytes;
    let head = head(&mut bytes).map_err(failed)?;
    if head.starts_with(PARQUET) {
        let reason = "Parquet can be read from a file only: it is read from its end".to_owned();
        return Err(Error::Header { name, reason });
    }
    let whole = io::Cursor::new(head.clone()).chain(bytes);
    if !decompress::is_compressed(&head) {
        return Ok((Opened::Input(begun(name, Box::new(whole), count)?), damage));
    }
    let taken = Arc::new(AtomicU64::new(0));
    let counted = Box::new(Taken::new(whole, Arc::clone(&taken)));
    let bytes = decompress::unpack(&head, counted).map_err(failed)?;
    let told = damage.clone();
    let bytes = UpToDamage { name: name.clone(), bytes, taken, length, skip_bad, damage: told };
    Ok((Opened::Input(begun(name, Box::new(bytes), count)?), damage))
}

/// Files that hold traces but are none: their mark, where it lies, and what to do with them.
const PACKED: [(&[u8], usize, &str); 3] = [
    (
        b"ustar",
        257,
        "a tar archive: unpack it (tar -xf FILE) and name its files of requests, which are merged by time",
    ),
    (
        b"PK\x03\x04",
        0,
        "a zip archive: unpack it (unzip FILE) and name its files of requests, which are merged by time",
    ),
    (
        b"\x04\x22\x4d\x18",
        0,
        "compressed with LZ4, which is not read: unpack it (lz4 -d FILE), or compress it with gzip, bzip2, xz or Zstandard",
    ),
];

fn begun(name: String, bytes: Box<dyn Read + Send>, count: usize) -> Result<Input, Error> {
    let mut input = Input::new(name, bytes, count);
    input.pass_mark()?;
    for (mark, from, reason) in PACKED {
        if input.peek(from + mark.len())?.get(from..).is_some_and(|rest| rest.starts_with(mark)) {
            return Err(input.bad_header(reason));
        }
    }
    Ok(input)
}

fn head(bytes: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    bytes.take(decompress::MAGIC as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns the bytes as they are, for sources that are not files of a format.
pub(crate) fn input_of(source: Source) -> Result<Input, Error> {
    let Source { name, bytes } = source;
    Ok(match bytes {
        Bytes::Stream(bytes) => Input::new(name, bytes, 1),
        Bytes::File(mut file) => {
            let sought = file.seek(SeekFrom::Start(0));
            sought.map_err(|source| Error::Read { name: name.clone(), source })?;
            Input::new(name, Box::new(file), 1)
        }
    })
}
