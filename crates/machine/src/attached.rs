//! The loop devices of this machine and their files, and how to make a loop device that detaches
//! itself.
//!
//! `/sys` gives the name of the file without accessing it. `LOOP_GET_STATUS64` asks the file system
//! for the inode, and so hangs if any file system involved does not respond. It is used only if the
//! name is of no use because that link was deleted, and for the loop device to be used, whose
//! requests would hang as well.
#![expect(unsafe_code, reason = "the calls of loop devices have no safe wrappers")]

use crate::mounts;
use rustix::fs::{Mode, OFlags};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// `LOOP_SET_FD`, `LOOP_CLR_FD`, `LOOP_SET_STATUS64`, `LOOP_GET_STATUS64`, `LOOP_SET_DIRECT_IO`, `LOOP_CONFIGURE` and `LOOP_CTL_GET_FREE` of
/// `linux/loop.h`.
const SET_FD: libc::Ioctl = 0x4C00;
const CLEAR_FD: libc::Ioctl = 0x4C01;
const SET_STATUS: libc::Ioctl = 0x4C04;
const GET_STATUS: libc::Ioctl = 0x4C05;
const SET_DIRECT_IO: libc::Ioctl = 0x4C08;
const CONFIGURE: libc::Ioctl = 0x4C0A;
const GET_FREE: libc::Ioctl = 0x4C82;
/// Size of `loop_config` in 4-byte words: the file descriptor, the block size, a `loop_info64`, and
/// reserved space.
const CONFIG_WORDS: usize = 76;
/// Offset in it of the `loop_info64`, and of that structure's flags.
const INFO: usize = 2;
const FLAGS: usize = 15;
/// `LO_FLAGS_AUTOCLEAR` and `LO_FLAGS_DIRECT_IO`.
const AUTOCLEAR: u32 = 4;
const DIRECT_IO: u32 = 16;
/// Number of retries if a free device is taken by another program first.
const TRIES: u32 = 64;
/// Size of `loop_info64` in 8-byte words; the first three are device, inode and, for a device node,
/// its number.
const STATUS_WORDS: usize = 29;
/// Suffix that the kernel adds to the name of a deleted file.
const DELETED: &[u8] = b" (deleted)";

/// A loop device that is attached to a file.
pub(crate) struct Loop {
    /// Name of the device, such as `loop0`.
    pub name: String,
    /// Name of the file when it was attached or last renamed.
    pub file: PathBuf,
}

/// What a loop device is attached to.
pub(crate) struct Status {
    /// Device and inode of the file.
    pub file: (u64, u64),
    /// Device number, if the file is a device node.
    pub device: (u32, u32),
}

/// Returns the former path of a loop device's `file` if its name was deleted.
pub(crate) fn deleted(file: &Path) -> Option<&Path> {
    let name = file.as_os_str().as_bytes().strip_suffix(DELETED)?;
    Some(Path::new(OsStr::from_bytes(name)))
}

/// Returns all attached loop devices without accessing them or their files.
pub(crate) fn loops() -> impl Iterator<Item = Loop> {
    std::fs::read_dir("/sys/block").into_iter().flatten().flatten().filter_map(|entry| {
        let mut file = std::fs::read(entry.path().join("loop/backing_file")).ok()?;
        file.pop_if(|last| *last == b'\n');
        let name = entry.file_name().to_string_lossy().into_owned();
        Some(Loop { name, file: OsString::from_vec(file).into() })
    })
}

impl Loop {
    /// Returns the former path of the file if its name was deleted; other links to it may exist.
    pub fn deleted(&self) -> Option<&Path> {
        deleted(&self.file)
    }

    /// Returns what it is attached to, according to the kernel, which asks the file system; `None`
    /// if this user may not ask.
    pub fn status(&self) -> Option<Status> {
        let node = Path::new("/dev").join(&self.name);
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let device = rustix::fs::open(node, flags, Mode::empty()).ok()?;
        let mut words = [0_u64; STATUS_WORDS];
        // SAFETY: the descriptor is open, and the call writes a `loop_info64`, for which there is
        // room.
        let asked = unsafe { libc::ioctl(device.as_raw_fd(), GET_STATUS, words.as_mut_ptr()) };
        let [device, inode, of_node, ..] = words;
        (asked == 0).then(|| Status { file: (device, inode), device: mounts::split(of_node) })
    }
}

