//! The mount table: which file system a file lies on (proc_pid_mountinfo(5)).

use crate::text;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The file system or device below a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystemInfo {
    /// Type, such as `ext4`; `block` for a block device itself; empty if unknown.
    pub name: String,
    /// Mount options, those of the mount point and those of the file system.
    pub mount_options: String,
    /// What is mounted, such as `/dev/vda`; the device itself for a block device.
    pub source: String,
    /// Major and minor number of the device, of the first one if there are many; major 0 if there is none.
    pub device: (u32, u32),
    /// Whether data comes from a server or a user-space program, so that the kernel's I/O counters miss it.
    pub is_network_or_fuse: bool,
    /// Whether a block device of this machine is below.
    pub has_device: bool,
}

impl FileSystemInfo {
    /// Whether the data lies in memory and nowhere else.
    pub fn is_in_memory(&self) -> bool {
        ["tmpfs", "ramfs", "devtmpfs"].contains(&&*self.name)
    }

    /// Whether what is written may be compressed: bytes that repeat one another would then be moved faster than others.
    pub fn compresses(&self) -> bool {
        self.name == "zfs" || self.options().any(|option| option.contains("compress"))
    }

    /// Whether a program of this machine serves the files, whose computing for our requests is no load by others.
    pub fn is_served_here(&self) -> bool {
        ["fuse", "fuseblk"].contains(&&*self.name) || self.name.starts_with("fuse.")
    }

    /// Whether files are cached, or lie, where no control group counts them and dropping the page cache frees nothing: ZFS has a cache of its
    /// own, GPFS a pool of pages, and with DAX memory is the device.
    pub fn caches_elsewhere(&self) -> bool {
        let is_dax = self.options().any(|option| matches!(option, "dax" | "dax=always"));
        is_dax || ["zfs", "gpfs"].contains(&&*self.name)
    }

    /// The bytes of a file that are cached, of the `counted` ones in the kernel's file cache: not known where files are cached elsewhere, of which that
    /// cache holds nothing.
    pub fn resident(&self, counted: Option<u64>) -> Option<u64> {
        counted.filter(|_| !self.caches_elsewhere())
    }

    /// Whether the data lies on flash that is no block device (MTD): what is read and written goes past the layer that counts it, and past a block
    /// device that the mount table may name.
    pub fn is_on_raw_flash(&self) -> bool {
        ["jffs2", "ubifs", "yaffs", "yaffs2"].contains(&&*self.name)
    }

    /// Whether the kernel counts what a process reads from the storage below.
    pub fn counts_reads(&self) -> bool {
        !(self.is_network_or_fuse || self.is_on_raw_flash())
    }

    /// Numbers of all block devices of this machine that the data lies on; none where it comes from elsewhere, or not all are known.
    pub fn devices(&self) -> Vec<(u32, u32)> {
        self.devices_by(Path::new("/sys"))
    }

    fn devices_by(&self, sys: &Path) -> Vec<(u32, u32)> {
        if !self.has_device || !self.counts_reads() {
            return Vec::new();
        }
        if self.name == "btrfs" {
            return btrfs_devices(sys, self.device);
        }
        let named = source_devices(&self.source);
        if named.len() > 1 { named } else { vec![self.device] }
    }

    /// Whether pages of its files come into this kernel's file cache one by one where they are asked for so: others have another cache, or send each
    /// request elsewhere.
    pub fn comes_by_pages(&self) -> bool {
        !(self.is_network_or_fuse || self.caches_elsewhere() || self.is_in_memory())
    }

    /// Whether each write is on storage before it returns, so that many small ones take many times as long as a large one.
    pub fn syncs_each_write(&self) -> bool {
        self.options().any(|option| option == "sync")
    }

    fn options(&self) -> impl Iterator<Item = &str> {
        self.mount_options.split(',')
    }
}

/// One line of the mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Number of the mount, as `statx` gives it for a file.
    pub id: u64,
    /// Major and minor number; major 0 where no single device is mounted.
    pub device: (u32, u32),
    /// The directory of the file system that is mounted here.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Options of the mount, then those of the file system that are not among them.
    pub options: String,
    /// Type of the file system.
    pub kind: String,
    /// What is mounted.
    pub source: String,
}

