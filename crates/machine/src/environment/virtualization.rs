//! What the machine runs in: a hypervisor, a container, or neither.

use crate::mounts::{self, Mount};
use crate::text;
use ioscape_schema::virtualization::{AND, CONTAINER, CONTAINERS, NONE, UNKNOWN};
use std::path::Path;

/// A hypervisor that does not tell its name.
const UNNAMED: &str = "unknown hypervisor";

/// Returns hypervisor and container, such as `kvm`, `kvm, docker` or `unknown, docker`; `none` if
/// there is neither.
///
/// Only x86 has an instruction that tells the absence of a hypervisor, and elsewhere a vendor that
/// is not known here proves nothing.
pub(super) fn detect() -> Option<String> {
    let hypervisor = hypervisor().or((!cfg!(target_arch = "x86_64")).then_some(UNKNOWN));
    let found: Vec<&str> = [hypervisor, container()].into_iter().flatten().collect();
    Some(if found.is_empty() { NONE.to_owned() } else { found.join(AND) })
}

fn hypervisor() -> Option<&'static str> {
    let dmi = ["sys_vendor", "product_name", "board_vendor"]
        .map(|name| text::read(Path::new("/sys/class/dmi/id").join(name)).unwrap_or_default());
    let flagged = text::read("/proc/cpuinfo").is_some_and(|info| has_hypervisor_flag(&info));
    let xen = text::read("/sys/hypervisor/type").filter(|kind| kind == "xen").map(|_| "xen");
    let answer = signature().or(xen);
    let tree = ["hypervisor/compatible", "compatible"]
        .map(|name| text::read(Path::new("/proc/device-tree").join(name)).unwrap_or_default());
    let answer = answer.or_else(|| by_product(&dmi.join(" "))).or_else(|| by_tree(&tree.join(" ")));
    answer.or(flagged.then_some(UNNAMED))
}

/// Returns the hypervisor's signature in the processor's identification instruction.
#[cfg(target_arch = "x86_64")]
fn signature() -> Option<&'static str> {
    use raw_cpuid::Hypervisor;
    let info = raw_cpuid::CpuId::new().get_hypervisor_info()?;
    match info.identify() {
        Hypervisor::KVM => Some("kvm"),
        Hypervisor::VMware => Some("vmware"),
        Hypervisor::HyperV => Some("hyper-v"),
        Hypervisor::Xen => Some("xen"),
        Hypervisor::QEMU => Some("qemu"),
        Hypervisor::Bhyve => Some("bhyve"),
        Hypervisor::QNX => Some("qnx"),
        Hypervisor::ACRN => Some("acrn"),
        Hypervisor::Unknown(..) => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn signature() -> Option<&'static str> {
    None
}

fn has_hypervisor_flag(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    flags.split_whitespace().any(|flag| flag == "hypervisor")
}

/// Returns the hypervisor behind a machine's vendor and product name.
fn by_product(names: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 11] = [
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("Microsoft Corporation Virtual Machine", "hyper-v"),
        ("Google Compute Engine", "kvm"),
        ("Amazon EC2", "kvm"),
        ("OpenStack", "kvm"),
        ("KVM", "kvm"),
        ("QEMU", "qemu"),
        ("Xen", "xen"),
        ("Parallels", "parallels"),
        ("Apple Virtualization", "apple"),
    ];
    // Amazon rents out machines without a hypervisor too, such as m7g.metal.
    let mut known = KNOWN.iter().filter(|_| !names.contains(".metal"));
    known.find(|(word, _)| names.contains(word)).map(|(_, hypervisor)| *hypervisor)
}

/// Returns the hypervisor that the device tree names, by which machines without DMI boot.
fn by_tree(compatible: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 4] = [
        ("linux,kvm", "kvm"),
        ("xen,xen", "xen"),
        ("vmware", "vmware"),
        // The virtual board of QEMU, kvmtool and Firecracker.
        ("linux,dummy-virt", UNNAMED),
    ];
    KNOWN.iter().find(|(word, _)| compatible.contains(word)).map(|(_, hypervisor)| *hypervisor)
}

