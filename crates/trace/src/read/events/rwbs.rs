//! Parses the letters of `rwbs`, the kind of request, as Linux's `blk_fill_rwbs` and blkparse write
//! it.

use ioscape_schema::{IoFlags, Op};

/// Returns the operation and flags of letters such as `RA`, `FWFSM`, `DS`, `N`.
///
/// `F` before the operation asks for a flush of the cache, `F` after it for writing through.
/// blkparse gives `N` to requests without bytes; the kernel gives it to those for which it has no
/// letters ([`of_kernel`]).
pub(crate) fn parse(letters: &[u8]) -> Option<(Op, IoFlags)> {
    let mut flags = IoFlags::empty();
    let mut op = None;
    let mut rest = letters;
    while let Some((&letter, after)) = rest.split_first() {
        rest = after;
        match letter {
            b'F' if op.is_none() => flags |= IoFlags::FLUSH,
            b'F' => flags |= IoFlags::FUA,
            b'R' if op.is_none() => op = Some(Op::Read),
            b'W' if op.is_none() => op = Some(Op::Write),
            b'D' if op.is_none() => {
                flags |= IoFlags::DISCARD;
                op = Some(Op::Write);
                rest = rest.strip_prefix(b"E").unwrap_or(rest);
            }
            // Zone management moves no data; its second letter says what it does. An append writes.
            b'Z' if op.is_none() => {
                op = Some(Op::Write);
                rest = rest.get(1..).unwrap_or_default();
            }
            b'Z' => flags |= IoFlags::ZEROES,
            b'N' if op.is_none() => op = Some(Op::Write),
            b'A' => flags |= IoFlags::READ_AHEAD,
            b'S' => flags |= IoFlags::SYNC,
            b'M' => flags |= IoFlags::META,
            // Atomic writes (`U`) and barriers (`B`) make no difference here.
            b'U' | b'B' => {}
            _ => return None,
        }
    }
    match op {
        Some(op) => Some((op, flags)),
        // `F` alone is the operation flush.
        None if flags.contains(IoFlags::FLUSH) => Some((Op::Write, flags)),
        None => None,
    }
}

/// Returns the operation and flags in the kernel's own events. With sectors, `N` writes zeroes, for
/// which many kernels have no letters (nor, before 6.17, for zone appends).
pub(crate) fn of_kernel(letters: &[u8]) -> Option<(Op, IoFlags)> {
    let (op, flags) = parse(letters)?;
    let zeroes = if letters.starts_with(b"N") { IoFlags::ZEROES } else { IoFlags::empty() };
    Some((op, flags | zeroes))
}

/// Whether an event is of a command passed through to the device, or to a zone, and not a transfer
/// of blocks. At issue such a command has no sectors; at completion its first sector is -1.
pub(crate) fn is_passed_through(letters: &[u8], sector: u64, sectors: u64) -> bool {
    letters.starts_with(b"N") && (sectors == 0 || sector == u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_as_the_kernel_writes_them() {
        let sync = IoFlags::SYNC;
        for (letters, op, flags) in [
            ("R", Op::Read, IoFlags::empty()),
            ("RA", Op::Read, IoFlags::READ_AHEAD),
            ("WSM", Op::Write, sync | IoFlags::META),
            ("FWFSM", Op::Write, sync | IoFlags::META | IoFlags::FLUSH | IoFlags::FUA),
            ("FWS", Op::Write, sync | IoFlags::FLUSH),
            ("FF", Op::Write, IoFlags::FLUSH),
            ("DS", Op::Write, sync | IoFlags::DISCARD),
            ("DE", Op::Write, IoFlags::DISCARD),
            ("NS", Op::Write, sync),
            ("WZ", Op::Write, IoFlags::ZEROES),
            ("ZA", Op::Write, IoFlags::empty()),
        ] {
            assert_eq!(parse(letters.as_bytes()), Some((op, flags)), "{letters}");
        }
        for letters in ["", "S", "RR", "x", "R W"] {
            assert_eq!(parse(letters.as_bytes()), None, "{letters:?}");
        }
    }

    #[test]
    fn the_kernels_letter_for_others_writes_zeroes_if_it_has_sectors() {
        let zeroes = IoFlags::ZEROES | IoFlags::SYNC;
        for letters in ["NS", "WZS"] {
            assert_eq!(of_kernel(letters.as_bytes()), Some((Op::Write, zeroes)), "{letters}");
            assert!(!is_passed_through(letters.as_bytes(), 4_194_304, 8192), "{letters}");
        }
        assert_eq!(of_kernel(b"FN"), Some((Op::Write, IoFlags::FLUSH)), "no letter of its own");
        assert!(is_passed_through(b"N", 0, 0) && is_passed_through(b"N", u64::MAX, 1));
        assert!(!is_passed_through(b"FF", u64::MAX, 0), "a flush has no sector either");
    }
}
