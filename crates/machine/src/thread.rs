//! Threads, started only if there is room for everything that a thread needs.
//!
//! The standard library reports a failure to allocate a thread's stack. If only the signal stack
//! that comes next fails, it aborts the program. So a little more memory is requested first.
#![expect(unsafe_code, reason = "memory from the kernel")]
#![expect(clippy::disallowed_methods, reason = "this is what all others are to ask")]

use rustix::mm::{MapFlags, ProtFlags};
use std::io;
use std::ptr::null_mut;
use std::thread::Builder;

/// Bytes requested: the usual thread stack, and as much again for everything else while other
/// threads start too.
const ROOM: usize = 4 << 20;

/// Returns a thread builder.
///
/// # Errors
/// There is no room for a thread.
pub fn builder() -> io::Result<Builder> {
    let usual = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping, at an address chosen by the kernel, which nothing points into.
    unsafe {
        let room = rustix::mm::mmap_anonymous(null_mut(), ROOM, usual, MapFlags::PRIVATE)?;
        rustix::mm::munmap(room, ROOM)?;
    }
    Ok(Builder::new())
}
