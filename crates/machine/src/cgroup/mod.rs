//! Memory limits by control groups, which make a file cache of known size.
//!
//! A file-cache page is charged to the group that first brings it in. So a group's limit bounds the
//! cache only of those files that its members read or wrote first.
#![allow(unsafe_code, reason = "fork, to try whether a process may join")]

mod advice;
mod escaped;
mod freezer;
mod hierarchy;
mod quota;
mod switch;
#[cfg(test)]
mod tests;
mod throttle;

pub use freezer::is_frozen;
pub use quota::{Quota, Throttled};

use crate::error::Error;
use crate::memory::memory;
use crate::text;
use hierarchy::{Hierarchy, Version, are_absent};
use ioscape_schema::Warning;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use switch::{enable, put, restore};
pub use throttle::Traffic;
pub(crate) use throttle::io_limits;

/// Smallest limit, in bytes, with which a worker can even start.
const LIMIT_LEAST: u64 = 8 << 20;

/// Dirty bytes above which a group is not emptied at its end, since that waits for the device to
/// write them.
const DIRTY_MOST: u64 = 8 << 20;

/// Number of names tried for a group.
const NAMES_MOST: u32 = 100;

/// Number of the next group of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A control group of our own with a memory limit; removed when dropped by the process that created
/// it.
#[derive(Debug)]
pub struct MemoryGroup {
    directory: PathBuf,
    version: Version,
    limit_bytes: u64,
    procs: File,
    /// Limits on this process that do not hold for the members, each with its group.
    escaped: Vec<String>,
    creator: u32,
    // Locked, so that others see that it is in use while this process or a worker lives.
    _held: File,
}

impl MemoryGroup {
    /// Creates a group whose members may together use `limit_bytes`, file cache included, without
    /// swap.
    ///
    /// It is created below this process's own group if possible, so that existing limits remain in
    /// force; version 2 forbids that for a group with processes. Otherwise the new group gets copies
    /// of the limits that it is not below, and [`MemoryGroup::doubt`] names those it cannot have.
    /// Leftover groups of killed runs are removed first.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if no control group can be made here, or with so low a limit.
    pub fn create(limit_bytes: u64) -> Result<Self, Error> {
        if limit_bytes < LIMIT_LEAST {
            return Err(unsupported("a limit below 8 MiB leaves no room for the program itself"));
        }
        Self::attempt(limit_bytes).map_err(|[why, advice]| unsupported(&format!("{why}; {advice}")))
    }

    /// Does the same for a limit with enough room. Otherwise returns why there is no group, and
    /// what helps.
    pub(crate) fn attempt(limit_bytes: u64) -> Result<Self, [String; 2]> {
        let hierarchy = advice::hierarchy().map_err(|told| told.map(str::to_owned))?;
        let limit_bytes = enclosing_limit().map_or(limit_bytes, |limit| limit.min(limit_bytes));
        let mut refusal = "the memory controller is not available to this program".to_owned();
        let mut kind = None;
        for parent in hierarchy.line() {
            match Self::below(parent, hierarchy.version, limit_bytes) {
                Ok(Some(mut group)) => {
                    let left = hierarchy.line().take_while(|one| *one != parent);
                    group.escaped = escaped::copy(&left.collect::<Vec<_>>(), &group.directory);
                    return Ok(group);
                }
                Ok(None) => {}
                Err(error) => {
                    kind = Some(error.kind());
                    refusal = format!("{}: {error}", parent.display());
                }
            }
        }
        Err([refusal, advice::what_helps(hierarchy.version, kind)])
    }

