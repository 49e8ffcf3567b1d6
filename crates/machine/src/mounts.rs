//! The mount table: the file system of a file (proc_pid_mountinfo(5)).

use crate::btrfs;
use crate::extents::{self, SECTOR};
use crate::text;
use rustix::fs::{
    AtFlags, FileType, OFlags, Stat, StatxAttributes, StatxFlags, fcntl_getfl, fstat,
};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The file system or device below a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystemInfo {
    /// Type, such as `ext4`; `block` for a block device itself; empty if unknown.
    pub name: String,
    /// Mount options of the mount point and of the file system.
    pub mount_options: String,
    /// What is mounted, such as `/dev/vda`; the device itself for a block device.
    pub source: String,
    /// Major and minor number of the device, of the first one if there are many; major 0 if there is
    /// none, or not all are known. Of an overlay, this and the two facts below are those of what it
    /// writes to; of a file there that is only read, and so may lie elsewhere, they are not.
    pub device: (u32, u32),
    /// Whether data comes from a server or a user-space program, so that the kernel's I/O counters
    /// may miss it.
    pub is_network_or_fuse: bool,
    /// Whether a test showed that process counters do include it.
    pub reads_counted: bool,
    /// Whether it is on a block device of this machine.
    pub has_device: bool,
    /// Whether the kernel says of the open file that it is memory of the device itself (DAX). The
    /// mount option says so of all files.
    pub has_dax_file: bool,
    /// The file system that an overlay writes to, if known.
    pub upper: Option<Box<Self>>,
}

impl FileSystemInfo {
    /// Returns whether the data is only in memory.
    pub fn is_in_memory(&self) -> bool {
        IN_MEMORY.contains(&&*self.name)
    }

    /// Returns whether written data may be compressed, so that repetitive bytes move faster than
    /// others. What a server or a ZFS volume (`/dev/zd0`) does is unknown here.
    pub fn compresses(&self) -> bool {
        let stored_on = self.stored_on();
        stored_on.name == "zfs"
            || stored_on.is_network_or_fuse
            || stored_on.source.starts_with("/dev/zd")
            || stored_on.options().any(|option| option.contains("compress"))
    }

    /// Returns whether it is a copy-on-write file system.
    pub fn copies_on_write(&self) -> bool {
        ["btrfs", "bcachefs", "zfs"].contains(&&*self.stored_on().name)
    }

    /// Returns whether rewritten data may move to another place of the device, so that writes
    /// scatter a set. F2FS and NILFS2 write logs.
    pub fn relocates(&self) -> bool {
        self.copies_on_write() || ["f2fs", "nilfs2"].contains(&&*self.stored_on().name)
    }

    /// Returns whether a program on this machine serves the files. Its computing for our requests
    /// is not load by others.
    pub fn is_served_here(&self) -> bool {
        let name = &*self.stored_on().name;
        ["fuse", "fuseblk"].contains(&name) || name.starts_with("fuse.")
    }

    /// Returns whether the data comes from another machine or from this one's host. FUSE may also
    /// stand in front of a local device or local files.
    pub fn is_remote(&self) -> bool {
        let Self { name, source, .. } = self.stored_on();
        let is_path = source.starts_with('/') && !source.starts_with("//");
        let is_over_files = self.has_device || is_path || OVER_FILES.contains(&&**name);
        self.is_network_or_fuse && !(self.is_served_here() && is_over_files)
    }

    /// Returns whether files are memory of the device itself (DAX), with no file cache before it.
    pub fn is_dax(&self) -> bool {
        let mut options = self.stored_on().options();
        self.has_dax_file || options.any(|option| matches!(option, "dax" | "dax=always"))
    }

