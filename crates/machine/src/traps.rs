//! Properties of a target that make figures mean something else than they seem to.

use crate::mounts::FileSystemInfo;
use crate::target::{DirectIo, Target};
use ioscape_schema::{Access, Warning, WarningKind};

/// Doubts that hold for every measurement of `target` with `access`.
pub fn traps(target: &Target, access: Access) -> Vec<Warning> {
    let system = target.file_system();
    let refused = refused(&system.name, access, target.direct_io());
    let is_told = refused.is_some() || target.direct_align().is_some();
    let hidden = hidden_memory(system, target.in_memory());
    refused.into_iter().chain(judge(system, access, is_told)).chain(hidden).collect()
}

/// That the data is kept `by` a part of memory, where the name of the file system does not say so.
fn hidden_memory(system: &FileSystemInfo, by: Option<&str>) -> Option<Warning> {
    let by = by.filter(|_| !system.is_in_memory())?;
    let message = format!(
        "what is on {} here lies in memory ({by}): no figure is of a storage device, and nothing is forced to one; choose a directory on a disk to measure it",
        system.name
    );
    Some(Warning::new(WarningKind::Trap, message))
}

/// That there is no direct I/O on a file although its file system takes `O_DIRECT`: ext4 and f2fs do so without a word.
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

/// The same from facts: `aligned` says whether the kernel gives an alignment for direct I/O.
pub fn judge(system: &FileSystemInfo, access: Access, aligned: bool) -> Vec<Warning> {
    let mut doubts = Vec::new();
    let name = &system.name;
    // An overlay has no device of its own, but passes direct I/O on to the one below it and then gives its alignment.
    let deviceless = !system.has_device && !aligned;
    if access == Access::Direct && (deviceless || system.is_network_or_fuse) {
        doubts.push(Warning::new(
            WarningKind::DirectWithoutDevice,
            format!(
                "direct I/O on {name} need not reach a block device of this machine: O_DIRECT may be accepted and still end in memory or in a server's cache; choose a directory on a local disk to measure a device"
            ),
        ));
    }
    if system.is_on_raw_flash() {
        doubts.push(Warning::new(
            WarningKind::CountersSilent,
            format!(
                "{name} lies on flash without blocks, past the layer whose reads the kernel counts: the counters of storage do not distinguish file cache hits from misses"
            ),
        ));
    }
    if system.is_network_or_fuse {
        doubts.push(Warning::new(
            WarningKind::CountersSilent,
            format!(
                "{name} gets its data from a server or another program, whose reads the kernel's storage counters omit: file cache hits cannot be distinguished from misses"
            ),
        ));
    }
    doubts
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

    /// As in a home directory that is encrypted.
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

    /// As on a board whose card is mounted read-only, below an overlay in memory.
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
    fn direct_io_needs_a_device() {
        use WarningKind::{CountersSilent, DirectWithoutDevice};
        assert_eq!(kinds("ext4", true, Access::Direct, true), []);
        assert_eq!(kinds("btrfs", true, Access::Direct, false), []);
        assert_eq!(kinds("overlay", false, Access::Direct, true), []);
        assert_eq!(kinds("overlay", false, Access::Direct, false), [DirectWithoutDevice]);
        assert_eq!(kinds("tmpfs", false, Access::Direct, false), [DirectWithoutDevice]);
        assert_eq!(kinds("tmpfs", false, Access::Buffered, false), []);
        assert_eq!(kinds("nfs4", false, Access::Dsync, false), [CountersSilent]);
        assert_eq!(kinds("ubifs", false, Access::Buffered, false), [CountersSilent]);
        assert_eq!(
            kinds("fuse.sshfs", false, Access::Direct, false),
            [DirectWithoutDevice, CountersSilent]
        );
    }
}
