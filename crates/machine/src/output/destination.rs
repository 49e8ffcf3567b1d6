//! Where an output goes: vetted before the work begins, written when it is done.

use super::identity::Identity;
use super::links::{self, End};
use super::numbered::numbered;
use super::planted;
use super::recognise::Content;
use crate::error::Error;
use crate::mounts::{self, Mount};
use crate::target::scratch::{self, Scratch};
use crate::target::unlock;
use crate::{descriptors, text};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, StatxFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a named pipe may be without a reader.
const READER: Duration = Duration::from_secs(10);

/// Names tried for a result without a given name.
const NAMES_MOST: u32 = 1000;

/// How an output may be written.
#[derive(Clone, Copy, Debug, Default)]
pub struct DestinationOptions {
    /// What is written, and may replace a file that holds the same; absent for what is not recognised as ours.
    pub content: Option<Content>,
    /// Any other file may be replaced too (`--force`).
    pub force: bool,
    /// The name is ours, not the user's: if there is such a file, another name is found.
    pub unnamed: bool,
}

/// Where one output goes: a file, a pipe, a device or an open descriptor.
#[derive(Debug)]
pub struct Destination {
    path: PathBuf,
    kind: Kind,
    leftovers: Vec<String>,
}

#[derive(Debug)]
enum Kind {
    /// A name in a folder, whose file is replaced by a whole one.
    Name(Slot),
    /// A pipe or character device, which is written through.
    Through(PathBuf, Option<Identity>),
    /// A descriptor of this process, which is written through.
    Descriptor(OwnedFd),
}

/// A name in an open folder.
#[derive(Debug)]
struct Slot {
    folder: OwnedFd,
    folder_path: PathBuf,
    name: OsString,
    /// The file that has this name now.
    present: Option<Stat>,
    /// Keeps its number: FAT and FUSE give a file another one once nobody has it.
    held: Option<OwnedFd>,
    unnamed: bool,
}

/// An output being written; without [`Destination::keep`] nothing of it stays where files are replaced.
#[derive(Debug)]
pub struct Draft {
    file: File,
    // Its drop removes the file, unless that got its name.
    scratch: Option<Scratch>,
    /// Whether the file is a temporary one, to be copied to where it goes.
    aside: bool,
}

impl Draft {
    fn through(file: File) -> Self {
        Self { file, scratch: None, aside: false }
    }

    /// The file to write into.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether what is written into it is passed on at once, so that it cannot be taken back.
    pub fn is_through(&self) -> bool {
        self.scratch.is_none() && !self.aside
    }
}

