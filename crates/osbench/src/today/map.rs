//! `mmap` and `munmap` of memory that is never touched.
#![expect(unsafe_code, reason = "maps and unmaps memory of its own")]

use crate::case::{Case, Op, repeated};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::io;
use std::ptr;

/// Bytes of one mapping.
const LEN: usize = 64 << 10;

/// The only case.
pub(crate) fn cases() -> Vec<Case> {
    let teaches =
        "Mapping and unmapping memory: the cost for allocators of returning memory to the kernel.";
    vec![Case::new("mmap", "64 KB, untouched", teaches, |_| operation())]
}

pub(super) fn operation() -> io::Result<Op> {
    Ok(repeated(|| {
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing, and nothing
        // points into it when it is unmapped.
        unsafe {
            let base = mmap_anonymous(ptr::null_mut(), LEN, rights, MapFlags::PRIVATE)?;
            munmap(base, LEN)?;
        }
        Ok(())
    }))
}
