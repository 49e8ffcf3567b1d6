//! Properties of a target that change the meaning of its figures.

use crate::arrays;
use crate::cgroup::Traffic;
use crate::layers::{cached_below, disks_below, io_limits};
use crate::mounts::FileSystemInfo;
use crate::target::{DirectIo, Target, is_in_place};
use ioscape_schema::{Access, Warning, WarningKind};
use std::os::fd::AsFd;

/// Mount options of ext4, btrfs, older XFS, overlays, F2FS and bcachefs with which syncs flush no
/// drive.
const WITHOUT_FLUSHES: [&str; 6] = [
    "nobarrier",
    "barrier=0",
    "volatile",
    "fsync=volatile",
    "fsync_mode=nobarrier",
    "journal_flush_disabled",
];

/// Returns the warnings that apply to every measurement of `target` with `traffic`.
pub fn traps(target: &Target, traffic: Traffic) -> Vec<Warning> {
    let (system, access) = (target.file_system(), traffic.access);
    let may_be_cached = traffic.writes && access == Access::Direct;
    let cached = may_be_cached.then(|| cached_writes(target.file(), system)).flatten();
    let refused = refused(&system.name, access, target.direct_io());
    let is_told = refused.is_some() || target.direct_align().is_some();
    let hidden = hidden_memory(system, target.in_memory());
    let first = refused.into_iter().chain(judge(system, access, is_told));
    first.chain(hidden).chain(cached).chain(below(system, traffic)).collect()
}

/// Returns the warnings about what `traffic` to `system` passes on its way to the last device.
pub fn below(system: &FileSystemInfo, traffic: Traffic) -> Vec<Warning> {
    let disks = disks_below(system);
    let limits = |traffic| io_limits(system, &disks, traffic).filter(|limits| !limits.is_empty());
    let limits = limits(Traffic::ALL).is_some().then(|| of_io_limits(traffic, limits));
    let limits = limits.into_iter().flatten();
    let cached = cached_below(system, &disks).map(|by| of_second_cache(&by, traffic.access));
    cached.into_iter().chain(limits).chain(arrays::doubts_among(system, &disks)).collect()
}

/// Returns the warning about a loop device `by` which requests pass through the file cache.
fn of_second_cache(by: &str, access: Access) -> Warning {
    let kind = match access {
        Access::Direct => WarningKind::DirectWithoutDevice,
        Access::Buffered | Access::Dsync => WarningKind::Trap,
    };
    let message = format!(
        "a loop device ({by}) passes all requests, direct ones too, through the file cache of its own file: what seems to come from a device may come from memory; attach the file with losetup --direct-io=on to measure the device"
    );
    Warning::new(kind, message)
}

/// Returns the warnings about `limits` on the I/O of this process, by what they hold back: `traffic`,
/// or only the writes that lay out its set or flush it.
fn of_io_limits(
    traffic: Traffic,
    limits: impl Fn(Traffic) -> Option<String>,
) -> impl Iterator<Item = Warning> {
    let of_traffic = limits(traffic).map(|limits| {
        format!(
            "a control group limits this program's I/O ({limits}): such requests reach the device no faster than that, whatever it can do; run outside of that group to measure the device"
        )
    });
    let writes = |of: Traffic| limits(Traffic { reads: false, ..of });
    let is_written = traffic.writes || traffic.lays_out;
    let of_writes = is_written.then(|| writes(Traffic::ALL)).flatten();
    let of_layout = of_writes.filter(|_| writes(traffic).is_none()).map(|limits| {
        format!(
            "a control group limits this program's writes ({limits}): what is laid out or flushed is written no faster than that, though what is measured may be faster"
        )
    });
    let messages = of_traffic.into_iter().chain(of_layout);
    messages.map(|message| Warning::new(WarningKind::Trap, message))
}

