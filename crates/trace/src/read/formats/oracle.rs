//! libCacheSim's oracleGeneral (`oracleGeneralBin.h`), in packed records of 24 bytes:
//! `u32 seconds, u64 object, u32 size, i64 next access`.
//!
//! These are the records of version 1 of `lcs`, whose parser reads them. They record no operation,
//! so rows are reads. An object is taken for a sector of 512 bytes, as in the block traces of this
//! format.

use crate::read::head::{Head, Likeness};
use crate::read::record::{long, word};

/// Size of a record in bytes.
const RECORD: usize = 24;

/// Recognizes the format by its first records: times do not decrease, sizes are not zero, and next
/// accesses lie ahead. A single record must have no next access.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    Likeness::certain_if(head.is_binary() && are_records(head.bytes))
}

fn are_records(bytes: &[u8]) -> bool {
    let records: Vec<&[u8]> = bytes.chunks_exact(RECORD).take(64).collect();
    let ahead = |index: usize, record: &[u8]| {
        let next = long(record, 16) as i64;
        next == -1 || (next > index as i64 && next < 1 << 48)
    };
    let is_alone = bytes.len() == RECORD && long(bytes, 16) as i64 == -1;
    (records.len() >= 2 || is_alone)
        && records.is_sorted_by_key(|record| word(record, 0))
        && records.iter().all(|record| (1..1 << 28).contains(&word(record, 12)))
        && records.iter().enumerate().all(|(index, record)| ahead(index, record))
}
