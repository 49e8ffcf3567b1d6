//! The engine without I/O: it shows what generating, timing and recording a request costs by
//! itself.

use crate::engine::{Fault, Perform};
use ioscape_schema::Request;
use std::hint::black_box;

/// Does nothing with any request.
pub(crate) struct Null;

impl Perform for Null {
    #[inline]
    fn perform(&mut self, request: &Request) -> Result<(), Fault> {
        black_box(request);
        Ok(())
    }
}
