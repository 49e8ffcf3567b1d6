//! Discovered direct I/O: the size of each request decides whether it bypasses the file cache (VERITAS 1996, p. 19).

use crate::engine::buffer::Stamp;
use crate::engine::content::Content;
use crate::engine::psync::Psync;
use crate::engine::{Fault, Perform};
use ioscape_schema::Request;

/// A buffered and a direct way to the same file.
pub(crate) struct Discovered<C: Content = Stamp> {
    buffered: Psync<C>,
    direct: Psync<C>,
    /// Requests larger than this, in bytes, use direct I/O.
    above: u64,
}

impl<C: Content> Discovered<C> {
    /// Creates an engine that sends requests of more than `above` bytes through `direct` and all
    /// others through `buffered`.
    pub(crate) fn new(buffered: Psync<C>, direct: Psync<C>, above: u64) -> Self {
        Self { buffered, direct, above }
    }

    #[inline]
    fn choose(&mut self, request: &Request) -> &mut Psync<C> {
        if u64::from(request.len) > self.above { &mut self.direct } else { &mut self.buffered }
    }
}

impl<C: Content> Perform for Discovered<C> {
    #[inline]
    fn prepare(&mut self, request: &Request) {
        self.choose(request).prepare(request);
    }

    #[inline]
    fn perform(&mut self, request: &Request) -> Result<(), Fault> {
        self.choose(request).perform(request)
    }

    #[inline]
    fn conclude(&mut self, request: &Request) {
        self.choose(request).conclude(request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Action;
    use crate::engine::buffer::Buffer;
    use ioscape_schema::Op;
    use std::fs::File;
    use std::io::Write;

    #[test]
    fn the_size_decides_which_way_a_request_goes() {
        let mut small = tempfile::NamedTempFile::new().unwrap();
        small.write_all(&[7; 8192]).unwrap();
        let empty = tempfile::NamedTempFile::new().unwrap();
        let way = |file: &tempfile::NamedTempFile| {
            let buffer = Buffer::new(8192, 1, 0).unwrap();
            Psync::new(File::open(file.path()).unwrap(), buffer, Stamp::new())
        };
        let mut engine = Discovered::new(way(&small), way(&empty), 4096);
        let request = |len| Request { op: Op::Read, offset: 0, len };
        assert_eq!(engine.perform(&request(4096)), Ok(()));
        let fault = engine.perform(&request(4097)).unwrap_err();
        assert_eq!(fault.action, Action::EndOfFile);
    }
}
