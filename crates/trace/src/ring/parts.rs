//! A recording in parts, one behind the other: a request is in the part in which it completes, wherever it began.

use super::decoder::Ring;
use super::layout::Layout;
use super::part::{NextPart, Part};
use crate::error::Error;
use crate::read::{Decode, Reader, input_of};
use ioscape_schema::TraceInfo;

/// A recording whose parts are read as they are recorded.
pub struct Parts {
    next: NextPart,
    /// Not there while a part is being read.
    decoder: Option<Box<dyn Decode>>,
}

impl Parts {
    /// A recording without parts as yet; the arguments are those of [`open`](super::open).
    pub fn new(layout: Layout, devices: &[u32], info: TraceInfo) -> Self {
        let next = NextPart::default();
        let ring = Ring::new(layout, devices, info, next.clone());
        Self { next, decoder: Some(Box::new(ring)) }
    }

    /// Begins the next part.
    ///
    /// # Errors
    /// Pages that cannot be read, and a part that [did not end](Self::end) before this one.
    pub fn begin(&mut self, mut part: Part) -> Result<Reader, Error> {
        let inputs = std::mem::take(&mut part.cpus).into_iter().map(input_of);
        self.next.set(inputs.collect::<Result<_, _>>()?, part);
        let unfinished = || Error::Unsupported("the part before is still being read".to_owned());
        self.decoder.take().ok_or_else(unfinished).map(Reader::new)
    }

    /// Ends a part that was read as a whole.
    pub fn end(&mut self, part: Reader) {
        self.decoder = Some(part.into_decoder());
    }
}
