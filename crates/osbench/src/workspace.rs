//! A private directory below the one that the user named, placed away from earlier deletions.

use ioscape_machine::error::Error;
use ioscape_machine::target::{self, ScratchFolder};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The directory; the process that created it removes it with its contents on drop.
#[derive(Debug)]
pub(crate) struct Workspace {
    folder: ScratchFolder,
    used: u32,
}

impl Workspace {
    /// Creates one in `directory`, after removing those that dead processes left.
    ///
    /// # Errors
    /// No directory can be created in `directory`.
    pub(crate) fn new(directory: &Path) -> Result<Self, Error> {
        let folder =
            ScratchFolder::new_in(directory).map_err(|e| target::unwritable(directory, e))?;
        apart(folder.file());
        Ok(Self { folder, used: 0 })
    }

    /// Returns the attribute for which changes of names in it wait for storage (chattr(1)), if it
    /// has one: some file systems hand it down from the user's directory.
    pub(crate) fn synchronous(&self) -> Option<&'static str> {
        attribute(ioctl_getflags(self.folder.file()).ok()?)
    }

    /// Creates a new, empty directory in it. The path leads through the open directory, which only
    /// we may enter: the owner of its parent could put another one in its place. The path is valid
    /// in this process, and in forked ones while they keep its descriptors.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub(crate) fn fresh(&mut self) -> Result<PathBuf, Error> {
        self.used += 1;
        let name = format!("d{}", self.used);
        let open = self.folder.file().as_raw_fd().to_string();
        let path = Path::new("/proc/self/fd").join(open).join(&name);
        fs::create_dir(&path).map_err(|e| Error::io("make", &self.folder.path().join(&name), e))?;
        Ok(path)
    }
}

/// Asks the file system to spread out new directories in this one, as it does at the root of its
/// tree. An ext4 without a journal does not reuse the inodes of recently deleted files and searches
/// past them for minutes (kernel: `recently_deleted` in fs/ext4/ialloc.c). So a directory beside an
/// earlier one would pay for its deletions, up to twenty times over.
fn apart(directory: &File) {
    if let Ok(flags) = ioctl_getflags(directory) {
        // Most file systems lack this flag and do not need it.
        let _ = ioctl_setflags(directory, flags | IFlags::TOPDIR);
    }
}

fn attribute(flags: IFlags) -> Option<&'static str> {
    let all = [(IFlags::SYNC, "chattr +S"), (IFlags::DIRSYNC, "chattr +D")];
    all.into_iter().find_map(|(flag, name)| flags.contains(flag).then_some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_make_changes_wait_are_known() {
        let told = [IFlags::TOPDIR, IFlags::SYNC | IFlags::TOPDIR, IFlags::DIRSYNC].map(attribute);
        assert_eq!(told, [None, Some("chattr +S"), Some("chattr +D")]);
    }

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