impl Destination {
    /// Vets `path` as an output, `-` for standard output; nothing is written yet but the trial of an empty file.
    ///
    /// # Errors
    /// [`Error::Target`] with the reason of the refusal.
    pub fn open(path: &Path, options: DestinationOptions) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            return Self::descriptor(path, 1);
        }
        let (folder_path, name) = match links::follow(path)? {
            End::Descriptor(number) => return Self::descriptor(path, number),
            End::Entry { folder, name } => (folder, name),
        };
        let folder = opened(&folder_path).map_err(|e| unwritable(path, &e))?;
        let kind = match rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => None,
            Err(error) => return Err(unwritable(path, &error.into())),
            Ok(found) => Some(found),
        };
        let present = match kind.map(|found| (FileType::from_raw_mode(found.st_mode), found)) {
            None => None,
            // Another result of this second: a free name is found when there is something to write.
            Some((FileType::RegularFile, _)) if options.unnamed => None,
            Some((FileType::RegularFile, found)) => {
                not_planted(path, &folder, &folder_path, &found)?;
                let file = opened_at(&folder, &name);
                vet(path, &found, file.as_ref(), &folder, options)?;
                not_mounted(path, &folder, &name, &folder_path.join(&name))?;
                rustix::fs::accessat(
                    &folder,
                    &name,
                    rustix::fs::Access::WRITE_OK,
                    AtFlags::EACCESS,
                )
                .map_err(|e| unwritable(path, &e.into()))?;
                Some(found)
            }
            Some((kind @ (FileType::CharacterDevice | FileType::Fifo), found)) => {
                if kind == FileType::Fifo {
                    not_planted(path, &folder, &folder_path, &found)?;
                }
                return Self::through(path, &folder_path.join(&name), &found);
            }
            Some((kind, _)) => return Err(Error::target(path, refused_kind(kind))),
        };
        let shared = mounts::system_of(&folder, &folder_path).is_network_or_fuse;
        let leftovers = scratch::sweep(&folder, shared);
        let held = present.and_then(|_| held(&folder, &name));
        let slot = Slot { folder, folder_path, name, present, held, unnamed: options.unnamed };
        slot.draft().map(drop).map_err(|e| unwritable(path, &e))?;
        Ok(Self { path: path.to_owned(), kind: Kind::Name(slot), leftovers })
    }

    fn descriptor(path: &Path, number: i32) -> Result<Self, Error> {
        let closed = || Error::target(path, "is not open for writing in this process");
        if descriptors::was_closed(number) {
            return Err(closed());
        }
        let link = PathBuf::from(format!("/proc/self/fd/{number}"));
        let file = match number {
            1 => io::stdout().as_fd().try_clone_to_owned(),
            2 => io::stderr().as_fd().try_clone_to_owned(),
            // Opened again: the number is the user's, and the descriptor is not ours to take.
            _ => File::options().append(true).open(link).map(OwnedFd::from),
        };
        let file = file.map_err(|_| closed())?;
        let flags = rustix::fs::fcntl_getfl(&file).map_err(|_| closed())?;
        if flags & OFlags::RWMODE == OFlags::RDONLY {
            return Err(closed());
        }
        Ok(Self { path: path.to_owned(), kind: Kind::Descriptor(file), leftovers: Vec::new() })
    }

    fn through(path: &Path, real: &Path, found: &Stat) -> Result<Self, Error> {
        rustix::fs::access(real, rustix::fs::Access::WRITE_OK)
            .map_err(|e| unwritable(path, &e.into()))?;
        let is_pipe = FileType::from_raw_mode(found.st_mode) == FileType::Fifo;
        let identity = is_pipe.then_some(Identity::Inode(found.st_dev, found.st_ino));
        let kind = Kind::Through(real.to_owned(), identity);
        Ok(Self { path: path.to_owned(), kind, leftovers: Vec::new() })
    }

    /// The name that the user gave; for a result without a given name, the name it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of temporary files of dead processes that were removed from the folder.
    pub fn leftovers(&self) -> &[String] {
        &self.leftovers
    }

    /// Whether each writing replaces what is there; otherwise it is added to what a reader already has.
    pub fn is_replaced(&self) -> bool {
        matches!(self.kind, Kind::Name(_))
    }

    /// Which file it is; absent for devices, which may be named as often as one likes.
    pub fn identity(&self) -> Option<Identity> {
        match &self.kind {
            Kind::Name(slot) => match &slot.present {
                Some(found) => Some(Identity::Inode(found.st_dev, found.st_ino)),
                None => Identity::missing(&slot.folder_path, slot.name.clone()),
            },
            Kind::Through(_, identity) => identity.clone(),
            Kind::Descriptor(file) => {
                let found = rustix::fs::fstat(file).ok()?;
                let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
                is_file.then_some(Identity::Inode(found.st_dev, found.st_ino))
            }
        }
    }

    /// Begins to write.
    ///
    /// # Errors
    /// The folder or device does not accept it, or no process reads the pipe.
    pub fn begin(&self) -> io::Result<Draft> {
        match &self.kind {
            Kind::Name(slot) => slot.draft(),
            Kind::Through(real, _) => Ok(Draft::through(connected(real)?)),
            Kind::Descriptor(file) => Ok(Draft::through(file.try_clone()?.into())),
        }
    }

    /// Begins to write for a writer that goes back to what it wrote, which a pipe does not let it: there the bytes wait in
    /// a temporary file.
    ///
    /// # Errors
    /// As of [`Self::begin`].
    pub fn begin_seekable(&self) -> io::Result<Draft> {
        match self.is_replaced() {
            true => self.begin(),
            false => Ok(Draft { aside: true, ..Draft::through(tempfile::tempfile()?) }),
        }
    }

    /// Ends the writing: what was written is now in its place. Its size in bytes; 0 where it was written through at once.
    ///
    /// # Errors
    /// The bytes or the name could not be stored, or the file in that place was replaced by another program.
    pub fn keep(&mut self, mut draft: Draft) -> io::Result<u64> {
        if draft.aside {
            draft.file.rewind()?;
            return io::copy(&mut draft.file, &mut self.begin()?.file);
        }
        let Kind::Name(slot) = &mut self.kind else { return Ok(0) };
        let bytes = slot.keep(draft)?;
        if slot.unnamed {
            self.path.set_file_name(&slot.name);
        }
        Ok(bytes)
    }

    /// Removes what was written, where files are replaced.
    pub fn remove(&self) {
        if let Kind::Name(slot) = &self.kind
            && slot.present.is_some_and(|ours| slot.holds(&ours))
        {
            let _ = rustix::fs::unlinkat(&slot.folder, &slot.name, AtFlags::empty());
        }
    }
}

