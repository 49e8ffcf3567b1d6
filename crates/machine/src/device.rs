//! A block device as shown by the kernel below `/sys/dev/block`.

use crate::extents::on_storage;
use crate::mounts::{self, FileSystemInfo, Mount};
use crate::text;
use std::path::{Path, PathBuf};

/// A whole disk or a partition that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// Major and minor number.
    pub number: (u32, u32),
    directory: PathBuf,
}

impl BlockDevice {
    /// Returns the device of this number, if the kernel shows it.
    pub fn at(number: (u32, u32)) -> Option<Self> {
        Self::below(Path::new("/sys"), number)
    }

    /// Returns the device as shown below `sys`.
    pub(crate) fn below(sys: &Path, number: (u32, u32)) -> Option<Self> {
        let link = sys.join(format!("dev/block/{}:{}", number.0, number.1));
        Some(Self { number, directory: std::fs::canonicalize(link).ok()? })
    }

    fn in_directory(directory: PathBuf) -> Option<Self> {
        let number = text::pair(&text::read(directory.join("dev"))?)?;
        Some(Self { number, directory })
    }

    /// Returns the kernel's name, such as `vda1`.
    pub fn name(&self) -> String {
        self.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the disk that this is a partition of; `None` for a whole disk.
    fn parent(&self) -> Option<Self> {
        self.directory.join("partition").exists().then_some(())?;
        Self::in_directory(self.directory.parent()?.to_owned())
    }

    /// Returns the whole disk: itself, or the one that it is a partition of.
    pub fn disk(&self) -> Self {
        self.parent().unwrap_or_else(|| self.clone())
    }

    fn children(&self, folder: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.directory.join(folder));
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        paths.collect()
    }

    /// Returns everything that shares data with this device: itself, its partitions and its disk.
    pub fn related(&self) -> Vec<Self> {
        let partitions = self.children("").into_iter().filter(|p| p.join("partition").exists());
        let mut all: Vec<Self> = partitions.filter_map(Self::in_directory).collect();
        all.extend(self.parent());
        all.push(self.clone());
        all
    }

    /// Returns the thread that gets the disk's data from a server (NBD) and has the disk open
    /// meanwhile; `None` for other disks.
    pub(crate) fn client(&self) -> Option<u64> {
        text::read_number(self.disk().directory.join("pid"))
    }

    /// Returns the names of the devices built on this one, such as `dm-0` or `md0`.
    pub fn holders(&self) -> Vec<String> {
        let names = self.children("holders").into_iter();
        names.filter_map(|p| Some(p.file_name()?.to_string_lossy().into_owned())).collect()
    }

