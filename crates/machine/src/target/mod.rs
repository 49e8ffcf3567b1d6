//! What the I/O goes to, and what is refused for the safety of data.
//!
//! A directory gets a scratch file of our own. A file or block device that exists is taken only with permission to destroy
//! its data, and only if it is not seen to be in use. Everything is checked before anything is touched.

mod again;
mod direct;
mod exports;
mod folder;
pub mod guard;
mod living;
pub(crate) mod scratch;
#[cfg(test)]
mod tests;

pub use again::open_again;
pub use direct::{DirectIo, direct_align};
pub use folder::{Reach, ScratchFolder, named_by_user, reach};

use crate::cgroup::available_memory;
use crate::device::{are_files_memory, memory_below};
use crate::error::Error;
use crate::extents;
pub use crate::locks::locked_by;
use crate::mounts::{self, FileSystemInfo, raw_device};
use crate::output::without_links;
use ioscape_schema::Access;
pub(crate) use living::remove_all as remove_scratch;
use rustix::fs::{AtFlags, FlockOperation, StatxFlags};
use scratch::Scratch;
pub use scratch::{abandoned, sweep_at};
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Free space below which a directory is refused, in bytes.
const FREE_LEAST: u64 = 64 << 20;

/// Size below which a file or device is refused, in bytes.
const SIZE_LEAST: u64 = 4096;

/// Size of the units in which the kernel counts a file's space, in bytes.
const SECTOR: u64 = 512;

/// The part of the free space that a scratch file on this kind of file system may take: one in so many. A file system that copies on write keeps
/// an old extent until its last block has been rewritten, so that a set takes up to twice its size while it is rewritten at random.
fn space_share(kind: &str) -> u64 {
    if ["btrfs", "bcachefs", "zfs"].contains(&kind) { 3 } else { 2 }
}

/// What the user allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetOptions {
    /// The data of an existing file or block device may be destroyed (`--destroy-data`).
    pub destroy_data: bool,
    /// Some workload writes; if none does, a file or device is opened for reading only.
    pub write_needed: bool,
}

/// A file or device that is ours to read and write until dropped; dropping removes a scratch file.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    file: File,
    // Its drop removes the file.
    scratch: Option<Scratch>,
    capacity_bytes: u64,
    is_device: bool,
    file_system: FileSystemInfo,
    in_memory: Option<String>,
    are_files_memory: bool,
    leftovers: Vec<String>,
}

impl Drop for Target {
    fn drop(&mut self) {
        unlock(&self.file);
    }
}

/// Gives a lock up: a process forked meanwhile has a copy of the descriptor and would keep it as long as it lives.
pub fn unlock(file: &File) {
    // Where there are no locks, there is none to give up.
    let _ = rustix::fs::flock(file, FlockOperation::Unlock);
}

impl Target {
    /// Checks `path` and makes it ready; nothing is touched unless all checks pass.
    ///
    /// # Errors
    /// [`Error::Target`] or [`Error::Space`] for a refusal, [`Error::Io`] for a failed system call.
    pub fn open(path: &Path, options: &TargetOptions) -> Result<Self, Error> {
        let found = std::fs::metadata(path).map_err(|error| missing(path, error))?;
        let real = std::fs::canonicalize(path).map_err(|error| missing(path, error))?;
        let kind = found.file_type();
        if kind.is_dir() {
            return Self::in_directory(&real);
        }
        let what = kind_word(kind);
        if !kind.is_file() && !kind.is_block_device() {
            let reason = format!("is a {what}: name a directory, a regular file or a block device");
            return Err(Error::target(path, reason));
        }
        if !options.destroy_data {
            let reason = format!(
                "is a {what} with data of its own: name a directory, or give --destroy-data to have this data overwritten"
            );
            return Err(Error::target(path, reason));
        }
        let real = without_links(path)?.unwrap_or(real);
        let used = if kind.is_file() {
            guard::file_in_use(&real)
        } else {
            guard::device_in_use(&real, mounts::split(found.rdev()))
        };
        match used {
            Some(reason) => Err(Error::target(path, reason)),
            None => Self::existing(real, &found, options.write_needed),
        }
    }

