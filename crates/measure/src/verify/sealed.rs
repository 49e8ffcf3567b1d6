//! Contents that are sealed before a write and checked after a read.

use super::block;
use super::ledger::{Entry, Ledger};
use super::notes::Notes;
use crate::engine::content::Content;
use ioscape_schema::{Op, Request};
use std::ops::Range;

/// The byte range of a request.
fn range(request: &Request) -> Range<u64> {
    request.offset..request.offset.saturating_add(u64::from(request.len))
}

/// One stream's view of a file.
pub(crate) struct Sealed<'a> {
    ledger: &'a Ledger,
    notes: Notes<'a>,
}

impl<'a> Sealed<'a> {
    /// Creates the contents for a stream that keeps `notes` on the file of `ledger`.
    pub(crate) fn new(ledger: &'a Ledger, notes: Notes<'a>) -> Self {
        Self { ledger, notes }
    }
}

impl Content for Sealed<'_> {
    /// What was known of each whole block of a read before it was issued.
    type Flight = Vec<Entry>;

    const CHECKS: bool = true;

    fn prepare(&mut self, request: &Request, buffer: &mut [u8], flight: &mut Vec<Entry>) {
        let (ledger, range) = (self.ledger, range(request));
        match request.op {
            Op::Read => {
                flight.clear();
                flight.extend(ledger.whole(&range).map(|place| ledger.entry(place)));
            }
            Op::Write => {
                let number = ledger.begin(&range);
                seal_all(ledger, &range, buffer, number);
            }
        }
    }

    fn conclude(&mut self, request: &Request, buffer: &[u8], flight: &Vec<Entry>) {
        let (ledger, range) = (self.ledger, range(request));
        if request.op == Op::Write {
            return ledger.end(&range);
        }
        for (place, before) in ledger.whole(&range).zip(flight) {
            let Some(block) = part(buffer, place - range.start, ledger.block_bytes) else { return };
            check(ledger, self.notes, block, place, *before);
        }
    }

    fn disturb(&mut self, range: &Range<u64>) {
        self.ledger.begin(range);
        self.ledger.forget(range);
    }

    fn disturbed(&mut self, range: &Range<u64>) {
        self.ledger.end(range);
    }
}

/// Seals all blocks of `range` as part of one write; their bytes are at the beginning of `buffer`.
pub(crate) fn seal_all(ledger: &Ledger, range: &Range<u64>, buffer: &mut [u8], number: u64) {
    for place in ledger.whole(range) {
        let from = (place - range.start) as usize;
        if let Some(block) = buffer.get_mut(from..from + ledger.block_bytes as usize) {
            block::seal(block, ledger.owner, place, number);
        }
    }
}

fn part(buffer: &[u8], from: u64, bytes: u64) -> Option<&[u8]> {
    buffer.get(from as usize..(from + bytes) as usize)
}

/// Checks the block that was read from `place`, given what was known of it before the read.
pub(super) fn check(ledger: &Ledger, notes: Notes<'_>, block: &[u8], place: u64, before: Entry) {
    let write = before.write().filter(|_| ledger.entry(place) == before);
    let Some(write) = write else { return notes.unjudged() };
    notes.checked();
    if let Some(wrong) = block::judge(block, ledger.owner, place, write)
        && ledger.condemn(place, before)
    {
        notes.found(ledger.owner.file, place, write, &wrong);
    }
}