    /// Returns its name, or that of a device below it, if all its data is in memory: a RAM disk, a
    /// loop device whose file is on a file system in memory, or a device built only on such
    /// devices.
    fn in_memory(&self, table: &[Mount], deepest: u32) -> Option<String> {
        let disk = self.disk();
        let name = disk.name();
        let numbered = |kind: &str| {
            let rest = name.strip_prefix(kind);
            rest.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        if numbered("ram") || numbered("zram") {
            return Some(name);
        }
        if let Some(file) = text::read(disk.directory.join("loop/backing_file")) {
            let below = on_memory(table, Path::new(&file))?;
            return Some(format!("{name} on {}", below.kind));
        }
        let deeper = deepest.checked_sub(1)?;
        let below: Option<Vec<String>> =
            disk.slaves().map(|one| one?.in_memory(table, deeper)).collect();
        below?.into_iter().next()
    }

    /// Returns the devices that the disk is built on.
    fn slaves(&self) -> impl Iterator<Item = Option<Self>> {
        let paths = self.children("slaves").into_iter();
        paths.map(|path| Self::in_directory(path.canonicalize().ok()?))
    }

    /// Returns how many bytes the file systems under loop-device files still have for unallocated
    /// blocks; `None` if they have room for all of them.
    fn room(&self, table: &[Mount], deepest: u32) -> Option<u64> {
        let disk = self.disk();
        let deeper = deepest.checked_sub(1)?;
        let Some(file) = text::read(disk.directory.join("loop/backing_file")) else {
            return disk.slaves().filter_map(|one| one?.room(table, deeper)).min();
        };
        let (found, state) = (std::fs::metadata(&file).ok()?, rustix::fs::statvfs(&file).ok()?);
        let holes = found.len().saturating_sub(on_storage(&found));
        let below = mounts::by_path(table, Path::new(&file))
            .and_then(|mount| Self::at(mounts::describe(&mount).device)?.room(table, deeper));
        let free = state.f_bavail.saturating_mul(state.f_frsize).min(below.unwrap_or(u64::MAX));
        (holes > free).then_some(free)
    }

    /// Returns the file with its counters; a partition has its own.
    pub(crate) fn stat_file(&self) -> PathBuf {
        self.directory.join("stat")
    }

    /// Returns whether the kernel keeps these counters: not while a queue's `iostats` is off.
    /// Devices without their own queues, such as device mapper and md, are counted even if the
    /// kernel shows it as off.
    pub(crate) fn is_counted(&self) -> bool {
        let has_queues = self.disk().directory.join("mq").exists();
        !has_queues || self.queue("iostats").is_none_or(|on| on != "0")
    }

    /// Returns what the disk reports below `device`: the first of these names that exists and is
    /// not empty.
    fn told(&self, names: &[&str]) -> Option<String> {
        let directory = self.disk().directory.join("device");
        names
            .iter()
            .filter_map(|name| text::read(directory.join(name)))
            .find(|told| !told.is_empty())
    }

    /// Returns vendor and model, as the drive reports them; `None` for drives without, such as
    /// virtio's.
    pub fn model(&self) -> Option<String> {
        let model = self.told(&["model", "name"])?;
        // For a PCI device, and so for NVMe, `vendor` is a number that says less than the model.
        let vendor =
            self.told(&["vendor"]).filter(|vendor| !vendor.starts_with("0x") && vendor != "ATA");
        Some(vendor.map_or_else(|| model.clone(), |vendor| format!("{vendor} {model}")))
    }

    /// Returns the drive's firmware revision.
    pub fn firmware(&self) -> Option<String> {
        self.told(&["firmware_rev", "rev", "fwrev"])
    }

    /// Returns the speed of the link to the drive: of PCI Express with its width, or of SATA; `USB`
    /// on a USB bus.
    pub fn link(&self) -> Option<String> {
        if let Some(speed) = self.told(&["device/current_link_speed"]) {
            let width = self.told(&["device/current_link_width"]);
            return Some(width.map_or_else(|| speed.clone(), |width| format!("{speed} x{width}")));
        }
        let disk = self.disk();
        let above = |kind: &str| disk.directory.ancestors().find(|path| is_numbered(path, kind));
        let Some(port) = above("ata") else { return above("usb").map(|_| "USB".to_owned()) };
        let links = std::fs::read_dir(port).ok()?.flatten().map(|entry| entry.path());
        let mut speeds = links.filter_map(|link| {
            let name = link.file_name()?.to_owned();
            text::read(link.join("ata_link").join(name).join("sata_spd"))
        });
        speeds.find(|speed| !speed.is_empty() && !speed.starts_with('<'))
    }

    /// Returns an identifier of its data that holds wherever it is attached, with its part of the
    /// disk; `None` if the kernel knows none for the disk.
    pub(crate) fn identifier(&self) -> Option<String> {
        let disk = self.disk();
        let names = ["wwid", "device/wwid", "serial", "dm/uuid"].into_iter();
        let mut told = names.filter_map(|name| text::read(disk.directory.join(name)));
        let own = told.find(|name| !name.is_empty())?;
        let part = text::read(self.directory.join("partition")).unwrap_or_default();
        Some(format!("{own} {part}"))
    }

    /// Returns a setting of the disk's queue, such as `scheduler`.
    pub fn queue(&self, setting: &str) -> Option<String> {
        text::read(self.disk().directory.join("queue").join(setting))
    }
}

/// Returns whether the last part of `path` is this word and a number.
fn is_numbered(path: &Path, word: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(word).is_some_and(|n| n.parse::<u32>().is_ok())
}

/// Returns what keeps a file system's data in memory instead of on storage, such as `ram0`: the
/// file system itself, or the device below it; `None` if nothing indicates that.
pub fn memory_below(system: &FileSystemInfo) -> Option<String> {
    let table = mounts::table();
    files_in(&table, system, size)
        .or_else(|| BlockDevice::at(system.device)?.in_memory(&table, DEEPEST))
}

/// Returns the bytes left below a file system or its device, if that may be less than its own free
/// space: a sparse file below a loop device. What a thin pool has left is not visible to every
/// user.
pub fn room_below(system: &FileSystemInfo) -> Option<u64> {
    BlockDevice::at(system.device)?.room(&mounts::table(), DEEPEST)
}

/// Returns whether files are themselves pages of memory, without a file cache beside them: on a
/// file system in memory, or on an overlay that writes to one.
pub fn are_files_memory(system: &FileSystemInfo) -> bool {
    files_in(&mounts::table(), system, size).is_some()
}

/// Returns the file system in memory that holds the files of `system`; `size` returns the size of
/// the one mounted at a path.
fn files_in(
    table: &[Mount],
    system: &FileSystemInfo,
    size: impl Fn(&Path) -> Option<[u64; 2]>,
) -> Option<String> {
    if system.is_in_memory() {
        return Some(system.name.clone());
    }
    let below = on_memory(table, upper_directory(&system.mount_options)?)?;
    // An overlay reports the size of the file system that it writes to. Its path is from where it
    // was mounted: in a container another file system may be at that path.
    let size_below = size(&below.point)?;
    let is_own =
        |mount: &&Mount| mount.kind == system.name && mount.options == system.mount_options;
    let mut own = table.iter().filter(is_own);
    own.any(|mount| size(&mount.point) == Some(size_below)).then_some(below.kind)
}

/// Returns the blocks and files of the file system mounted at `point`.
fn size(point: &Path) -> Option<[u64; 2]> {
    let state = rustix::fs::statvfs(point).ok()?;
    Some([state.f_blocks, state.f_files])
}

/// Largest number of stacked devices that are followed.
const DEEPEST: u32 = 8;

/// Returns the directory an overlay writes to (kernel: Documentation/filesystems/overlayfs.rst).
fn upper_directory(mount_options: &str) -> Option<&Path> {
    mount_options.split(',').find_map(|option| option.strip_prefix("upperdir=")).map(Path::new)
}

/// Returns the mount of the file system in memory that holds `path`, if it is on one.
fn on_memory(table: &[Mount], path: &Path) -> Option<Mount> {
    mounts::by_path(table, path).filter(|mount| mounts::describe(mount).is_in_memory())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// An invented `/sys` with disk 8:0 `sda`, its partitions 8:1 and 8:2, and `dm-0` built on the
    /// second.
    fn fake() -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("devices/pci/block/sda");
        fs::create_dir_all(disk.join("holders")).unwrap();
        fs::create_dir_all(disk.join("queue")).unwrap();
        fs::create_dir_all(sys.path().join("dev/block")).unwrap();
        fs::write(disk.join("dev"), "8:0\n").unwrap();
        fs::write(disk.join("queue/scheduler"), "none [bfq]\n").unwrap();
        for (name, minor) in [("sda1", 1), ("sda2", 2)] {
            let part = disk.join(name);
            fs::create_dir_all(part.join("holders")).unwrap();
            fs::write(part.join("dev"), format!("8:{minor}\n")).unwrap();
            fs::write(part.join("partition"), format!("{minor}\n")).unwrap();
            let link = sys.path().join(format!("dev/block/8:{minor}"));
            std::os::unix::fs::symlink(part, link).unwrap();
        }
        std::os::unix::fs::symlink(&disk, sys.path().join("dev/block/8:0")).unwrap();
        fs::write(disk.join("sda2/holders/dm-0"), "").unwrap();
        sys
    }