    /// A scratch file in the directory at `path`.
    fn in_directory(path: &Path) -> Result<Self, Error> {
        use rustix::fs::Access as May;
        rustix::fs::access(path, May::WRITE_OK | May::EXEC_OK)
            .map_err(|e| unwritable(path, e.into()))?;
        let directory: OwnedFd = File::open(path).map_err(|error| unwritable(path, error))?.into();
        let file_system = mounts::system_of(&directory, path);
        // Leftovers go first, since they may be what fills the file system.
        let mut leftovers = scratch::sweep(&directory, file_system.is_network_or_fuse);
        // Mount points of file systems that were made for a campaign.
        leftovers.extend(scratch::sweep_at(&std::env::temp_dir()));
        let are_files_memory = are_files_memory(&file_system);
        let free =
            space(&directory, are_files_memory).map_err(|e| Error::io("examine", path, e))?.1;
        if free < FREE_LEAST {
            let (path, needed) = (path.to_owned(), FREE_LEAST);
            return Err(Error::Space { path, needed, spared: 0, free });
        }
        let (file, scratch) = scratch::create(directory, path)?;
        Ok(Self {
            path: path.join(scratch.name()),
            file,
            scratch: Some(scratch),
            capacity_bytes: free / space_share(&file_system.name),
            is_device: false,
            in_memory: memory_below(&file_system),
            file_system,
            are_files_memory,
            leftovers,
        })
    }

    /// The file or device at `path`, which has no links and was `found` to be free.
    fn existing(path: PathBuf, found: &Metadata, write: bool) -> Result<Self, Error> {
        let device = found.file_type().is_block_device().then(|| mounts::split(found.rdev()));
        // For a block device O_EXCL asks the kernel for sole use; it then refuses mounts, swap and the like.
        let flags = if device.is_some() { libc::O_EXCL } else { 0 };
        let mut file = OpenOptions::new()
            .read(true)
            .write(write)
            .custom_flags(flags | libc::O_NOFOLLOW)
            .open(&path)
            .map_err(|error| unwritable(&path, error))?;
        let opened = file.metadata().map_err(|e| Error::io("examine", &path, e))?;
        if (opened.dev(), opened.ino()) != (found.dev(), found.ino()) {
            return Err(Error::target(&path, "was replaced while it was being checked: try again"));
        }
        // Before our own lock: NFS makes locks of whole files into locks of ranges, and would name ours.
        if let Some(reason) = locked_by(&file) {
            return Err(Error::target(&path, reason));
        }
        let busy = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        if busy == Err(rustix::io::Errno::WOULDBLOCK) {
            return Err(Error::target(&path, "is locked by another program: wait for it to end"));
        }
        let size = file.seek(SeekFrom::End(0)).map_err(|e| Error::io("examine", &path, e))?;
        if size < SIZE_LEAST {
            let reason = format!(
                "holds {size} bytes, but {SIZE_LEAST} are needed: name a larger one, or a directory"
            );
            return Err(Error::target(&path, reason));
        }
        let file_system = match device {
            Some(number) => raw_device(&path, number),
            None => mounts::system_of(&file, &path),
        };
        // A file that is only read stays where it is below an overlay, which keeps elsewhere what is written.
        let are_files_memory =
            are_files_memory(&file_system) && (write || file_system.is_in_memory());
        let in_memory =
            memory_below(&file_system).filter(|_| are_files_memory || file_system.has_device);
        let capacity_bytes = match device {
            None if write => writable_bytes(&file, size, &file_system, are_files_memory)
                .map_err(|e| Error::io("examine", &path, e))?,
            _ => size,
        };
        Ok(Self {
            path,
            file,
            scratch: None,
            capacity_bytes,
            is_device: device.is_some(),
            file_system,
            in_memory,
            are_files_memory,
            leftovers: Vec::new(),
        })
    }

