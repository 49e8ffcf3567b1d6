//! Reads all blocks back at the end, in order.

use super::ledger::Ledger;
use super::notes::Notes;
use super::sealed::check;
use crate::engine::buffer::Buffer;
use crate::engine::{Action, Fault};
use rustix::io::{Errno, pread};
use std::fs::File;

/// Size of the requests.
const REQUEST_BYTES: usize = 1 << 20;

/// Reads `file` as far as `ledger` and the file itself reach, and checks all known blocks. Calls
/// `goes_on` with the bytes done and stops early if it returns false. Returns whether it reached
/// the end.
///
/// # Errors
/// A read fails.
pub(crate) fn read_back(
    file: &File,
    ledger: &Ledger,
    notes: Notes<'_>,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Result<bool, Fault> {
    let no_memory = Fault::new(Action::Resource, libc::ENOMEM);
    let mut buffer = Buffer::new(REQUEST_BYTES, 1, 0).ok_or(no_memory)?;
    let (mut place, step) = (0, ledger.block_bytes as usize);
    while place < ledger.bytes() {
        if !goes_on(place) {
            return Ok(false);
        }
        let len = (ledger.bytes() - place).min(REQUEST_BYTES as u64) as usize;
        if ledger.known(place..place + len as u64).next().is_none() {
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
            missing(ledger, notes, place + (got / step * step) as u64);
            break;
        }
        place += len as u64;
    }
    Ok(true)
}

/// Reports the blocks after the end of a file that is too short as lost.
fn missing(ledger: &Ledger, notes: Notes<'_>, from: u64) {
    let nothing = vec![0; ledger.block_bytes as usize];
    for (place, entry) in ledger.known(from..ledger.bytes()) {
        check(ledger, notes, &nothing, place, entry);
    }
}

/// Reads until `bytes` is full or the file ends; returns how many bytes were read.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::block::Owner;
    use crate::verify::notes::NoteBook;
    use crate::verify::sealed::seal_all;
    use std::os::unix::fs::FileExt;

    const PIECE: u64 = 1 << 20;

    fn ledger(bytes: u64) -> Ledger {
        Ledger::new(bytes, 4096, Owner { run: 1, file: 0 }).unwrap()
    }

    /// A file whose first `bytes` match `ledger`.
    fn laid_out(ledger: &Ledger, bytes: u64) -> File {
        let file = tempfile::tempfile().unwrap();
        let (all, mut content) = (0..bytes, vec![0u8; bytes as usize]);
        seal_all(ledger, &all, &mut content, ledger.lay_out(&all));
        file.write_all_at(&content, 0).unwrap();
        file
    }

    #[test]
    fn whether_it_came_to_the_end_is_said() {
        let ledger = ledger(4 * PIECE);
        let (file, book) = (laid_out(&ledger, 4 * PIECE), NoteBook::new(1).unwrap());
        let whole = |most: u64| read_back(&file, &ledger, book.at_end(), |place| place < most);
        let blocks = || book.report(4096, |_| String::new()).read_back_blocks;
        assert_eq!((whole(0), blocks()), (Ok(false), 0));
        assert_eq!((whole(PIECE), blocks()), (Ok(false), PIECE / 4096));
        assert_eq!((whole(u64::MAX), blocks()), (Ok(true), 5 * PIECE / 4096));
    }

    /// Guards against taking half a gigabyte for the words of a 30 GiB file in which only one block
    /// was written.
    #[test]
    fn blocks_that_nobody_wrote_take_no_memory() {
        let in_memory_kib = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssShmem:"));
            line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
        };
        let before = in_memory_kib();
        let ledger = ledger(64 << 30);
        let (file, book) = (laid_out(&ledger, PIECE), NoteBook::new(1).unwrap());
        assert_eq!(ledger.entry(1 << 35).write(), None);
        assert_eq!(read_back(&file, &ledger, book.at_end(), |_| true), Ok(true));
        assert_eq!(book.report(4096, |_| String::new()).read_back_blocks, PIECE / 4096);
        let grown = in_memory_kib().saturating_sub(before);
        assert!(grown < 32 << 10, "{grown} KiB more are in memory");
    }
}