impl Slot {
    fn draft(&self) -> io::Result<Draft> {
        let (file, scratch) = scratch::make(self.folder.try_clone()?, &self.folder_path)?;
        Ok(Draft { file, scratch: Some(scratch), aside: false })
    }

    fn look(&self) -> Option<Stat> {
        rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    fn holds(&self, file: &Stat) -> bool {
        self.look().is_some_and(|now| (now.st_dev, now.st_ino) == (file.st_dev, file.st_ino))
    }

    fn keep(&mut self, draft: Draft) -> io::Result<u64> {
        let Draft { file, scratch, .. } = draft;
        let Some(scratch) = scratch else { return Ok(0) };
        if let Some(earlier) = &self.present
            && self.look().is_some()
            && !self.holds(earlier)
        {
            return Err(io::Error::other("another program has put a file in its place meanwhile"));
        }
        copy_owner_and_mode(&file, self.present.as_ref())?;
        file.sync_all()?;
        if self.present.is_some_and(|earlier| self.holds(&earlier)) {
            // NFS keeps what is held under another name first.
            drop(self.held.take());
            rustix::fs::renameat(&self.folder, scratch.name(), &self.folder, &self.name)?;
        } else {
            self.take_name(&scratch)?;
        }
        unlock(&file);
        let written = rustix::fs::fstat(&file)?;
        (self.present, self.held) = (Some(written), held(&self.folder, &self.name));
        // The name is as lasting as the bytes; some file systems cannot say so of folders.
        if let Err(error @ (Errno::IO | Errno::NOSPC | Errno::DQUOT)) =
            rustix::fs::fsync(&self.folder)
        {
            return Err(error.into());
        }
        Ok(written.st_size.unsigned_abs())
    }

    /// Gives a new file its name, and never replaces another by it.
    fn take_name(&mut self, scratch: &Scratch) -> io::Result<()> {
        let first = self.name.clone();
        for number in 2..NAMES_MOST {
            match named_first(self.folder.as_fd(), scratch.name(), &self.name) {
                Err(Errno::EXIST) if self.unnamed => {
                    self.name = numbered(Path::new(&first), number as usize).into_os_string();
                }
                Err(Errno::EXIST) => {
                    let why = "another program has made a file of this name meanwhile";
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
                }
                done => return Ok(done?),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "every name for it is taken"))
    }
}

/// Renames a file unless the new name is taken.
fn named_first(folder: BorrowedFd, from: &str, to: &std::ffi::OsStr) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        // Older kernels and some file systems do not know how.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            match rustix::fs::linkat(folder, from, folder, to, AtFlags::empty()) {
                Ok(()) => rustix::fs::unlinkat(folder, from, AtFlags::empty()),
                Err(Errno::EXIST) => Err(Errno::EXIST),
                Err(_) => match rustix::fs::statat(folder, to, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST),
                    Err(_) => rustix::fs::renameat(folder, from, folder, to),
                },
            }
        }
        done => done,
    }
}

/// Owner and mode: those of the file it replaces, as far as this user may give them, or of any new file of this user. A file system may have its own, the
/// same for all files, and refuse to change them.
fn copy_owner_and_mode(file: &File, earlier: Option<&Stat>) -> io::Result<()> {
    let Some(earlier) = earlier else {
        let mask = umask().unwrap_or(0o077);
        return match rustix::fs::fchmod(file, Mode::from_raw_mode(0o666 & !mask)) {
            // It was made for this user alone, and is open to others only as far as the file system says.
            Err(Errno::PERM | Errno::NOSYS | Errno::NOTSUP) => Ok(()),
            done => Ok(done?),
        };
    };
    let (now, mut mode) = (rustix::fs::fstat(file)?, earlier.st_mode & 0o7777);
    if (now.st_uid, now.st_gid) != (earlier.st_uid, earlier.st_gid) {
        let uid = rustix::fs::Uid::from_raw(earlier.st_uid);
        let gid = rustix::fs::Gid::from_raw(earlier.st_gid);
        match rustix::fs::fchown(file, Some(uid), Some(gid)) {
            // Its group is one that we are not in, or that has no number in this namespace: the file gets our group, so it must not run with
            // that group's rights, nor be open to it further than to all.
            Err(Errno::PERM | Errno::INVAL) if now.st_uid == earlier.st_uid => {
                mode = (mode & 0o1707) | ((mode & 0o7) << 3);
            }
            done => done?,
        }
    }
    match mode == now.st_mode & 0o7777 {
        true => Ok(()),
        false => Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?),
    }
}

