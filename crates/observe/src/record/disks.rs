//! The disks of a recording: by name, by a path on them, or all.

use ioscape_machine::device::BlockDevice;
use ioscape_machine::error::Error;
use ioscape_machine::mounts::{self, FileSystemInfo, Mount};
use ioscape_machine::{target, text};
use ioscape_schema::{Device, Partition};
use rustix::fs::{Mode, OFlags};
use std::path::{Path, PathBuf};

/// Unit in which the kernel reports sizes, in bytes.
const SECTOR: u64 = 512;

/// A whole disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDisk {
    /// The kernel's name for it, such as `vda`.
    pub name: String,
    /// Major number times 2^20 plus minor number, as in the kernel's events.
    pub number: u32,
    /// Capacity in bytes, if known.
    pub capacity_bytes: Option<u64>,
    /// Size of its logical sector in bytes.
    pub sector_bytes: u32,
    /// Its partitions.
    pub partitions: Vec<Partition>,
}

/// A mounted file system.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Mounted {
    number: u32,
    place: PathBuf,
    device: String,
    file_system: String,
}

/// The number of a device in the kernel's events.
pub(super) fn number((major, minor): (u32, u32)) -> u32 {
    major << 20 | minor
}

/// The message that no disk is known below a file system, and what to do; `disks` are those that
/// can be named.
fn no_disk(system: &FileSystemInfo, disks: &[String]) -> String {
    let name = &system.name;
    if system.is_in_memory() {
        return format!(
            "is on {name}, whose files are in memory and on no disk: name another path"
        );
    }
    if system.is_network_or_fuse {
        return format!(
            "is on {name}, whose data comes from a server or another program: record where that has its disk, and name that with --device"
        );
    }
    let here = if disks.is_empty() { "none".to_owned() } else { disks.join(", ") };
    format!(
        "is on {name}, and the kernel does not say on which disk that keeps its files: name the disk with --device (here: {here}), or leave out --path to record all"
    )
}

impl RecordedDisk {
    /// Returns the disk with this name or device file, or the disk of the partition with this name.
    ///
    /// # Errors
    /// There is no such block device.
    pub fn named(name: &str) -> Result<Self, Error> {
        // `/dev/cciss/c0d0` is listed as `cciss!c0d0`.
        let listed = name.trim_start_matches("/dev/").replace('/', "!");
        let folder = Path::new("/sys/class/block").join(listed);
        let listed = text::read(folder.join("dev")).and_then(|dev| text::pair(&dev));
        // Links, such as `/dev/mapper/vg-root`, are not listed.
        let is_file = name.starts_with('/');
        let number = listed.or_else(|| mounts::block_number(Path::new(name)).filter(|_| is_file));
        let device = number.and_then(BlockDevice::at).ok_or_else(|| {
            Error::target(Path::new(name), "no such block device: /sys/class/block lists them")
        })?;
        Ok(Self::of(&device.disk()))
    }

    /// Returns the disk that `path` is on. If its file system spans several disks, this is the one
    /// that the mount table names, or on XFS the one with the file's data; on F2FS it is not known. A
    /// block device is on its own disk.
    ///
    /// # Errors
    /// The path does not exist, or no disk is known to be below it.
    pub fn below(path: &Path) -> Result<Self, Error> {
        let look = |error| target::missing(path, error);
        let real = std::fs::canonicalize(path).map_err(look)?;
        // XFS tells only of an open directory on which device its files are. Others are not opened
        // for reading: it may be a pipe, or belong to another user.
        let open = |flags| rustix::fs::open(&real, flags | OFlags::CLOEXEC, Mode::empty());
        let file = open(OFlags::DIRECTORY).or_else(|_| open(OFlags::PATH));
        let system = mounts::system_of(&file.map_err(|error| look(error.into()))?, &real);
        let number = mounts::block_number(&real).unwrap_or(system.device);
        let device = BlockDevice::at(number).ok_or_else(|| {
            let names: Vec<String> = Self::all().into_iter().map(|disk| disk.name).collect();
            Error::target(path, no_disk(&system, &names))
        })?;
        Ok(Self::of(&device.disk()))
    }

    /// The disks with these names and those that these paths are on, each once, by number; all
    /// disks if neither is given.
    ///
    /// # Errors
    /// One of them does not exist.
    pub fn chosen(names: &[String], paths: &[PathBuf]) -> Result<Vec<Self>, Error> {
        let named = names.iter().map(|name| Self::named(name));
        let below = paths.iter().map(|path| Self::below(path));
        let mut disks = named.chain(below).collect::<Result<Vec<_>, _>>()?;
        if disks.is_empty() {
            disks = Self::all();
        }
        disks.sort_by_key(|disk| disk.number);
        disks.dedup();
        Ok(disks)
    }

    /// All disks with a nonzero capacity.
    pub fn all() -> Vec<Self> {
        let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut disks: Vec<Self> = names.filter_map(|name| Self::named(&name).ok()).collect();
        disks.retain(|disk| disk.capacity_bytes.is_some_and(|bytes| bytes > 0));
        disks.sort_by_key(|disk| disk.number);
        disks
    }

    /// The requests in flight now, as the kernel counts them.
    pub fn in_flight(&self) -> Option<u64> {
        let told = text::read(Path::new("/sys/class/block").join(&self.name).join("inflight"))?;
        told.split_whitespace().map(|count| count.parse::<u64>().ok()).sum()
    }