fn container() -> Option<&'static str> {
    if Path::new("/run/.containerenv").exists() {
        return Some("podman");
    }
    if Path::new("/.dockerenv").exists() {
        return Some("docker");
    }
    let is_in_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
        || Path::new("/run/secrets/kubernetes.io").exists();
    if is_in_pod {
        return Some("kubepods");
    }
    // With a control-group namespace, as most containers have in version 2, no group names are
    // visible.
    let groups = text::read("/proc/1/cgroup").unwrap_or_default();
    let environment = text::read("/proc/1/environ").unwrap_or_default();
    let told = text::read("/run/systemd/container");
    let told = told.or_else(|| told_to_first(&environment).map(str::to_owned));
    let by_word = told.filter(|word| !word.is_empty());
    let by_word = by_word.map(|word| named_in(&word).unwrap_or(CONTAINER));
    named_in(&groups).or(by_word).or_else(|| by_root(&mounts::table()))
}

/// Returns the container manager named in a text.
fn named_in(text: &str) -> Option<&'static str> {
    CONTAINERS.into_iter().find(|word| text.contains(word))
}

/// Returns the container manager in the environment of process 1 (systemd, "Container Interface").
fn told_to_first(environment: &str) -> Option<&str> {
    environment.split('\0').find_map(|one| one.strip_prefix("container="))
}

/// Returns the container manager whose directories make up the root file system.
fn by_root(table: &[Mount]) -> Option<&'static str> {
    let is_overlay = |mount: &&Mount| mount.point == Path::new("/") && mount.kind == "overlay";
    named_in(&table.iter().rfind(is_overlay)?.options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_groups_are_known() {
        assert_eq!(by_product("innotek GmbH VirtualBox Oracle"), Some("virtualbox"));
        assert_eq!(by_product("Microsoft Corporation Virtual Machine"), Some("hyper-v"));
        assert_eq!(by_product("QEMU KVM Virtual Machine "), Some("kvm"));
        assert_eq!(by_product("QEMU QEMU Virtual Machine "), Some("qemu"));
        assert_eq!(by_product("Parallels Parallels ARM Virtual Machine"), Some("parallels"));
        assert_eq!(by_product("Dell Inc. PowerEdge R650"), None);
        assert_eq!(by_product("Amazon EC2 m7g.large Amazon EC2"), Some("kvm"));
        assert_eq!(by_product("Amazon EC2 m7g.metal Amazon EC2"), None);
        assert_eq!(by_tree(" linux,dummy-virt\0"), Some(UNNAMED));
        assert_eq!(by_tree(" raspberrypi,4-model-b\0brcm,bcm2711\0"), None);
        assert_eq!(named_in("0::/docker/12ab"), Some("docker"));
        assert_eq!(named_in("0::/init.scope"), None);
    }

    /// In a pod with a control-group namespace process 1 is in the group `/`, as on some machines
    /// without containers.
    #[test]
    fn a_container_that_sees_no_names_of_groups_is_known_by_its_root_or_what_it_was_told() {
        assert_eq!(named_in("0::/"), None);
        let root = |options: &str| {
            let line = format!("612 571 0:48 / / rw,relatime master:1 - overlay overlay {options}");
            by_root(&mounts::parse(&line))
        };
        let snapshots = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots";
        let pod = format!("rw,lowerdir={snapshots}/7/fs,upperdir={snapshots}/9/fs");
        assert_eq!(root(&pod), Some("containerd"));
        assert_eq!(root("rw,upperdir=/var/lib/docker/overlay2/1f/diff"), Some("docker"));
        assert_eq!(root("rw,upperdir=/var/lib/containers/storage/overlay/2/diff"), Some(CONTAINER));
        assert_eq!(root("rw,lowerdir=/rofs,upperdir=/cow/upper"), None, "a live system");
        let disk = "27 1 8:1 / / rw - ext4 /dev/disk/by-label/docker rw";
        assert_eq!(by_root(&mounts::parse(disk)), None);
        assert_eq!(told_to_first("TERM=linux\0container=lxc\0"), Some("lxc"));
        assert_eq!(told_to_first("SHELL=sh\0mycontainer=lxc\0"), None);
    }

    #[test]
    fn a_container_is_called_by_a_known_word() {
        assert!(container().is_none_or(|name| CONTAINERS.contains(&name)), "{:?}", container());
    }

    #[test]
    fn the_flag_is_a_whole_word() {
        assert!(has_hypervisor_flag("processor: 0\nflags\t\t: fpu hypervisor sse\n"));
        assert!(!has_hypervisor_flag("flags\t: fpu nohypervisors\n"));
        assert!(!has_hypervisor_flag(""));
    }
}
