//! Arrays of drives that are being rebuilt or lack a drive (kernel documentation, admin-guide/md).

use crate::device::{BlockDevice, SYS};
use crate::layers::disks_below;
use crate::mounts::FileSystemInfo;
use ioscape_schema::{Warning, WarningKind};
use std::path::Path;

/// Returns the warnings about arrays below `system`: that the kernel rebuilds or checks one now, or
/// that one lacks a drive. A rebuild's requests go to the drives alone, so the array does not count
/// them.
pub fn doubts(system: &FileSystemInfo) -> Vec<Warning> {
    doubts_among(system, &disks_below(system))
}

/// Does the same where the disks below `system` are known.
pub(crate) fn doubts_among(system: &FileSystemInfo, disks: &[BlockDevice]) -> Vec<Warning> {
    let of_btrfs = system.lacks_device(Path::new(SYS)).then(|| lacking("this btrfs"));
    of_btrfs.into_iter().chain(disks.iter().flat_map(doubts_of)).collect()
}

fn doubts_of(disk: &BlockDevice) -> Vec<Warning> {
    let name = disk.name();
    let lacks = disk.array("degraded").is_some_and(|count| count != "0");
    let action = disk.array("sync_action").filter(|one| !["idle", "frozen"].contains(&&**one));
    // It may wait for another array on the same drives.
    let waits = disk.array("sync_completed").is_some_and(|done| done == "delayed");
    let rebuilt = action.filter(|_| !waits).map(|action| {
        let message = format!(
            "the drives of {name} also work on the array itself ({action}), which may slow other requests: measure again when it is over (/proc/mdstat)"
        );
        Warning::new(WarningKind::LoadByOthers, message)
    });
    lacks.then(|| lacking(&name)).into_iter().chain(rebuilt).collect()
}

fn lacking(array: &str) -> Warning {
    let message = format!(
        "{array} lacks a drive, so the figures are not those of the whole array: add the drive, and measure again after the rebuild"
    );
    Warning::new(WarningKind::Trap, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DEEPEST, Shown};
    use crate::layers::disks;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Once, an array was measured during its first resync, at half of its speed, without a word:
    /// only its drives count those requests.
    #[test]
    fn an_array_that_is_rebuilt_or_lacks_a_drive_is_told() {
        let home = tempfile::tempdir().unwrap();
        let (sys, md) = (home.path(), home.path().join("block/md0"));
        let volume = sys.join("block/dm-0");
        fs::create_dir_all(sys.join("dev/block")).unwrap();
        for (folder, number) in [(&md, "9:0"), (&volume, "253:0")] {
            for part in ["md", "slaves"] {
                fs::create_dir_all(folder.join(part)).unwrap();
            }
            fs::write(folder.join("dev"), number).unwrap();
            symlink(folder, sys.join("dev/block").join(number)).unwrap();
        }
        symlink(&md, volume.join("slaves/md0")).unwrap();
        let told = |action: &str, completed: &str, missing: &str| {
            let files =
                [("sync_action", action), ("sync_completed", completed), ("degraded", missing)];
            for (name, text) in files {
                fs::write(md.join("md").join(name), format!("{text}\n")).unwrap();
            }
            let found = disks(Shown { sys, table: &[] }, vec![(253, 0)], DEEPEST);
            let doubts = found.iter().flat_map(doubts_of);
            doubts.map(|one| one.message).collect::<Vec<_>>()
        };
        assert_eq!(told("idle", "none", "0"), [""; 0]);
        let both = told("recover", "5 / 900", "1");
        assert!(both[0].starts_with("md0 lacks a drive") && both.len() == 2, "{both:?}");
        assert!(both[1].contains("work on the array itself (recover)"), "{both:?}");
        assert_eq!(told("resync", "delayed", "0"), [""; 0], "nothing is done yet");
    }

    #[test]
    fn a_btrfs_without_one_of_its_devices_is_told() {
        let home = tempfile::tempdir().unwrap();
        let of_one = home.path().join("fs/btrfs/1234");
        let write = |place: &str, text: &str| {
            let file = of_one.join(place);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("devices/sda/dev", "8:0\n");
        write("devinfo/1/missing", "0\n");
        let (name, device) = ("btrfs".into(), (8, 0));
        let system = FileSystemInfo { name, device, ..FileSystemInfo::default() };
        assert!(!system.lacks_device(home.path()));
        write("devinfo/2/missing", "1\n");
        assert!(system.lacks_device(home.path()));
    }
}
