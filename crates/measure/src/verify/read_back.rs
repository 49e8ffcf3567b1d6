//! At the end all blocks are read back, in order.

use super::ledger::Ledger;
use super::notes::Notes;
use super::sealed::check;
use crate::engine::buffer::Buffer;
use crate::engine::{Action, Fault};
use rustix::io::{Errno, pread};
use std::fs::File;

/// Size of the requests.
const REQUEST_BYTES: usize = 1 << 20;

/// Reads `file` as far as `ledger` and the file itself go, and checks all blocks that are known; tells the bytes done and
/// ends early if that says so.
///
/// # Errors
/// A read fails.
pub(crate) fn read_back(
    file: &File,
    ledger: &Ledger,
    notes: Notes<'_>,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Result<(), Fault> {
    let no_memory = Fault::new(Action::Resource, libc::ENOMEM);
    let mut buffer = Buffer::new(REQUEST_BYTES, 1, 0).ok_or(no_memory)?;
    let (mut place, step) = (0, ledger.block_bytes as usize);
    while place < ledger.bytes() && goes_on(place) {
        let len = (ledger.bytes() - place).min(REQUEST_BYTES as u64) as usize;
        if !ledger.whole(&(place..place + len as u64)).any(|at| ledger.entry(at).write().is_some())
        {
            place += len as u64;
            continue;
        }
        let got = read_whole(file, &mut buffer[..len], place)?;
        for (block, place) in buffer[..got].chunks_exact(step).zip((place..).step_by(step)) {
            let entry = ledger.entry(place);
            if entry.write().is_some() {
                check(ledger, notes, block, place, entry);
            }
        }
        if got < len {
            return missing(ledger, notes, place + (got / step * step) as u64);
        }
        place += len as u64;
    }
    Ok(())
}

/// The file ends before its last known block: those behind are lost.
fn missing(ledger: &Ledger, notes: Notes<'_>, from: u64) -> Result<(), Fault> {
    let nothing = vec![0; ledger.block_bytes as usize];
    for place in ledger.whole(&(from..ledger.bytes())) {
        let entry = ledger.entry(place);
        if entry.write().is_some() {
            check(ledger, notes, &nothing, place, entry);
        }
    }
    Ok(())
}

/// Reads until `bytes` is full or the file ends; how much there was.
fn read_whole(file: &File, bytes: &mut [u8], place: u64) -> Result<usize, Fault> {
    let mut done = 0;
    while done < bytes.len() {
        match pread(file, &mut bytes[done..], place + done as u64) {
            Ok(0) => break,
            Ok(got) => done += got,
            Err(Errno::INTR) => {}
            Err(errno) => {
                let at = place + done as u64;
                return Err(Fault::at(Action::Read, at, errno.raw_os_error()));
            }
        }
    }
    Ok(done)
}
