//! Reasons to refuse a block device or file whose data may be destroyed, because it is in use.

use super::exports::served;
use crate::attached::{Loop, Status, loops};
use crate::device::{BlockDevice, SYS};
use crate::locks::locked_by;
use crate::mounts::{self, Mount};
use crate::opened::writer_of;
use crate::text;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Returns why the device at `path` is in use; `None` if no use is known.
///
/// Checks mounts, swap space, stacked devices and loop devices, for the device itself, its
/// partitions and its disk. For a loop device it also checks all of this for the backing file or
/// device, and for a disk that is reached in several ways for each of them. As root it also sees
/// which processes have the device open for writing. Uses in other mount namespaces are left to the
/// exclusive open that follows.
pub fn device_in_use(path: &Path, number: (u32, u32)) -> Option<String> {
    device_used(path, number, None)
}

/// Returns why the device of this number cannot take the writes of every workload; `None` if
/// nothing is known against it.
pub fn unwritable(number: (u32, u32)) -> Option<&'static str> {
    let is_zoned = BlockDevice::at(number)?.takes_writes_in_sequence();
    write_protected(number).or(is_zoned.then_some(
        "is a host-managed zoned disk, which takes writes only in sequence: make btrfs, XFS or F2FS on it and name a directory there, or read it as it is with vxbench -w read",
    ))
}

/// Returns why a device that can be opened for writing still takes no write; `None` if nothing
/// indicates that.
pub fn write_protected(number: (u32, u32)) -> Option<&'static str> {
    BlockDevice::at(number)?.is_protected().then_some(
        "is write-protected: undo that where it was done (the lock of a medium, losetup -r, the host of a virtual disk, blockdev --setro), or read it as it is with vxbench -w read",
    )
}

/// Returns why the regular file at `path` is in use; `None` if no use is known.
pub fn file_in_use(path: &Path) -> Option<String> {
    // Only an absolute path without links tells which mount a file is on.
    match std::fs::canonicalize(path) {
        Ok(real) => file_used(&real, identity(&real), None),
        // The file of a descriptor may have lost its name; the kernel then reports its former name.
        Err(error) => match (identity(path), std::fs::read_link(path)) {
            (Some(ours), Ok(had)) => file_used(&had, Some(ours), None),
            _ => Some(format!("cannot be looked for among what is in use ({error}): refused")),
        },
    }
}

/// Returns why the device is in use, apart from `own`, a loop device backed by it.
fn device_used(path: &Path, number: (u32, u32), own: Option<&str>) -> Option<String> {
    let Some(device) = BlockDevice::at(number) else {
        return Some(
            "it cannot be checked whether this device is in use, since /sys does not show it: refused".into(),
        );
    };
    if let Some(why) = hides_uses(&device) {
        return Some(why.to_owned());
    }
    used_as(path, &device, own)
        .or_else(|| device.twins(Path::new(SYS)).iter().find_map(used_by_twin))
}

/// Returns why a device is in use under the number of its `twin`.
fn used_by_twin(twin: &BlockDevice) -> Option<String> {
    let node = Path::new("/dev").join(twin.name());
    let why = used_as(&node, twin, None).or_else(|| held(&node, identity(&node)))?;
    Some(format!("has the same wwid as {}, which {why}", node.display()))
}

/// Returns why the device is in use under its own number, apart from `own`.
fn used_as(path: &Path, device: &BlockDevice, own: Option<&str>) -> Option<String> {
    let related = device.related();
    let numbers: Vec<(u32, u32)> = related.iter().map(|device| device.number).collect();
    let table = mounts::table();
    if let Some(mount) = mounted(&table, &numbers) {
        let point = mount.point.display();
        return Some(format!("is mounted on {point} (whole or in part): unmount it first"));
    }
    let is_ours = |file: &Path| {
        lies_in_memory(&table, file)
            && mounts::block_number(file).is_some_and(|number| numbers.contains(&number))
    };
    for swap in swap_files() {
        if is_ours(&swap) {
            return Some(format!("is swap space ({}): run swapoff first", swap.display()));
        }
    }
    if let Some(holder) = related.iter().flat_map(BlockDevice::holders).next() {
        return Some(format!("is part of {holder}: name that device, or take it apart first"));
    }
    let on_device = |one: &Loop| {
        let asked = || one.deleted().filter(|file| lies_in_memory(&table, file));
        let device = || asked().and_then(|_| one.status()).map(|status| status.device);
        is_ours(&one.file) || device().is_some_and(|number| numbers.contains(&number))
    };
    attached(path, own, on_device)
        .or_else(|| served(is_ours))
        .or_else(|| writer_of(&numbers))
        .or_else(|| shown_in_use(&device.disk().name()))
}

