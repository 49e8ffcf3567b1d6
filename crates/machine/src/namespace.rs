//! Mounts that only this process and its children see, and that end with them in any case; whose
//! root this process is.
#![expect(unsafe_code, reason = "unshare has no safe wrapper")]

use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;

/// Advises to become root. Whoever is already is so only in a user namespace, or without all of
/// root's capabilities.
pub fn as_root() -> &'static str {
    match rustix::process::geteuid().is_root() {
        true => "run as root of the machine, outside of user namespaces and containers",
        false => "run as root",
    }
}

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