    #[test]
    fn a_disk_is_related_to_its_partitions_but_they_not_to_each_other() {
        let sys = fake();
        let related = |minor| {
            let device = BlockDevice::below(sys.path(), (8, minor)).unwrap();
            let mut all: Vec<u32> = device.related().iter().map(|d| d.number.1).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(related(0), [0, 1, 2]);
        assert_eq!(related(1), [0, 1]);
        assert!(BlockDevice::below(sys.path(), (8, 9)).is_none());
    }

    #[test]
    fn drives_say_who_they_are() {
        let sys = tempfile::tempdir().unwrap();
        let make = |path: &str, files: &[(&str, &str)]| {
            let folder = sys.path().join(path);
            fs::create_dir_all(&folder).unwrap();
            files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
        };
        make("pci0/nvme0/nvme0n1/device", &[("model", "Fast 1 \n"), ("firmware_rev", "F1\n")]);
        let link = [("current_link_speed", "16.0 GT/s PCIe\n"), ("current_link_width", "4\n")];
        make("pci0/nvme0/nvme0n1/device/device", &link);
        let drive = |path: &str| BlockDevice { number: (1, 0), directory: sys.path().join(path) };
        let fast = drive("pci0/nvme0/nvme0n1");
        assert_eq!(fast.model().as_deref(), Some("Fast 1"));
        assert_eq!(fast.firmware().as_deref(), Some("F1"));
        assert_eq!(fast.link().as_deref(), Some("16.0 GT/s PCIe x4"));
        make(
            "ata7/host6/block/sda/device",
            &[("vendor", "ATA"), ("model", "Disk 2"), ("rev", "A0")],
        );
        make("ata7/link7/ata_link/link7", &[("sata_spd", "6.0 Gbps\n")]);
        let disk = drive("ata7/host6/block/sda");
        assert_eq!(
            (disk.model().as_deref(), disk.firmware().as_deref()),
            (Some("Disk 2"), Some("A0"))
        );
        assert_eq!(disk.link().as_deref(), Some("6.0 Gbps"));
        let stick = "pci0/usb2/2-1/2-1:1.0/host7/block/sdb";
        make(&format!("{stick}/device"), &[("model", "Stick")]);
        assert_eq!(drive(stick).link().as_deref(), Some("USB"));
        make("virtio/vda", &[]);
        let none = drive("virtio/vda");
        assert_eq!((none.model(), none.firmware(), none.link()), (None, None, None));
    }

    #[test]
    fn holders_and_queue_are_read() {
        let sys = fake();
        let part = BlockDevice::below(sys.path(), (8, 2)).unwrap();
        assert_eq!(part.holders(), ["dm-0"]);
        assert_eq!(part.name(), "sda2");
        assert_eq!(part.queue("scheduler").as_deref(), Some("none [bfq]"));
        assert!(part.disk().holders().is_empty());
    }

    /// Guards against taking the zeros of an uncounted disk for a disk without I/O.
    #[test]
    fn a_disk_whose_counters_are_off_is_not_counted() {
        let sys = fake();
        let is_counted = |minor| BlockDevice::below(sys.path(), (8, minor)).unwrap().is_counted();
        let disk = sys.path().join("devices/pci/block/sda");
        assert!(is_counted(0) && is_counted(1), "the kernel does not say");
        fs::write(disk.join("queue/iostats"), "0\n").unwrap();
        assert!(is_counted(0), "it has no queues of its own");
        fs::create_dir(disk.join("mq")).unwrap();
        assert!(!is_counted(0) && !is_counted(1));
        fs::write(disk.join("queue/iostats"), "1\n").unwrap();
        assert!(is_counted(0) && is_counted(1));
    }

    #[test]
    fn a_disk_is_known_again_under_another_number_and_its_partitions_apart() {
        let sys = fake();
        let known = |minor| BlockDevice::below(sys.path(), (8, minor)).unwrap().identifier();
        assert_eq!((known(0), known(1)), (None, None));
        fs::write(sys.path().join("devices/pci/block/sda/serial"), "\n").unwrap();
        assert_eq!(known(0), None, "an empty name is none");
        fs::write(sys.path().join("devices/pci/block/sda/wwid"), "naa.5000c500\n").unwrap();
        let all = [0, 1, 2].map(|minor| known(minor).unwrap());
        assert_eq!(all, ["naa.5000c500 ", "naa.5000c500 1", "naa.5000c500 2"]);
    }

    #[test]
    fn a_disk_from_a_server_tells_its_client_for_its_partitions_too() {
        let sys = fake();
        let client = |minor| BlockDevice::below(sys.path(), (8, minor)).unwrap().client();
        assert_eq!((client(0), client(1)), (None, None));
        fs::write(sys.path().join("devices/pci/block/sda/pid"), "4711\n").unwrap();
        assert_eq!((client(0), client(1)), (Some(4711), Some(4711)));
    }

    #[test]
    fn data_in_memory_is_found_below_devices() {
        let sys = tempfile::tempdir().unwrap();
        let table = mounts::parse(
            "27 1 254:0 / / rw - ext4 /dev/vda rw\n28 27 0:30 / /dev/shm rw - tmpfs none rw",
        );
        let make = |name: &str, minor: u32, file: Option<&str>, below: &[&str]| {
            let directory = sys.path().join("block").join(name);
            fs::create_dir_all(directory.join("slaves")).unwrap();
            fs::create_dir_all(directory.join("loop")).unwrap();
            fs::write(directory.join("dev"), format!("7:{minor}\n")).unwrap();
            file.iter().for_each(|f| fs::write(directory.join("loop/backing_file"), f).unwrap());
            for one in below {
                let link = directory.join("slaves").join(one);
                std::os::unix::fs::symlink(sys.path().join("block").join(one), link).unwrap();
            }
            BlockDevice::in_directory(directory).unwrap().in_memory(&table, DEEPEST)
        };
        assert_eq!(make("ram0", 0, None, &[]).as_deref(), Some("ram0"));
        assert_eq!(make("loop0", 1, Some("/dev/shm/x\n"), &[]).as_deref(), Some("loop0 on tmpfs"));
        assert_eq!(make("loop1", 2, Some("/home/x\n"), &[]), None);
        assert_eq!(make("sda", 3, None, &[]), None);
        assert_eq!(make("dm-0", 4, None, &["ram0", "loop0"]).as_deref(), Some("ram0"));
        assert_eq!(make("dm-1", 5, None, &["ram0", "sda"]), None, "one of them is storage");
        assert_eq!(
            upper_directory("rw,lowerdir=/a,upperdir=/dev/shm/u,workdir=/w"),
            Some(Path::new("/dev/shm/u"))
        );
        let below = on_memory(&table, Path::new("/dev/shm/u"));
        assert_eq!(below.map(|mount| mount.kind).as_deref(), Some("tmpfs"));
    }

    /// Guards against a set that takes all the space left below, where others write too.
    #[test]
    fn a_sparse_file_below_a_loop_device_bounds_what_is_written() {
        let sys = tempfile::tempdir().unwrap();
        let make = |name: &str, bytes: u64, below: &str| {
            let [folder, image] = ["", ".img"].map(|end| sys.path().join(format!("{name}{end}")));
            fs::create_dir_all(folder.join("slaves")).unwrap();
            fs::write(folder.join("dev"), "7:0\n").unwrap();
            if below.is_empty() {
                fs::create_dir(folder.join("loop")).unwrap();
                fs::File::create(&image).unwrap().set_len(bytes).unwrap();
                fs::write(folder.join("loop/backing_file"), image.to_str().unwrap()).unwrap();
            } else {
                let link = folder.join("slaves/one");
                std::os::unix::fs::symlink(sys.path().join(below), link).unwrap();
            }
            BlockDevice::in_directory(folder).unwrap().room(&[], DEEPEST)
        };
        assert_eq!(make("loop0", 1 << 20, ""), None, "there is room for all of it");
        let bounded = [make("loop1", 8 << 40, ""), make("dm-0", 0, "loop1")];
        assert!(bounded.iter().all(|room| room.is_some_and(|r| r < 8 << 40)), "{bounded:?}");
        assert_eq!(make("dm-1", 0, "loop0"), None);
    }

    /// Once, in a container with memory at `/var/lib`, where its host keeps the files of
    /// containers, the host's disk was taken for that memory.
    #[test]
    fn an_overlay_lies_in_memory_only_where_its_size_is_that_of_the_memory() {
        let files_on = |upper: &str, size: [u64; 2]| {
            let table = mounts::parse(&format!(
                "27 1 0:40 / / rw - overlay overlay rw,lowerdir=/l,upperdir={upper},workdir=/w\n\
                 28 27 0:30 / /var/lib rw - tmpfs tmpfs rw"
            ));
            let at = |point: &Path| Some(if point == Path::new("/") { size } else { [900, 40] });
            files_in(&table, &mounts::describe(&table[0]), at)
        };
        assert_eq!(files_on("/var/lib/u", [900, 40]).as_deref(), Some("tmpfs"));
        assert_eq!(files_on("/var/lib/u", [900, 77]), None);
        assert_eq!(files_on("/home/u", [900, 40]), None, "no memory is there");
    }
}
