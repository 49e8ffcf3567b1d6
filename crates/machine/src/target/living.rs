//! The scratch files of this process, for an end at which no memory can be had and nothing is dropped.
#![expect(unsafe_code, reason = "a descriptor that is known by its number alone")]

use rustix::fs::AtFlags;
use std::io::Write;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

/// What the name of every scratch file begins with; hexadecimal digits follow.
pub(super) const PREFIX: &str = ".ioscape-scratch-";
/// How many digits.
pub(super) const DIGITS: usize = 16;

/// How many are known at a time; of more, the next run removes what is left.
const MOST: usize = 32;
/// What stands for no descriptor.
const NONE: i32 = -1;

/// One of them.
struct Living {
    /// What its name ends with; 0 where the place is free.
    digits: AtomicU64,
    /// Its directory.
    directory: AtomicI32,
    inode: AtomicU64,
    creator: AtomicU32,
}

static ALL: [Living; MOST] = [const {
    Living {
        digits: AtomicU64::new(0),
        directory: AtomicI32::new(NONE),
        inode: AtomicU64::new(0),
        creator: AtomicU32::new(0),
    }
}; MOST];

/// Takes a file in for as long as `directory` is open; its place, if there is one.
pub(super) fn enter(digits: u64, directory: &OwnedFd, inode: u64) -> Option<usize> {
    let is_ours = |one: &Living| {
        one.digits.compare_exchange(0, digits, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    let at = ALL.iter().position(is_ours)?;
    ALL[at].inode.store(inode, Ordering::Relaxed);
    ALL[at].creator.store(std::process::id(), Ordering::Relaxed);
    ALL[at].directory.store(directory.as_raw_fd(), Ordering::Release);
    Some(at)
}

/// Forgets the file at this place.
pub(super) fn forget(at: usize) {
    ALL[at].directory.store(NONE, Ordering::Release);
    ALL[at].digits.store(0, Ordering::Release);
}

/// Removes all of them that this process made. No memory is asked for.
pub(crate) fn remove_all() {
    ALL.iter().for_each(remove);
}

/// Removes one, if this process made it and its name still stands for it.
fn remove(one: &Living) {
    if one.creator.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let directory = one.directory.swap(NONE, Ordering::AcqRel);
    if directory == NONE {
        return;
    }
    // SAFETY: it is open until its file is forgotten; at worst another thread does so now, and the name is sought elsewhere.
    let directory = unsafe { BorrowedFd::borrow_raw(directory) };
    let mut name = [0; PREFIX.len() + DIGITS];
    let _ = write!(&mut name[..], "{PREFIX}{:016x}", one.digits.load(Ordering::Relaxed));
    let found = rustix::fs::statat(directory, &name[..], AtFlags::SYMLINK_NOFOLLOW);
    if found.is_ok_and(|found| found.st_ino == one.inode.load(Ordering::Relaxed)) {
        let _ = rustix::fs::unlinkat(directory, &name[..], AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::scratch;
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_this_process_made_is_removed_and_what_was_dropped_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let make = || {
            let folder_itself = OwnedFd::from(File::open(folder.path()).unwrap());
            let (file, scratch) = scratch::create(folder_itself, folder.path()).unwrap();
            let inode = file.metadata().unwrap().ino();
            let one = ALL.iter().find(|one| one.inode.load(Ordering::Relaxed) == inode);
            (folder.path().join(scratch.name()), (scratch, file), one.expect("it is known"))
        };
        let (path, scratch, one) = make();
        one.creator.store(u32::MAX, Ordering::Relaxed);
        remove(one);
        assert!(path.exists(), "it is of another process");
        one.creator.store(std::process::id(), Ordering::Relaxed);
        remove(one);
        assert!(!path.exists());
        drop(scratch);
        assert_eq!(one.directory.load(Ordering::Relaxed), NONE);
        let (path, scratch, one) = make();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "precious").unwrap();
        remove(one);
        assert!(path.exists(), "its name stands for another file");
        drop(scratch);
    }
}
