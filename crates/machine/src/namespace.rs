//! Mounts that only this process and its children see, and that end with them in any case.
#![expect(unsafe_code, reason = "unshare has no safe wrapper")]

use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;

/// Gives the calling thread, and everything it starts from now on, its own mount namespace
/// (`CLONE_NEWNS`).
///
/// It begins as a copy of the machine's mounts and still propagates new mounts to them, until they
/// are made private or slaves.
///
/// # Errors
/// The process lacks the right to do so.
pub fn own_mounts() -> io::Result<()> {
    // SAFETY: only `FILES` could take descriptors away from other threads.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.map_err(io::Error::from)
}
