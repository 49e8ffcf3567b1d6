//! The files of a run: examined, opened with consent, and removed again if the run made them and
//! fails.

use crate::engine::buffer::{BUFFERS, HUGE, check_room};
use ioscape_machine::cache;
use ioscape_machine::device::are_files_memory;
use ioscape_machine::error::Error;
use ioscape_machine::limits::raise_open_files;
use ioscape_machine::mounts::{self, FileSystemInfo};
use ioscape_machine::output::without_links;
use ioscape_machine::target::{self, Reach, guard, sweep_at};
use ioscape_schema::units::Bytes;
use ioscape_schema::{VxJob, VxWorkload};
use rustix::fs::FlockOperation;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What exists at the path of a file that the user named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Size in bytes; absent if nothing exists there yet.
    pub size_bytes: Option<u64>,
    /// Whether it is a block device.
    pub is_device: bool,
}

/// The range of one file that a run works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Requests lie in this many bytes from the beginning of the file.
    pub range_bytes: u64,
    /// Size to which the file is extended first; absent: it is not.
    pub grow_to: Option<u64>,
    /// Size of the file after the run, if it grows.
    pub end_bytes: u64,
}

/// One open file, with what is known of it.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its path, as the user named it.
    pub(crate) named: PathBuf,
    /// The open file; read-only unless the job changes it.
    pub(crate) file: File,
    /// Whether this run created it.
    created: bool,
    /// Whether it is a block device.
    pub(crate) is_device: bool,
    /// The file system or device that holds it.
    pub(crate) file_system: FileSystemInfo,
    /// The range that the run works on.
    pub(crate) extent: Extent,
}

/// All files of a run. Those created for it are removed if this is dropped before [`Files::keep`].
#[derive(Debug, Default)]
pub struct Files {
    pub(crate) opened: Vec<Opened>,
    /// Whether refusals mention what `--best-effort` does.
    pub(crate) has_best_effort: bool,
    leftovers: Vec<String>,
    kept: bool,
}

/// Examines `path` without opening it.
///
/// # Errors
/// It is neither a regular file nor a block device, or cannot be examined.
pub fn look(path: &Path) -> Result<Look, Error> {
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Look { size_bytes: None, is_device: false });
        }
        Err(error) => return Err(target::missing(path, error)),
    };
    let kind = found.file_type();
    if kind.is_dir() {
        return Err(Error::target(path, "is a directory: name a file in it, or a block device"));
    }
    if !kind.is_file() && !kind.is_block_device() {
        let what = target::kind_word(kind);
        return Err(Error::target(path, format!("is a {what}: name a file or a block device")));
    }
    if kind.is_file() {
        return Ok(Look { size_bytes: Some(found.len()), is_device: false });
    }
    let mut device = File::open(path).map_err(|error| target::missing(path, error))?;
    let size = std::io::Seek::seek(&mut device, std::io::SeekFrom::End(0))
        .map_err(|error| Error::io("examine", path, error))?;
    Ok(Look { size_bytes: Some(size), is_device: true })
}

/// Returns the file system of the directory at `path`, or the block device itself, and the free
/// space there in bytes.
///
/// # Errors
/// It is neither a directory nor a block device, or cannot be examined.
pub fn place(path: &Path) -> Result<(FileSystemInfo, u64), Error> {
    let real = std::fs::canonicalize(path).map_err(|error| target::missing(path, error))?;
    let found = std::fs::metadata(&real).map_err(|error| target::missing(path, error))?;
    if found.file_type().is_block_device() {
        return Ok((mounts::raw_device(&real, mounts::split(found.rdev())), 0));
    }
    if !found.is_dir() {
        return Err(Error::target(path, "is no directory: name a directory or a block device"));
    }
    let folder = File::open(&real).map_err(|error| target::unwritable(path, error))?;
    let file_system = mounts::system_of(&folder, &real);
    let space = target::space(&folder, are_files_memory(&file_system));
    let free = space.map_err(|error| Error::io("examine", path, error))?.1;
    Ok((file_system, free))
}

