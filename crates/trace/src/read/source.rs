//! Where the bytes of a trace come from: named streams that the caller opened.

use std::io::{Read, Seek};

/// Bytes that can be read from any place.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// The bytes, with or without the freedom to seek.
pub(crate) enum Bytes {
    /// One pass only: a pipe.
    Stream(Box<dyn Read + Send>),
    /// A file; Parquet needs one.
    File(Box<dyn ReadSeek>),
}

/// One named stream of bytes.
pub struct Source {
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
}

impl Source {
    /// A stream that is read once, such as a pipe; `name` is for messages and for formats whose file name tells something.
    pub fn stream(name: impl Into<String>, bytes: impl Read + Send + 'static) -> Self {
        Self { name: name.into(), bytes: Bytes::Stream(Box::new(bytes)) }
    }

    /// A file, in which can be sought; reading starts where it stands.
    pub fn file(name: impl Into<String>, bytes: impl ReadSeek + 'static) -> Self {
        Self { name: name.into(), bytes: Bytes::File(Box::new(bytes)) }
    }
}
