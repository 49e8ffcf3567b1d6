//! The destination of an output: checked before the work begins, written when it is done.

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
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, StatxFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time that a named pipe may be without a reader.
const READER: Duration = Duration::from_secs(10);

/// Number of names tried for a result without a given name.
const NAMES_MOST: u32 = 1000;

/// How an output may be written.
#[derive(Clone, Copy, Debug, Default)]
pub struct DestinationOptions {
    /// The content, which may replace a file of the same content; absent if not recognisable.
    pub content: Option<Content>,
    /// Whether any other file may be replaced too (`--force`).
    pub force: bool,
    /// Whether the name is ours, not the user's; if taken, another one is found.
    pub unnamed: bool,
    /// Whether only this user may read it, since it is not in the intended folder.
    pub private: bool,
}

/// The destination of one output: a file, a pipe, a device or an open descriptor.
#[derive(Debug)]
pub struct Destination {
    path: PathBuf,
    kind: Kind,
    leftovers: Vec<String>,
}

#[derive(Debug)]
enum Kind {
    /// A name in a folder; its file is replaced as a whole.
    Name(Slot),
    /// A pipe or character device, written through.
    Through(PathBuf, Option<Identity>),
    /// A descriptor of this process, written through.
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
    /// Keeps its inode number: FAT and FUSE assign a new one once nobody has the file open.
    held: Option<File>,
    options: DestinationOptions,
}

/// An output being written; where files are replaced, only [`Destination::keep`] makes it stay.
#[derive(Debug)]
pub struct Draft {
    file: File,
    // Its drop removes the file, unless that got its final name.
    scratch: Option<Scratch>,
    /// Whether the file is temporary and is copied to the destination later.
    aside: bool,
}

impl Draft {
    fn through(file: File) -> Self {
        Self { file, scratch: None, aside: false }
    }

    /// Returns the file to write into.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns whether what is written is passed on at once and cannot be taken back.
    pub fn is_through(&self) -> bool {
        self.scratch.is_none() && !self.aside
    }
}

