//! Memory limits by control groups: how a file cache of known size is made.
//!
//! A page of the file cache is charged to the group that first brings it in, so that a group's limit bounds the cache
//! of those files only that its members were the first to read or write.
#![allow(unsafe_code, reason = "fork, to try whether a process may join")]

mod freezer;
mod hierarchy;
mod quota;
#[cfg(test)]
mod tests;

pub use freezer::is_frozen;
pub use quota::Quota;

use crate::error::Error;
use crate::memory::memory;
use crate::text;
use hierarchy::{Hierarchy, Version};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Below this a worker could not even start, in bytes.
const LIMIT_LEAST: u64 = 8 << 20;

/// Dirty pages above which a group is not emptied at its end, since that waits for the device to write them; in bytes.
const DIRTY_MOST: u64 = 8 << 20;

/// Number of the next group of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A control group of our own with a memory limit; removed when dropped by the process that made it.
#[derive(Debug)]
pub struct MemoryGroup {
    directory: PathBuf,
    version: Version,
    limit_bytes: u64,
    procs: File,
    creator: u32,
    // Where the memory controller had to be switched on for groups below.
    enabled_in: Option<PathBuf>,
}

impl MemoryGroup {
    /// Makes a group whose members, file cache included, may use `limit_bytes` together, without swap space.
    ///
    /// It lies below this process's own group where possible, so that limits already in force stay so; where not, its limit
    /// is lowered to them. Groups that killed runs left behind are removed first.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if no control group can be made here, or with so low a limit.
    pub fn create(limit_bytes: u64) -> Result<Self, Error> {
        if limit_bytes < LIMIT_LEAST {
            return Err(unsupported("a limit below 8 MiB leaves no room for the program itself"));
        }
        let hierarchy = Hierarchy::find().ok_or_else(|| {
            unsupported("no control groups with a memory controller are mounted in /sys/fs/cgroup")
        })?;
        let limit_bytes = enclosing_limit().map_or(limit_bytes, |limit| limit.min(limit_bytes));
        let mut refusal = "the memory controller is not available to this program".to_owned();
        let mut may_help = true;
        for parent in hierarchy.line() {
            match Self::below(parent, hierarchy.version, limit_bytes) {
                Ok(Some(group)) => return Ok(group),
                Ok(None) => {}
                Err(error) => {
                    may_help = error.kind() != io::ErrorKind::NotFound;
                    refusal = format!("{}: {error}", parent.display());
                }
            }
        }
        let what_helps = what_helps(may_help && !rustix::process::geteuid().is_root());
        Err(unsupported(&format!("{refusal}; {what_helps}")))
    }

    /// A group in `parent`; `None` if `parent` cannot have groups with a memory controller.
    fn below(parent: &Path, version: Version, limit_bytes: u64) -> io::Result<Option<Self>> {
        let enabled_in = match version {
            Version::V1 => None,
            Version::V2 => match enable(parent)? {
                Controller::Missing => return Ok(None),
                Controller::On => None,
                Controller::SwitchedOn => Some(parent.to_owned()),
            },
        };
        sweep(parent);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let creator = std::process::id();
        let directory = parent.join(format!("ioscape-{creator}-{number}"));
        std::fs::create_dir(&directory)?;
        let made = limit(&directory, version, limit_bytes).and_then(|()| {
            let procs = OpenOptions::new().write(true).open(directory.join("cgroup.procs"))?;
            try_join(&procs)?;
            Ok(procs)
        });
        match made {
            Ok(procs) => {
                Ok(Some(Self { directory, version, limit_bytes, procs, creator, enabled_in }))
            }
            Err(error) => {
                remove(&directory);
                restore(enabled_in.as_deref());
                Err(error)
            }
        }
    }

    /// Moves the calling process into the group; allocates nothing, so that a forked child may call it.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn join(&self) -> io::Result<()> {
        join(&self.procs)
    }

    /// Memory charged to the group, file cache included, in bytes; absent if it cannot be read.
    pub fn usage_bytes(&self) -> Option<u64> {
        text::read_number(self.directory.join(self.version.usage_file()))
    }

    /// The file of this name in the group's directory, such as `memory.stat`.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The limit in force, in bytes.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Gives the group's pages back before it goes, unless that would wait long for the device.
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
        // A forked worker has a copy of this value and must not take the group from its parent.
        if self.creator == std::process::id() {
            self.empty();
            remove(&self.directory);
            restore(self.enabled_in.as_deref());
        }
    }
}

/// The memory limit that a control group already puts on this process, in bytes; absent if there is none below the size
/// of the memory.
pub fn enclosing_limit() -> Option<u64> {
    let limit = Hierarchy::find()?.limit()?;
    let total = memory().total;
    (total == 0 || limit < total).then_some(limit)
}

/// Memory that programs could get now without swapping and within the limits of the control groups that this process is in, in bytes;
/// file cache that is given up at once included.
pub fn available_memory() -> u64 {
    let room = Hierarchy::find().and_then(|groups| groups.room());
    memory().available.min(room.unwrap_or(u64::MAX))
}