    /// Returns the setting that bounds the cache which the file system has instead of the kernel's.
    pub fn own_cache(&self) -> Option<&'static str> {
        match &*self.stored_on().name {
            "zfs" => Some("zfs_arc_max"),
            "gpfs" => Some("pagepool"),
            _ => None,
        }
    }

    /// Returns why no control group limits how much of the files is cached; `None` if one does.
    pub fn unlimited(&self) -> Option<&'static str> {
        if self.is_dax() {
            return Some("files here are memory of the device itself (DAX), with no file cache");
        }
        self.own_cache().map(|_| "this file system caches files where no control group limits them")
    }

    /// Returns whether files are cached, or stored, where no control group accounts for them and
    /// dropping the page cache frees nothing.
    pub fn caches_elsewhere(&self) -> bool {
        self.unlimited().is_some()
    }

    /// Returns the cached bytes of a file, given those `counted` in the kernel's file cache; `None`
    /// if files are cached elsewhere, since that cache then holds nothing of them.
    pub fn resident(&self, counted: Option<u64>) -> Option<u64> {
        counted.filter(|_| !self.caches_elsewhere())
    }

    /// Returns the file system that stores the files: of an overlay the one that it writes to.
    pub fn stored_on(&self) -> &Self {
        self.upper.as_deref().unwrap_or(self)
    }

    /// Returns whether the data is on flash that is not a block device (MTD). Its I/O bypasses the
    /// layer that counts it, and any block device that the mount table may name.
    pub fn is_on_raw_flash(&self) -> bool {
        ["jffs2", "ubifs", "yaffs", "yaffs2"].contains(&&*self.stored_on().name)
    }

    /// Returns whether the kernel counts what a process reads from storage. For ZFS it also counts
    /// hits in its cache, and with DAX nothing.
    pub fn counts_reads(&self) -> bool {
        let stored_on = self.stored_on();
        let is_missed = stored_on.is_network_or_fuse && !self.reads_counted;
        !(is_missed || self.is_on_raw_flash() || stored_on.name == "zfs" || self.is_dax())
    }

    /// Returns the numbers of all local block devices that hold the data; empty if the data comes
    /// from elsewhere, or not all devices are known.
    pub fn devices(&self) -> Vec<(u32, u32)> {
        self.devices_by(Path::new("/sys"))
    }

    fn devices_by(&self, sys: &Path) -> Vec<(u32, u32)> {
        if self.counts_reads() { self.members(sys) } else { Vec::new() }
    }

    /// Returns the numbers of the local block devices below the file system, as shown below `sys`;
    /// empty if there are none, or not all are known.
    pub(crate) fn members(&self, sys: &Path) -> Vec<(u32, u32)> {
        if !self.has_device || self.device.0 == 0 {
            return Vec::new();
        }
        let stored_on = self.stored_on();
        if let Some(realtime) = stored_on.option("rtdev=") {
            let both = [&stored_on.source, realtime].map(|path| block_number(Path::new(path)));
            return both.into_iter().collect::<Option<_>>().unwrap_or_default();
        }
        if stored_on.name == "btrfs" {
            return btrfs::devices(sys, self.device);
        }
        let named = source_devices(&stored_on.source);
        if named.len() > 1 { named } else { vec![self.device] }
    }

    /// Returns whether it is a btrfs that was mounted without one of its devices, as shown below
    /// `sys`.
    pub(crate) fn lacks_device(&self, sys: &Path) -> bool {
        self.stored_on().name == "btrfs" && btrfs::lacks_device(sys, self.device)
    }

    /// Returns the number of copies of file data stored on the devices: more than one on a mirrored
    /// btrfs, or if ext4 journals data.
    pub fn copies(&self) -> u64 {
        self.copies_by(Path::new("/sys"))
    }

    fn copies_by(&self, sys: &Path) -> u64 {
        let stored_on = self.stored_on();
        match &*stored_on.name {
            "btrfs" => btrfs::copies(sys, self.device).unwrap_or(1),
            "ext4" if stored_on.options().any(|option| option == "data=journal") => 2,
            _ => 1,
        }
    }

    /// Returns whether pages of its files enter this kernel's file cache individually on request.
    /// Other file systems have their own cache, or pass each request on.
    pub fn comes_by_pages(&self) -> bool {
        !(self.is_network_or_fuse || self.caches_elsewhere() || self.is_in_memory())
    }

    /// Returns whether each write reaches storage before it returns, so that many small writes take
    /// many times as long as a large one.
    pub fn syncs_each_write(&self) -> bool {
        self.options().any(|option| option == "sync")
    }

    /// Returns the mount option for which creating, renaming and deleting a file waits for storage,
    /// if there is one. Btrfs makes only writes wait, and in memory nothing does.
    pub fn syncs_names(&self) -> Option<&str> {
        let stored_on = self.stored_on();
        let waits = stored_on.name != "btrfs" && !stored_on.is_in_memory();
        let mut options = stored_on.options().filter(|_| waits);
        options.find(|option| ["sync", "dirsync", "wsync"].contains(option))
    }

    /// Returns whether the same waits in a directory with the attribute for it (chattr(1)): btrfs
    /// and XFS keep the attribute, but do not heed it for names.
    pub fn heeds_synchronous_directories(&self) -> bool {
        !["btrfs", "xfs"].contains(&&*self.stored_on().name)
    }

    fn options(&self) -> impl Iterator<Item = &str> {
        self.mount_options.split(',')
    }

    /// Returns the value of the option that begins with `name`.
    fn option(&self, name: &str) -> Option<&str> {
        self.options().find_map(|option| option.strip_prefix(name))
    }

    /// Adds what the kernel tells of the open `file`: whether it is memory of the device (DAX), and
    /// which device holds its data, as shown below `sys`.
    pub(crate) fn look_at(&mut self, file: &impl AsFd, sys: &Path) {
        let state = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::empty());
        self.has_dax_file =
            state.is_ok_and(|state| state.stx_attributes.contains(StatxAttributes::DAX));
        if let Some(path) = self.stored_on().option("rtdev=").filter(|_| extents::is_realtime(file))
        {
            self.device = block_number(Path::new(path)).unwrap_or_default();
        }
        // The kernel does not name the other devices of an F2FS.
        if self.stored_on().name == "f2fs" && is_larger(file, self.device, sys) {
            self.device = (0, 0);
        }
    }
}