/// Returns why the kernel does not show all uses of the device; `None` if it shows them. UBI
/// attaches flash (MTD) by another way than its block device, and partitions of flash may overlap.
fn hides_uses(device: &BlockDevice) -> Option<&'static str> {
    device.is_raw_flash().then_some(
        "is flash without blocks (MTD), where UBI and partitions that overlap do not show: name a directory on its file system, or read it as it is with vxbench -w read",
    )
}

/// Returns why the regular file at `path`, with device and inode `ours`, is in use, apart from
/// `own`, a loop device backed by it.
fn file_used(path: &Path, ours: Option<(u64, u64)>, own: Option<&str>) -> Option<String> {
    let table = mounts::table();
    let is_near = |other: &Path| on_same_file_system(&table, path, other);
    let is_ours = |other: &Path| {
        other == path || (is_near(other) && ours.is_some() && identity(other) == ours)
    };
    if swap_files().iter().any(|swap| is_ours(swap)) {
        return Some("is swap space: run swapoff first".into());
    }
    let on_file = |one: &Loop| {
        let asked = one.deleted().filter(|file| is_near(file));
        // Two deleted files may have had the same name.
        match asked.and_then(|_| one.status()).zip(ours) {
            Some((status, ours)) => status.file == ours,
            None => is_ours(&one.file),
        }
    };
    attached(path, own, on_file).or_else(|| served(is_ours))
}

/// Returns why the backing file or device of this loop device is in use; `None` if it is not a loop
/// device or no other use is known.
///
/// The kernel is asked for the file, since its name may be deleted or mean another file here. This
/// waits for its file system, as the I/O would.
fn shown_in_use(name: &str) -> Option<String> {
    let own = loops().find(|one| one.name == name)?;
    let status = own.status();
    let ours = status.as_ref().map_or_else(|| identity(&own.file), |status| Some(status.file));
    // For a file that is not a device node, older kernels report the device it is stored on.
    let is_node = |told: &Status| ![(0, 0), mounts::split(told.file.0)].contains(&told.device);
    let device = match &status {
        Some(told) => is_node(told).then_some(told.device),
        None => mounts::block_number(&own.file),
    };
    let used = match device {
        Some(number) => device_used(&own.file, number, Some(name)),
        None => file_used(&own.file, ours, Some(name)),
    };
    let used = used.or_else(|| held(&own.file, ours));
    used.map(|why| format!("shows {}, which {why}", own.file.display()))
}

/// Returns who holds the file or device at `path`, if it still is `ours`, according to its locks
/// and an exclusive open.
fn held(path: &Path, ours: Option<(u64, u64)>) -> Option<String> {
    if ours.is_none() || identity(path) != ours {
        return None;
    }
    match exclusively(path) {
        Ok(file) => locked_by(&file),
        Err(error) if error.kind() == ErrorKind::ResourceBusy => {
            Some("is in use by the kernel or another program: unmount or close it first".into())
        }
        // An unreadable file is not known to be in use.
        Err(_) => None,
    }
}

/// Opens it for reading; a device only if nobody else has it exclusively. Never waits for a pipe in
/// its place.
fn exclusively(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_EXCL | libc::O_NONBLOCK).open(path)
}

/// Returns device and inode of what is at `path`.
fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Returns why the file or device at `path` is refused if loop devices other than `own` show it. If
/// one of them is free and the only one, the user can name it instead.
fn attached(path: &Path, own: Option<&str>, shows: impl Fn(&Loop) -> bool) -> Option<String> {
    let others = loops().filter(|one| own != Some(&*one.name) && shows(one));
    let names: Vec<String> = others.map(|one| format!("/dev/{}", one.name)).collect();
    match &names[..] {
        [] => None,
        [one] if own.is_none() && exclusively(Path::new(one)).is_ok() => Some(format!(
            "is attached to {one}: run losetup -d {one} first, or name it instead of {}",
            path.display()
        )),
        all => Some(format!(
            "is attached to {}: unmount or close that, and run losetup -d {} first",
            all.join(" and "),
            all.join(" ")
        )),
    }
}

/// Returns the first mount of one of the devices `numbers`.
fn mounted<'a>(table: &'a [Mount], numbers: &[(u32, u32)]) -> Option<&'a Mount> {
    table.iter().find(|mount| {
        // A source may be a path on a file system that does not respond.
        let asks = lies_in_memory(table, Path::new(&mount.source));
        let sources = if asks { mounts::source_devices(&mount.source) } else { Vec::new() };
        numbers.iter().any(|number| *number == mount.device || sources.contains(number))
    })
}

/// Returns the files and devices in `/proc/swaps`.
fn swap_files() -> Vec<PathBuf> {
    parse_swaps(&text::read("/proc/swaps").unwrap_or_default())
}

