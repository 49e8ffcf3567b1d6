//! Scratch files: created and locked by us, removed when done, or swept later after a kill.
#![allow(unsafe_code, reason = "fork, to remove a file on a file system that may hang")]

use super::exports::is_exported;
use super::living::{self, Called, DIGITS, FOLDER_PREFIX, FOLDER_RANDOM, PREFIX};
use crate::error::Error;
use crate::locks::locked_by;
use crate::mounts::{self, Mount};
use crate::terminal;
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, Stat, StatxAttributes, StatxFlags,
};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// On a shared file system a lock may be visible on this machine only, so age decides.
const REMOTE_AGE: Duration = Duration::from_secs(86_400);
/// Time limit of a removal; then the file system counts as unresponsive, and the file stays.
const REMOVAL: Duration = Duration::from_millis(1500);

/// Scratch files whose removal timed out.
static ABANDONED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Folders that root leaves alone and that were already reported.
static LEFT_ALONE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Returns the scratch files whose removal timed out; the next run in their directory removes them.
pub fn abandoned() -> Vec<PathBuf> {
    ABANDONED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A file in a directory, removed on drop in the process that created it.
#[derive(Debug)]
pub struct Scratch {
    directory: OwnedFd,
    name: String,
    path: PathBuf,
    inode: u64,
    creator: u32,
    known: Option<usize>,
}

/// Returns whether `name` has the form that [`create`] uses.
fn is_scratch_name(name: &[u8]) -> bool {
    let Some(digits) = name.strip_prefix(PREFIX.as_bytes()) else { return false };
    digits.len() == DIGITS && digits.iter().all(|d| matches!(d, b'0'..=b'9' | b'a'..=b'f'))
}

/// Locks `file`; `None` if the file system has no locks, `Some(false)` if another process holds it.
pub fn lock(file: &impl AsFd) -> Option<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Some(true),
        Err(Errno::WOULDBLOCK) => Some(false),
        Err(_) => None,
    }
}

/// Creates and locks an empty file in the open `directory` with path `path`.
///
/// # Errors
/// The file cannot be created.
pub fn create(directory: OwnedFd, path: &Path) -> Result<(File, Scratch), Error> {
    make(directory, path).map_err(|error| uncreatable(path, error))
}

/// Does the same as [`create`], but returns the plain system error.
///
/// # Errors
/// The file cannot be created.
pub fn make(directory: OwnedFd, path: &Path) -> io::Result<(File, Scratch)> {
    lets_go(&directory, Path::new(""))?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for attempt in 0..16 {
        // Keyed anew from the system's entropy at every call.
        let digits = RandomState::new().hash_one((std::process::id(), attempt));
        let name = format!("{PREFIX}{digits:016x}");
        let file = match rustix::fs::openat(&directory, &name, flags, Mode::from_raw_mode(0o600)) {
            Ok(file) => File::from(file),
            Err(Errno::EXIST) => continue,
            Err(error) => return Err(error.into()),
        };
        let state = rustix::fs::fstat(&file)?;
        let (inode, creator) = (state.st_ino, std::process::id());
        let known = living::enter(Called::File(digits), &directory, inode);
        let scratch = Scratch { path: path.join(&name), directory, name, inode, creator, known };
        // Between creation and locking another process may remove it as a leftover.
        let kept = lock(&file) != Some(false) && scratch.is_linked() == Ok(true);
        if kept {
            return Ok((file, scratch));
        }
        return make(scratch.directory.try_clone()?, path);
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "every random name that was tried is taken"))
}

/// Refuses the directory `name` if files in it could never be removed (`chattr +a`).
pub(super) fn lets_go(directory: impl AsFd, name: &Path) -> io::Result<()> {
    let state = rustix::fs::statx(directory, name, AtFlags::EMPTY_PATH, StatxFlags::TYPE);
    match state.is_ok_and(|state| state.stx_attributes.contains(StatxAttributes::APPEND)) {
        true => Err(io::Error::other("it is append-only, so that nothing can be removed from it")),
        false => Ok(()),
    }
}

/// Distinguishes a directory that accepts no files (a refusal) from one that fails.
fn uncreatable(path: &Path, error: io::Error) -> Error {
    match Errno::from_io_error(&error) {
        Some(
            Errno::IO | Errno::NOSPC | Errno::DQUOT | Errno::NFILE | Errno::MFILE | Errno::STALE,
        ) => Error::io("make a scratch file in", path, error),
        _ => Error::target(
            path,
            format!("cannot hold a scratch file ({error}): name another directory"),
        ),
    }
}