impl Destination {
    /// Checks `path` as an output, `-` for standard output; writes only an empty test file.
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
                not_planted(path, &folder, &found)?;
                let file = opened_at(&folder, &name, OFlags::RDONLY | OFlags::NONBLOCK);
                vet(path, &found, file.as_ref(), &folder, options)?;
                not_mounted(path, &folder, &name, &folder_path.join(&name))?;
                rustix::fs::accessat(&folder, &name, Access::WRITE_OK, AtFlags::EACCESS)
                    .map_err(|e| unwritable(path, &e.into()))?;
                Some(found)
            }
            Some((kind @ (FileType::CharacterDevice | FileType::Fifo), found)) => {
                if kind == FileType::Fifo {
                    not_planted(path, &folder, &found)?;
                }
                return Self::through(path, &folder_path.join(&name), &found);
            }
            Some((kind, _)) => return Err(Error::target(path, refused_kind(kind))),
        };
        let shared = mounts::system_of(&folder, &folder_path).is_network_or_fuse;
        let leftovers = scratch::sweep(&folder, shared);
        let held = present.and_then(|_| opened_at(&folder, &name, OFlags::PATH));
        let slot = Slot { folder, folder_path, name, present, held, options };
        slot.draft().map(drop).map_err(|e| unwritable(path, &e))?;
        Ok(Self { path: path.to_owned(), kind: Kind::Name(slot), leftovers })
    }

    fn descriptor(path: &Path, number: i32) -> Result<Self, Error> {
        let closed = || Error::target(path, "is not open for writing in this process");
        if descriptors::was_closed(number) {
            return Err(closed());
        }
        // A copy, and not the file opened anew, which would ask who may write it instead of how it
        // is open here, and begin at another place.
        let file = descriptors::copy(number).map_err(|_| closed())?;
        let flags = rustix::fs::fcntl_getfl(&file).map_err(|_| closed())?;
        if flags & OFlags::RWMODE == OFlags::RDONLY {
            return Err(closed());
        }
        Ok(Self { path: path.to_owned(), kind: Kind::Descriptor(file), leftovers: Vec::new() })
    }

    fn through(path: &Path, real: &Path, found: &Stat) -> Result<Self, Error> {
        rustix::fs::access(real, Access::WRITE_OK).map_err(|e| unwritable(path, &e.into()))?;
        let is_pipe = FileType::from_raw_mode(found.st_mode) == FileType::Fifo;
        let identity = is_pipe.then_some(Identity::Inode(found.st_dev, found.st_ino));
        let kind = Kind::Through(real.to_owned(), identity);
        Ok(Self { path: path.to_owned(), kind, leftovers: Vec::new() })
    }

    /// Returns the name that the user gave; for an unnamed result, the name that it got.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names of temporary files of dead processes that were removed from the folder.
    pub fn leftovers(&self) -> &[String] {
        &self.leftovers
    }

    /// Returns whether each writing replaces the file; otherwise it is appended for the reader.
    pub fn is_replaced(&self) -> bool {
        matches!(self.kind, Kind::Name(_))
    }

    /// Returns the identity of the file; `None` for devices, which may be named repeatedly.
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

    /// Begins to write for a writer that seeks back. For a pipe the bytes wait in a temporary file.
    pub fn begin_seekable(&self) -> io::Result<Draft> {
        match self.is_replaced() {
            true => self.begin(),
            false => Ok(Draft { aside: true, ..Draft::through(tempfile::tempfile()?) }),
        }
    }

    /// Ends the writing and puts the file in place. Returns its bytes; 0 if written through.
    ///
    /// # Errors
    /// Storing the bytes or the name failed, or another program replaced the file there.
    pub fn keep(&mut self, mut draft: Draft) -> io::Result<u64> {
        if draft.aside {
            draft.file.rewind()?;
            return io::copy(&mut draft.file, &mut self.begin()?.file);
        }
        let Kind::Name(slot) = &mut self.kind else { return Ok(0) };
        let bytes = slot.keep(draft)?;
        if slot.options.unnamed {
            self.path.set_file_name(&slot.name);
        }
        Ok(bytes)
    }

    /// Removes what was written, if files are replaced.
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

    /// Returns the state of `written` by its name: sshfs and the like number each link anew.
    fn named(&self, written: Stat) -> Stat {
        self.look().filter(|now| now.st_size == written.st_size).unwrap_or(written)
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
        if !self.options.private {
            copy_owner_and_mode(&file, self.present.as_ref())?;
        }
        file.sync_all()?;
        if self.present.is_some_and(|earlier| self.holds(&earlier)) {
            // NFS would first rename a file that is held open.
            drop(self.held.take());
            rustix::fs::renameat(&self.folder, scratch.name(), &self.folder, &self.name)?;
        } else {
            self.take_name(&scratch)?;
        }
        unlock(&file);
        let written = rustix::fs::fstat(&file)?;
        self.held = opened_at(&self.folder, &self.name, OFlags::PATH);
        self.present = Some(self.named(written));
        // Makes the name durable, too; some file systems do not support this for folders.
        if let Err(error @ (Errno::IO | Errno::NOSPC | Errno::DQUOT)) =
            rustix::fs::fsync(&self.folder)
        {
            return Err(error.into());
        }
        Ok(written.st_size.unsigned_abs())
    }

    /// Gives a new file its name, without ever replacing another file.
    fn take_name(&mut self, scratch: &Scratch) -> io::Result<()> {
        let first = self.name.clone();
        for number in 2..NAMES_MOST {
            match named_first(self.folder.as_fd(), scratch.name(), &self.name) {
                Err(Errno::EXIST) if self.options.unnamed => {
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
        // Older kernels and some file systems do not support this.
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

/// Sets owner and mode: those of the replaced file as far as allowed, or of any new file. A file
/// system may impose its own.
fn copy_owner_and_mode(file: &File, earlier: Option<&Stat>) -> io::Result<()> {
    let Some(earlier) = earlier else {
        let mask = umask().unwrap_or(0o077);
        return match rustix::fs::fchmod(file, Mode::from_raw_mode(0o666 & !mask)) {
            // Created for this user only; the file system alone decides about others.
            Err(Errno::PERM | Errno::NOSYS | Errno::NOTSUP) => Ok(()),
            done => Ok(done?),
        };
    };
    let (now, mut mode) = (rustix::fs::fstat(file)?, earlier.st_mode & 0o7777);
    if (now.st_uid, now.st_gid) != (earlier.st_uid, earlier.st_gid) {
        let uid = rustix::fs::Uid::from_raw(earlier.st_uid);
        let gid = rustix::fs::Gid::from_raw(earlier.st_gid);
        match rustix::fs::fchown(file, Some(uid), Some(gid)) {
            // We are not in the group, or it has no number here. The file gets our group, so it
            // must not run with its rights, nor grant it more than all others have.
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

/// Returns the permissions that new files lack; calling `umask` would change it for all threads.
fn umask() -> Option<u32> {
    text::field_in(&text::read("/proc/self/status")?, "Umask", 8)?.try_into().ok()
}

/// Refuses a file or pipe that another user may have planted, for root too, and even by force.
fn not_planted(path: &Path, folder: &OwnedFd, found: &Stat) -> Result<(), Error> {
    match planted::is_planted(folder, found, planted::caller()) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Error::target(path, planted::WHY)),
        Err(error) => Err(unwritable(path, &error)),
    }
}

/// Refuses to replace a file in `folder` that is another user's or holds something else.
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

/// Refuses a mount point, as containers mount single files: no other file can get its name. `real`
/// has no links.
fn not_mounted(path: &Path, folder: &OwnedFd, name: &OsString, real: &Path) -> Result<(), Error> {
    let mount = |name: &std::ffi::OsStr, flags| {
        let state = rustix::fs::statx(folder, name, flags, StatxFlags::MNT_ID).ok();
        state.filter(|s| s.stx_mask & StatxFlags::MNT_ID.bits() != 0).map(|s| s.stx_mnt_id)
    };
    let around = mount("".as_ref(), AtFlags::EMPTY_PATH);
    let is_mount = match mount(name, AtFlags::SYMLINK_NOFOLLOW).zip(around) {
        Some((file, folder)) => file != folder,
        // Reported since Linux 5.8.
        None => is_point(&mounts::table(), real),
    };
    if is_mount {
        let why = "is a mount of its own, which no new file can replace: mount its folder, and name a file in that";
        return Err(Error::target(path, why));
    }
    Ok(())
}

/// Returns whether something is mounted at `real`, a path without links.
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

pub(super) fn opened(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |flags| rustix::fs::open(folder, flags, Mode::empty());
    // A folder that is writable but not listable suffices.
    Ok(open(flags | OFlags::RDONLY).or_else(|_| open(flags | OFlags::PATH))?)
}

/// Opens the file of this name; with `OFlags::PATH` it is held without being opened.
pub(super) fn opened_at(folder: &OwnedFd, name: &OsString, how: OFlags) -> Option<File> {
    let flags = how | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty()).ok().map(File::from)
}

/// Opens a pipe or device for writing; a pipe needs a reader, which may come late.
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
