//! Mounts that only this process and its children see, and that end with them, however they end.
#![expect(unsafe_code, reason = "unshare has no safe wrapper")]

use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;

/// Gives the calling thread, and all that it starts from now on, mounts of their own (`CLONE_NEWNS`).
///
/// They begin as the machine's, and still pass new mounts on to those until they are made private or slaves.
///
/// # Errors
/// The right to is missing.
pub fn own_mounts() -> io::Result<()> {
    // SAFETY: only `FILES` could take descriptors away from other threads.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.map_err(io::Error::from)
}
