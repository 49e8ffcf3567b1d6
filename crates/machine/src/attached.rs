//! The loop devices of this machine, and which file each one shows.
//!
//! `/sys` tells the name of the file without touching it. `LOOP_GET_STATUS64` asks the file system for its inode, and so waits for one
//! that does not answer, whoever it belongs to: it is asked only where the name says nothing, because that link of the file is deleted, and of
//! the loop device that is to be used, whose requests would wait as well.
#![expect(unsafe_code, reason = "LOOP_GET_STATUS64 has no safe wrapper")]

use crate::mounts;
use rustix::fs::{Mode, OFlags};
use std::ffi::{OsStr, OsString};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// `LOOP_GET_STATUS64` of `linux/loop.h`.
const GET_STATUS: libc::Ioctl = 0x4C05;
/// Size of its `loop_info64`, in words of eight bytes; the first three are device, inode and, of a device node, its number.
const STATUS_WORDS: usize = 29;
/// What the kernel adds to the name of a file that was deleted.
const DELETED: &[u8] = b" (deleted)";

/// A loop device that is attached to a file.
pub(crate) struct Loop {
    /// Its name, such as `loop0`.
    pub name: String,
    /// The name of the file, when it was attached or last renamed.
    pub file: PathBuf,
}

/// What a loop device is attached to.
pub(crate) struct Status {
    /// Device and inode of the file.
    pub file: (u64, u64),
    /// The device, if the file is the node of one.
    pub device: (u32, u32),
}

/// All loop devices that are attached; none of them, nor what they are attached to, is touched.
pub(crate) fn loops() -> impl Iterator<Item = Loop> {
    std::fs::read_dir("/sys/block").into_iter().flatten().flatten().filter_map(|entry| {
        let mut file = std::fs::read(entry.path().join("loop/backing_file")).ok()?;
        file.pop_if(|last| *last == b'\n');
        let name = entry.file_name().to_string_lossy().into_owned();
        Some(Loop { name, file: OsString::from_vec(file).into() })
    })
}

impl Loop {
    /// Where the file was, if its name is deleted; other links of it may be there.
    pub fn deleted(&self) -> Option<&Path> {
        let name = self.file.as_os_str().as_bytes().strip_suffix(DELETED)?;
        Some(Path::new(OsStr::from_bytes(name)))
    }

    /// What it is attached to, by the kernel, which asks the file system; absent where this user may not ask.
    pub fn status(&self) -> Option<Status> {
        let node = Path::new("/dev").join(&self.name);
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let device = rustix::fs::open(node, flags, Mode::empty()).ok()?;
        let mut words = [0_u64; STATUS_WORDS];
        // SAFETY: the descriptor is open, and the call writes a `loop_info64`, for which there is room.
        let asked = unsafe { libc::ioctl(device.as_raw_fd(), GET_STATUS, words.as_mut_ptr()) };
        let [device, inode, of_node, ..] = words;
        (asked == 0).then(|| Status { file: (device, inode), device: mounts::split(of_node) })
    }
}