/// Attaches `file` to a free loop device, which detaches itself when nobody has it open any more.
/// Returns its path and the device, open for reading.
///
/// # Errors
/// No device is available, or none that passes direct I/O on to the file; without that, each
/// request would be cached twice.
pub(crate) fn attach(file: &File) -> io::Result<(PathBuf, File)> {
    let open = |path: &Path| File::options().read(true).write(true).open(path);
    let control = open(Path::new("/dev/loop-control"))?;
    for _ in 0..TRIES {
        // SAFETY: the descriptor is open, and the call takes nothing else.
        let number = answered(unsafe { libc::ioctl(control.as_raw_fd(), GET_FREE) })?;
        let path = PathBuf::from(format!("/dev/loop{number}"));
        let device = open(&path)?;
        match configure(&device, file) {
            Ok(()) => {
                let held = File::open(&path)?;
                return Ok((path, held));
            }
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::ResourceBusy.into())
}

/// Returns the result of a call, or why it failed.
fn answered(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// Attaches `file` to `device` until `device` is closed for the last time.
fn configure(device: &File, file: &File) -> io::Result<()> {
    let mut words = [0_u32; CONFIG_WORDS];
    words[0] = file.as_raw_fd().unsigned_abs();
    words[FLAGS] = AUTOCLEAR | DIRECT_IO;
    // SAFETY: the descriptor is open, and the call reads a `loop_config`, which `words` is.
    match answered(unsafe { libc::ioctl(device.as_raw_fd(), CONFIGURE, words.as_ptr()) }) {
        // Before Linux 5.8 this takes two calls.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTTY)) => {
            configure_in_two(device, &words)?;
        }
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    let yes = libc::c_ulong::from(1_u8);
    // SAFETY: the descriptor is open, and the call takes a number.
    let direct = answered(unsafe { libc::ioctl(device.as_raw_fd(), SET_DIRECT_IO, yes) });
    direct.map(drop).map_err(|error| {
        io::Error::other(format!("the file system below takes no direct I/O from it ({error})"))
    })
}

/// Does the same on a kernel without `LOOP_CONFIGURE`.
fn configure_in_two(device: &File, words: &[u32; CONFIG_WORDS]) -> io::Result<()> {
    let device = device.as_raw_fd();
    // SAFETY: the descriptor is open, and the call takes the number of another one.
    answered(unsafe { libc::ioctl(device, SET_FD, libc::c_ulong::from(words[0])) })?;
    // SAFETY: the descriptor is open, and the call reads the `loop_info64` at this address.
    let set = answered(unsafe { libc::ioctl(device, SET_STATUS, words[INFO..].as_ptr()) });
    if set.is_err() {
        // SAFETY: the descriptor is open, and the call takes nothing else.
        unsafe { libc::ioctl(device, CLEAR_FD) };
    }
    set.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build_directory, skipped};
    use std::time::{Duration, Instant};

    #[test]
    fn a_loop_device_goes_when_it_is_closed_and_none_stays_of_what_cannot_be_shown() {
        let folder = tempfile::tempdir_in(build_directory()).unwrap();
        let real = folder.path().canonicalize().unwrap();
        let shown = || loops().filter(|one| one.file.starts_with(&real)).count();
        let file = tempfile::tempfile_in(&real).unwrap();
        file.set_len(1 << 20).unwrap();
        let (path, held) = match attach(&file) {
            Ok(made) => made,
            Err(error) => return skipped(&format!("no loop device can be had: {error}")),
        };
        drop(file);
        assert!(mounts::block_number(&path).is_some() && shown() == 1);
        assert!(attach(&File::open(&real).unwrap()).is_err(), "a directory");
        assert_eq!(shown(), 1);
        drop(held);
        // Other processes may open a device briefly, and another test may have forked with a copy
        // of the descriptor.
        let begun = Instant::now();
        while shown() > 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "it stays");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
