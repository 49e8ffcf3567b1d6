//! A minimal program that only exits. Its executable is generated here, so that `exec` costs only
//! the kernel's part.

use crate::case::not_here;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};

/// Where the program lies in memory.
const BASE: u64 = 0x40_0000;

/// Sizes of an ELF-64 header and of one program header (System V ABI, Object Files).
const HEADER: u64 = 64;
const SEGMENT: u64 = 56;

/// The architecture's number in ELF, and its instructions for `exit(0)`.
#[cfg(target_arch = "x86_64")]
const CODE: (u16, &[u8]) = (62, &[0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05]);
#[cfg(target_arch = "aarch64")]
const CODE: (u16, &[u8]) =
    (183, &[0xa8, 0x0b, 0x80, 0xd2, 0x00, 0x00, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4]);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CODE: (u16, &[u8]) = (0, &[]);

/// Returns the executable: static, one segment, no interpreter; `None` if this file has no
/// instructions for the architecture.
pub(crate) fn bytes() -> Option<Vec<u8>> {
    let (machine, code) = CODE;
    if code.is_empty() {
        return None;
    }
    let start = HEADER + SEGMENT;
    let len = start + code.len() as u64;
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(16, 0);
    // An executable (2) for this machine, version 1, whose code follows its headers.
    for half in [2, machine] {
        out.extend(half.to_le_bytes());
    }
    out.extend(1u32.to_le_bytes());
    for word in [BASE + start, HEADER, 0] {
        out.extend(word.to_le_bytes());
    }
    out.extend(0u32.to_le_bytes());
    for half in [HEADER as u16, SEGMENT as u16, 1, 0, 0, 0] {
        out.extend(half.to_le_bytes());
    }
    // One loadable segment (1), readable and executable (5), in pages of 64 KB at most.
    for half in [1u32, 5] {
        out.extend(half.to_le_bytes());
    }
    for word in [0, BASE, BASE, len, len, 0x1_0000] {
        out.extend(word.to_le_bytes());
    }
    out.extend(code);
    Some(out)
}

/// Returns the program as an executable file in memory.
///
/// # Errors
/// This file has no instructions for the architecture, or the system has no files in memory or does
/// not execute them.
pub(crate) fn file() -> io::Result<File> {
    let none = || not_here("the small program is written for x86-64 and ARM64 only");
    let bytes = bytes().ok_or_else(none)?;
    let make = |more: MemfdFlags| memfd_create("ioscape-nothing", MemfdFlags::CLOEXEC | more);
    let made = match make(MemfdFlags::EXEC) {
        // Kernels before Linux 6.3 do not know the flag: all files in memory are executable.
        Err(Errno::INVAL) => make(MemfdFlags::empty()),
        Err(Errno::ACCESS) => {
            return Err(not_here("this system executes no files in memory (vm.memfd_noexec)"));
        }
        made => made,
    };
    let mut file = File::from(made?);
    file.write_all(&bytes)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_have_their_sizes() {
        let Some(bytes) = bytes() else { return };
        assert_eq!(bytes.len() as u64, HEADER + SEGMENT + CODE.1.len() as u64);
        assert_eq!(&bytes[..4], b"\x7fELF");
        assert_eq!(u64::from_le_bytes(bytes[24..32].try_into().unwrap()), BASE + HEADER + SEGMENT);
    }
}