/// Returns whether the file system of `file` is larger than the device of this number, as shown
/// below `sys`.
fn is_larger(file: &impl AsFd, (major, minor): (u32, u32), sys: &Path) -> bool {
    let sectors = text::read_number(sys.join(format!("dev/block/{major}:{minor}/size")));
    let total =
        rustix::fs::fstatvfs(file).map(|state| state.f_blocks.saturating_mul(state.f_frsize));
    sectors.zip(total.ok()).is_some_and(|(sectors, total)| total / SECTOR > sectors)
}

/// One line of the mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Mount id, as `statx` returns it for a file.
    pub id: u64,
    /// Major and minor number; major 0 if it is not a single device.
    pub device: (u32, u32),
    /// The directory of the file system that is mounted.
    pub root: PathBuf,
    /// The mount point.
    pub point: PathBuf,
    /// Mount options, followed by other options of the file system.
    pub options: String,
    /// Type of the file system.
    pub kind: String,
    /// What is mounted.
    pub source: String,
}

/// Decodes the mount table's octal escapes: `\040` is a space.
pub fn unescape(field: &str) -> String {
    let bytes = field.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes
            .get(at + 1..at + 4)
            .filter(|_| bytes[at] == b'\\')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        plain.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 4 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// Joins two lists of options without duplicates.
fn join_options(mount: &str, file_system: &str) -> String {
    let mut all: Vec<&str> = mount.split(',').collect();
    for option in file_system.split(',') {
        if !all.contains(&option) {
            all.push(option);
        }
    }
    all.join(",")
}

fn parse_line(line: &str) -> Option<Mount> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mount: Vec<&str> = mount.split(' ').collect();
    let file_system: Vec<&str> = file_system.split(' ').collect();
    let options = join_options(mount.get(5)?, file_system.get(2).unwrap_or(&""));
    Some(Mount {
        id: mount.first()?.parse().ok()?,
        device: text::pair(mount.get(2)?)?,
        root: unescape(mount.get(3)?).into(),
        point: unescape(mount.get(4)?).into(),
        // Commas separate options: one within a name stays escaped.
        options: unescape(&options.replace(r"\054", r"\134054")),
        kind: unescape(file_system.first()?),
        source: unescape(file_system.get(1)?),
    })
}

