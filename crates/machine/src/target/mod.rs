//! The targets of I/O, and what is refused for the safety of data.
//!
//! In a directory we use a scratch file of our own. An existing file or block device is accepted
//! only with permission to destroy its data, and only if it does not appear to be in use. All
//! checks come before any change.

mod again;
mod counted;
mod direct;
mod exports;
mod folder;
pub mod guard;
mod living;
mod room;
pub(crate) mod scratch;
#[cfg(test)]
mod tests;

pub use again::open_again;
pub use direct::{DirectIo, direct_align, is_in_place};
pub use folder::{Reach, ScratchFolder, named_by_user, reach};

use crate::device::{are_files_memory, memory_below};
use crate::error::Error;
pub use crate::extents::on_storage;
use crate::limits;
pub use crate::locks::locked_by;
use crate::mounts::{self, FileSystemInfo, raw_device};
use crate::output::without_links;
use ioscape_schema::Access;
pub(crate) use living::remove_all as remove_scratch;
pub use room::{room_on_device, space};
use room::{space_share, writable_bytes};
use rustix::fs::{AtFlags, FlockOperation, StatxFlags};
use scratch::Scratch;
pub use scratch::{abandoned, sweep_at};
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Free space in bytes below which a directory is refused.
const FREE_LEAST: u64 = 64 << 20;

/// Size in bytes below which a file or device is refused.
const SIZE_LEAST: u64 = 4096;

/// What the user allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetOptions {
    /// The data of an existing file or block device may be destroyed (`--destroy-data`).
    pub destroy_data: bool,
    /// Whether some workload writes; otherwise a file or device is opened for reading only.
    pub write_needed: bool,
}

/// A file or device that is ours to read and write until dropped. Dropping it removes a scratch
/// file.
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

/// Releases a lock explicitly: a forked process has a copy of the descriptor and would keep the
/// lock for as long as it lives.
pub fn unlock(file: &File) {
    // Without lock support there is nothing to release.
    let _ = rustix::fs::flock(file, FlockOperation::Unlock);
}

impl Target {
    /// Checks `path` and prepares it; changes nothing unless all checks pass.
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
                "is a {what} with data of its own: name a directory, or give --destroy-data to have this data overwritten; vxbench -w read only reads it"
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

    /// Creates a scratch file in the directory at `path`.
    fn in_directory(path: &Path) -> Result<Self, Error> {
        use rustix::fs::Access as May;
        rustix::fs::access(path, May::WRITE_OK | May::EXEC_OK)
            .map_err(|e| unwritable(path, e.into()))?;
        let directory: OwnedFd = File::open(path).map_err(|error| unwritable(path, error))?.into();
        let mut file_system = mounts::system_of(&directory, path);
        // Remove leftovers first, since they may be what fills the file system.
        let mut leftovers = scratch::sweep(&directory, file_system.is_network_or_fuse);
        // Mount points of file systems created for a campaign.
        leftovers.extend(scratch::sweep_at(&std::env::temp_dir()));
        if file_system.copies_on_write() {
            // What we removed now, or a run before us, is free only after a commit, which may be 30
            // seconds away. If that fails, there is less room.
            let _ = rustix::fs::syncfs(&directory);
        }
        let are_files_memory = are_files_memory(&file_system);
        let free =
            space(&directory, are_files_memory).map_err(|e| Error::io("examine", path, e))?.1;
        if free < FREE_LEAST {
            let (path, needed) = (path.to_owned(), FREE_LEAST);
            return Err(Error::Space { path, needed, spared: 0, free });
        }
        let (file, scratch) = scratch::create(directory, path)?;
        file_system.look_at(&file, Path::new("/sys"));
        let is_tried =
            file_system.stored_on().is_network_or_fuse && !file_system.caches_elsewhere();
        file_system.reads_counted = is_tried && counted::are_reads_counted(&file);
        Ok(Self {
            path: path.join(scratch.name()),
            file,
            scratch: Some(scratch),
            capacity_bytes: (free / space_share(&file_system)).min(limits::file_size()),
            is_device: false,
            in_memory: memory_below(&file_system),
            file_system,
            are_files_memory,
            leftovers,
        })
    }