/// Dirty and write-back bytes in a group's `memory.stat`: `dirty` and `writeback` in version 1, `file_dirty` and
/// `file_writeback` in version 2; absent if neither is there.
pub(crate) fn dirty_bytes(memory_stat: &str) -> Option<u64> {
    let pair = |dirty, writeback| {
        Some(text::field(memory_stat, dirty)? + text::field(memory_stat, writeback)?)
    };
    pair("dirty", "writeback").or_else(|| pair("file_dirty", "file_writeback"))
}

/// The `cpu.stat` files of the groups whose quota may keep the members of `group`, or this process, off the processors:
/// its own and those above, as far as they count throttling.
pub(crate) fn quota_files(group: Option<&MemoryGroup>) -> Vec<PathBuf> {
    let Some(mut hierarchy) = Hierarchy::with("cpu") else { return Vec::new() };
    if let Some(group) =
        group.filter(|g| (g.version, hierarchy.version) == (Version::V2, Version::V2))
    {
        hierarchy.own = group.directory.clone();
    }
    let files = hierarchy.line().map(|directory| directory.join("cpu.stat"));
    files
        .filter(|file| text::read(file).is_some_and(|stat| throttled_ns(&stat).is_some()))
        .collect()
}

/// Nanoseconds that a quota kept a group's members off the processors, from its `cpu.stat`: `throttled_time` (ns) in
/// version 1, `throttled_usec` in version 2; absent without the controller.
pub(crate) fn throttled_ns(cpu_stat: &str) -> Option<u64> {
    let in_us = || text::field(cpu_stat, "throttled_usec").map(|us| us.saturating_mul(1000));
    text::field(cpu_stat, "throttled_time").or_else(in_us)
}

/// What to do about a group that cannot be made; `by_root` where root could make it and this user is another.
fn what_helps(by_root: bool) -> &'static str {
    match by_root {
        true => "run as root",
        false => "mount a control group file system that may be written in /sys/fs/cgroup",
    }
}

fn unsupported(why: &str) -> Error {
    Error::Unsupported { what: "a memory limit (--memory)".into(), why: why.to_owned() }
}

/// Writes to a file of the control group, which is there already.
fn put(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// Whether groups below a directory of version 2 have the memory controller.
enum Controller {
    Missing,
    On,
    SwitchedOn,
}

/// Sees to it that groups below `parent` have the memory controller.
fn enable(parent: &Path) -> io::Result<Controller> {
    let lists = |file: &str| {
        let words = text::read(parent.join(file)).unwrap_or_default();
        words.split_whitespace().any(|word| word == "memory")
    };
    if lists("cgroup.subtree_control") {
        return Ok(Controller::On);
    }
    if !lists("cgroup.controllers") {
        return Ok(Controller::Missing);
    }
    match put(&parent.join("cgroup.subtree_control"), "+memory") {
        Ok(()) => Ok(Controller::SwitchedOn),
        // A group with processes in it cannot have such groups below; one further up may.
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(Controller::Missing),
        Err(error) => Err(error),
    }
}

/// Undoes [`enable`], unless another program has made groups there since: it would take the limits of these away, unsaid.
fn restore(enabled_in: Option<&Path>) {
    let has_groups = |parent: &Path| {
        let mut entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
    };
    if let Some(parent) = enabled_in.filter(|parent| !has_groups(parent)) {
        let _ = put(&parent.join("cgroup.subtree_control"), "-memory");
    }
}

/// Limits the new group at `directory`.
fn limit(directory: &Path, version: Version, limit_bytes: u64) -> io::Result<()> {
    put(&directory.join(version.limit_file()), &limit_bytes.to_string())?;
    // Swapping a worker out would be measured as slow I/O; kernels without swap have neither file.
    let _ = match version {
        Version::V1 => put(&directory.join("memory.swappiness"), "0"),
        Version::V2 => put(&directory.join("memory.swap.max"), "0"),
    };
    Ok(())
}

fn join(procs: &File) -> io::Result<()> {
    // 0 stands for the process that writes it.
    rustix::io::write(procs, b"0")?;
    Ok(())
}

/// Joins in a short-lived child, so that a refusal shows now and not in the middle of a run.
fn try_join(procs: &File) -> io::Result<()> {
    // SAFETY: the child does nothing but one system call and `_exit`: no allocation, no lock, no destructor.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = join(procs).err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
        // SAFETY: always sound; it ends the child without running anything of the parent's.
        unsafe { libc::_exit(code) };
    }
    let child =
        rustix::process::Pid::from_raw(child.max(0)).ok_or_else(io::Error::last_os_error)?;
    let status = loop {
        match rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            // This process was started with SIGCHLD ignored; a refusal then shows when the first worker joins.
            Err(rustix::io::Errno::CHILD) => return Ok(()),
            other => break other?,
        }
    };
    match status.and_then(|(_, status)| status.exit_status()) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(code)),
        None => Err(io::Error::other("a process that joined it was killed")),
    }
}

/// Removes the group at `directory`; members that were just killed may need a moment to be gone.
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

/// The process that made the group of this name, if it is one of ours.
fn maker(name: &str) -> Option<u32> {
    let (process, number) = name.strip_prefix("ioscape-")?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Removes empty groups in `parent` whose makers are dead.
fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let dead = maker(&entry.file_name().to_string_lossy())
            .is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists());
        if dead {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}
