//! `create-delete`: the life of a temporary file (Ousterhout 1990, section 11, Table 10).

use super::case::{Case, repeated, wrong};
use ioscape_schema::{Locality, OsRule};
use rustix::fs::{CWD, Mode, OFlags};
use std::ffi::CStr;
use std::io;

/// Bytes of one read or write.
pub(crate) const BLOCK: usize = 16 << 10;

const NAME: &CStr = c"ctmp";

/// The cases; the relative speed is computed from `no data`.
pub(crate) fn cases(place: (usize, Locality)) -> Vec<Case> {
    // One byte less than the name says, as in the original, so that the reader ends with a short
    // read.
    let sizes = [("no data", 0), ("10 KB", 10 * 1024 - 1), ("100 KB", 100 * 1024 - 1)];
    let mut all = Vec::new();
    for (name, bytes) in sizes {
        let teaches = "Creating, writing, reading and deleting a temporary file, which need never reach the disk.";
        all.push(case(name.to_owned(), bytes, false, teaches));
    }
    for (name, bytes) in sizes {
        let teaches = "The same when the data is forced to storage before the file is closed, as the Unixes of 1990 did.";
        all.push(case(format!("{name}, fsync"), bytes, true, teaches));
    }
    // The file system defers part of the work and does it in bursts, which only a mean includes.
    all.into_iter().map(|case| case.by(OsRule::Mean).at(place).effort(3.0)).collect()
}

fn case(name: String, bytes: usize, forced: bool, teaches: &'static str) -> Case {
    Case::new("create-delete", name, teaches, move |_| {
        let mut buffer = vec![0x61; BLOCK];
        Ok(repeated(move || life(&mut buffer, bytes, forced)))
    })
}

/// One file: created, written, closed, opened, read, closed, deleted.
fn life(buffer: &mut [u8], bytes: usize, forced: bool) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let file = rustix::fs::openat(CWD, NAME, flags, Mode::from_raw_mode(0o700))?;
    let mut left = bytes;
    while left > 0 {
        left -= rustix::io::write(&file, &buffer[..left.min(BLOCK)])?;
    }
    if forced {
        rustix::fs::fsync(&file)?;
    }
    drop(file);
    let file = rustix::fs::openat(CWD, NAME, OFlags::RDONLY, Mode::empty())?;
    let mut found = 0;
    loop {
        let here = rustix::io::read(&file, &mut *buffer)?;
        found += here;
        if here < BLOCK {
            break;
        }
    }
    drop(file);
    rustix::fs::unlink(NAME)?;
    if found == bytes {
        Ok(())
    } else {
        Err(wrong(format!("only {found} of {bytes} bytes were read back")))
    }
}
