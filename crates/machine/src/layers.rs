//! The disks below a file system, one above another, and what in between makes its figures those of
//! something else.

use crate::cgroup::{self, Traffic};
use crate::device::{BlockDevice, DEEPEST, SYS, Shown, are_files_memory, memory_below};
use crate::mounts::{self, FileSystemInfo};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the disks that hold the data of `system` and all disks below those, each once, by number:
/// requests pass through each of them. Empty if they are not known.
pub(crate) fn disks_below(system: &FileSystemInfo) -> Vec<BlockDevice> {
    let shown = Shown { sys: Path::new(SYS), table: &mounts::table() };
    let mut all = disks(shown, system.members(shown.sys), DEEPEST);
    all.sort_by_key(|disk| disk.number);
    all.dedup();
    all
}

/// Returns the disks of these numbers, each followed by those below it.
pub(crate) fn disks(shown: Shown<'_>, numbers: Vec<(u32, u32)>, deepest: u32) -> Vec<BlockDevice> {
    let Some(deeper) = deepest.checked_sub(1) else { return Vec::new() };
    let mut all = Vec::new();
    for one in numbers.into_iter().filter_map(|number| BlockDevice::below(shown.sys, number)) {
        let disk = one.disk();
        let below = disks(shown, disk.built_on(shown), deeper);
        all.push(disk);
        all.extend(below);
    }
    all
}

/// Returns whether the storage of one file system may rest while only the other is used: they are
/// two, share no disk, and are not both in memory. Where the disks are not known, two file systems
/// are taken to share none.
pub fn rest_in_turn(systems: [&FileSystemInfo; 2]) -> bool {
    let stored_on = systems.map(FileSystemInfo::stored_on);
    let is_one = stored_on[0].device == stored_on[1].device;
    let are_in_memory = stored_on.iter().all(|one| memory_below(one).is_some());
    !is_one && !are_in_memory && are_apart(stored_on.map(disks_below))
}

fn are_apart([some, others]: [Vec<BlockDevice>; 2]) -> bool {
    !some.iter().any(|disk| others.contains(disk))
}

/// Returns what a program on this machine may serve, the file system or a disk below it, if anything
/// indicates that, and whether the kernel computes what the storage holds: for a loop device,
/// encryption, integrity checks or parity. What either computes for our requests is not load by
/// others.
pub fn served_here(system: &FileSystemInfo) -> (Option<String>, bool) {
    let (table, disks) = (mounts::table(), disks_below(system));
    let itself = system.is_served_here().then(|| "this file system".to_owned());
    let served = |disk: &BlockDevice| disk.may_be_served_here(&table).then(|| disk.name());
    let by_program = itself.or_else(|| disks.iter().find_map(served));
    (by_program, disks.iter().any(BlockDevice::is_computed))
}

/// Returns that of the `disks` below `system` which is a loop device and serves requests, even
/// direct ones, from the file cache, with its file; `None` if there is none, or all of it is in
/// memory anyway and no limit holds back what the cache does not.
pub(crate) fn cached_below(system: &FileSystemInfo, disks: &[BlockDevice]) -> Option<String> {
    let told = told_of_cache(disks)?;
    let is_limited = || io_limits(system, disks, Traffic::ALL).is_some_and(|by| !by.is_empty());
    (memory_below(system).is_none() || is_limited()).then_some(told)
}

fn told_of_cache(disks: &[BlockDevice]) -> Option<String> {
    let told = |disk: &BlockDevice| {
        let file = disk.cached_file()?;
        Some(format!("{} on {}", disk.name(), file.display()))
    };
    disks.iter().find_map(told)
}

/// Returns how control groups limit `traffic` of this process on the `disks` below `system`, or on
/// any disk if those below are not known; empty if they do not. `None` if that is not known, as in
/// a container that does not show the groups above.
pub(crate) fn io_limits(
    system: &FileSystemInfo,
    disks: &[BlockDevice],
    traffic: Traffic,
) -> Option<String> {
    let is_on_no_disk = || system.is_network_or_fuse || are_files_memory(system);
    if disks.is_empty() && is_on_no_disk() {
        return Some(String::new());
    }
    let told = limits_on(disks, cgroup::io_limits(traffic)?);
    (!told.is_empty() || cgroup::shows_limits("blkio")).then_some(told)
}

