//! A directory of our own below the one the user named: locked while in use, removed when done, swept up if left behind.

use ioscape_machine::error::Error;
use rustix::fs::{FlockOperation, IFlags, ioctl_getflags, ioctl_setflags};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

/// What the name of every such directory begins with; 16 hexadecimal digits follow.
const PREFIX: &str = ".ioscape-os-";

/// The directory; it and all below is removed on drop by the process that made it.
#[derive(Debug)]
pub(crate) struct Workspace {
    path: PathBuf,
    creator: u32,
    used: u32,
    // Holds the lock that tells others that its maker lives.
    _lock: File,
}

impl Workspace {
    /// Makes one in `directory`, after removing those of dead makers.
    ///
    /// # Errors
    /// The directory takes no directories.
    pub(crate) fn new(directory: &Path) -> Result<Self, Error> {
        sweep(directory);
        let digits = RandomState::new().hash_one(std::process::id());
        let path = directory.join(format!("{PREFIX}{digits:016x}"));
        let refused = |e: std::io::Error| {
            Error::target(directory, format!("cannot hold a new directory ({e}): name another one"))
        };
        fs::create_dir(&path).map_err(refused)?;
        let lock = File::open(&path).map_err(|e| Error::io("open", &path, e))?;
        // A file system without locks only makes the sweep less careful.
        let _ = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive);
        apart(&lock);
        Ok(Self { path, creator: std::process::id(), used: 0, _lock: lock })
    }

    /// A new, empty directory in it.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn fresh(&mut self) -> Result<PathBuf, Error> {
        self.used += 1;
        let path = self.path.join(format!("d{}", self.used));
        fs::create_dir(&path).map_err(|e| Error::io("make", &path, e))?;
        Ok(path)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if self.creator == std::process::id() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Asks the file system to put what is made in this directory far apart, as it does at the top of its tree. An ext4 without a
/// journal does not give the places of files deleted within the last minutes to new ones and searches past them (kernel:
/// `recently_deleted` in fs/ext4/ialloc.c), so that a directory beside an earlier one would pay for its deletions, up to
/// twenty times over.
fn apart(directory: &File) {
    if let Ok(flags) = ioctl_getflags(directory) {
        // Most file systems know no such wish, and need none.
        let _ = ioctl_setflags(directory, flags | IFlags::TOPDIR);
    }
}

fn is_ours(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|d| d.len() == 16 && d.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

/// Removes such directories that are not locked; where there are no locks, none.
fn sweep(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_directory || !entry.file_name().to_str().is_some_and(is_ours) {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_and_goes_and_leftovers_are_swept() {
        let home = tempfile::tempdir().unwrap();
        let left = home.path().join(".ioscape-os-0123456789abcdef");
        fs::create_dir_all(left.join("x")).unwrap();
        fs::create_dir(home.path().join(".ioscape-os-mine")).unwrap();
        let mut first = Workspace::new(home.path()).unwrap();
        let second = Workspace::new(home.path()).unwrap();
        assert!(!left.exists() && first.path.exists(), "the living keep theirs");
        assert_ne!(first.fresh().unwrap(), first.fresh().unwrap());
        drop((first, second));
        let rest: Vec<_> = fs::read_dir(home.path()).unwrap().flatten().collect();
        assert_eq!(rest.len(), 1);
    }

    #[test]
    fn a_place_that_takes_no_directory_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Workspace::new(file.path()).unwrap_err().is_misuse());
    }
}
