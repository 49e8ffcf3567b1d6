//! Scratch folders: locked by their maker, removed when done, and swept up by the next run if their maker was killed.

use super::living::{self, Called, FOLDER_PREFIX, FOLDER_RANDOM};
use super::scratch::{self, lock};
use crate::output::tell_leftovers;
use crate::terminal;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tempfile::TempDir;

/// A folder of our own, removed with all that is in it when dropped by the process that made it.
#[derive(Debug)]
pub struct ScratchFolder {
    // Removed before it is forgotten and the lock is given up.
    folder: TempDir,
    _known: Option<Known>,
    creator: u32,
    lock: File,
}

/// A folder's place among those that are removed where no memory can be had, and the open folder in which it lies.
#[derive(Debug)]
struct Known {
    at: usize,
    _parent: OwnedFd,
}

impl Known {
    fn of(folder: &TempDir, held: &File, parent: &Path) -> Option<Self> {
        let name = folder.path().file_name()?.to_str()?;
        let letters = name.strip_prefix(FOLDER_PREFIX)?.as_bytes().try_into().ok()?;
        let parent = OwnedFd::from(File::open(parent).ok()?);
        let inode = held.metadata().ok()?.ino();
        let at = living::enter(Called::Folder(letters), &parent, inode)?;
        Some(Self { at, _parent: parent })
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        living::forget(self.at);
    }
}

impl ScratchFolder {
    /// Makes a folder in `parent`; removes what killed makers left there, which is said.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new_in(parent: &Path) -> io::Result<Self> {
        tell_leftovers(&scratch::sweep_at(parent), terminal::tell);
        let mut tries = 3;
        loop {
            let folder = tempfile::Builder::new()
                .prefix(FOLDER_PREFIX)
                .rand_bytes(FOLDER_RANDOM)
                .tempdir_in(parent)?;
            // Between creation and lock another process may take it for a leftover and remove it.
            match File::open(folder.path()) {
                Ok(held) if lock(&held) != Some(false) => {
                    let _known = Known::of(&folder, &held, parent);
                    return Ok(Self { folder, _known, creator: std::process::id(), lock: held });
                }
                _ if tries > 0 => tries -= 1,
                Ok(_) => return Err(io::Error::other("it is locked by another program")),
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder itself, open.
    pub fn file(&self) -> &File {
        &self.lock
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // A forked worker has a copy of this value and must not remove the folder of its parent.
        self.folder.disable_cleanup(self.creator != std::process::id());
    }
}

/// What the user named for `path`: the parent of our folder where it lies in one, and else the path itself.
pub fn named_by_user(path: &Path) -> &Path {
    let is_ours = |one: &&Path| {
        let name = one.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(FOLDER_PREFIX))
    };
    path.ancestors().find(is_ours).and_then(Path::parent).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_our_folders_are_told_by_the_place_that_was_named() {
        let told = |path| named_by_user(Path::new(path)).display().to_string();
        assert_eq!(told("/mnt/.ioscape-folder-a1B2c3D4/file-0"), "/mnt");
        assert_eq!(told("/mnt/data/file-0"), "/mnt/data/file-0");
    }

    #[test]
    fn a_place_that_takes_no_folder_is_refused_by_its_own_name() {
        // Not even the superuser makes a folder there.
        let place = Path::new("/sys/kernel");
        let refused = ScratchFolder::new_in(place).unwrap_err();
        let told = crate::target::unwritable(place, refused).to_string();
        assert!(!told.contains("ioscape-folder"), "{told}");
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(ScratchFolder::new_in(file.path()).is_err());
        let full = crate::target::unwritable(place, io::ErrorKind::StorageFull.into()).to_string();
        assert!(full.contains("has no space left: free some"), "{full}");
    }

    #[test]
    fn folders_of_the_dead_are_swept_and_those_of_the_living_kept() {
        let parent = tempfile::tempdir().unwrap();
        let dead = parent.path().join(".ioscape-folder-a1B2c3D4");
        std::fs::create_dir_all(dead.join("below")).unwrap();
        std::fs::write(dead.join("below/file"), "x").unwrap();
        let others = [".ioscape-folder-a1B2c3D", ".ioscape-folder-a1B2c3D4.x", "ioscape-a1B2c3D4"];
        for name in others {
            std::fs::create_dir(parent.path().join(name)).unwrap();
        }
        let link = parent.path().join(".ioscape-folder-linklink");
        std::os::unix::fs::symlink(parent.path().join(others[2]), &link).unwrap();
        let living = ScratchFolder::new_in(parent.path()).unwrap();
        assert!(!dead.exists());
        drop(ScratchFolder::new_in(parent.path()).unwrap());
        assert!(living.path().exists() && link.symlink_metadata().is_ok());
        assert!(others.iter().all(|name| parent.path().join(name).exists()));
        drop(living);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 4);
    }
}
