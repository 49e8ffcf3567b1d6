//! A directory of our own below the one the user named, apart from what was deleted there.

use ioscape_machine::error::Error;
use ioscape_machine::target::{self, ScratchFolder};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
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

    /// A new, empty directory in it. The path leads through the open directory, which none but us may enter: whoever owns the one around it may
    /// put another in its place. It holds in this process, and in those forked from it while they have its descriptors.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn fresh(&mut self) -> Result<PathBuf, Error> {
        self.used += 1;
        let name = format!("d{}", self.used);
        let open = self.folder.file().as_raw_fd().to_string();
        let path = Path::new("/proc/self/fd").join(open).join(&name);
        fs::create_dir(&path).map_err(|e| Error::io("make", &self.folder.path().join(&name), e))?;
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
    fn what_is_put_in_its_place_gets_nothing() {
        let home = tempfile::tempdir().unwrap();
        let mut ours = Workspace::new(home.path()).unwrap();
        let (there, away) = (ours.folder.path().to_owned(), home.path().join("away"));
        fs::rename(&there, &away).unwrap();
        fs::create_dir(&there).unwrap();
        let fresh = ours.fresh().unwrap();
        fs::write(fresh.join("foo"), "x").unwrap();
        assert_eq!(fs::read(away.join("d1/foo")).unwrap(), b"x");
        fs::remove_dir_all(fresh).unwrap();
        assert_eq!(fs::read_dir(&away).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&there).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_takes_no_directory_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Workspace::new(file.path()).unwrap_err().is_misuse());
    }
}