/// Returns the warning that `O_DIRECT` writes to `file` may go through the file cache. Versions do
/// not tell: the change came with Linux 6.15, was backported, and is to be reverted.
pub fn cached_writes(file: &impl AsFd, system: &FileSystemInfo) -> Option<Warning> {
    // `nodatasum` and `nodatacow`; a subvolume's name is an option too.
    let stored_on = system.stored_on();
    let mut options = stored_on.mount_options.split(',');
    let has_no_sums = options.any(|option| option.starts_with("nodata")) || is_in_place(file);
    (stored_on.name == "btrfs" && !has_no_sums).then(|| {
        Warning::new(
            WarningKind::Unsupported,
            "btrfs keeps checksums of this file: Linux 6.15 and later, and older kernels with the same change, pass direct writes to such files through the file cache and then wait for the storage; whether this kernel does so cannot be told. To bypass the cache, make the files in a directory that had chattr +C while it was empty",
        )
    })
}

/// Returns the warning that the data is kept `by` a part of memory, if the name of the file system
/// does not say so.
fn hidden_memory(system: &FileSystemInfo, by: Option<&str>) -> Option<Warning> {
    let by = by.filter(|_| !system.is_in_memory())?;
    let message = format!(
        "files on {} here are kept in memory ({by}): no figure describes a storage device, and synchronous writes reach none; choose a directory on a disk to measure one",
        system.name
    );
    Some(Warning::new(WarningKind::Trap, message))
}

/// Returns the warning that a file has no direct I/O although its file system accepts `O_DIRECT`,
/// as ext4 and f2fs silently do.
fn refused(name: &str, access: Access, told: DirectIo) -> Option<Warning> {
    (access == Access::Direct && told == DirectIo::Refused).then(|| {
        Warning::new(
            WarningKind::DirectWithoutDevice,
            format!(
                "the kernel does no direct I/O on this file on {name}, which may be encrypted, sealed or compressed, or have its data journaled: O_DIRECT may be accepted, but requests go through the file cache; choose another directory to measure a device"
            ),
        )
    })
}

/// Returns warnings from facts: `aligned` says whether the kernel reports an alignment for direct
/// I/O.
pub fn judge(system: &FileSystemInfo, access: Access, aligned: bool) -> Vec<Warning> {
    let mut doubts = Vec::new();
    let name = &system.name;
    // An overlay passes direct I/O on to the device below and then reports its alignment, even if
    // the mount table does not show that device.
    let deviceless = !system.has_device && !aligned;
    if access == Access::Direct && (deviceless || system.is_network_or_fuse) {
        doubts.push(Warning::new(
            WarningKind::DirectWithoutDevice,
            format!(
                "direct I/O on {name} need not reach a block device of this machine: O_DIRECT may be accepted and still end in memory or in a server's cache; choose a directory on a local disk to measure a device"
            ),
        ));
    }
    if access == Access::Dsync && system.is_in_memory() {
        let message = format!(
            "files on {name} are in memory: synchronous writes reach no storage; choose a directory on a disk to measure one"
        );
        doubts.push(Warning::new(WarningKind::Trap, message));
    }
    let without_flushes = [system, system.stored_on()].into_iter().find_map(|one| {
        let mut options = one.mount_options.split(',');
        Some((&one.name, options.find(|option| WITHOUT_FLUSHES.contains(option))?))
    });
    if access == Access::Dsync
        && let Some((name, option)) = without_flushes
    {
        let message = format!(
            "{name} is mounted with {option}, so it does not flush the drive's cache: synchronous writes return earlier, and may be lost when power fails; mount it without {option} to measure what durability costs"
        );
        doubts.push(Warning::new(WarningKind::Trap, message));
    }
    doubts.extend(uncounted(system));
    doubts
}