/// Undoes the mount table's octal escapes: `\040` is a space.
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

/// Joins two lists of options and keeps the first of equal ones.
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
    Some(Mount {
        id: mount.first()?.parse().ok()?,
        device: text::pair(mount.get(2)?)?,
        root: unescape(mount.get(3)?).into(),
        point: unescape(mount.get(4)?).into(),
        options: unescape(&join_options(mount.get(5)?, file_system.get(2).unwrap_or(&""))),
        kind: unescape(file_system.first()?),
        source: unescape(file_system.get(1)?),
    })
}

/// Reads a mount table; lines that are none are left out.
pub fn parse(table: &str) -> Vec<Mount> {
    table.lines().filter_map(parse_line).collect()
}

/// The mount table of this thread, which may have mounts of its own; empty if the kernel does not show it.
pub fn table() -> Vec<Mount> {
    text::read("/proc/thread-self/mountinfo").map_or_else(Vec::new, |table| parse(&table))
}

/// The mount that an absolute `path` without links lies on: the last one whose point is its longest prefix.
pub(crate) fn by_path(table: &[Mount], path: &Path) -> Option<Mount> {
    let covering = table.iter().filter(|mount| path.starts_with(&mount.point));
    covering.max_by_key(|mount| mount.point.components().count()).cloned()
}

/// The mount that the open `file` at `path` lies on.
pub(crate) fn of(file: &impl AsFd, path: &Path) -> Option<Mount> {
    let flags = rustix::fs::AtFlags::EMPTY_PATH;
    let state = rustix::fs::statx(file, "", flags, rustix::fs::StatxFlags::MNT_ID).ok();
    let id = state.filter(|s| s.stx_mask & rustix::fs::StatxFlags::MNT_ID.bits() != 0);
    let table = table();
    id.and_then(|state| table.iter().find(|mount| mount.id == state.stx_mnt_id).cloned())
        .or_else(|| by_path(&table, path))
}

/// The file system that the open `file` at `path` lies on; empty where that is not known.
pub fn system_of(file: &impl AsFd, path: &Path) -> FileSystemInfo {
    of(file, path).map(|mount| describe(&mount)).unwrap_or_default()
}

/// Numbers of the block devices that a mount's source names: `/dev/vda`, or `/dev/sda:/dev/sdb`.
pub fn source_devices(source: &str) -> Vec<(u32, u32)> {
    if !source.starts_with('/') {
        return Vec::new();
    }
    source.split(':').filter_map(|path| block_number(Path::new(path))).collect()
}

/// Numbers of the devices of the btrfs that `one` belongs to, which alone the mount table names; none where the kernel does not show them below `sys`.
fn btrfs_devices(sys: &Path, one: (u32, u32)) -> Vec<(u32, u32)> {
    let entries = |folder: PathBuf| {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
    };
    let members = |of_one: PathBuf| -> Option<Vec<(u32, u32)>> {
        let number = |device: PathBuf| text::pair(&text::read(device.join("dev"))?);
        entries(of_one.join("devices")).map(number).collect()
    };
    let mut all = entries(sys.join("fs/btrfs")).filter_map(members);
    all.find(|members| members.contains(&one)).unwrap_or_default()
}

/// The number of the block device at `path`; absent if there is none.
pub fn block_number(path: &Path) -> Option<(u32, u32)> {
    let found = std::fs::metadata(path).ok()?;
    found.file_type().is_block_device().then(|| split(found.rdev()))
}