fn parse_swaps(table: &str) -> Vec<PathBuf> {
    let names = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    names.map(|name| PathBuf::from(mounts::unescape(name))).collect()
}

/// Returns whether both paths are on one file system. Others are not even accessed, since a hanging
/// one would block us.
fn on_same_file_system(table: &[Mount], path: &Path, other: &Path) -> bool {
    let device = |path| mounts::by_path(table, path).map(|mount| mount.device);
    device(path).is_some_and(|ours| device(other) == Some(ours))
}

/// Returns whether `path` is where device nodes are: on a file system in memory, which never hangs,
/// or on the root file system.
fn lies_in_memory(table: &[Mount], path: &Path) -> bool {
    let memory = |mount: &Mount| ["devtmpfs", "tmpfs", "ramfs"].contains(&mount.kind.as_str());
    mounts::by_path(table, path)
        .is_some_and(|mount| memory(&mount) || mount.point == Path::new("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::skipped;

    #[test]
    fn swaps_are_read_without_their_header() {
        let table = "Filename\tType\tSize\n/dev/sda2  partition 8 0 -2\n/my\\040swap file 8 0 -3\n";
        assert_eq!(parse_swaps(table), [Path::new("/dev/sda2"), Path::new("/my swap")]);
        assert!(parse_swaps("").is_empty());
    }

    /// Guards against overwriting the flash that a router starts from: UBI holds it without a trace
    /// at its block device.
    #[test]
    fn flash_is_refused_since_its_uses_do_not_show() {
        let sys = tempfile::tempdir().unwrap();
        let is_refused = |number: (u32, u32), shown_at: &str| {
            let directory = sys.path().join("devices").join(shown_at);
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::create_dir_all(sys.path().join("dev/block")).unwrap();
            let link = sys.path().join(format!("dev/block/{}:{}", number.0, number.1));
            std::os::unix::fs::symlink(directory, link).unwrap();
            hides_uses(&BlockDevice::below(sys.path(), number).unwrap()).is_some()
        };
        assert!(is_refused((31, 5), "platform/nand/mtd/mtd5/mtdblock5"));
        assert!(is_refused((31, 2), "platform/nand/mtd/mtd0/mtd2/mtdblock2"), "in a partition");
        assert!(!is_refused((179, 0), "platform/mmc0/mmc0:0001/block/mmcblk0"));
    }

    #[test]
    fn a_mount_of_any_related_device_counts() {
        let table = mounts::parse("27 1 8:2 / / rw - ext4 /dev/sda2 rw\n");
        assert!(mounted(&table, &[(8, 0), (8, 1), (8, 2)]).is_some());
        assert!(mounted(&table, &[(8, 0), (8, 1)]).is_none());
    }

    #[test]
    fn a_disk_in_use_under_its_other_number_is_refused() {
        let at = |mount: &Mount| BlockDevice::at(mount.device);
        let Some(disk) = mounts::table().iter().find_map(at) else {
            return skipped("nothing is mounted from a disk here");
        };
        let told = used_by_twin(&disk).unwrap();
        let begin = format!("has the same wwid as /dev/{}, which is mounted on", disk.name());
        assert!(told.starts_with(&begin), "{told}");
    }

    #[test]
    fn file_systems_that_may_hang_are_not_asked() {
        let table = mounts::parse(
            "27 1 8:2 / / rw - ext4 /dev/sda2 rw\n6 27 0:6 / /dev rw - devtmpfs none rw\n\
             41 27 0:50 / /far rw - fuse.sshfs /far/self rw\n42 27 8:2 /x /again rw - ext4 /dev/sda2 rw\n",
        );
        let same = |a: &str, b: &str| on_same_file_system(&table, Path::new(a), Path::new(b));
        assert!(same("/home/a", "/again/a") && !same("/home/a", "/far/a"));
        let node = |path: &str| lies_in_memory(&table, Path::new(path));
        assert!(node("/dev/sdb") && node("/srv/node") && !node("/far/image"));
        assert!(mounted(&table, &[(8, 9)]).is_none(), "the source on /far is left alone");
    }

    #[test]
    fn a_file_whose_path_cannot_be_followed_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(file_in_use(file.path()), None);
        assert!(file_in_use(&file.path().join("none")).unwrap().contains("refused"));
    }

    #[test]
    fn a_file_without_a_name_is_known_by_its_descriptor() {
        let file = tempfile::tempfile().unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        assert_eq!(file_in_use(Path::new(&path)), None);
    }

    #[test]
    fn an_unknown_device_is_refused() {
        assert!(device_in_use(Path::new("/dev/none"), (4095, 77)).unwrap().contains("refused"));
    }
}