impl Files {
    /// Opens or creates all files that `job` works on, after checking everything that could prevent
    /// the run.
    ///
    /// # Errors
    /// A file that exists may not be changed without `destroy_data`, is in use, does not exist
    /// though it should, or is named twice; or there is too little space. Nothing is left behind
    /// then.
    pub fn open(
        named: &[(PathBuf, Extent)],
        job: &VxJob,
        destroy_data: bool,
    ) -> Result<Self, Error> {
        // Each file, and each thread on it, opens several descriptors.
        raise_open_files();
        let mut files = Self::default();
        // Leftovers of earlier runs may be what fills the file system.
        let folders = named.iter().filter(|(path, _)| !path.starts_with("/dev"));
        let folders: BTreeSet<&Path> = folders.filter_map(|(path, _)| path.parent()).collect();
        for folder in folders {
            let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            files.leftovers.extend(sweep_at(here));
        }
        for (path, extent) in named {
            let opened = match std::fs::metadata(path) {
                Ok(found) => existing(path, &found, extent, job, destroy_data)?,
                Err(_) => create(path, extent, job)?,
            };
            files.opened.push(opened);
        }
        files.check_twins(job)?;
        files.check_space(job)?;
        files.check_space_below(job)?;
        Ok(files)
    }

    /// Makes refusals mention what `--best-effort` would do instead, for a command that has that
    /// option.
    pub fn with_best_effort(mut self) -> Self {
        self.has_best_effort = true;
        self
    }

    /// Keeps the files created for this run.
    pub fn keep(&mut self) {
        self.kept = true;
    }

    /// The names of the leftovers of killed runs that were removed from the folders of the files.
    pub fn leftovers(&self) -> &[String] {
        &self.leftovers
    }

    /// Every file, as it was named, and the file system or device that holds it.
    pub fn places(&self) -> impl Iterator<Item = (&Path, &FileSystemInfo)> {
        self.opened.iter().map(|one| (&*one.named, &one.file_system))
    }

    /// Refuses a file that is named twice if the job changes it: its two users would destroy each
    /// other's work.
    fn check_twins(&self, job: &VxJob) -> Result<(), Error> {
        let mut seen = BTreeMap::new();
        for one in self.opened.iter().filter(|_| job.changes_files()) {
            let state = one.state()?;
            if seen.insert((state.dev(), state.ino(), state.rdev()), ()).is_some() {
                let reason = "is named twice: name each file once, and give nthreads for several streams on it";
                return Err(Error::target(&one.named, reason));
            }
        }
        Ok(())
    }

    /// Checks that every file system has enough free space for all files on it together.
    fn check_space(&self, job: &VxJob) -> Result<(), Error> {
        let mut needed: BTreeMap<u64, (u64, &Opened)> = BTreeMap::new();
        for one in self.opened.iter().filter(|one| !one.is_device) {
            let state = one.state()?;
            let wanted = one.extent.end_bytes.max(job.reservation.unwrap_or(0));
            // Truncated space is free again before it is written.
            let present = target::on_storage(&state);
            let sum = needed.entry(state.dev()).or_insert((0, one));
            sum.0 = sum.0.saturating_add(wanted.saturating_sub(present));
        }
        for (needed, one) in needed.into_values() {
            let space = target::space(&one.file, are_files_memory(&one.file_system));
            let free = space.map_err(|error| Error::io("examine", &one.named, error))?.1;
            if needed > free {
                let path = target::named_by_user(&one.named).to_owned();
                return Err(Error::Space { path, needed, spared: 0, free });
            }
        }
        Ok(())
    }

    /// Checks that what is written to a loop device or in memory leaves space below it to others.
    fn check_space_below(&self, job: &VxJob) -> Result<(), Error> {
        let changes = job.changes_files();
        let is_rewritten = job.workload != VxWorkload::Write || job.nrep > 1;
        for one in self.opened.iter().filter(|one| one.is_device && changes) {
            let range = one.extent.range_bytes;
            let room = target::room_on_device(one.file_system.device, range, is_rewritten);
            let written = job.span_bytes().map_or(range, |span| span.min(range));
            if written > room {
                let reason = format!(
                    "takes {} at most: for more, it would take space or memory below that is left to others; free some there, or give a smaller iocount",
                    Bytes(room as f64)
                );
                return Err(Error::target(&one.named, reason));
            }
        }
        Ok(())
    }
}

