//! Requests that leave nothing in the file cache: they turn the `psync` engine into the `dontcache`
//! engine.

use crate::engine::{Action, Fault};
use rustix::io::{ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::IoSliceMut;

/// `RWF_DONTCACHE` of linux/fs.h (kernel 6.14): the pages of the request leave the file cache when it is done.
pub(crate) const DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);

/// Asks the file system of `file` whether it accepts such requests.
pub(crate) fn probe(file: &File) -> rustix::io::Result<()> {
    let mut byte = [0];
    // Far beyond the end of the file, so that nothing is read into the cache.
    preadv2(file, &mut [IoSliceMut::new(&mut byte)], 1 << 62, DONTCACHE).map(drop)
}

/// Refuses a file whose file system or kernel does not accept them.
pub(crate) fn check(file: &File) -> Result<(), Fault> {
    probe(file).map_err(|errno| Fault::new(Action::Uncached, errno.raw_os_error()))
}
