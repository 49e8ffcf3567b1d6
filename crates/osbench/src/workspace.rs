//! A directory of our own below the one the user named, apart from what was deleted there.

use ioscape_machine::error::Error;
use ioscape_machine::target::{self, ScratchFolder};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The directory; it and all below is removed on drop by the process that made it.
#[derive(Debug)]
pub(crate) struct Workspace {
    folder: ScratchFolder,
    used: u32,
}

impl Workspace {
    /// Makes one in `directory`, after removing those of dead makers.
    ///
    /// # Errors
    /// The directory takes no directories.
    pub(crate) fn new(directory: &Path) -> Result<Self, Error> {
        let folder =
            ScratchFolder::new_in(directory).map_err(|e| target::unwritable(directory, e))?;
        apart(folder.file());
        Ok(Self { folder, used: 0 })
    }

    /// A new, empty directory in it.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn fresh(&mut self) -> Result<PathBuf, Error> {
        self.used += 1;
        let path = self.folder.path().join(format!("d{}", self.used));
        fs::create_dir(&path).map_err(|e| Error::io("make", &path, e))?;
        Ok(path)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_and_goes() {
        let home = tempfile::tempdir().unwrap();
        let mut one = Workspace::new(home.path()).unwrap();
        assert_ne!(one.fresh().unwrap(), one.fresh().unwrap());
        drop(one);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_takes_no_directory_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Workspace::new(file.path()).unwrap_err().is_misuse());
    }
}
