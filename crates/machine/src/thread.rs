//! Threads, begun only where there is room for all that a thread takes.
//!
//! The standard library tells when there is no room for the stack of a thread. Where there is room for it, but not for the stack of signals
//! that comes next, it aborts the program; so somewhat more is asked for first.
#![expect(unsafe_code, reason = "memory from the kernel")]
#![expect(clippy::disallowed_methods, reason = "this is what all others are to ask")]

use rustix::mm::{MapFlags, ProtFlags};
use std::io;
use std::ptr::null_mut;
use std::thread::Builder;

/// What is asked for, in bytes: the usual stack of a thread, and as much again as all else may take while others begin too.
const ROOM: usize = 4 << 20;

/// A builder of a thread.
///
/// # Errors
/// There is no room for a thread.
pub fn builder() -> io::Result<Builder> {
    let usual = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping, at a place that the kernel chooses, which nothing points into.
    unsafe {
        let room = rustix::mm::mmap_anonymous(null_mut(), ROOM, usual, MapFlags::PRIVATE)?;
        rustix::mm::munmap(room, ROOM)?;
    }
    Ok(Builder::new())
}