    /// Creates a group in `parent`; `None` if `parent` cannot have groups with a memory controller.
    fn below(parent: &Path, version: Version, limit_bytes: u64) -> io::Result<Option<Self>> {
        if version == Version::V2 && !enable(parent)? {
            return Ok(None);
        }
        sweep(parent);
        let made = make(parent).and_then(|(directory, held)| {
            let procs = limit(&directory, version, limit_bytes).and_then(|()| {
                let procs = OpenOptions::new().write(true).open(directory.join("cgroup.procs"))?;
                try_join(&procs)?;
                Ok(procs)
            });
            let procs = procs.inspect_err(|_| remove(&directory))?;
            let creator = std::process::id();
            let escaped = Vec::new();
            Ok(Self { directory, version, limit_bytes, procs, escaped, creator, _held: held })
        });
        made.map(Some).inspect_err(|_| restore(parent))
    }

    /// Moves the calling process into the group. It does not allocate, so a forked child may call
    /// it.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn join(&self) -> io::Result<()> {
        join(&self.procs)
    }

    /// Returns the warning that limits on this process do not hold for the members.
    pub fn doubt(&self) -> Option<Warning> {
        escaped::doubt(&self.escaped)
    }

    /// Returns the memory charged to the group, file cache included, in bytes; `None` if it cannot
    /// be read.
    pub fn usage_bytes(&self) -> Option<u64> {
        text::read_number(self.directory.join(self.version.usage_file()))
    }

    /// Returns the path of a file in the group's directory, such as `memory.stat`.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Returns the limit in force, in bytes.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Frees the group's pages before it is removed, unless that would wait long for the device.
    fn empty(&self) {
        let stat = text::read(self.file("memory.stat")).unwrap_or_default();
        let waiting = dirty_bytes(&stat).unwrap_or(0);
        if self.version == Version::V1 && waiting <= DIRTY_MOST {
            let _ = put(&self.directory.join("memory.force_empty"), "0");
        }
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // A forked worker has a copy of this value and must not remove its parent's group.
        if self.creator == std::process::id() {
            self.empty();
            remove(&self.directory);
            self.directory.parent().into_iter().for_each(restore);
        }
    }
}

/// Returns the memory limit that a control group already imposes on this process, in bytes; `None`
/// if there is none below the size of the memory.
pub fn enclosing_limit() -> Option<u64> {
    let limit = Hierarchy::find()?.limit()?;
    let total = memory().total;
    (total == 0 || limit < total).then_some(limit)
}

/// Returns whether all limits on this process by `controller` (`memory`, `cpu` or `blkio`) show:
/// not in a container where those of groups above it do not.
pub fn shows_limits(controller: &str) -> bool {
    Hierarchy::with(controller).map_or_else(are_absent, |groups| groups.shows_limits(controller))
}

/// Returns `memory.stat` of the group that this process is in, if a limit separates it from the
/// rest of the machine.
pub(crate) fn enclosing_stat() -> Option<PathBuf> {
    enclosing_limit()?;
    dirt_of(&Hierarchy::find()?.own)
}

/// Returns the file of the group at `directory` with its dirty bytes, if there is one.
fn dirt_of(directory: &Path) -> Option<PathBuf> {
    let file = directory.join("memory.stat");
    dirty_bytes(&text::read(&file)?).map(|_| file)
}

/// Returns the memory that programs could get now without swapping, within the limits of this
/// process's control groups, in bytes. It includes file cache that can be reclaimed at once.
pub fn available_memory() -> u64 {
    let room = Hierarchy::find().and_then(|groups| groups.room());
    memory().available.min(room.unwrap_or(u64::MAX))
}

/// Returns dirty and write-back bytes from a group's `memory.stat`: `dirty` and `writeback` in
/// version 1, `file_dirty` and `file_writeback` in version 2; `None` if neither is there.
pub(crate) fn dirty_bytes(memory_stat: &str) -> Option<u64> {
    let pair = |dirty, writeback| {
        Some(text::field(memory_stat, dirty)? + text::field(memory_stat, writeback)?)
    };
    pair("dirty", "writeback").or_else(|| pair("file_dirty", "file_writeback"))
}