/// Parses a mount table; malformed lines are skipped.
pub fn parse(table: &str) -> Vec<Mount> {
    table.lines().filter_map(parse_line).collect()
}

/// Returns the mount table of this thread, which may have its own mounts; empty if the kernel does
/// not show it.
pub fn table() -> Vec<Mount> {
    text::read("/proc/thread-self/mountinfo").map_or_else(Vec::new, |table| parse(&table))
}

/// Returns the mount of an absolute `path` without links: the last one with the longest matching
/// prefix.
pub(crate) fn by_path(table: &[Mount], path: &Path) -> Option<Mount> {
    let covering = table.iter().filter(|mount| path.starts_with(&mount.point));
    covering.max_by_key(|mount| mount.point.components().count()).cloned()
}

/// Returns the mount of the open `file` at `path`.
pub(crate) fn of(file: &impl AsFd, path: &Path) -> Option<Mount> {
    among(&table(), file, path)
}

/// Returns the mount of the open `file` at `path`, of those in the table.
fn among(table: &[Mount], file: &impl AsFd, path: &Path) -> Option<Mount> {
    let state = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok();
    let id = state.filter(|s| s.stx_mask & StatxFlags::MNT_ID.bits() != 0);
    id.and_then(|state| table.iter().find(|mount| mount.id == state.stx_mnt_id).cloned())
        .or_else(|| by_path(table, path))
}

/// Returns the file system of the open `file` at `path`; empty if unknown.
pub fn system_of(file: &impl AsFd, path: &Path) -> FileSystemInfo {
    let table = table();
    let Some(mount) = among(&table, file, path) else { return FileSystemInfo::default() };
    let system = describe_written(&table, &mount, size);
    let mut system = match system.upper.is_some() && is_only_read(file) {
        true => FileSystemInfo { upper: system.upper, ..describe(&mount) },
        false => system,
    };
    system.look_at(file, Path::new("/sys"));
    system
}

/// Returns whether `file` is a regular one that is not open for writing: it then stays on its layer
/// of an overlay.
fn is_only_read(file: &impl AsFd) -> bool {
    let is_file = |state: Stat| FileType::from_raw_mode(state.st_mode).is_file();
    let writes = |flags: OFlags| flags.intersects(OFlags::WRONLY | OFlags::RDWR);
    fstat(file).is_ok_and(is_file) && !fcntl_getfl(file).is_ok_and(writes)
}

/// Describes the file system mounted as `mount`: an overlay with the one that it writes to, if that
/// is in the `table`. `size` returns the size of the one mounted at a path.
pub(crate) fn describe_written(
    table: &[Mount],
    mount: &Mount,
    size: impl Fn(&Path) -> Option<[u64; 2]>,
) -> FileSystemInfo {
    let system = describe(mount);
    let Some(upper) = written_to(table, &system, size) else { return system };
    let FileSystemInfo { device, is_network_or_fuse, has_device, .. } = upper;
    let upper = Some(Box::new(upper));
    FileSystemInfo { device, is_network_or_fuse, has_device, upper, ..system }
}

/// Returns the file system that the overlay `system` writes to; `None` for others, or if it is not
/// in the `table`.
fn written_to(
    table: &[Mount],
    system: &FileSystemInfo,
    size: impl Fn(&Path) -> Option<[u64; 2]>,
) -> Option<FileSystemInfo> {
    let upper = unescape(system.option("upperdir=")?);
    // An overlay reports the size of the file system that it writes to. Its path is from where it
    // was mounted: in a container another file system may be at that path, often the overlay itself.
    let below = by_path(table, Path::new(&upper)).filter(|below| below.kind != system.name)?;
    let size_below = size(&below.point)?;
    let is_own =
        |mount: &&Mount| mount.kind == system.name && mount.options == system.mount_options;
    let mut own = table.iter().filter(is_own);
    own.any(|mount| size(&mount.point) == Some(size_below)).then(|| describe(&below))
}