    /// Where file systems on this disk are mounted.
    pub(super) fn mounts(&self) -> Vec<PathBuf> {
        let mounts = self.mounted().into_iter().map(|mounted| mounted.place);
        mounts.filter(|place| place.is_dir()).collect()
    }

    /// Whether a file system with a journal or log is mounted from this disk: XFS, or an ext4 that
    /// has a journal.
    pub(super) fn has_journal(&self) -> bool {
        self.mounted().iter().any(|mounted| {
            let task = Path::new("/sys/fs/ext4").join(&mounted.device).join("journal_task");
            let journals = text::read(task).is_some_and(|task| task.trim() != "<none>");
            journals || mounted.file_system == "xfs"
        })
    }

    /// Whether all file systems on it belong to the ext2 family. In these, metadata among the files
    /// can only say where the blocks of a file are.
    pub(super) fn is_ext(&self) -> bool {
        let mounted = self.mounted();
        !mounted.is_empty()
            && mounted
                .iter()
                .all(|one| matches!(one.file_system.as_str(), "ext2" | "ext3" | "ext4"))
    }

    /// The file systems on this disk, each once.
    fn mounted(&self) -> Vec<Mounted> {
        let mounted = |mount: Mount| {
            // The source of a file system without a device may be a path that does not answer.
            let known = mount.device.0 != 0 || !mounts::is_network_or_fuse(&mount.kind);
            let device = BlockDevice::at(known.then(|| mounts::describe(&mount).device)?)?;
            let number = number(device.number);
            let ours = self::number(device.disk().number) == self.number;
            let (place, file_system) = (mount.point, mount.kind);
            ours.then(|| Mounted { number, device: device.name(), place, file_system })
        };
        let mut mounts: Vec<Mounted> = mounts::table().into_iter().filter_map(mounted).collect();
        // A file system may be mounted in several places; one of them covers all its blocks.
        mounts.sort_unstable();
        mounts.dedup_by_key(|mounted| mounted.number);
        mounts
    }

    /// The disk, as a trace describes it.
    pub(super) fn device(&self) -> Device {
        Device {
            name: self.name.clone(),
            sector_bytes: self.sector_bytes,
            capacity_bytes: self.capacity_bytes,
            partitions: self.partitions.clone(),
        }
    }

    fn of(device: &BlockDevice) -> Self {
        let name = device.name();
        let folder = Path::new("/sys/class/block").join(&name);
        let partition = |part: BlockDevice| {
            let folder = Path::new("/sys/class/block").join(part.name());
            let number = text::read_number(folder.join("partition"))?;
            Some(Partition { number: u16::try_from(number).ok()?, name: part.name() })
        };
        Self {
            number: number(device.number),
            capacity_bytes: text::read_number(folder.join("size")).map(|sectors| sectors * SECTOR),
            sector_bytes: text::read_number(folder.join("queue/logical_block_size"))
                .and_then(|bytes| u32::try_from(bytes).ok())
                .unwrap_or(SECTOR as u32),
            partitions: device.related().into_iter().filter_map(partition).collect(),
            name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_machine::testing::skipped;

    #[test]
    fn a_path_on_no_known_disk_is_told_with_what_to_do() {
        let told = |kind: &str| {
            let is_network_or_fuse = mounts::is_network_or_fuse(kind);
            let system =
                FileSystemInfo { name: kind.into(), is_network_or_fuse, ..Default::default() };
            no_disk(&system, &["vda".to_owned(), "vdb".to_owned()])
        };
        assert!(told("tmpfs").contains("in memory and on no disk: name another path"));
        assert!(told("nfs4").contains("from a server or another program"));
        let overlay = told("overlay");
        assert!(overlay.contains("--device (here: vda, vdb)"), "{overlay}");
        assert!(overlay.contains("leave out --path"), "{overlay}");
    }

    #[test]
    fn what_has_no_disk_and_what_is_not_there_are_misuse() {
        let missing = RecordedDisk::below(Path::new("/nonexistent/x")).unwrap_err();
        assert!(missing.is_misuse(), "{missing}");
        let proc = RecordedDisk::below(Path::new("/proc/self/status")).unwrap_err();
        assert!(proc.is_misuse() && proc.to_string().contains("is on proc"), "{proc}");
    }

    #[test]
    fn a_disk_named_by_its_device_file_is_below_itself() {
        for (disk, file) in disks_with_files() {
            assert_eq!(RecordedDisk::below(&file).unwrap(), disk);
        }
    }

    /// The disks that have a device file on this machine.
    fn disks_with_files() -> Vec<(RecordedDisk, PathBuf)> {
        let file = |disk: &RecordedDisk| Path::new("/dev").join(&disk.name);
        let all = RecordedDisk::all().into_iter().map(|disk| (file(&disk), disk));
        let found = all.filter(|(file, _)| mounts::block_number(file).is_some());
        let found: Vec<_> = found.map(|(file, disk)| (disk, file)).collect();
        if found.is_empty() {
            skipped("no disk has a device file here");
        }
        found
    }

    #[test]
    fn a_disk_named_by_a_link_to_its_device_file_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("vg-root");
        for (disk, file) in disks_with_files() {
            std::os::unix::fs::symlink(&file, &link).unwrap();
            assert_eq!(RecordedDisk::named(link.to_str().unwrap()).unwrap(), disk);
            std::fs::remove_file(&link).unwrap();
        }
        for name in ["/dev/nothing/there", "nothing", ""] {
            assert!(RecordedDisk::named(name).unwrap_err().is_misuse(), "{name}");
        }
    }
}