    /// Opens the file or device at `path`, which has no links and was `found` to be free.
    fn existing(path: PathBuf, found: &Metadata, write: bool) -> Result<Self, Error> {
        let device = found.file_type().is_block_device().then(|| mounts::split(found.rdev()));
        if let Some(reason) = device.filter(|_| write).and_then(guard::unwritable) {
            return Err(Error::target(&path, reason));
        }
        // For a block device O_EXCL requests exclusive use, which the kernel refuses for mounts,
        // swap and the like.
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
        // Before we lock it: NFS turns whole-file locks into range locks, and would report ours.
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
        // A file that is only read stays on its layer of an overlay, which stores writes elsewhere.
        let are_files_memory =
            are_files_memory(&file_system) && (write || file_system.is_in_memory());
        let in_memory =
            memory_below(&file_system).filter(|_| are_files_memory || file_system.has_device);
        let capacity_bytes = match device {
            None if write => writable_bytes(&file, 0..size, &file_system, are_files_memory, true)
                .map_err(|e| Error::io("examine", &path, e))?
                .min(limits::file_size()),
            Some(number) if write => room_on_device(number, size, true),
            _ => size,
        };
        let capacity_bytes = capacity_bytes.max(SIZE_LEAST);
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

    /// Returns the path of the file that the I/O goes to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the descriptor that holds the target; its locks last as long as it does.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the size of the largest set that fits, in bytes.
    ///
    /// For a scratch file it is half of the space that was free at [`Target::open`], or a third if
    /// the file system copies on write. If files are pages of memory, available memory limits it in
    /// the same way. For an existing target it is the size. A file is limited to what that part of
    /// the free space suffices for where writes take new space: in holes, in blocks shared with a
    /// snapshot or copy, and everywhere if the file system copies on write. A loop device is limited
    /// like its file, and a device in memory, or built on a loop device, to half of what is left
    /// below. The limit of file sizes (`ulimit -f`) holds for every file that is written.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Returns whether space is lacking for a scratch file to grow from `from` to `to` bytes.
    ///
    /// The result is the space required, the part of it that stays free for others, and the free
    /// space, in bytes. Others may have taken space since [`Target::open`]. `None` if there is room
    /// or none is needed.
    pub fn lacks(&self, from: u64, to: u64) -> Option<[u64; 3]> {
        self.scratch.as_ref()?;
        let free = self.space().ok()?.1;
        // A file system may have preallocated the next part already.
        let reserved = on_storage(&self.file.metadata().ok()?).saturating_sub(from);
        // A set of the promised size leaves more than that.
        let others = FREE_LEAST.min(self.capacity_bytes / 2);
        let grows = to.saturating_sub(from).saturating_sub(reserved);
        let needed = grows.saturating_add(others);
        (grows > 0 && needed > free).then_some([needed, others, free])
    }

    /// Returns the space that this user may still take from the file system, in bytes; 0 for a
    /// device or if unknown.
    pub fn free_bytes(&self) -> u64 {
        if self.is_device { 0 } else { self.space().map_or(0, |s| s.1) }
    }

    /// Returns the size of the file system or device, in bytes; 0 if unknown.
    pub fn total_bytes(&self) -> u64 {
        if self.is_device { self.len().unwrap_or(0) } else { self.space().map_or(0, |s| s.0) }
    }

    fn space(&self) -> io::Result<(u64, u64)> {
        space(&self.file, self.are_files_memory)
    }

    /// Returns whether this is a block device.
    pub fn is_device(&self) -> bool {
        self.is_device
    }

    /// Returns whether the file is a scratch file of our own.
    pub fn is_scratch(&self) -> bool {
        self.scratch.is_some()
    }

    /// Returns the current length of the file or device, in bytes.
    ///
    /// # Errors
    /// The system call failed.
    #[expect(clippy::len_without_is_empty, reason = "a file's length, not a collection's")]
    pub fn len(&self) -> Result<u64, Error> {
        (&self.file).seek(SeekFrom::End(0)).map_err(|e| Error::io("examine", &self.path, e))
    }

    /// Opens the file once more for `access`, and for writing too if `write` is set: a new open
    /// file description.
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
                        // The command suggests an alternative: not every command can do without.
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

    /// Returns the alignment of offsets, sizes and memory required for direct I/O here, in bytes;
    /// `None` if the kernel does not report it.
    pub fn direct_align(&self) -> Option<u32> {
        direct_align(&self.file, self.is_device.then_some(self.file_system.device))
    }

    /// Returns what the kernel reports about direct I/O here.
    pub fn direct_io(&self) -> DirectIo {
        direct::direct_io(&self.file)
    }

    /// Returns the file system or device below.
    pub fn file_system(&self) -> &FileSystemInfo {
        &self.file_system
    }

    /// Returns what keeps the data in memory instead of on storage, such as `tmpfs` or `zram0`;
    /// `None` if nothing indicates that.
    pub fn in_memory(&self) -> Option<&str> {
        self.in_memory.as_deref()
    }

    /// Returns whether files here are themselves pages of memory, without a file cache beside them.
    pub(crate) fn are_files_memory(&self) -> bool {
        self.are_files_memory
    }

    /// Returns the names of scratch files of dead processes that were removed from the directory.
    pub fn leftovers(&self) -> &[String] {
        &self.leftovers
    }
}

/// Returns the smallest and largest size, in bytes, of atomic writes to `file` (`RWF_ATOMIC`, Linux
/// 6.11); `None` if unsupported.
pub fn atomic_write_bytes(file: &File) -> Option<[u64; 2]> {
    // `STATX_WRITE_ATOMIC` of linux/stat.h.
    let asked = StatxFlags::from_bits_retain(0x0001_0000);
    let state = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, asked).ok()?;
    let ends = [state.stx_atomic_write_unit_min, state.stx_atomic_write_unit_max].map(u64::from);
    (state.stx_mask & asked.bits() != 0 && ends[1] > 0).then_some(ends)
}

/// Returns the word for a kind of file.
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

/// Returns the error for a `path` that could not even be examined.
pub fn missing(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::target(
            path,
            "does not exist: name an existing directory, regular file or block device",
        ),
        _ => Error::target(path, format!("cannot be looked at: {error}")),
    }
}

/// Returns the error for a `path` that exists but may not be opened as needed.
pub fn unwritable(path: &Path, error: io::Error) -> Error {
    // Matched by kind, which wrappers of the system's error preserve.
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
