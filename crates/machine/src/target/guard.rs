//! Reasons to refuse a block device or file whose data may be destroyed: it is in use.

use crate::attached::{Loop, loops};
use crate::device::BlockDevice;
use crate::mounts::{self, Mount};
use crate::text;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why the device at `path` is in use; absent if nothing is known to use it.
///
/// Checks mounts, swap space, devices built on it and loop devices, for the device itself, its partitions and the disk
/// it is part of. What other mount namespaces use is left to the exclusive open that follows.
pub fn device_in_use(path: &Path, number: (u32, u32)) -> Option<String> {
    let Some(device) = BlockDevice::at(number) else {
        return Some(
            "it cannot be checked whether this device is in use, since /sys does not show it: refused".into(),
        );
    };
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
    loops().find(on_device).map(|one| attached(path, &one.name))
}

/// Why the regular file at `path` is in use; absent if nothing is known to use it.
pub fn file_in_use(path: &Path) -> Option<String> {
    let table = mounts::table();
    let identity =
        |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let ours = identity(path);
    let is_near = |other: &Path| on_same_file_system(&table, path, other);
    let is_ours = |other: &Path| other == path || (is_near(other) && identity(other) == ours);
    if swap_files().iter().any(|swap| is_ours(swap)) {
        return Some("is swap space: run swapoff first".into());
    }
    let on_file = |one: &Loop| {
        let asked = || one.deleted().filter(|file| is_near(file));
        let file = || asked().and_then(|_| one.status()).map(|status| status.file);
        is_ours(&one.file) || file().is_some_and(|file| Some(file) == ours)
    };
    loops().find(on_file).map(|one| attached(path, &one.name))
}

fn attached(path: &Path, name: &str) -> String {
    format!(
        "is attached to /dev/{name}: run losetup -d /dev/{name} first, or name it instead of {}",
        path.display()
    )
}

/// The first mount of one of the devices `numbers`.
fn mounted<'a>(table: &'a [Mount], numbers: &[(u32, u32)]) -> Option<&'a Mount> {
    table.iter().find(|mount| {
        // A source may be a path on a file system that does not answer.
        let asks = lies_in_memory(table, Path::new(&mount.source));
        let sources = if asks { mounts::source_devices(&mount.source) } else { Vec::new() };
        numbers.iter().any(|number| *number == mount.device || sources.contains(number))
    })
}

/// Files and devices named in `/proc/swaps`.
fn swap_files() -> Vec<PathBuf> {
    parse_swaps(&text::read("/proc/swaps").unwrap_or_default())
}

fn parse_swaps(table: &str) -> Vec<PathBuf> {
    let names = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    names.map(|name| PathBuf::from(mounts::unescape(name))).collect()
}

/// Whether both paths lie on one file system. Others are not even looked at, since one that hangs would hold us.
fn on_same_file_system(table: &[Mount], path: &Path, other: &Path) -> bool {
    let device = |path| mounts::by_path(table, path).map(|mount| mount.device);
    device(path).is_some_and(|ours| device(other) == Some(ours))
}

/// Whether `path` lies where device nodes do: on a file system in memory, which never hangs, or on the root's.
fn lies_in_memory(table: &[Mount], path: &Path) -> bool {
    let memory = |mount: &Mount| ["devtmpfs", "tmpfs", "ramfs"].contains(&mount.kind.as_str());
    mounts::by_path(table, path)
        .is_some_and(|mount| memory(&mount) || mount.point == Path::new("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_are_read_without_their_header() {
        let table = "Filename\tType\tSize\n/dev/sda2  partition 8 0 -2\n/my\\040swap file 8 0 -3\n";
        assert_eq!(parse_swaps(table), [Path::new("/dev/sda2"), Path::new("/my swap")]);
        assert!(parse_swaps("").is_empty());
    }

    #[test]
    fn a_mount_of_any_related_device_counts() {
        let table = mounts::parse("27 1 8:2 / / rw - ext4 /dev/sda2 rw\n");
        assert!(mounted(&table, &[(8, 0), (8, 1), (8, 2)]).is_some());
        assert!(mounted(&table, &[(8, 0), (8, 1)]).is_none());
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
    fn an_unknown_device_is_refused() {
        assert!(device_in_use(Path::new("/dev/none"), (4095, 77)).unwrap().contains("refused"));
    }
}