/// The alignment to keep where the kernel reports none, on a file system with blocks of `block`
/// bytes. Files on a server or served by a program need none: there, the "block" is the size of a
/// transfer, such as a megabyte on NFS. No file system needs more than a page, whatever it calls
/// its block.
fn unsaid_align(system: &FileSystemInfo, block: u64) -> u32 {
    match system.is_network_or_fuse {
        true => 1,
        false => block.clamp(1, cache::page_size()) as u32,
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for one in self.opened.iter().filter(|one| one.created && !self.kept) {
            // What cannot be removed stays: there is nobody left to report it to.
            let _ = one.unlink();
        }
        self.opened.iter().for_each(|one| target::unlock(&one.file));
    }
}

impl Opened {
    /// Bytes of the range worked on that are in the file cache; absent where the kernel cannot say,
    /// or the file system caches elsewhere.
    pub(crate) fn resident(&self) -> Option<u64> {
        self.file_system.resident(cache::resident_bytes(&self.file, 0, self.extent.range_bytes))
    }

    /// The metadata of the open file.
    pub(crate) fn state(&self) -> Result<Metadata, Error> {
        self.file.metadata().map_err(|error| Error::io("examine", &self.named, error))
    }

    /// Opens the same file again with additional `flags`, writable if `write`: a new open file
    /// description.
    pub(crate) fn again(&self, flags: i32, write: bool) -> std::io::Result<File> {
        target::open_again(&self.file, &self.named, flags, write)
    }

    /// Alignment that direct I/O needs, in bytes, if the kernel reports it.
    pub(crate) fn told_align(&self) -> Option<u32> {
        target::direct_align(&self.file, self.is_device.then_some(self.file_system.device))
    }

    /// Alignment that direct I/O needs, in bytes: as the kernel reports it, or else the file
    /// system's block.
    pub(crate) fn direct_align(&self) -> u32 {
        let block = || rustix::fs::fstatvfs(&self.file).map_or(4096, |state| state.f_bsize);
        self.told_align().unwrap_or_else(|| unsaid_align(&self.file_system, block()))
    }

    /// Removes the file, if its name still stands for it; for a symbolic link, the file that it
    /// leads to.
    pub(crate) fn unlink(&self) -> io::Result<()> {
        let ours = self.file.metadata()?;
        let is_ours = |path: &Path| {
            let found = std::fs::symlink_metadata(path);
            found.is_ok_and(|found| (ours.dev(), ours.ino()) == (found.dev(), found.ino()))
        };
        let real = match is_ours(&self.named) {
            true => self.named.clone(),
            false => std::fs::canonicalize(&self.named)?,
        };
        if self.is_device || !is_ours(&real) {
            return Err(io::Error::from_raw_os_error(libc::ESTALE));
        }
        std::fs::remove_file(real)
    }
}

/// Opens an existing file, which needs consent if it is to be changed.
fn existing(
    path: &Path,
    found: &Metadata,
    extent: &Extent,
    job: &VxJob,
    destroy_data: bool,
) -> Result<Opened, Error> {
    let kind = found.file_type();
    let (device, changes) = (kind.is_block_device(), job.changes_files());
    let what = target::kind_word(kind);
    if changes && !destroy_data {
        return Err(Error::target(
            path,
            format!(
                "is a {what} with data of its own, which {} would destroy: name a new file, or give --destroy-data",
                job.workload
            ),
        ));
    }
    if device {
        not_for_devices(path, job)?;
    }
    let reach = way_to(path, changes)?;
    let number = mounts::split(found.rdev());
    let used = match (changes, device) {
        (false, _) => None,
        (true, true) => {
            let protected = || guard::write_protected(number).map(str::to_owned);
            guard::device_in_use(path, number).or_else(protected)
        }
        (true, false) => guard::file_in_use(path),
    };
    if let Some(reason) = used {
        return Err(Error::target(path, reason));
    }
    // A device whose data is destroyed is opened exclusively.
    let alone = if device && changes { libc::O_EXCL } else { 0 };
    let mut options = OpenOptions::new();
    options.read(true).write(changes).custom_flags(reach.flags | alone);
    let file = options.open(&reach.path).map_err(|error| target::unwritable(path, error))?;
    let opened = file.metadata().map_err(|error| Error::io("examine", path, error))?;
    if (opened.dev(), opened.ino()) != (found.dev(), found.ino()) {
        return Err(Error::target(path, "was replaced while it was being checked: try again"));
    }
    let file_system = match device {
        true => mounts::raw_device(path, number),
        false => mounts::system_of(&file, path),
    };
    // Before taking our own lock: NFS turns locks of whole files into locks of ranges, and would
    // report ours.
    if let Some(reason) = changes.then(|| target::locked_by(&file)).flatten() {
        return Err(Error::target(path, reason));
    }
    let (named, extent) = (path.to_owned(), extent.clone());
    let opened = Opened { named, file, created: false, is_device: device, file_system, extent };
    opened.lock(changes)?;
    Ok(opened)
}

