//! Why no memory limit is possible here, and what helps.

use super::hierarchy::{Hierarchy, Version, are_absent};
use super::switch::{OFFERED, lists};
use crate::namespace::as_root;
use crate::text;
use std::io::ErrorKind;

/// Why no memory limit is possible, whoever asks, and what helps.
type Refusal = [&'static str; 2];

const NO_GROUPS: Refusal =
    ["the kernel has no control groups", "use one with CONFIG_CGROUPS and CONFIG_MEMCG"];
const NO_CONTROLLER: Refusal = [
    "the kernel has no memory controller, or was started with it off",
    "start it without cgroup_disable=memory; on a Raspberry Pi, whose firmware adds that, write cgroup_enable=memory into /boot/firmware/cmdline.txt; if that changes nothing, use a kernel with CONFIG_MEMCG",
];
const UNMOUNTED: Refusal = [
    "no control groups with a memory controller are mounted",
    "mount them in /sys/fs/cgroup, and /proc, which tells of them; in a container see docs/install.md",
];

const WRITABLE: &str = "mount a control group file system that may be written in /sys/fs/cgroup";
/// As Docker does for a Docker inside of it.
const LEAF: &str = "first move them into a group of their own: `mkdir /sys/fs/cgroup/leaf && xargs -n1 < /sys/fs/cgroup/cgroup.procs > /sys/fs/cgroup/leaf/cgroup.procs`";

/// Returns the hierarchy with the memory controller.
///
/// # Errors
/// None is mounted, or it is known to lack the controller.
pub(super) fn hierarchy() -> Result<Hierarchy, Refusal> {
    if are_absent() {
        return Err(NO_GROUPS);
    }
    found(&text::read("/proc/cgroups").unwrap_or_default(), Hierarchy::find())
}

/// Does the same given `/proc/cgroups`, which is empty if it cannot be read, and what is mounted.
fn found(controllers: &str, mounted: Option<Hierarchy>) -> Result<Hierarchy, Refusal> {
    let memory = controllers.lines().find(|line| line.starts_with("memory\t"));
    if memory.is_some_and(|line| line.ends_with("\t0")) {
        return Err(NO_CONTROLLER);
    }
    let mounted = mounted.ok_or(UNMOUNTED)?;
    // A kernel without version 1's memory controller does not list that of version 2 either.
    let is_unlisted = memory.is_none() && !controllers.is_empty();
    if is_unlisted && is_root_without(&mounted) { Err(NO_CONTROLLER) } else { Ok(mounted) }
}

/// Returns whether what is mounted begins at the root of version 2, and that lacks the controller,
/// so no group has it.
fn is_root_without(mounted: &Hierarchy) -> bool {
    let is_root = mounted.version == Version::V2 && mounted.begins_at_root();
    is_root && !lists(&mounted.mount, OFFERED)
}

/// Returns what helps where no group could be made in a hierarchy, for an error of this kind if
/// there was one.
pub(super) fn what_helps(version: Version, why: Option<ErrorKind>) -> String {
    let advice = match why {
        Some(ErrorKind::ResourceBusy) => LEAF.to_owned(),
        Some(ErrorKind::NotFound | ErrorKind::ReadOnlyFilesystem) => WRITABLE.to_owned(),
        _ => format!("{}{}", as_root(), delegation(version)),
    };
    format!("{advice}; in a container see docs/install.md")
}

/// systemd delegates groups of version 2 only.
fn delegation(version: Version) -> &'static str {
    match version {
        Version::V2 => ", or under `systemd-run --user --scope -p Delegate=yes`",
        Version::V1 => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const HEAD: &str = "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t0\t40\t1\n";

    /// Guards against sending a user of a Raspberry Pi from root to `mount` and back: its control
    /// groups are mounted and writable, but the kernel was started without the controller.
    #[test]
    fn a_kernel_without_a_memory_controller_is_no_matter_of_rights_or_mounts() {
        let root = tempfile::tempdir().unwrap();
        let mount = root.path().to_owned();
        let put = |file: &str, text: &str| fs::write(root.path().join(file), text).unwrap();
        put("cgroup.controllers", "cpuset cpu io pids\n");
        let mounted = Hierarchy { version: Version::V2, own: mount.clone(), mount };
        let why = |controllers: &str| found(controllers, Some(mounted.clone())).err();
        let off = format!("{HEAD}memory\t0\t40\t0\n");
        assert_eq!([why(&off), found(&off, None).err()], [Some(NO_CONTROLLER); 2]);
        assert_eq!([why(HEAD), found(HEAD, None).err()], [Some(NO_CONTROLLER), Some(UNMOUNTED)]);
        assert_eq!(why(&format!("{HEAD}memory\t4\t40\t1\n")), None, "version 1 uses it elsewhere");
        assert_eq!(why(""), None, "nobody knows");
        let first = found(HEAD, Some(Hierarchy { version: Version::V1, ..mounted.clone() }));
        assert!(first.is_ok(), "version 1 is mounted for this controller");
        put("cgroup.type", "domain\n");
        assert_eq!(why(HEAD), None, "groups above a container's may have it");
        fs::remove_file(root.path().join("cgroup.type")).unwrap();
        put("cgroup.controllers", "cpuset cpu io memory pids\n");
        assert_eq!(why(HEAD), None, "version 2 has it");
    }

    #[test]
    fn advice_follows_from_who_may_make_groups() {
        let told = |why| what_helps(Version::V2, why);
        assert!(told(Some(ErrorKind::PermissionDenied)).starts_with("run as root"));
        assert!(told(Some(ErrorKind::ResourceBusy)).starts_with("first move them"));
        assert!(told(Some(ErrorKind::ReadOnlyFilesystem)).starts_with("mount a control group"));
        assert!(delegation(Version::V2).contains("systemd-run"));
        assert_eq!(delegation(Version::V1), "", "only root makes these");
    }
}