/// Returns the nanoseconds that a quota kept a group's members off the processors, from its
/// `cpu.stat`: `throttled_time` (ns) in version 1, `throttled_usec` in version 2; `None` without
/// the controller.
pub(crate) fn throttled_ns(cpu_stat: &str) -> Option<u64> {
    let in_us = || text::field(cpu_stat, "throttled_usec").map(|us| us.saturating_mul(1000));
    text::field(cpu_stat, "throttled_time").or_else(in_us)
}

fn unsupported(why: &str) -> Error {
    Error::Unsupported { what: "a memory limit (--memory)".into(), why: why.to_owned() }
}

/// Creates a group in `parent` and locks it.
fn make(parent: &Path) -> io::Result<(PathBuf, File)> {
    let which = |state: Metadata| (state.dev(), state.ino());
    for _ in 0..NAMES_MOST {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = parent.join(format!("ioscape-{}-{number}", std::process::id()));
        match std::fs::create_dir(&directory) {
            // Another container has its own process numbers, so also ours.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            made => made?,
        }
        // Between creation and locking another process may remove it as a leftover.
        let Ok(held) = File::open(&directory) else { continue };
        let ours = held.metadata().map(which)?;
        let is_there = || std::fs::metadata(&directory).is_ok_and(|now| which(now) == ours);
        if lock(&held) != Err(Errno::WOULDBLOCK) && is_there() {
            return Ok((directory, held));
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "every name for a group that was tried is taken"))
}

/// Locks an open group.
fn lock(group: &File) -> rustix::io::Result<()> {
    rustix::fs::flock(group, FlockOperation::NonBlockingLockExclusive)
}

/// Sets the limits of the new group at `directory`.
fn limit(directory: &Path, version: Version, limit_bytes: u64) -> io::Result<()> {
    put(&directory.join(version.limit_file()), &limit_bytes.to_string())?;
    // A swapped-out worker would be measured as slow I/O; kernels without swap have neither file.
    let _ = match version {
        Version::V1 => put(&directory.join("memory.swappiness"), "0"),
        Version::V2 => put(&directory.join("memory.swap.max"), "0"),
    };
    Ok(())
}

fn join(procs: &File) -> io::Result<()> {
    // 0 means the writing process.
    rustix::io::write(procs, b"0")?;
    Ok(())
}

/// Joins in a short-lived child, so that a refusal shows now and not during a run.
fn try_join(procs: &File) -> io::Result<()> {
    // SAFETY: the child does nothing but one system call and `_exit`: no allocation, lock or
    // destructor.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = join(procs).err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
        // SAFETY: always sound; it ends the child without running anything of its parent's.
        unsafe { libc::_exit(code) };
    }
    let child =
        rustix::process::Pid::from_raw(child.max(0)).ok_or_else(io::Error::last_os_error)?;
    let status = loop {
        match rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            // This process was started with SIGCHLD ignored; a refusal then shows when the first
            // worker joins.
            Err(Errno::CHILD) => return Ok(()),
            other => break other?,
        }
    };
    match status.and_then(|(_, status)| status.exit_status()) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(code)),
        None => Err(io::Error::other("a process that joined it was killed")),
    }
}

/// Removes the group at `directory`; members just killed may take a moment to disappear.
fn remove(directory: &Path) {
    for _ in 0..100 {
        match std::fs::remove_dir(directory) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            _ => return,
        }
    }
}

/// Returns whether a name is that of one of our groups.
fn is_ours(name: &str) -> bool {
    let numbers = name.strip_prefix("ioscape-").and_then(|numbers| numbers.split_once('-'));
    numbers.is_some_and(|(process, number)| {
        process.parse::<u32>().is_ok() && number.parse::<u32>().is_ok()
    })
}

/// Removes groups in `parent` that are empty and not locked: their creators are dead. A process
/// number alone may belong to another container.
fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        if is_ours(&entry.file_name().to_string_lossy())
            && let Ok(group) = File::open(entry.path())
            && lock(&group).is_ok()
        {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}