impl Scratch {
    /// Returns the file's name in its directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the name still refers to the file that we created.
    fn is_linked(&self) -> rustix::io::Result<bool> {
        match rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(found.st_ino == self.inode),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes the file if the name still refers to it.
    fn remove(&self) -> rustix::io::Result<()> {
        if !self.is_linked()? {
            return Ok(());
        }
        match rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            done => done,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A forked worker has a copy of this value and must not remove its parent's file.
        if self.creator != std::process::id() {
            return;
        }
        self.known.into_iter().for_each(living::forget);
        match in_child(|| self.remove(), REMOVAL) {
            Some(Ok(())) => {}
            Some(Err(error)) => tell_kept(&self.path, &error.into()),
            None => {
                ABANDONED.lock().unwrap_or_else(PoisonError::into_inner).push(self.path.clone());
            }
        }
    }
}

/// Reports a scratch file or folder that stays, and why.
pub(super) fn tell_kept(path: &Path, why: &io::Error) {
    terminal::tell(&format!("{} could not be removed ({why}): remove it", path.display()));
}

/// Does `work` in a child process and returns its result if in time. `work` must not allocate.
fn in_child(
    work: impl Fn() -> rustix::io::Result<()>,
    patience: Duration,
) -> Option<rustix::io::Result<()>> {
    // SAFETY: the child makes system calls and leaves without running destructors: no allocation, no lock.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // Error numbers are small enough for an exit code.
        let code = work().map_or_else(Errno::raw_os_error, |()| 0);
        // SAFETY: always sound; it ends the child.
        unsafe { libc::_exit(code) };
    }
    let Some(child) = rustix::process::Pid::from_raw(child.max(0)) else { return Some(work()) };
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    let options = rustix::process::WaitOptions::NOHANG;
    loop {
        match rustix::process::waitpid(Some(child), options) {
            Ok(Some((_, status))) => {
                let code = status.exit_status().filter(|code| *code != 0);
                return Some(code.map_or(Ok(()), |code| Err(Errno::from_raw_os_error(code))));
            }
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => return Some(Ok(())),
        }
        if begin.elapsed() > patience {
            return None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Removes scratch files of ended creators from `directory` and returns their names.
///
/// Removes only our own unlocked files with a scratch name. If `shared` with other machines, they
/// must be unwritten for a day, as must folders if this machine is an NFS server. Root reports and
/// leaves folders that others may have put there.
pub fn sweep(directory: &OwnedFd, shared: bool) -> Vec<String> {
    let Ok(entries) = rustix::fs::Dir::read_from(directory) else { return Vec::new() };
    let names = entries.flatten().map(|e| OsStr::from_bytes(e.file_name().to_bytes()).to_owned());
    let remove = |name: &OsStr| match name.as_bytes() {
        bytes if is_scratch_name(bytes) => remove_leftover(directory, name, shared),
        bytes if is_folder_name(bytes) => remove_folder(directory, name, shared),
        _ => None,
    };
    let removed = names.filter(|name| remove(name).is_some());
    removed.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Does the same in the folder at `path`, if it can be opened.
pub fn sweep_at(path: &Path) -> Vec<String> {
    let Ok(folder) = File::open(path).map(OwnedFd::from) else { return Vec::new() };
    sweep(&folder, mounts::system_of(&folder, path).is_network_or_fuse)
}

/// Returns whether `name` has the form of a scratch folder's name.
fn is_folder_name(name: &[u8]) -> bool {
    let Some(random) = name.strip_prefix(FOLDER_PREFIX.as_bytes()) else { return false };
    random.len() == FOLDER_RANDOM && random.iter().all(u8::is_ascii_alphanumeric)
}

/// Returns whether the folder at `path`, or anything below, was or may have been written in the
/// last day.
fn is_young(path: &Path, now: SystemTime) -> bool {
    let Ok(state) = path.symlink_metadata() else { return true };
    let age = state.modified().ok().and_then(|then| now.duration_since(then).ok());
    if age.is_none_or(|age| age < REMOTE_AGE) {
        return true;
    }
    if !state.is_dir() {
        return false;
    }
    let below = |mut all: std::fs::ReadDir| {
        all.any(|one| one.map_or(true, |one| is_young(&one.path(), now)))
    };
    std::fs::read_dir(path).map_or(true, below)
}

/// Returns a path to `name` in the open directory, wherever that is now.
pub(super) fn path_in(directory: &OwnedFd, name: &OsStr) -> PathBuf {
    Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name)
}

/// Returns whether another user may rename root's files here, and so fake a leftover.
fn others_rename(directory: &Stat) -> bool {
    let mode = directory.st_mode;
    directory.st_uid != 0 || (mode & 0o022 != 0 && mode & libc::S_ISVTX == 0)
}

/// Returns whether something is mounted on or below the folder at `path`, which has no links.
fn is_mounted_below(table: &[Mount], path: &Path) -> bool {
    // In the table's encoding, for a name that is not text.
    let path = path.to_string_lossy();
    table.iter().any(|mount| mount.point.starts_with(&*path))
}

/// Reports, once per folder, that root leaves it alone.
fn leave_alone(folder: &Path, tell: impl Fn(&str)) {
    if LEFT_ALONE.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        tell(&format!(
            "{} is left alone: another user may rename what lies there, and have given it this name; remove it if a run left it behind",
            folder.display()
        ));
    }
}

fn remove_folder(directory: &OwnedFd, name: &OsStr, shared: bool) -> Option<()> {
    let parent = rustix::fs::fstat(directory).ok()?;
    let folder = living::open_folder(directory.as_fd(), name, parent.st_dev)?;
    let state = rustix::fs::fstat(&folder).ok()?;
    let us = rustix::process::geteuid();
    let real = std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())).ok()?;
    // Mounts on it or in it are not ours to empty.
    if is_mounted_below(&mounts::table(), &real)
        || may_be_held(lock(&folder), shared)
        || !is_ours(state.st_uid, directory)
    {
        return None;
    }
    if us.is_root() && others_rename(&parent) {
        leave_alone(&real, terminal::tell);
        return None;
    }
    if (shared || is_exported()) && is_young(&path_in(directory, name), SystemTime::now()) {
        return None;
    }
    living::empty(folder.as_fd(), parent.st_dev);
    // Its name may refer to another folder by now, which is removed only if empty.
    rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR).ok()
}