/// How to open a file or device. A path to be changed or created is not reached through another
/// user's link: that user could choose what is destroyed, or where root's file is made.
fn way_to(path: &Path, changes: bool) -> Result<Reach, Error> {
    let mut reach = target::reach(path).map_err(|error| target::unwritable(path, error))?;
    let is_named = changes && !reach.is_ours();
    if let Some(real) = is_named.then(|| without_links(path)).transpose()?.flatten() {
        (reach.path, reach.flags) = (real, libc::O_NOFOLLOW);
    }
    Ok(reach)
}

impl Opened {
    /// Takes the lock that keeps other instances of this program away.
    fn lock(&self, changes: bool) -> Result<(), Error> {
        let busy = |file| rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
        if changes && busy(&self.file) == Err(rustix::io::Errno::WOULDBLOCK) {
            let reason = "is locked by another program, or named twice: name each file once";
            return Err(Error::target(&self.named, reason));
        }
        Ok(())
    }
}

/// Creates a file that does not exist yet.
fn create(path: &Path, extent: &Extent, job: &VxJob) -> Result<Opened, Error> {
    if !job.workload.writes() {
        let reason = format!("does not exist: {} needs a file to read", job.workload);
        return Err(Error::target(path, reason));
    }
    if path.is_symlink() {
        let reason = "is a symbolic link to a file that does not exist: name the file itself";
        return Err(Error::target(path, reason));
    }
    if is_among_devices(path) {
        let reason = "does not exist, and a new file here would be in memory, under the name of a device: is the disk attached?";
        return Err(Error::target(path, reason));
    }
    let reach = way_to(path, true)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).custom_flags(reach.flags);
    let file = options.open(&reach.path).map_err(|error| target::unwritable(path, error))?;
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let file_system = mounts::system_of(&file, &real);
    let (named, extent) = (path.to_owned(), extent.clone());
    let opened = Opened { named, file, created: true, is_device: false, file_system, extent };
    opened.lock(true)?;
    Ok(opened)
}

/// Whether a file made at `path` would be in memory among the device nodes.
fn is_among_devices(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(real) = std::fs::canonicalize(folder.unwrap_or(Path::new("."))) else { return false };
    let is_there = real.starts_with("/dev") && !real.starts_with("/dev/shm");
    let is_for_nodes =
        |system: FileSystemInfo| system.name == "devtmpfs" || system.is_in_memory() && is_there;
    place(&real).is_ok_and(|(system, _)| is_for_nodes(system))
}

/// Refuses options that apply to files only.
fn not_for_devices(path: &Path, job: &VxJob) -> Result<(), Error> {
    let options = [
        (job.trunc, "-o trunc"),
        (job.append, "-o append"),
        (job.remove, "-i remove"),
        (job.truncup.is_some(), "-i truncup"),
        (job.reservation.is_some(), "-r"),
        (job.extsize.is_some(), "-e"),
    ];
    match options.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(Error::target(
            path,
            format!("is a block device, which has no {option}: leave it out, or name a file"),
        )),
        None => Ok(()),
    }
}

/// Size of one buffer in bytes; with huge pages, a whole number of these.
fn buffer_bytes(job: &VxJob) -> u64 {
    let huge = HUGE as u64;
    if job.huge_buffers { job.iosize.div_ceil(huge).saturating_mul(huge) } else { job.iosize }
}

/// Refuses buffers that would take more than half of the available memory.
pub(crate) fn check_memory(job: &VxJob, files: usize) -> Result<(), Error> {
    let streams = u64::from(job.nthreads).saturating_mul(files as u64);
    let both = u64::from(job.queue_depth.unwrap_or(1)) + u64::from(job.is_direct());
    let needed = buffer_bytes(job).saturating_mul(streams).saturating_mul(both);
    let advice = "give fewer threads, smaller requests or less --queue-depth";
    check_room(needed, BUFFERS, None, advice)
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
