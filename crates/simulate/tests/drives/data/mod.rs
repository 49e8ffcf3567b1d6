//! Measured traces from outside the repository, with a visible notice if they are absent.
#![allow(dead_code, reason = "every test binary uses a part")]

pub mod made;
pub mod random;
pub mod specs;
pub mod validation;

use ioscape_schema::{Io, IoFlags, Op, Request};

/// The bytes of a file of the shared data; if it is absent, prints that the test is skipped.
#[expect(clippy::disallowed_methods, reason = "tests read real data")]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn data(path: &str) -> Option<Vec<u8>> {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var("IOSCAPE_DATA").unwrap_or_else(|_| here.to_owned());
    let found = std::fs::read(std::path::Path::new(&folder).join(path)).ok();
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not in {folder}; set IOSCAPE_DATA to the folder of the data");
    }
    found
}

/// A row without times.
pub fn io(op: Op, offset: u64, len: u32, at_ns: u64) -> Io {
    let request = Request { op, offset, len };
    Io { request, queued_ns: at_ns, issued_ns: at_ns, completed_ns: at_ns, ..Io::default() }
}

/// The rows of the hplajw trace (HP SRT 1.3: a text header, then big-endian records of 56 bytes).
pub fn hplajw() -> Option<Vec<Io>> {
    let bytes = data("hplajw/ajw.1week.srt")?;
    let rows = bytes[2204..].chunks_exact(56).map(|record| {
        let word = |at: usize| {
            u32::from_be_bytes([
                record[4 * at],
                record[4 * at + 1],
                record[4 * at + 2],
                record[4 * at + 3],
            ])
        };
        let queued_ns = (u64::from(word(2)) * 1_000_000 + u64::from(word(3))) * 1000;
        let op = if word(11) & 1 == 1 { Op::Read } else { Op::Write };
        let request = Request { op, offset: u64::from(word(7)) * 256, len: word(6) };
        let flag = |bit, flag| if word(11) & bit == 0 { IoFlags::empty() } else { flag };
        Io {
            request,
            queued_ns,
            issued_ns: queued_ns + u64::from(word(4)) * 1000,
            completed_ns: queued_ns + u64::from(word(5)) * 1000,
            device: ((word(8) >> 8) & 0xff) as u16,
            flags: flag(0x100, IoFlags::ASYNC) | flag(0x100_0000, IoFlags::SYNC),
            ..Io::default()
        }
    });
    Some(rows.collect())
}
