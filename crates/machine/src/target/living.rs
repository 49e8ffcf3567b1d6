//! The scratch files and folders of this process, for an exit without memory in which nothing is
//! dropped.
#![expect(unsafe_code, reason = "a descriptor that is known by its number alone")]

use rustix::fs::{AtFlags, Mode, OFlags, RawDir};
use rustix::path::Arg;
use std::ffi::CStr;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

/// Prefix of every scratch file's name; hexadecimal digits follow.
pub(super) const PREFIX: &str = ".ioscape-scratch-";
/// Number of these digits.
pub(super) const DIGITS: usize = 16;

/// Prefix of every scratch folder's name; letters and digits follow.
pub(super) const FOLDER_PREFIX: &str = ".ioscape-folder-";
/// Number of these letters and digits.
pub(super) const FOLDER_RANDOM: usize = 8;

/// Room for either name and its terminating zero.
const NAME: usize = 40;
/// Maximum depth of folders inside one that is removed; ours are shallower.
const DEPTH: u32 = 8;
/// Stack bytes for the names of a folder's entries.
const ENTRIES: usize = 4096;
/// How often a folder is emptied before it is left to the next run: a live worker may put a file in
/// it.
const TRIES: u32 = 3;

/// Number of slots; beyond them, leftovers are removed by the next run.
const MOST: usize = 32;
/// Marks a missing descriptor.
const NONE: i32 = -1;

/// One scratch file or folder.
struct Living {
    /// Random part of its name; 0 if the slot is free.
    digits: AtomicU64,
    /// Whether it is a folder; the digits then encode the letters of its name.
    is_folder: AtomicBool,
    /// Descriptor of its directory.
    directory: AtomicI32,
    inode: AtomicU64,
    creator: AtomicU32,
}

static ALL: [Living; MOST] = [const {
    Living {
        digits: AtomicU64::new(0),
        is_folder: AtomicBool::new(false),
        directory: AtomicI32::new(NONE),
        inode: AtomicU64::new(0),
        creator: AtomicU32::new(0),
    }
}; MOST];

/// Name of a scratch file or folder.
#[derive(Clone, Copy, Debug)]
pub(super) enum Called {
    /// A file, identified by the digits of its name.
    File(u64),
    /// A folder, identified by the letters of its name.
    Folder([u8; FOLDER_RANDOM]),
}

/// Registers one for as long as its `directory` is open. Returns its slot, if one is free.
pub(super) fn enter(called: Called, directory: &OwnedFd, inode: u64) -> Option<usize> {
    let (digits, is_folder) = match called {
        Called::File(digits) => (digits, false),
        Called::Folder(letters) => (u64::from_be_bytes(letters), true),
    };
    let is_ours = |one: &Living| {
        one.digits.compare_exchange(0, digits, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    let at = ALL.iter().position(is_ours)?;
    ALL[at].is_folder.store(is_folder, Ordering::Relaxed);
    ALL[at].inode.store(inode, Ordering::Relaxed);
    ALL[at].creator.store(std::process::id(), Ordering::Relaxed);
    ALL[at].directory.store(directory.as_raw_fd(), Ordering::Release);
    Some(at)
}

/// Frees this slot.
pub(super) fn forget(at: usize) {
    ALL[at].directory.store(NONE, Ordering::Release);
    ALL[at].digits.store(0, Ordering::Release);
}

/// Removes all that this process created, without allocating.
pub(crate) fn remove_all() {
    ALL.iter().for_each(remove);
}

/// Removes one, if this process created it and its name still refers to it.
fn remove(one: &Living) {
    if one.creator.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let directory = one.directory.swap(NONE, Ordering::AcqRel);
    if directory == NONE {
        return;
    }
    // SAFETY: it is open until its file is forgotten; at worst another thread forgets it now, and
    // the name is looked up elsewhere.
    let directory = unsafe { BorrowedFd::borrow_raw(directory) };
    let name = one.name();
    let Ok(name) = CStr::from_bytes_until_nul(&name) else { return };
    let found = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    if found.is_ok_and(|found| found.st_ino == one.inode.load(Ordering::Relaxed)) {
        match one.is_folder.load(Ordering::Relaxed) {
            true => remove_folder(directory, name),
            false => {
                let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
            }
        }
    }
}

impl Living {
    /// Returns its name, terminated by the first zero.
    fn name(&self) -> [u8; NAME] {
        let (mut name, digits) = ([0; NAME], self.digits.load(Ordering::Relaxed));
        // The last place stays zero.
        let mut rest = &mut name[..NAME - 1];
        let _ = match self.is_folder.load(Ordering::Relaxed) {
            true => rest
                .write_all(FOLDER_PREFIX.as_bytes())
                .and_then(|()| rest.write_all(&digits.to_be_bytes())),
            false => write!(rest, "{PREFIX}{digits:0DIGITS$x}"),
        };
        name
    }
}

/// Removes a folder with its contents on its own file system.
fn remove_folder(directory: BorrowedFd, name: &CStr) {
    let Ok(parent) = rustix::fs::fstat(directory) else { return };
    for _ in 0..TRIES {
        match open_folder(directory, name, parent.st_dev) {
            Some(folder) => empty(folder.as_fd(), parent.st_dev),
            None => return,
        }
        if rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR).is_ok() {
            return;
        }
    }
}

/// Removes a file, or a folder with its contents.
pub(super) fn remove_entry(directory: BorrowedFd, name: &CStr, file_system: u64) -> io::Result<()> {
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) => return Ok(()),
        // The errors for a directory, in POSIX and in Linux.
        Err(rustix::io::Errno::PERM | rustix::io::Errno::ISDIR) => {}
        Err(error) => return Err(error.into()),
    }
    if let Some(below) = open_folder(directory, name, file_system) {
        empty(below.as_fd(), file_system);
    }
    Ok(rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)?)
}

