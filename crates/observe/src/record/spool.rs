//! Where recorded pages are kept until they become a trace: in files in a folder, which outlive a
//! killed recorder, or in memory.

use ioscape_machine::device::BlockDevice;
use ioscape_machine::error::Error;
use ioscape_machine::mounts;
use ioscape_schema::RecordingSource;
use ioscape_schema::text::RECORDING_MARK;
use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, fstat, fstatvfs, open, openat, statat, unlinkat,
};
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most free space that a recording leaves for others, in bytes; on a small file system, it
/// leaves one part in this many of the space.
const LEFT: u64 = 1 << 30;
const LEFT_PART: u64 = 20;

/// The folder for a recording's spools. It is held open: whoever owns its parent may replace it by
/// another folder, in which nothing is created or removed.
#[derive(Debug)]
pub struct SpoolFolder {
    path: PathBuf,
    folder: Arc<OwnedFd>,
    is_kept: bool,
}

impl SpoolFolder {
    /// Takes ownership of the new folder at `path`: it is removed on drop, with everything in it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = open(path, flags, Mode::empty()).map_err(|e| Error::io("open", path, e))?;
        Ok(Self { path: path.to_owned(), folder: Arc::new(folder), is_kept: false })
    }

    /// The path where it was created.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The device that it lies on, if its file system has one of its own.
    pub(super) fn device(&self) -> Option<BlockDevice> {
        BlockDevice::at(mounts::split(fstat(&self.folder).ok()?.st_dev))
    }

    /// The free space where it lies, in bytes, if that is so little that a recording must end:
    /// other writers there need it.
    pub fn last_bytes(&self) -> Option<u64> {
        let room = fstatvfs(&self.folder).ok()?;
        let [free, all] =
            [room.f_bavail, room.f_blocks].map(|blocks| blocks.saturating_mul(room.f_frsize));
        is_last(free, all).then_some(free)
    }

    /// Keeps the folder with everything in it; returns where it was created.
    pub fn keep(mut self) -> PathBuf {
        self.is_kept = true;
        self.path.clone()
    }

    /// Removes the spools with these names.
    pub fn remove(&self, names: &[String]) {
        for name in names {
            // At the latest, it is removed with the folder.
            let _ = unlinkat(&self.folder, name, AtFlags::empty());
        }
    }

    /// Whether its name still refers to it.
    fn is_in_place(&self) -> bool {
        let named = statat(CWD, &self.path, AtFlags::SYMLINK_NOFOLLOW);
        named.is_ok_and(|named| {
            fstat(&self.folder)
                .is_ok_and(|ours| (ours.st_dev, ours.st_ino) == (named.st_dev, named.st_ino))
        })
    }
}

/// Whether `free` of `all` bytes is no more than what must be left for others.
fn is_last(free: u64, all: u64) -> bool {
    free < LEFT.min(all / LEFT_PART)
}