    /// The file that the I/O goes to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The descriptor that holds the target; its locks last as long as it.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Largest set that fits, in bytes: half of the space that was free at [`Target::open`] (of the available memory too, if
    /// files are pages of memory) for a scratch file, a third where the file system copies on write, else the size; of a
    /// file with holes no more than such a part of the free space can fill, and on ZFS, which may have compressed it, no more
    /// than what it takes up and such a part.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// What must be free for a scratch file to grow from `from` to `to` bytes, how much of it stays free for others, and what is free, in bytes,
    /// where that is less: others may have taken some of the space since [`Target::open`]. Absent where there is room, or none is needed.
    pub fn lacks(&self, from: u64, to: u64) -> Option<[u64; 3]> {
        self.scratch.as_ref()?;
        let free = self.space().ok()?.1;
        // A file system may have reserved what comes next when it was asked for the last part.
        let reserved = on_storage(&self.file.metadata().ok()?).saturating_sub(from);
        // A set as large as was promised leaves more than that.
        let others = FREE_LEAST.min(self.capacity_bytes / 2);
        let grows = to.saturating_sub(from).saturating_sub(reserved);
        let needed = grows.saturating_add(others);
        (grows > 0 && needed > free).then_some([needed, others, free])
    }

    /// Space of the file system that this user may still take, in bytes; 0 for a device or where it cannot be asked.
    pub fn free_bytes(&self) -> u64 {
        if self.is_device { 0 } else { self.space().map_or(0, |s| s.1) }
    }

    /// Size of the file system or device, in bytes; 0 where it cannot be asked.
    pub fn total_bytes(&self) -> u64 {
        if self.is_device { self.capacity_bytes } else { self.space().map_or(0, |s| s.0) }
    }

    fn space(&self) -> io::Result<(u64, u64)> {
        space(&self.file, self.are_files_memory)
    }

    /// Whether the file is a scratch file of our own.
    pub fn is_scratch(&self) -> bool {
        self.scratch.is_some()
    }

    /// Present length of the file or device, in bytes.
    ///
    /// # Errors
    /// The system call failed.
    #[expect(clippy::len_without_is_empty, reason = "a file's length, not a collection's")]
    pub fn len(&self) -> Result<u64, Error> {
        (&self.file).seek(SeekFrom::End(0)).map_err(|e| Error::io("examine", &self.path, e))
    }

    /// Opens the file once more: a new open file description, for `access`, for writing too if `write`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the file system refuses direct access, [`Error::Io`] for any other failure.
    pub fn open_file(&self, access: Access, write: bool) -> Result<File, Error> {
        let flags = match access {
            Access::Buffered => 0,
            Access::Direct => libc::O_DIRECT,
            Access::Dsync => libc::O_DSYNC,
        };
        open_again(&self.file, &self.path, flags, write).map_err(|error| {
            match error.raw_os_error() {
                Some(libc::EINVAL | libc::EOPNOTSUPP) if access == Access::Direct => {
                    Error::Unsupported {
                        what: format!("direct I/O on {}", self.path.display()),
                        // What to do instead is for the command to say: not every one can do without.
                        why: format!(
                            "its file system ({}) refuses O_DIRECT",
                            self.file_system.name
                        ),
                    }
                }
                _ => Error::io("open", &self.path, error),
            }
        })
    }

    /// Alignment of offsets, sizes and memory that direct I/O needs here, in bytes; absent where the kernel does not say.
    pub fn direct_align(&self) -> Option<u32> {
        direct_align(&self.file, self.is_device.then_some(self.file_system.device))
    }

    /// What the kernel tells of direct I/O here.
    pub fn direct_io(&self) -> DirectIo {
        direct::direct_io(&self.file)
    }

    /// The file system or device below.
    pub fn file_system(&self) -> &FileSystemInfo {
        &self.file_system
    }

    /// What keeps the data in memory and on no storage, as `tmpfs` or `zram0`; absent where nothing shows that.
    pub fn in_memory(&self) -> Option<&str> {
        self.in_memory.as_deref()
    }

    /// Whether files here are pages of memory themselves, with no file cache beside them.
    pub(crate) fn are_files_memory(&self) -> bool {
        self.are_files_memory
    }

    /// Names of the scratch files of dead processes that were removed from the directory.
    pub fn leftovers(&self) -> &[String] {
        &self.leftovers
    }
}

