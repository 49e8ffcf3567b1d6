//! Verification: every written block carries its place, the number of its write and a checksum.
//! Reads check them, and all blocks are read back at the end.

pub(crate) mod block;
pub(crate) mod ledger;
pub(crate) mod notes;
pub(crate) mod read_back;
mod sealed;

pub use ledger::Ledger;
pub(crate) use notes::NoteBook;
pub(crate) use sealed::{Sealed, seal_all};

use ioscape_machine::error::Error;

/// The size of blocks for requests that are multiples of `align` bytes.
///
/// # Errors
/// `align` is too small: a block would have no room for its marks.
pub(crate) fn block_bytes(align: u64) -> Result<u64, Error> {
    let block = 1u64 << align.max(1).trailing_zeros().min(12);
    debug_assert!(block <= block::MOST_BYTES);
    if block >= block::LEAST_BYTES {
        return Ok(block);
    }
    Err(Error::Unsupported {
        what: "verification".into(),
        why: format!(
            "requests are multiples of {block} bytes, but a block that can be checked has at least {}: give larger or \
             rounder sizes",
            block::LEAST_BYTES
        ),
    })
}