impl Drop for SpoolFolder {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let entries = Dir::read_from(&self.folder).into_iter().flatten().flatten();
        let names: Vec<_> = entries.map(|entry| entry.file_name().to_owned()).collect();
        for name in names {
            // The folder itself and its parent are among the entries, and are not removed.
            let _ = unlinkat(&self.folder, name, AtFlags::empty());
        }
        if self.is_in_place() {
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// The spools of one recording.
pub(super) struct Spools {
    /// The folder where they are created, and its path; absent if they are in memory.
    folder: Option<(Arc<OwnedFd>, PathBuf)>,
    /// The beginning of each file, which makes it readable by itself.
    head: String,
    parts: u32,
}

/// The destination of one CPU's pages during one part.
pub(super) struct Spool {
    pub file: File,
    /// Its name in its folder; absent if it is in memory.
    pub name: Option<String>,
}

impl Spools {
    pub fn new(folder: Option<&SpoolFolder>, source: &RecordingSource) -> Self {
        let head = if folder.is_some() { head(source) } else { String::new() };
        let folder = folder.map(|one| (Arc::clone(&one.folder), one.path.clone()));
        Self { folder, head, parts: 0 }
    }

    /// Bytes in each spool before its pages.
    pub fn head_bytes(&self) -> u64 {
        self.head.len() as u64
    }

    /// Opens the spools of the next part.
    pub fn next(&mut self, cpus: usize) -> Result<Vec<Spool>, Error> {
        self.parts += 1;
        (0..cpus).map(|cpu| self.one(cpu)).collect()
    }

    fn one(&self, cpu: usize) -> Result<Spool, Error> {
        let Some((folder, path)) = &self.folder else {
            let made = rustix::fs::memfd_create("ioscape-events", rustix::fs::MemfdFlags::CLOEXEC);
            let made = made.map_err(|e| Error::io("make", Path::new("a buffer in memory"), e))?;
            return Ok(Spool { file: File::from(made), name: None });
        };
        let name = format!("part{}-cpu{cpu}", self.parts);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = openat(folder, &name, flags, Mode::from_raw_mode(0o600));
        let mut file = File::from(made.map_err(|e| Error::io("make", &path.join(&name), e))?);
        let written = file.write_all(self.head.as_bytes());
        written.map_err(|e| Error::io("write", &path.join(&name), e))?;
        Ok(Spool { file, name: Some(name) })
    }
}

fn head(source: &RecordingSource) -> String {
    // Text, numbers and lists of them can always be written as JSON.
    let text = serde_json::to_string(source).unwrap_or_default();
    format!("{RECORDING_MARK}{text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    #[test]
    fn spools_of_a_folder_begin_with_how_they_are_read_and_those_in_memory_with_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let source = RecordingSource::default();
        let spooled = SpoolFolder::open(folder.path()).unwrap();
        let mut spools = Spools::new(Some(&spooled), &source);
        assert_eq!((spools.next(2).unwrap().len(), spools.next(1).unwrap().len()), (2, 1));
        let text = std::fs::read_to_string(folder.path().join("part2-cpu0")).unwrap();
        assert_eq!((text.len() as u64, text), (spools.head_bytes(), head(&source)));
        let mut memory = Spools::new(None, &source).next(1).unwrap();
        let mut bytes = Vec::new();
        memory[0].file.rewind().unwrap();
        memory[0].file.read_to_end(&mut bytes).unwrap();
        assert!(bytes.is_empty() && memory[0].name.is_none());
    }

    /// Whoever owns the parent of the folder may move the folder away and put a link to something
    /// else there.
    #[test]
    fn what_is_put_in_the_place_of_the_folder_is_neither_written_nor_removed() {
        let around = tempfile::tempdir().unwrap();
        let [there, away, other] = ["there", "away", "other"].map(|name| around.path().join(name));
        let count = |path: &Path| std::fs::read_dir(path).unwrap().count();
        std::fs::create_dir(&there).unwrap();
        let spooled = SpoolFolder::open(&there).unwrap();
        let mut spools = Spools::new(Some(&spooled), &RecordingSource::default());
        std::fs::rename(&there, &away).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, &there).unwrap();
        assert!(SpoolFolder::open(&there).is_err(), "a link");
        let names: Vec<String> =
            spools.next(2).unwrap().into_iter().filter_map(|spool| spool.name).collect();
        assert_eq!((count(&away), count(&other)), (2, 0));
        std::fs::write(other.join(&names[0]), "precious").unwrap();
        spooled.remove(&names[..1]);
        assert_eq!((count(&away), count(&other)), (1, 1));
        std::fs::remove_file(&there).unwrap();
        std::fs::create_dir(&there).unwrap();
        drop((spools, spooled));
        assert_eq!((count(&away), count(&other), count(&there)), (0, 1, 0));
    }

    #[test]
    fn a_recording_leaves_room_for_others() {
        assert!(is_last((1 << 30) - 1, 1 << 40) && !is_last(1 << 30, 1 << 40));
        assert!(is_last(400 << 10, 8 << 20) && !is_last(420 << 10, 8 << 20));
        assert!(!is_last(0, 0), "it does not tell its size");
    }

    #[test]
    fn a_folder_goes_with_its_spools_unless_it_is_kept() {
        let around = tempfile::tempdir().unwrap();
        let place = around.path().join("place");
        for is_kept in [false, true] {
            std::fs::create_dir(&place).unwrap();
            let spooled = SpoolFolder::open(&place).unwrap();
            Spools::new(Some(&spooled), &RecordingSource::default()).next(1).unwrap();
            if is_kept {
                assert_eq!(spooled.keep(), place);
            } else {
                drop(spooled);
            }
            assert_eq!(place.join("part1-cpu0").exists(), is_kept);
            assert_eq!(place.exists(), is_kept);
        }
    }
}