/// Returns whether another may hold the lock, given `locked`, the result of our attempt. Without
/// lock support, files on a `shared` file system count as not held: age decides.
fn may_be_held(locked: Option<bool>, shared: bool) -> bool {
    !locked.unwrap_or(shared)
}

/// Returns whether a file of user `owner` is ours: of our user, or of the owner that our files get
/// here, where the file system or server decides (FAT; NFS for root).
pub(crate) fn is_ours(owner: u32, directory: &OwnedFd) -> bool {
    owner == rustix::process::geteuid().as_raw() || owner_of_new(directory) == Some(owner)
}

/// Returns the owner that a new file in this directory gets.
fn owner_of_new(directory: &OwnedFd) -> Option<u32> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).ok()?;
    let (file, _scratch) = make(directory.try_clone().ok()?, &path).ok()?;
    Some(rustix::fs::fstat(&file).ok()?.st_uid)
}

fn remove_leftover(directory: &OwnedFd, name: &OsStr, shared: bool) -> Option<()> {
    let state = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let regular = FileType::from_raw_mode(state.st_mode) == FileType::RegularFile;
    let is_young = || is_young(&path_in(directory, name), SystemTime::now());
    if !regular || (shared && is_young()) {
        return None;
    }
    // Does not wait for a lease that another user holds on his file.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::empty()).ok()?;
    let opened = rustix::fs::fstat(&file).ok()?;
    let file = File::from(file);
    // An NFS server sees its clients' whole-file locks as range locks.
    let is_held = || locked_by(&file).is_some() || may_be_held(lock(&file), shared);
    // Checked last, since it creates a file if the owner is not our user.
    if opened.st_ino != state.st_ino || is_held() || !is_ours(opened.st_uid, directory) {
        return None;
    }
    rustix::fs::unlinkat(directory, name, AtFlags::empty()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lock_part;
    use std::fs;

    fn open(path: &Path) -> OwnedFd {
        File::open(path).unwrap().into()
    }

    #[test]
    fn it_is_made_locked_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, scratch) = create(open(dir.path()), dir.path()).unwrap();
        let path = dir.path().join(scratch.name());
        assert!(is_scratch_name(scratch.name().as_bytes()));
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions())
                & 0o777,
            0o600
        );
        assert_eq!(lock(&File::open(&path).unwrap()), Some(false));
        assert!(sweep(&open(dir.path()), false).is_empty(), "a live one is kept");
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn work_that_does_not_end_is_left_behind() {
        assert_eq!(in_child(|| Ok(()), Duration::from_secs(600)), Some(Ok(())));
        let refused = Err(Errno::ROFS);
        assert_eq!(in_child(|| refused, Duration::from_secs(600)), Some(refused));
        let sleeps = || {
            // SAFETY: `sleep` has no preconditions.
            unsafe { libc::sleep(5) };
            Ok(())
        };
        assert_eq!(in_child(sleeps, Duration::from_millis(10)), None);
        assert!(abandoned().is_empty());
    }

    #[test]
    fn a_copy_in_a_forked_process_removes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (_file, mut scratch) = create(open(dir.path()), dir.path()).unwrap();
        scratch.creator += 1;
        let path = dir.path().join(scratch.name());
        drop(scratch);
        assert!(path.exists());
    }

    #[test]
    fn a_name_that_came_to_mean_another_file_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (_file, scratch) = create(open(dir.path()), dir.path()).unwrap();
        let path = dir.path().join(scratch.name());
        fs::remove_file(&path).unwrap();
        fs::write(dir.path().join("other"), "precious").unwrap();
        fs::rename(dir.path().join("other"), &path).unwrap();
        drop(scratch);
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }

    #[test]
    fn folders_that_other_machines_see_are_swept_when_nothing_in_them_is_young() {
        let dir = tempfile::tempdir().unwrap();
        // One sweep: a process forked in another test may hold the first folder's lock for a while.
        let make = |name: &str, aged: &[&str]| {
            let folder = dir.path().join(name);
            fs::create_dir_all(folder.join("below")).unwrap();
            fs::write(folder.join("below/file"), "x").unwrap();
            let then = SystemTime::now() - REMOTE_AGE - Duration::from_secs(60);
            let age = |path: &&str| File::open(folder.join(path)).unwrap().set_modified(then);
            aged.iter().try_for_each(age).unwrap();
            folder
        };
        let old = make(".ioscape-folder-a1B2c3D4", &["below/file", "below", ""]);
        let young = make(".ioscape-folder-a1B2c3D5", &["below", ""]);
        assert_eq!(sweep(&open(dir.path()), true), [".ioscape-folder-a1B2c3D4"]);
        assert!(!old.exists());
        assert!(young.exists(), "a file in it was just written");
    }

    #[test]
    fn a_file_that_a_client_of_this_server_holds_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".ioscape-scratch-0123456789abcdef");
        fs::write(&path, "x").unwrap();
        let client = File::options().read(true).write(true).open(&path).unwrap();
        assert!(lock_part(&client, libc::F_WRLCK));
        assert!(sweep(&open(dir.path()), false).is_empty() && path.exists());
        assert!(lock_part(&client, libc::F_UNLCK));
        assert_eq!(sweep(&open(dir.path()), false).len(), 1);
    }

    /// Guards against never sweeping on Lustre mounted without `flock`.
    #[test]
    fn where_there_are_no_locks_age_decides_on_shared_file_systems() {
        let held = |shared| [Some(true), Some(false), None].map(|one| may_be_held(one, shared));
        assert_eq!([held(false), held(true)], [[false, true, true], [false, true, false]]);
    }

    #[test]
    fn what_is_left_alone_is_told_once() {
        let told = std::cell::Cell::new(0);
        let tell = |_: &str| told.set(told.get() + 1);
        for folder in ["/left/a", "/left/b", "/left/a"] {
            leave_alone(Path::new(folder), tell);
        }
        assert_eq!(told.get(), 2);
    }

    #[test]
    fn a_folder_with_a_mount_below_is_no_leftover() {
        let table = mounts::parse(
            "27 1 8:2 / / rw - ext4 /dev/sda2 rw\n\
             28 27 8:2 /x /srv/a\\040b/c rw - ext4 /dev/sda2 rw\n",
        );
        let below = |path: &str| is_mounted_below(&table, Path::new(path));
        assert!(below("/srv/a b") && below("/srv/a b/c"));
        assert!(!below("/srv/a b/c/d") && !below("/srv/a"));
    }

    #[test]
    fn only_leftovers_of_the_dead_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let in_dir = |name: &str| dir.path().join(name);
        let dead = ".ioscape-scratch-0123456789abcdef";
        let kept = [
            ".ioscape-scratch-0123456789abcde",
            ".ioscape-scratch-0123456789abcdef0",
            ".ioscape-scratch-0123456789ABCDEF",
            ".ioscape-scratch-0123456789abcdeg",
            "ioscape-scratch-0123456789abcdef",
            ".ioscape-scratch-fedcba9876543210",
        ];
        for name in kept.iter().chain([&dead]) {
            fs::write(in_dir(name), "x").unwrap();
        }
        fs::create_dir(in_dir(".ioscape-scratch-aaaaaaaaaaaaaaaa")).unwrap();
        let link = in_dir(".ioscape-scratch-bbbbbbbbbbbbbbbb");
        std::os::unix::fs::symlink(in_dir(kept[0]), &link).unwrap();
        let live = File::open(in_dir(kept[5])).unwrap();
        assert_eq!(lock(&live), Some(true));
        assert!(sweep(&open(dir.path()), true).is_empty(), "a young file on a shared file system");
        assert_eq!(sweep(&open(dir.path()), false), [dead]);
        assert!(!in_dir(dead).exists() && link.symlink_metadata().is_ok());
        assert!(kept.iter().all(|name| in_dir(name).exists()));
    }
}