/// The permissions that new files of this process lack; to ask the kernel by `umask` would change it for all threads.
fn umask() -> Option<u32> {
    let status = text::read("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

/// Refuses a file or pipe that another user may have put there, to root too, and by force too.
fn not_planted(path: &Path, folder: &OwnedFd, real: &Path, found: &Stat) -> Result<(), Error> {
    match planted::is_planted(folder, real, found, planted::caller()) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Error::target(path, planted::WHY)),
        Err(error) => Err(unwritable(path, &error)),
    }
}

/// Refuses to replace a file in `folder` that is another's, or does not hold what would be written.
fn vet(
    path: &Path,
    found: &Stat,
    file: Option<&File>,
    folder: &OwnedFd,
    options: DestinationOptions,
) -> Result<(), Error> {
    if !rustix::process::geteuid().is_root() && !scratch::is_ours(found.st_uid, folder) {
        let why =
            "belongs to another user, and would be yours after it is replaced: choose another name";
        return Err(Error::target(path, why));
    }
    if options.force || found.st_size == 0 {
        return Ok(());
    }
    let Some(held) = file.and_then(Content::of) else {
        let why = "exists and is no result of ioscape: choose another name, or give --force to have it replaced";
        return Err(Error::target(path, why));
    };
    if options.content == Some(held) {
        return Ok(());
    }
    let written = options.content.map_or("a file for another program", Content::words);
    let why = format!(
        "holds {}, and {written} would replace it: choose another name, or give --force",
        held.words()
    );
    Err(Error::target(path, why))
}

/// Refuses a file on which another is mounted, as containers do it with single files: no other can get its name. It is at `real`, a path
/// without links.
fn not_mounted(path: &Path, folder: &OwnedFd, name: &OsString, real: &Path) -> Result<(), Error> {
    let mount = |name: &std::ffi::OsStr, flags| {
        let state = rustix::fs::statx(folder, name, flags, StatxFlags::MNT_ID).ok();
        state.filter(|s| s.stx_mask & StatxFlags::MNT_ID.bits() != 0).map(|s| s.stx_mnt_id)
    };
    let around = mount("".as_ref(), AtFlags::EMPTY_PATH);
    let is_mount = match mount(name, AtFlags::SYMLINK_NOFOLLOW).zip(around) {
        Some((file, folder)) => file != folder,
        // Linux tells it since 5.8.
        None => is_point(&mounts::table(), real),
    };
    if is_mount {
        let why = "is a mount of its own, which no new file can replace: mount its folder, and name a file in that";
        return Err(Error::target(path, why));
    }
    Ok(())
}

/// Whether something is mounted at `real`, a path without links.
fn is_point(table: &[Mount], real: &Path) -> bool {
    mounts::by_path(table, real).is_some_and(|mount| mount.point == real)
}

fn refused_kind(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "is a directory: name a file",
        FileType::BlockDevice => {
            "is a block device, whose data a result would destroy: name a file"
        }
        FileType::Socket => "is a socket, which cannot be opened: name a file or a pipe",
        _ => "is no file that can be written: name another",
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::target(path, format!("cannot be written: {error}: choose another place"))
}

fn opened(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |flags| rustix::fs::open(folder, flags, Mode::empty());
    // A folder that may be written but not listed does too.
    Ok(open(flags | OFlags::RDONLY).or_else(|_| open(flags | OFlags::PATH))?)
}

fn opened_at(folder: &OwnedFd, name: &OsString) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty()).ok().map(File::from)
}

/// The file of this name, held without being opened.
fn held(folder: &OwnedFd, name: &OsString) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty()).ok()
}

/// Opens a pipe or device for writing; a pipe needs a reader, which may be late.
fn connected(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let begun = Instant::now();
    loop {
        match rustix::fs::open(path, flags | OFlags::NONBLOCK, Mode::empty()) {
            Ok(file) => {
                let was = rustix::fs::fcntl_getfl(&file)?;
                rustix::fs::fcntl_setfl(&file, was & !OFlags::NONBLOCK)?;
                return Ok(file.into());
            }
            Err(Errno::NXIO) if begun.elapsed() < READER => {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(Errno::NXIO) => return Err(io::Error::other("no program reads this pipe")),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
#[path = "destination_tests.rs"]
mod tests;