/// Returns the blocks and files of the file system mounted at `point`.
pub(crate) fn size(point: &Path) -> Option<[u64; 2]> {
    let state = rustix::fs::statvfs(point).ok()?;
    Some([state.f_blocks, state.f_files])
}

/// Returns the numbers of the block devices in a mount's source: `/dev/vda`, or
/// `/dev/sda:/dev/sdb`.
pub fn source_devices(source: &str) -> Vec<(u32, u32)> {
    if !source.starts_with('/') {
        return Vec::new();
    }
    source.split(':').filter_map(|path| block_number(Path::new(path))).collect()
}

/// Returns the number of the block device at `path`, if there is one.
pub fn block_number(path: &Path) -> Option<(u32, u32)> {
    let found = std::fs::metadata(path).ok()?;
    found.file_type().is_block_device().then(|| split(found.rdev()))
}

/// Splits a device number into major and minor.
pub fn split(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// File systems whose data comes from a server, a host or a user-space program.
const REMOTE: [&str; 26] = [
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "cvfs", "dvs", "gpfs", "hostfs", "lustre",
    "nfs", "nfs4", "orangefs", "panfs", "prl_fs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf",
    "virtiofs", "vmhgfs", "wekafs", "fuse", "fuseblk",
];

/// FUSE file systems over local files, which their source need not name.
const OVER_FILES: [&str; 6] = [
    "fuse.bindfs",
    "fuse.encfs",
    "fuse.fuse-overlayfs",
    "fuse.mergerfs",
    "fuse.squashfuse",
    "fuse.unionfs",
];

/// File systems whose files are in memory alone.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

/// Other local file systems that may show no device number: those over several devices, over raw
/// flash, over other file systems, and the kernel's own. Cluster file systems show none either, and
/// are too many to list.
const WITHOUT_DEVICE: [&str; 19] = [
    "apfs", "aufs", "bcachefs", "btrfs", "cgroup", "cgroup2", "ecryptfs", "erofs", "mqueue",
    "overlay", "proc", "rootfs", "shiftfs", "simfs", "sysfs", "ubifs", "unionfs", "vzfs", "zfs",
];

/// Returns whether a file system of type `kind` stores its data elsewhere than on a local block
/// device.
pub fn is_network_or_fuse(kind: &str) -> bool {
    REMOTE.contains(&kind) || kind.starts_with("fuse.")
}

/// Describes the block device at `path`.
pub fn raw_device(path: &Path, number: (u32, u32)) -> FileSystemInfo {
    FileSystemInfo {
        name: "block".into(),
        source: path.display().to_string(),
        device: number,
        has_device: true,
        ..FileSystemInfo::default()
    }
}

/// Describes the file system mounted as `mount`.
pub fn describe(mount: &Mount) -> FileSystemInfo {
    let device = match mount.device.0 {
        // btrfs and similar file systems show a number of no device; the source names a real one.
        0 => source_devices(&mount.source).first().copied().unwrap_or(mount.device),
        _ => mount.device,
    };
    let is_local = WITHOUT_DEVICE.iter().chain(&IN_MEMORY).any(|kind| *kind == mount.kind);
    FileSystemInfo {
        name: mount.kind.clone(),
        mount_options: mount.options.clone(),
        source: mount.source.clone(),
        device,
        is_network_or_fuse: is_network_or_fuse(&mount.kind) || (device.0 == 0 && !is_local),
        reads_counted: false,
        has_device: device.0 != 0,
        has_dax_file: false,
        upper: None,
    }
}

#[cfg(test)]
#[path = "mounts_tests.rs"]
mod tests;
