//! A block device as shown by the kernel below `/sys/dev/block`.

use crate::attached::deleted;
use crate::cgroup::available_memory;
use crate::extents::{SECTOR, on_storage};
use crate::memory::memory;
use crate::mounts::{self, FileSystemInfo, Mount, size};
use crate::text;
use std::path::{Path, PathBuf};

/// Where the kernel shows its devices.
pub(crate) const SYS: &str = "/sys";

/// The devices and mounts that the kernel shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    /// Where it shows devices.
    pub sys: &'a Path,
    /// Its mount table.
    pub table: &'a [Mount],
}

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
        Self::below(Path::new(SYS), number)
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

    /// Returns the drive: the disk, or what lies below it as long as each is built on one device
    /// only, as with encryption (LUKS) and logical volumes (LVM).
    pub(crate) fn drive(&self) -> Self {
        let only = |disk: &Self| match disk.slaves().collect::<Vec<_>>().as_slice() {
            [Some(one)] => Some(one.disk()),
            _ => None,
        };
        (0..DEEPEST).fold(self.disk(), |disk, _| only(&disk).unwrap_or(disk))
    }

    fn children(&self, folder: &str) -> Vec<PathBuf> {
        text::entries(self.directory.join(folder)).collect()
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

    /// Returns whether a program may serve the disk from this machine: over ublk, as an NBD server,
    /// which may also be elsewhere, or with a FUSE file system that holds a loop device's file.
    pub(crate) fn may_be_served_here(&self, table: &[Mount]) -> bool {
        is_numbered(&self.disk().directory, "ublkb")
            || self.client().is_some()
            || self.backing_system(table).is_some_and(|system| system.is_served_here())
    }

    /// Returns whether threads of the kernel handle the disk's data: those of a loop device, of
    /// encryption or integrity checks (dm-crypt and others set up by cryptsetup), or of an array
    /// with parity (md).
    pub(crate) fn is_computed(&self) -> bool {
        let of_mapper = text::read(self.disk().directory.join("dm/uuid"));
        let level = self.array("level");
        self.backing_file().is_some()
            || of_mapper.is_some_and(|uuid| uuid.starts_with("CRYPT-"))
            || level.is_some_and(|level| ["raid4", "raid5", "raid6"].contains(&&*level))
    }

    /// Returns the names of the devices built on this one, such as `dm-0` or `md0`.
    pub fn holders(&self) -> Vec<String> {
        let names = self.children("holders").into_iter();
        names.filter_map(|p| Some(p.file_name()?.to_string_lossy().into_owned())).collect()
    }

    /// Returns its name, or that of a device below it, if all its data is in memory: a RAM disk, a
    /// loop device whose file is on a file system in memory, or a device built only on such
    /// devices.
    fn in_memory(&self, shown: Shown<'_>, deepest: u32) -> Option<String> {
        let disk = self.disk();
        let name = disk.name();
        if disk.is_memory() {
            return Some(name);
        }
        let below = || all_in_memory(shown, disk.built_on(shown), deepest.checked_sub(1)?);
        match disk.backing_system(shown.table) {
            Some(system) if are_files_memory(&system) => {
                Some(format!("{name} on {}", system.stored_on().name))
            }
            Some(system) => Some(format!("{name} on {} on {}", system.name, below()?)),
            None => below(),
        }
    }

    /// Returns whether it is itself memory: a RAM disk, or compressed memory (zram).
    fn is_memory(&self) -> bool {
        ["ram", "zram"].iter().any(|kind| is_numbered(&self.directory, kind))
    }

    /// Returns how many bytes of a disk [that is memory](Self::is_memory) may not have been taken
    /// yet, and how many can still be. How much a RAM disk has taken is not shown.
    fn memory_left(&self) -> Option<[u64; 2]> {
        let told = text::read(self.directory.join("mm_stat")).unwrap_or_default();
        let told: Vec<u64> = told.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        let (kept, within) = match told[..] {
            // What is kept, compressed, used, and the limit of that; 0 is none.
            [kept, _, used, limit, ..] if limit > 0 => (kept, limit.saturating_sub(used)),
            [kept, ..] => (kept, u64::MAX),
            [] => (0, u64::MAX),
        };
        let bytes = SECTOR * text::read_number(self.directory.join("size"))?;
        Some([bytes.saturating_sub(kept), memory().available.min(within)])
    }

    /// Returns the file of a loop device.
    fn backing_file(&self) -> Option<PathBuf> {
        text::read(self.disk().directory.join("loop/backing_file")).map(PathBuf::from)
    }

    /// Returns the number of the device that a loop device shows instead of a file, as for the
    /// partitions of a guest's disk.
    fn backing_device(&self) -> Option<(u32, u32)> {
        mounts::block_number(&self.backing_file()?)
    }

    /// Returns the file system that holds the file of a loop device.
    fn backing_system(&self, table: &[Mount]) -> Option<FileSystemInfo> {
        let file = self.backing_file().filter(|_| self.backing_device().is_none())?;
        let mount = mounts::by_path(table, &file)?;
        Some(match self.is_protected() {
            // Which layer of an overlay holds a file that is only read is not known.
            true => mounts::describe(&mount),
            false => mounts::describe_written(table, &mount, size),
        })
    }

    /// Returns the file of a loop device that serves requests from the file cache, even direct
    /// ones.
    pub(crate) fn cached_file(&self) -> Option<PathBuf> {
        let dio = text::read(self.disk().directory.join("loop/dio"))?;
        self.backing_file().filter(|_| dio == "0")
    }

    /// Returns the numbers of the devices that the disk is built on, for a loop device those that
    /// hold its file; empty if there are none, or not all are known.
    pub(crate) fn built_on(&self, shown: Shown<'_>) -> Vec<(u32, u32)> {
        if let Some(system) = self.backing_system(shown.table) {
            return system.members(shown.sys);
        }
        let (disk, backing) = (self.disk(), self.backing_device().map(Some));
        let all = disk.slaves().map(|one| Some(one?.number)).chain(backing);
        all.collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Returns whether the device or its disk refuses writes: it is locked, or was attached or set
    /// read-only.
    pub(crate) fn is_protected(&self) -> bool {
        let is_set = |one: &Self| text::read(one.directory.join("ro")).is_some_and(|ro| ro != "0");
        is_set(self) || is_set(&self.disk())
    }

    /// Returns whether each zone of the disk takes writes only at its write pointer.
    pub(crate) fn takes_writes_in_sequence(&self) -> bool {
        self.queue("zoned").as_deref() == Some("host-managed")
    }

    /// Returns what the disk reports about itself as an array of drives (md), such as
    /// `sync_action`.
    pub(crate) fn array(&self, attribute: &str) -> Option<String> {
        text::read(self.disk().directory.join("md").join(attribute))
    }

    /// Returns the devices that the disk is built on.
    fn slaves(&self) -> impl Iterator<Item = Option<Self>> {
        let paths = self.children("slaves").into_iter();
        paths.map(|path| Self::in_directory(path.canonicalize().ok()?))
    }

    /// Returns the file of a loop device, and the byte of it where this device begins.
    pub(crate) fn backing(&self) -> Option<(PathBuf, u64)> {
        let offset = text::read_number(self.disk().directory.join("loop/offset")).unwrap_or(0);
        let sectors = text::read_number(self.directory.join("start")).unwrap_or(0);
        Some((self.backing_file()?, offset + SECTOR * sectors))
    }

    /// Returns the bytes left below it, as [`room_below`] does.
    pub(crate) fn room_below(&self) -> Option<u64> {
        self.room(&mounts::table(), DEEPEST)
    }

    /// Returns how many bytes memory, or the file systems under loop-device files, still have for
    /// blocks that are not allocated; `None` if these take no more than half of that.
    fn room(&self, table: &[Mount], deepest: u32) -> Option<u64> {
        let disk = self.disk();
        let deeper = deepest.checked_sub(1)?;
        let bound = |holes, free| (holes > free / 2).then_some(free);
        if disk.is_memory() {
            let [holes, free] = disk.memory_left()?;
            return bound(holes, free);
        }
        let Some(system) = disk.backing_system(table) else {
            let backing = disk.backing_device().map(Self::at);
            return disk.slaves().chain(backing).filter_map(|one| one?.room(table, deeper)).min();
        };
        let (holes, place) = unallocated(disk.backing_file()?, table)?;
        let state = rustix::fs::statvfs(&place).ok()?;
        let below = Self::at(system.device).and_then(|device| device.room(table, deeper));
        let memory = are_files_memory(&system).then(available_memory);
        let free = state.f_bavail.saturating_mul(state.f_frsize);
        bound(holes, [below, memory].into_iter().flatten().fold(free, u64::min))
    }

    /// Returns the file with its counters; a partition has its own.
    pub(crate) fn stat_file(&self) -> PathBuf {
        self.directory.join("stat")
    }

    /// Returns whether the kernel may keep these counters: not while a queue's `iostats` is off.
    pub(crate) fn is_counted(&self) -> bool {
        !(self.has_statistics_off() && self.disk().directory.join("mq").exists())
    }

    /// Returns whether the kernel shows the disk's `iostats` as off. Older ones count devices
    /// without their own queues, such as device mapper and md, even so.
    pub(crate) fn has_statistics_off(&self) -> bool {
        self.queue("iostats").as_deref() == Some("0")
    }

    /// Returns what the drive reports below `device`: the first of these names that exists and is
    /// not empty.
    fn told(&self, names: &[&str]) -> Option<String> {
        let directory = self.drive().directory.join("device");
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
        let drive = self.drive();
        let above = |kind: &str| drive.directory.ancestors().find(|path| is_numbered(path, kind));
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
        self.identified_by(&["wwid", "device/wwid", "serial", "device/cid", "dm/uuid"])
    }

    /// Returns the devices of other numbers with the same data, as shown below `sys`: those of a disk
    /// that is reached in several ways, by its worldwide identifier. A serial number may be another
    /// disk's too.
    pub(crate) fn twins(&self, sys: &Path) -> Vec<Self> {
        let known = |device: &Self| device.identified_by(&["wwid", "device/wwid"]);
        let Some(own) = known(self) else { return Vec::new() };
        let all = text::entries(sys.join("class/block"));
        let all = all.filter_map(|path| Self::in_directory(path.canonicalize().ok()?));
        let is_twin = |one: &Self| one.number != self.number && known(one).as_ref() == Some(&own);
        all.filter(is_twin).collect()
    }

    fn identified_by(&self, names: &[&str]) -> Option<String> {
        let disk = self.disk();
        let mut told = names.iter().filter_map(|name| text::read(disk.directory.join(name)));
        let own = told.find(|name| !name.is_empty())?;
        let part = text::read(self.directory.join("partition")).unwrap_or_default();
        Some(format!("{own} {part}"))
    }

    /// Returns whether it is the block device of flash that has no blocks (MTD), or built on one.
    pub(crate) fn is_raw_flash(&self) -> bool {
        self.drive().directory.ancestors().any(|path| is_numbered(path, "mtd"))
    }

    /// Returns a setting of the disk's queue, such as `scheduler`.
    pub fn queue(&self, setting: &str) -> Option<String> {
        text::read(self.disk().directory.join("queue").join(setting))
    }
}

/// Returns how many bytes of a loop device's `file` may be unallocated, all if it was deleted, and a
/// path on its file system; `None` if it cannot be examined.
fn unallocated(file: PathBuf, table: &[Mount]) -> Option<(u64, PathBuf)> {
    match std::fs::metadata(&file) {
        Ok(found) => Some((found.len().saturating_sub(on_storage(&found)), file)),
        Err(_) => Some((u64::MAX, mounts::by_path(table, deleted(&file)?)?.point)),
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
    if are_files_memory(system) {
        return Some(system.stored_on().name.clone());
    }
    let shown = Shown { sys: Path::new(SYS), table: &mounts::table() };
    all_in_memory(shown, system.members(shown.sys), DEEPEST)
}

/// Returns what [`BlockDevice::in_memory`] does of the first of these devices, if it does of all.
fn all_in_memory(shown: Shown<'_>, numbers: Vec<(u32, u32)>, deepest: u32) -> Option<String> {
    let of = |number| BlockDevice::below(shown.sys, number)?.in_memory(shown, deepest);
    let all: Option<Vec<String>> = numbers.into_iter().map(of).collect();
    all?.into_iter().next()
}

/// Returns the bytes left below a file system or its device, if that may be less than its own free
/// space: memory, or a sparse file below a loop device. What a thin pool has left is not visible to
/// every user.
pub fn room_below(system: &FileSystemInfo) -> Option<u64> {
    BlockDevice::at(system.device)?.room_below()
}

/// Returns whether files are themselves pages of memory, without a file cache beside them: on a
/// file system in memory, or on an overlay that writes to one.
pub fn are_files_memory(system: &FileSystemInfo) -> bool {
    system.stored_on().is_in_memory()
}

/// Largest number of stacked devices that are followed.
pub(crate) const DEEPEST: u32 = 8;

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
