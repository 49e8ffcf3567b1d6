//! Scratch folders: locked by their creator, removed when done, and swept by the next run if the
//! creator was killed.

use super::living::{self, Called, FOLDER_PREFIX, FOLDER_RANDOM};
use super::scratch::{self, lock};
use crate::output::tell_leftovers;
use crate::terminal;
use rustix::fs::{CWD, Dir, Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Open flags that accept only a folder and follow no link.
const FOLDER_ITSELF: i32 = libc::O_DIRECTORY | libc::O_NOFOLLOW;

/// The folders of this process: path, device and inode.
static OWN: Mutex<Vec<(PathBuf, [u64; 2])>> = Mutex::new(Vec::new());

/// A folder of our own. Dropping it in the process that created it removes it with its contents.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: TempDir,
    _known: Option<Known>,
    creator: u32,
    lock: File,
}

/// Creator id of a folder that nobody removes.
const NOBODY: u32 = 0;

/// A folder's slot in the list of what is removed when memory runs out, and the open parent folder.
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
    /// Creates a folder in `parent`, and removes and reports leftovers of killed processes there.
    ///
    /// # Errors
    /// The folder cannot be created, or could never be removed.
    pub fn new_in(parent: &Path) -> io::Result<Self> {
        scratch::lets_go(CWD, parent)?;
        tell_leftovers(&scratch::sweep_at(parent), terminal::tell);
        let mut tries = 3;
        loop {
            let folder = tempfile::Builder::new()
                .prefix(FOLDER_PREFIX)
                .rand_bytes(FOLDER_RANDOM)
                .tempdir_in(parent)?;
            // Between creation and locking another process may remove it as a leftover, or replace
            // it with a link.
            match File::options().read(true).custom_flags(FOLDER_ITSELF).open(folder.path()) {
                Ok(held) if lock(&held) != Some(false) => {
                    let _known = Known::of(&folder, &held, parent);
                    let found = held.metadata()?;
                    let which = (folder.path().to_owned(), [found.dev(), found.ino()]);
                    OWN.lock().unwrap_or_else(PoisonError::into_inner).push(which);
                    return Ok(Self { folder, _known, creator: std::process::id(), lock: held });
                }
                _ if tries > 0 => tries -= 1,
                Ok(_) => return Err(io::Error::other("it is locked by another program")),
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes the folder stay with its contents when dropped. This is for a file system that is
    /// discarded or recreated as a whole, where removing millions of files one by one would take
    /// minutes.
    pub fn left_as_it_is(mut self) -> Self {
        (self.creator, self._known) = (NOBODY, None);
        self
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the open folder itself.
    pub fn file(&self) -> &File {
        &self.lock
    }

    /// Removes its contents while `goes_on` returns true, but never those of a folder put in its
    /// place.
    ///
    /// # Errors
    /// Something cannot be removed, or `goes_on` returned false ([`io::ErrorKind::Interrupted`]).
    pub fn clear(&self, goes_on: impl Fn() -> bool) -> io::Result<()> {
        let device = self.lock.metadata()?.dev();
        let names = Dir::read_from(&self.lock)?.map(|entry| Ok(entry?.file_name().to_owned()));
        let names = names.collect::<io::Result<Vec<_>>>()?;
        for name in names.iter().filter(|name| !matches!(name.to_bytes(), b"." | b"..")) {
            if !goes_on() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            living::remove_entry(self.lock.as_fd(), name, device)?;
        }
        Ok(())
    }
}

/// How to open a file so that exactly what was named is opened.
#[derive(Debug)]
pub struct Reach {
    /// The path to open.
    pub path: PathBuf,
    /// Additional flags for `open`.
    pub flags: i32,
    folder: Option<OwnedFd>,
}

impl Reach {
    /// Returns whether it leads into a folder of ours.
    pub fn is_ours(&self) -> bool {
        self.folder.is_some()
    }
}

/// Returns how to open `path` without following a link. A file in our folder is reached through the
/// open folder, since others may have moved the folder and put another one or a link in its place.
///
/// # Errors
/// The folder no longer exists.
pub fn reach(path: &Path) -> io::Result<Reach> {
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_in = |one: &&(PathBuf, [u64; 2])| path.parent() == Some(&*one.0);
    let found = own.iter().rev().find(is_in).map(|(_, which)| *which).zip(path.file_name());
    drop(own);
    let Some((which, name)) = found else {
        return Ok(Reach { path: path.to_owned(), flags: 0, folder: None });
    };
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let folder = path.parent().unwrap_or(path);
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let state = rustix::fs::fstat(&folder)?;
    if [state.st_dev, state.st_ino] != which {
        return Err(io::Error::other("another program put something else in its folder's place"));
    }
    // Without /proc only the name is left, which led to our folder a moment ago.
    let path = match Path::new("/proc/self").exists() {
        true => scratch::path_in(&folder, name),
        false => path.to_owned(),
    };
    Ok(Reach { path, flags: libc::O_NOFOLLOW, folder: Some(folder) })
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        self.folder.disable_cleanup(true);
        // A forked worker has a copy of this value and must not remove its parent's folder.
        if self.creator == std::process::id() {
            let gone = self.clear(|| true).and_then(|()| remove_empty(self.folder.path()));
            if let Err(error) = gone
                && !lies_in_ours(self.folder.path())
            {
                scratch::tell_kept(self.folder.path(), &error);
            }
        }
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|(path, _)| path != self.folder.path());
    }
}

/// Returns whether the folder at `path` lies in another one of ours: in a file system made for the
/// run, where it has no name once that is unmounted.
fn lies_in_ours(path: &Path) -> bool {
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    path.ancestors().skip(1).any(|above| own.iter().any(|(one, _)| one == above))
}

/// Removes our empty folder. Whatever has its name by now may be someone else's, and stays.
fn remove_empty(path: &Path) -> io::Result<()> {
    use ErrorKind::{DirectoryNotEmpty, NotADirectory, NotFound};
    match std::fs::remove_dir(path) {
        Err(e) if matches!(e.kind(), DirectoryNotEmpty | NotADirectory | NotFound) => Ok(()),
        done => done,
    }
}

/// Returns what the user named for `path`: the parent of our folder if it is in one, otherwise
/// `path`.
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
        // Not even root can create a folder there.
        let place = Path::new("/sys/kernel");
        let refused = ScratchFolder::new_in(place).unwrap_err();
        let told = crate::target::unwritable(place, refused).to_string();
        assert!(!told.contains("ioscape-folder"), "{told}");
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(ScratchFolder::new_in(file.path()).is_err());
        let full = crate::target::unwritable(place, io::ErrorKind::StorageFull.into()).to_string();
        assert!(full.contains("has no space left: free some"), "{full}");
    }

    /// The owner of the parent may move our folder away and put a link in its place.
    #[test]
    fn what_is_put_in_the_place_of_our_folder_is_neither_opened_nor_removed() {
        let parent = tempfile::tempdir().unwrap();
        let other = parent.path().join("other");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("file-0"), "x").unwrap();
        let ours = ScratchFolder::new_in(parent.path()).unwrap();
        std::fs::write(ours.path().join("file-0"), "y").unwrap();
        let opened = |path: &Path| {
            let reach = reach(path)?;
            File::options().read(true).custom_flags(reach.flags).open(&reach.path)
        };
        assert!(
            opened(&ours.path().join("file-0")).is_ok() && opened(&other.join("file-0")).is_ok()
        );
        std::os::unix::fs::symlink(other.join("file-0"), ours.path().join("link")).unwrap();
        assert!(opened(&ours.path().join("link")).is_err(), "a link in our own folder");
        std::fs::rename(ours.path(), parent.path().join("away")).unwrap();
        std::os::unix::fs::symlink(&other, ours.path()).unwrap();
        assert!(opened(&ours.path().join("file-0")).is_err());
        ours.clear(|| true).unwrap();
        assert_eq!(std::fs::read_dir(parent.path().join("away")).unwrap().count(), 0);
        std::fs::remove_file(ours.path()).unwrap();
        std::fs::create_dir(ours.path()).unwrap();
        assert!(opened(&ours.path().join("file-0")).is_err());
        assert!(other.join("file-0").exists());
        let precious = ours.path().join("precious");
        std::fs::write(&precious, "x").unwrap();
        drop(ours);
        assert!(precious.exists(), "it lies in a folder that is none of ours");
    }

    #[test]
    fn without_proc_a_file_in_our_folder_is_opened_by_its_name() {
        let parent = tempfile::tempdir().unwrap();
        let ours = ScratchFolder::new_in(parent.path()).unwrap();
        let file = ours.path().join("file-0");
        std::fs::write(&file, "x").unwrap();
        crate::testing::with_mount(&["-t", "tmpfs", "tmpfs"], &[Path::new("/proc")], || {
            let reach = reach(&file).unwrap();
            let opened = File::options().read(true).custom_flags(reach.flags).open(&reach.path);
            assert!(reach.is_ours() && opened.is_ok());
        });
    }

    #[test]
    fn a_folder_that_is_left_as_it_is_stays_with_what_is_in_it() {
        let parent = tempfile::tempdir().unwrap();
        let ours = ScratchFolder::new_in(parent.path()).unwrap().left_as_it_is();
        let file = ours.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(reach(&file).unwrap().is_ours());
        drop(ours);
        assert!(file.exists() && !reach(&file).unwrap().is_ours());
    }

    #[test]
    fn only_a_folder_in_no_other_of_ours_is_told_where_it_stays() {
        let parent = tempfile::tempdir().unwrap();
        let point = ScratchFolder::new_in(parent.path()).unwrap();
        let in_it = ScratchFolder::new_in(point.path()).unwrap();
        assert!(lies_in_ours(in_it.path()) && !lies_in_ours(point.path()));
    }

    #[test]
    fn a_folder_is_cleared_with_all_that_lies_below() {
        let parent = tempfile::tempdir().unwrap();
        let ours = ScratchFolder::new_in(parent.path()).unwrap();
        std::fs::create_dir_all(ours.path().join("a/b")).unwrap();
        std::fs::write(ours.path().join("a/b/file"), "x").unwrap();
        std::fs::write(ours.path().join("file"), "x").unwrap();
        let stopped = ours.clear(|| false).unwrap_err();
        assert_eq!(stopped.kind(), io::ErrorKind::Interrupted);
        ours.clear(|| true).unwrap();
        assert_eq!(std::fs::read_dir(ours.path()).unwrap().count(), 0);
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