/// Bytes of its file system that a file takes up.
pub fn on_storage(state: &Metadata) -> u64 {
    state.blocks().saturating_mul(SECTOR)
}

/// How much of an existing `file` of `size` bytes may be written: as far as our part of the free space fills its holes; and where what it holds
/// may be compressed, so that our data takes more room, no more than it takes up and that part. This is seen on ZFS alone, since btrfs tells of
/// a file what it would take up uncompressed.
fn writable_bytes(
    file: &File,
    size: u64,
    system: &FileSystemInfo,
    are_files_memory: bool,
) -> io::Result<u64> {
    let taken = on_storage(&file.metadata()?);
    if taken >= size {
        return Ok(size);
    }
    let room = space(file, are_files_memory)?.1 / space_share(&system.name);
    let filled = filled_by(file, size, room).max(SIZE_LEAST);
    Ok(if system.compresses() { filled.min(taken.saturating_add(room)) } else { filled })
}

/// Where the holes of `file`, from its beginning on, come to more than `room` bytes; its `size` where they do not.
fn filled_by(file: &File, size: u64, mut room: u64) -> u64 {
    for hole in extents::holes(file, size) {
        let bytes = hole.end - hole.start;
        if bytes > room {
            return hole.start + room;
        }
        room -= bytes;
    }
    size
}

/// Least and greatest size, in bytes, of writes to `file` that are whole or not at all (`RWF_ATOMIC`, Linux 6.11); `None` where it takes none.
pub fn atomic_write_bytes(file: &File) -> Option<[u64; 2]> {
    // `STATX_WRITE_ATOMIC` of linux/stat.h.
    let asked = StatxFlags::from_bits_retain(0x0001_0000);
    let state = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, asked).ok()?;
    let ends = [state.stx_atomic_write_unit_min, state.stx_atomic_write_unit_max].map(u64::from);
    (state.stx_mask & asked.bits() != 0 && ends[1] > 0).then_some(ends)
}

/// Size of the file system that `file` lies on and the free part of it that we may take: where files are pages of memory, of what is available there too. A
/// device in memory may have all of its own already, and no control group counts it.
pub fn space(file: &impl AsFd, are_files_memory: bool) -> io::Result<(u64, u64)> {
    let state = rustix::fs::fstatvfs(file)?;
    let total = state.f_blocks.saturating_mul(state.f_frsize);
    let free = state.f_bavail.saturating_mul(state.f_frsize);
    if total > 0 && !are_files_memory {
        return Ok((total, free));
    }
    // In memory, or silent about its size: what the memory gives is the bound, or programs would be killed.
    let available = available_memory();
    Ok((total, if total > 0 { free.min(available) } else { available }))
}

/// The word for a kind of file.
pub fn kind_word(kind: FileType) -> &'static str {
    if kind.is_file() {
        "regular file"
    } else if kind.is_block_device() {
        "block device"
    } else if kind.is_char_device() {
        "character device"
    } else if kind.is_fifo() {
        "named pipe"
    } else {
        "socket"
    }
}

/// `path` could not even be looked at.
pub fn missing(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::target(
            path,
            "does not exist: name an existing directory, regular file or block device",
        ),
        _ => Error::target(path, format!("cannot be looked at: {error}")),
    }
}

/// `path` exists but may not be opened as needed.
pub fn unwritable(path: &Path, error: io::Error) -> Error {
    // By kind, which what wraps the system's error keeps.
    let reason = match error.kind() {
        ErrorKind::ReadOnlyFilesystem => "is read-only: name a place that can be written",
        ErrorKind::PermissionDenied => {
            "may not be written by this user: name another place, or run as its owner"
        }
        ErrorKind::ResourceBusy => {
            "is in use by the kernel or another program: unmount or close it first"
        }
        ErrorKind::ExecutableFileBusy => "is a program that is running, or swap space",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "has no space left: free some, or name a place on another file system"
        }
        _ if matches!(error.raw_os_error(), Some(libc::ENOMEDIUM | libc::ENXIO)) => {
            "has no medium or device behind it"
        }
        _ => return Error::target(path, format!("cannot be opened: {error}")),
    };
    Error::target(path, reason)
}