/// Opens a folder on this file system; a mount on top of it is not ours to empty.
pub(super) fn open_folder(directory: BorrowedFd, name: impl Arg, device: u64) -> Option<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(directory, name, flags, Mode::empty()).ok()?;
    let is_here = rustix::fs::fstat(&folder).is_ok_and(|found| found.st_dev == device);
    is_here.then_some(folder)
}

/// Removes the contents of a folder on its own file system.
pub(super) fn empty(folder: BorrowedFd, file_system: u64) {
    empty_to(folder, file_system, DEPTH);
}

/// Does the same, down to this depth.
fn empty_to(folder: BorrowedFd, file_system: u64, depth: u32) {
    let mut buffer = [const { MaybeUninit::uninit() }; ENTRIES];
    let mut entries = RawDir::new(folder, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..")
            || rustix::fs::unlinkat(folder, name, AtFlags::empty()).is_ok()
            || depth == 0
        {
            continue;
        }
        if let Some(below) = open_folder(folder, name, file_system) {
            empty_to(below.as_fd(), file_system, depth - 1);
            let _ = rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{ScratchFolder, scratch};
    use std::fs::File;
    use std::path::Path;

    /// Finds the slot by name, not by inode: for a moment, a slot being reused by another test
    /// keeps its old inode number, which the file system may have given to our file.
    fn known(path: &Path) -> Option<&'static Living> {
        let name = path.file_name().unwrap().as_encoded_bytes();
        let is_taken = |one: &&Living| one.digits.load(Ordering::Relaxed) != 0;
        ALL.iter()
            .filter(is_taken)
            .find(|one| one.name().strip_prefix(name).is_some_and(|rest| rest.starts_with(b"\0")))
    }

    /// Returns whether no slot has this name; another test may have reused the slot.
    fn is_forgotten(digits: u64) -> bool {
        ALL.iter().all(|one| one.digits.load(Ordering::Relaxed) != digits)
    }

    #[test]
    fn what_this_process_made_is_removed_and_what_was_dropped_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let make = || {
            let folder_itself = OwnedFd::from(File::open(folder.path()).unwrap());
            let (file, scratch) = scratch::create(folder_itself, folder.path()).unwrap();
            let path = folder.path().join(scratch.name());
            let one = known(&path).expect("it is known");
            (path, (scratch, file), one)
        };
        let (path, scratch, one) = make();
        one.creator.store(u32::MAX, Ordering::Relaxed);
        remove(one);
        assert!(path.exists(), "it is of another process");
        one.creator.store(std::process::id(), Ordering::Relaxed);
        remove(one);
        assert!(!path.exists());
        let digits = one.digits.load(Ordering::Relaxed);
        drop(scratch);
        assert!(is_forgotten(digits));
        let (path, scratch, one) = make();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "precious").unwrap();
        remove(one);
        assert!(path.exists(), "its name stands for another file");
        drop(scratch);
    }

    #[test]
    fn a_folder_is_removed_with_all_that_is_its_own() {
        let place = tempfile::tempdir().unwrap();
        let precious = place.path().join("precious");
        std::fs::create_dir(&precious).unwrap();
        std::fs::write(precious.join("file"), "x").unwrap();
        let folder = ScratchFolder::new_in(place.path()).unwrap();
        let path = folder.path().to_owned();
        let one = known(&path).expect("it is known");
        std::fs::create_dir_all(path.join("a/b/c")).unwrap();
        // More names than one read returns.
        for n in 0..500 {
            std::fs::write(path.join(format!("a/b/a-file-of-a-longer-name-{n}")), "x").unwrap();
        }
        std::os::unix::fs::symlink(&precious, path.join("a/link")).unwrap();
        let digits = one.digits.load(Ordering::Relaxed);
        remove(one);
        assert!(!path.exists() && precious.join("file").exists());
        drop(folder);
        assert!(is_forgotten(digits));
    }
}