/// Returns the warning that the kernel does not count what is read from storage, and why.
fn uncounted(system: &FileSystemInfo) -> Option<Warning> {
    let why = match () {
        () if system.counts_reads() => return None,
        () if system.is_dax() => {
            "is reached by the processor directly (DAX), past the layer whose reads the kernel counts"
        }
        () if system.stored_on().is_network_or_fuse => {
            "gets its data from a server or another program, whose reads the kernel's storage counters are not known to include"
        }
        () if system.is_on_raw_flash() => {
            "lies on flash without blocks, past the layer whose reads the kernel counts"
        }
        () => "counts what it reads from its own cache as read from storage",
    };
    let hits = match system.is_dax() {
        true => "no read is a hit of this machine's file cache",
        false => "file cache hits cannot be distinguished from misses",
    };
    let message = format!("{} {why}: {hits}", system.name);
    Some(Warning::new(WarningKind::CountersSilent, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(name: &str, has_device: bool, access: Access, aligned: bool) -> Vec<WarningKind> {
        let system = FileSystemInfo {
            name: name.into(),
            has_device,
            is_network_or_fuse: crate::mounts::is_network_or_fuse(name),
            ..FileSystemInfo::default()
        };
        judge(&system, access, aligned).into_iter().map(|warning| warning.kind).collect()
    }

    /// As in an encrypted home directory.
    #[test]
    fn direct_io_that_goes_through_the_file_cache_is_doubted() {
        let kind = |access, told| refused("ext4", access, told).map(|doubt| doubt.kind);
        let doubt = Some(WarningKind::DirectWithoutDevice);
        assert_eq!(kind(Access::Direct, DirectIo::Refused), doubt);
        for told in [DirectIo::Untold, DirectIo::Aligned(512)] {
            assert_eq!(kind(Access::Direct, told), None);
        }
        assert_eq!(kind(Access::Buffered, DirectIo::Refused), None);
    }

    /// Once, direct writes took the time of checksums and of the file cache, but were said to
    /// bypass it.
    #[test]
    fn direct_writes_to_files_with_checksums_are_doubted() {
        let file = tempfile::tempfile_in(crate::testing::build_directory()).unwrap();
        let told = |name: &str, options: &str| {
            let (name, mount_options) = (name.into(), options.into());
            let system = FileSystemInfo { name, mount_options, ..FileSystemInfo::default() };
            cached_writes(&file, &system).map(|doubt| doubt.kind)
        };
        let is_in_place = is_in_place(&file);
        let doubt = (!is_in_place).then_some(WarningKind::Unsupported);
        assert_eq!(told("btrfs", "rw,ssd,subvol=/nodata"), doubt);
        for options in ["rw,nodatasum", "rw,nodatacow"] {
            assert_eq!(told("btrfs", options), None, "{options}");
        }
        assert_eq!(told("xfs", "rw"), None);
    }

    #[test]
    fn what_a_loop_device_caches_is_no_direct_io() {
        let told = |access| of_second_cache("loop0 on /image", access);
        assert_eq!(told(Access::Direct).kind, WarningKind::DirectWithoutDevice);
        assert_eq!(told(Access::Buffered).kind, WarningKind::Trap);
        assert!(told(Access::Direct).message.contains("(loop0 on /image)"));
        let far = FileSystemInfo { is_network_or_fuse: true, ..FileSystemInfo::default() };
        assert_eq!(below(&far, Traffic::ALL), []);
    }

    /// Guards against silence: with version 1 of control groups a run of 5 s took 39, since its set
    /// was laid out at 4 MB/s.
    #[test]
    fn a_limit_on_writes_holds_back_the_layout_if_not_the_workload() {
        let told = |access, [writes, lays_out]: [bool; 2], limited| {
            let limits = |of: Traffic| {
                let is_held = limited && of.writes && of.access != Access::Buffered;
                is_held.then(|| "sda: writes up to 4 MB/s".to_owned())
            };
            let found = of_io_limits(Traffic { access, reads: true, writes, lays_out }, limits);
            found.map(|one| one.message.contains("laid out")).collect::<Vec<_>>()
        };
        assert_eq!(told(Access::Direct, [true; 2], true), [false]);
        assert_eq!(told(Access::Buffered, [true, false], true), [true], "when it is flushed");
        assert_eq!(told(Access::Direct, [false, true], true), [true], "of a set that is only read");
        assert!(told(Access::Direct, [false; 2], true).is_empty(), "nothing is written");
        assert!(told(Access::Buffered, [true; 2], false).is_empty());
    }

    /// As on a board whose card is mounted read-only below an overlay in memory.
    #[test]
    fn memory_that_the_name_of_a_file_system_hides_is_told() {
        let told = |name: &str, by| {
            let system = FileSystemInfo { name: name.into(), ..FileSystemInfo::default() };
            hidden_memory(&system, by).map(|doubt| doubt.kind)
        };
        assert_eq!(told("overlay", Some("tmpfs")), Some(WarningKind::Trap));
        assert_eq!([told("tmpfs", Some("tmpfs")), told("ext4", None)], [None, None]);
    }

    #[test]
    fn synchronous_writes_that_flush_no_drive_are_told() {
        let ext4 = |options: &str| FileSystemInfo {
            name: "ext4".into(),
            mount_options: options.into(),
            has_device: true,
            ..FileSystemInfo::default()
        };
        let told = |options: &str, access| judge(&ext4(options), access, true).len();
        assert_eq!(told("rw,nobarrier,relatime", Access::Dsync), 1);
        for option in ["fsync_mode=nobarrier", "journal_flush_disabled"] {
            assert_eq!(told(option, Access::Dsync), 1, "{option}");
        }
        assert_eq!(told("rw,nobarrier,relatime", Access::Buffered), 0);
        assert_eq!(told("rw,relatime", Access::Dsync), 0);
        let upper = Some(Box::new(ext4("rw,nobarrier")));
        let overlay = FileSystemInfo { name: "overlay".into(), upper, ..ext4("rw,upperdir=/u") };
        let [doubt] = &judge(&overlay, Access::Dsync, true)[..] else { panic!("one doubt") };
        assert!(doubt.message.starts_with("ext4 is mounted"), "{doubt}");
    }

    #[test]
    fn direct_writes_that_btrfs_may_cache_are_told_on_an_overlay_too() {
        let file = tempfile::tempfile().unwrap();
        let over = |name: &str| {
            let upper = FileSystemInfo { name: name.into(), ..FileSystemInfo::default() };
            FileSystemInfo { upper: Some(Box::new(upper)), ..FileSystemInfo::default() }
        };
        let told = |name| cached_writes(&file, &over(name)).is_some();
        assert_eq!([told("btrfs"), told("ext4")], [!is_in_place(&file), false]);
    }

    #[test]
    fn direct_io_and_synchronous_writes_need_a_device() {
        use WarningKind::{CountersSilent, DirectWithoutDevice, Trap};
        assert_eq!(kinds("ext4", true, Access::Direct, true), []);
        assert_eq!(kinds("btrfs", true, Access::Direct, false), []);
        assert_eq!(kinds("overlay", false, Access::Direct, true), []);
        assert_eq!(kinds("overlay", false, Access::Direct, false), [DirectWithoutDevice]);
        assert_eq!(kinds("tmpfs", false, Access::Direct, false), [DirectWithoutDevice]);
        assert_eq!(kinds("tmpfs", false, Access::Buffered, false), []);
        assert_eq!(kinds("tmpfs", false, Access::Dsync, false), [Trap], "it waits for nothing");
        assert_eq!(kinds("nfs4", false, Access::Dsync, false), [CountersSilent]);
        for name in ["ubifs", "zfs"] {
            assert_eq!(kinds(name, false, Access::Buffered, false), [CountersSilent], "{name}");
        }
        let (has_dax_file, has_device) = (true, true);
        let dax = FileSystemInfo { has_dax_file, has_device, ..FileSystemInfo::default() };
        let [doubt] = &judge(&dax, Access::Buffered, true)[..] else { panic!("one doubt") };
        assert!(doubt.message.ends_with("a hit of this machine's file cache"), "{doubt}");
        assert_eq!(
            kinds("fuse.sshfs", false, Access::Direct, false),
            [DirectWithoutDevice, CountersSilent]
        );
    }
}