fn limits_on(disks: &[BlockDevice], limits: BTreeMap<(u32, u32), String>) -> String {
    let (is_unknown, is_limited) = (disks.is_empty(), !limits.is_empty());
    let name = |(major, minor)| match BlockDevice::at((major, minor)) {
        Some(disk) => disk.name(),
        None => format!("{major}:{minor}"),
    };
    let is_below = |number| is_unknown || disks.iter().any(|disk| disk.number == number);
    let here = limits.into_iter().filter(|(number, _)| is_below(*number));
    let told = here.map(|(number, limits)| format!("{}: {limits}", name(number)));
    let doubt = "whether files here lie there is not known".to_owned();
    let doubt = (is_unknown && is_limited).then_some(doubt);
    told.chain(doubt).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Guards against a defect: direct I/O that a loop device served from the file cache, 83 times
    /// too fast, was said to bypass it.
    #[test]
    fn a_loop_device_that_caches_is_found_at_any_depth() {
        let home = tempfile::tempdir().unwrap();
        let sys = home.path();
        let table = mounts::parse(
            "27 1 8:0 / / rw - ext4 /dev/sda rw\n28 27 7:1 / /mnt rw - xfs /dev/loop1 rw",
        );
        fs::create_dir_all(sys.join("dev/block")).unwrap();
        let make = |name: &str, number: &str, dio: &str, file: &str, below: &str| {
            let folder = sys.join("block").join(name);
            fs::create_dir_all(folder.join("slaves")).unwrap();
            fs::create_dir_all(folder.join("loop")).unwrap();
            fs::write(folder.join("dev"), number).unwrap();
            symlink(&folder, sys.join("dev/block").join(number)).unwrap();
            if !file.is_empty() {
                fs::write(folder.join("loop/dio"), dio).unwrap();
                fs::write(folder.join("loop/backing_file"), file).unwrap();
            }
            if !below.is_empty() {
                symlink(sys.join("block").join(below), folder.join("slaves").join(below)).unwrap();
            }
        };
        make("sda", "8:0", "", "", "");
        make("loop1", "7:1", "0\n", "/image\n", "");
        make("loop2", "7:2", "1\n", "/mnt/image\n", "");
        make("dm-0", "253:0", "", "", "loop2");
        make("loop3", "7:3", "1\n", "/direct\n", "");
        let told = |number| {
            let found = disks(Shown { sys, table: &table }, vec![number], DEEPEST);
            (
                found.iter().map(BlockDevice::name).collect::<Vec<_>>().join(" "),
                told_of_cache(&found),
            )
        };
        let cached = Some("loop1 on /image".to_owned());
        assert_eq!(told((7, 1)), ("loop1 sda".to_owned(), cached.clone()));
        assert_eq!(told((253, 0)), ("dm-0 loop2 loop1 sda".to_owned(), cached));
        assert_eq!(told((7, 3)), ("loop3 sda".to_owned(), None));
        assert_eq!(told((8, 0)), ("sda".to_owned(), None));
    }

    /// Guards against a defect: two partitions of one drive counted as devices of which one rests.
    #[test]
    fn partitions_of_one_disk_share_it() {
        let home = tempfile::tempdir().unwrap();
        let sys = home.path();
        fs::create_dir_all(sys.join("dev/block")).unwrap();
        for (name, number) in
            [("sda", "8:0"), ("sda/sda1", "8:1"), ("sda/sda2", "8:2"), ("sdb", "8:16")]
        {
            let folder = sys.join("block").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("dev"), number).unwrap();
            if name.contains('/') {
                fs::write(folder.join("partition"), "1").unwrap();
            }
            symlink(&folder, sys.join("dev/block").join(number)).unwrap();
        }
        let of = |minor| disks(Shown { sys, table: &[] }, vec![(8, minor)], DEEPEST);
        let apart = [[1, 2], [1, 0], [1, 16]].map(|two| are_apart(two.map(of)));
        assert_eq!(apart, [false, false, true]);
    }

    /// Once, a limit on the disk below a container's own directory was measured as its speed, and
    /// nothing said so.
    #[test]
    fn limits_are_told_of_the_disks_below_or_of_any_if_those_are_not_known() {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("dev/block/4095:77");
        fs::create_dir_all(&disk).unwrap();
        let disks = [BlockDevice::below(sys.path(), (4095, 77)).unwrap()];
        let limits = |minor| BTreeMap::from([((4095, minor), "reads up to 2 MB/s".to_owned())]);
        let limit = "4095:77: reads up to 2 MB/s";
        assert_eq!(limits_on(&disks, limits(77)), limit);
        let doubt = "whether files here lie there is not known";
        assert_eq!(limits_on(&[], limits(77)), format!("{limit}; {doubt}"));
        assert_eq!([limits_on(&disks, limits(78)), limits_on(&[], BTreeMap::new())], ["", ""]);
        let far = FileSystemInfo { is_network_or_fuse: true, ..FileSystemInfo::default() };
        assert_eq!(io_limits(&far, &[], Traffic::ALL).as_deref(), Some(""), "on no disk");
    }
}