/// Major and minor number of a device.
pub fn split(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// File systems whose data comes from a server, a host or a user-space program.
const REMOTE: [&str; 26] = [
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "cvfs", "dvs", "gpfs", "hostfs", "lustre",
    "nfs", "nfs4", "orangefs", "panfs", "prl_fs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf",
    "virtiofs", "vmhgfs", "wekafs", "fuse", "fuseblk",
];

/// File systems of this machine that may show no number of a device: those in memory, over several devices, over flash without blocks, over other file
/// systems, and the kernel's own. The file systems of clusters show none either, and are more than can be named.
const WITHOUT_DEVICE: [&str; 22] = [
    "apfs", "aufs", "bcachefs", "btrfs", "cgroup", "cgroup2", "devtmpfs", "ecryptfs", "erofs",
    "mqueue", "overlay", "proc", "ramfs", "rootfs", "shiftfs", "simfs", "sysfs", "tmpfs", "ubifs",
    "unionfs", "vzfs", "zfs",
];

/// Whether a file system of type `kind` has its data elsewhere than on a block device of this kernel.
pub fn is_network_or_fuse(kind: &str) -> bool {
    REMOTE.contains(&kind) || kind.starts_with("fuse.")
}

/// What is known of the block device at `path`.
pub fn raw_device(path: &Path, number: (u32, u32)) -> FileSystemInfo {
    FileSystemInfo {
        name: "block".into(),
        source: path.display().to_string(),
        device: number,
        has_device: true,
        ..FileSystemInfo::default()
    }
}

/// What is known of the file system mounted as `mount`.
pub fn describe(mount: &Mount) -> FileSystemInfo {
    let device = match mount.device.0 {
        // btrfs and its like show a number of no device; the source names the real one.
        0 => source_devices(&mount.source).first().copied().unwrap_or(mount.device),
        _ => mount.device,
    };
    FileSystemInfo {
        name: mount.kind.clone(),
        mount_options: mount.options.clone(),
        source: mount.source.clone(),
        device,
        is_network_or_fuse: is_network_or_fuse(&mount.kind)
            || (device.0 == 0 && !WITHOUT_DEVICE.contains(&&*mount.kind)),
        has_device: device.0 != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_says_whether_it_compresses_and_caches_elsewhere() {
        let of = |name: &str, options: &str| FileSystemInfo {
            name: name.into(),
            mount_options: options.into(),
            ..FileSystemInfo::default()
        };
        let told = |name, options| {
            let system = of(name, options);
            [system.compresses(), system.caches_elsewhere()]
        };
        assert_eq!(told("ext4", "rw,relatime"), [false; 2]);
        assert_eq!(told("btrfs", "rw,compress=zstd:3,ssd"), [true, false]);
        assert_eq!(told("zfs", "rw,xattr"), [true; 2]);
        assert_eq!(told("xfs", "rw,dax=always"), [false, true]);
        assert_eq!(told("ext4", "rw,dax=never"), [false; 2]);
        for (name, options) in [("zfs", "rw"), ("gpfs", "rw"), ("xfs", "rw,dax=always")] {
            assert_eq!(of(name, options).resident(Some(0)), None, "absent never means zero");
        }
        assert_eq!([Some(0), None].map(|c| of("ext4", "rw").resident(c)), [Some(0), None]);
        let served = |name: &str| of(name, "rw").is_served_here();
        let served = ["fuse.gocryptfs", "fuse", "fuseblk", "fusectl", "nfs"].map(served);
        assert_eq!(served, [true, true, true, false, false]);
    }

    /// The counters of one disk of several would tell a part of what is moved, or nothing.
    #[test]
    fn a_btrfs_lies_on_all_of_its_devices() {
        let sys = tempfile::tempdir().unwrap();
        for (place, number) in [("1/devices/a", 0), ("2/devices/b", 16), ("2/devices/c", 32)] {
            let place = sys.path().join("fs/btrfs").join(place);
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("dev"), format!("8:{number}\n")).unwrap();
        }
        let of = |name: &str, device| {
            let (name, has_device) = (name.to_owned(), true);
            let system = FileSystemInfo { name, device, has_device, ..FileSystemInfo::default() };
            let mut all = system.devices_by(sys.path());
            all.sort_unstable();
            all
        };
        assert_eq!(of("btrfs", (8, 32)), [(8, 16), (8, 32)]);
        assert_eq!(of("btrfs", (8, 0)), [(8, 0)]);
        assert!(of("btrfs", (8, 48)).is_empty(), "how many there are is not known");
        assert_eq!(of("ext4", (8, 48)), [(8, 48)]);
    }

    const TABLE: &str = r"22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
31 27 8:17 / /mnt/my\040disk\134x ro,nosuid shared:5 master:2 - xfs /dev/sd\040b1 ro,noquota
40 27 0:45 /@home /home rw,noatime - btrfs /dev/nvme0n1p2 rw,ssd,subvol=/@home
41 40 0:50 / /home/me/far rw - fuse.sshfs me@host:/data rw,user_id=0
not a mount
99 27 8 / /x rw - ext4 /dev/x rw
42 27 0:51 / /empty rw - tmpfs  rw,size=4k";

    #[test]
    fn every_line_is_read_and_escapes_undone() {
        let mounts = parse(TABLE);
        assert_eq!(mounts.len(), 6);
        let disk = &mounts[2];
        assert_eq!(disk.point, Path::new(r"/mnt/my disk\x"));
        assert_eq!(disk.source, "/dev/sd b1");
        assert_eq!(disk.options, "ro,nosuid,noquota");
        assert_eq!((disk.id, disk.device, disk.kind.as_str()), (31, (8, 17), "xfs"));
        assert_eq!(mounts[3].root, Path::new("/@home"));
        assert_eq!(mounts[5].source, "");
    }

    #[test]
    fn the_longest_mount_point_wins() {
        let mounts = parse(TABLE);
        let point = |path: &str| by_path(&mounts, Path::new(path)).unwrap().point;
        assert_eq!(point("/home/me/far/x"), Path::new("/home/me/far"));
        assert_eq!(point("/home/me/farther"), Path::new("/home"));
        assert_eq!(point("/homely"), Path::new("/"));
    }

    #[test]
    fn remote_file_systems_are_known() {
        for (kind, remote) in
            [("nfs4", true), ("fuse.sshfs", true), ("fuseblk", true), ("ext4", false)]
        {
            assert_eq!(is_network_or_fuse(kind), remote, "{kind}");
        }
        let far = describe(&parse(TABLE)[4]);
        assert!(far.is_network_or_fuse && !far.has_device);
        assert!(describe(&parse(TABLE)[1]).has_device);
    }

    /// What a Cray's nodes see as home was read without a request to storage, and so wholly from the file cache.
    #[test]
    fn an_unknown_file_system_without_a_device_is_of_a_server() {
        let of = |device: &str, kind: &str| {
            let line = format!("50 27 {device} / /home rw - {kind} /nothing/there rw");
            parse(&line).first().map(|mount| describe(mount).is_network_or_fuse)
        };
        for kind in ["dvs", "panfs", "of-tomorrow"] {
            assert_eq!(of("0:52", kind), Some(true), "{kind}");
        }
        for kind in ["overlay", "zfs", "btrfs", "bcachefs", "ubifs", "tmpfs", "ecryptfs"] {
            assert_eq!(of("0:52", kind), Some(false), "{kind}");
        }
        assert_eq!(of("8:1", "of-tomorrow"), Some(false), "it has a device");
    }

    /// All reads of a board's flash were told to come from the file cache, since none of them is counted.
    #[test]
    fn flash_without_blocks_has_no_counters() {
        let of = |device: &str, kind: &str| {
            let line = format!("50 27 {device} / /data rw - {kind} /dev/mtdblock3 rw");
            let system = parse(&line).first().map(describe).unwrap();
            (system.counts_reads(), system.devices())
        };
        for (device, kind) in [("0:24", "ubifs"), ("31:3", "jffs2"), ("31:3", "yaffs2")] {
            assert_eq!(of(device, kind), (false, Vec::new()), "{kind}");
        }
        assert_eq!(of("31:3", "squashfs"), (true, vec![(31, 3)]), "it reads blocks");
        assert!(!of("0:24", "nfs4").0);
    }

    #[test]
    fn only_a_whole_option_lets_each_write_be_synced() {
        let of = |options: &str| {
            parse(&format!("50 27 8:1 / /mnt rw - ext4 /dev/sda1 {options}"))
                .first()
                .map(|mount| describe(mount).syncs_each_write())
        };
        let told = ["rw,sync", "rw,lazytime,dirsync", "rw,async"].map(of);
        assert_eq!(told, [Some(true), Some(false), Some(false)]);
    }

    #[test]
    fn odd_escapes_stay_as_they_are() {
        assert_eq!(unescape(r"a\9x\04\"), r"a\9x\04\");
        assert_eq!(unescape(r"\777"), r"\777");
    }

    proptest::proptest! {
        #[test]
        fn no_table_panics(text in ".{0,200}") {
            parse(&text);
            unescape(&text);
        }
    }
}
