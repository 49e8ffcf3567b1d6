//! What the machine itself runs in: a hypervisor, a container, or neither.

use crate::text;
use ioscape_schema::Environment;
use std::path::Path;

/// What is said where nothing indicates a hypervisor or a container.
const NONE: &str = "none";

/// What stands between a hypervisor and a container.
const AND: &str = ", ";

/// Containers, by the words that their managers leave in the names of control groups; the first that is found counts.
const CONTAINERS: [&str; 5] = ["kubepods", "docker", "lxc", "containerd", "podman"];

/// Hypervisor and container, such as `kvm` or `kvm, docker`; `none` where nothing indicates one.
pub(super) fn detect() -> Option<String> {
    let found: Vec<&str> = [hypervisor(), container()].into_iter().flatten().collect();
    Some(if found.is_empty() { NONE.to_owned() } else { found.join(AND) })
}

/// Whether there is a hypervisor beneath the machine that `environment` describes: a container alone is none. `None` where that is not known.
pub fn has_hypervisor(environment: &Environment) -> Option<bool> {
    let is_hypervisor = |name: &str| name != NONE && !CONTAINERS.contains(&name);
    Some(environment.virtualization.as_deref()?.split(AND).any(is_hypervisor))
}

fn hypervisor() -> Option<&'static str> {
    let dmi = ["sys_vendor", "product_name", "board_vendor"]
        .map(|name| text::read(Path::new("/sys/class/dmi/id").join(name)).unwrap_or_default());
    let flagged = text::read("/proc/cpuinfo").is_some_and(|info| has_hypervisor_flag(&info));
    let xen = text::read("/sys/hypervisor/type").filter(|kind| kind == "xen").map(|_| "xen");
    let answer = signature().or(xen);
    answer.or_else(|| by_product(&dmi.join(" "))).or(flagged.then_some("unknown hypervisor"))
}

/// The hypervisor's own answer to the processor's identification instruction.
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

/// The hypervisor that a machine of this maker and product name is made by.
fn by_product(names: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 10] = [
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("Virtual Machine", "hyper-v"),
        ("Google Compute Engine", "kvm"),
        ("OpenStack", "kvm"),
        ("KVM", "kvm"),
        ("QEMU", "qemu"),
        ("Xen", "xen"),
        ("Parallels", "parallels"),
        ("Apple Virtualization", "apple"),
    ];
    KNOWN.iter().find(|(word, _)| names.contains(word)).map(|(_, hypervisor)| *hypervisor)
}

fn container() -> Option<&'static str> {
    if Path::new("/run/.containerenv").exists() {
        return Some("podman");
    }
    if Path::new("/.dockerenv").exists() {
        return Some("docker");
    }
    by_group(&text::read("/proc/1/cgroup")?)
}

/// The container manager that gave process 1 its control groups.
fn by_group(groups: &str) -> Option<&'static str> {
    CONTAINERS.into_iter().find(|word| groups.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_groups_are_known() {
        assert_eq!(by_product("innotek GmbH VirtualBox Oracle"), Some("virtualbox"));
        assert_eq!(by_product("Microsoft Corporation Virtual Machine"), Some("hyper-v"));
        assert_eq!(by_product("Dell Inc. PowerEdge R650"), None);
        assert_eq!(by_group("0::/docker/12ab"), Some("docker"));
        assert_eq!(by_group("0::/init.scope"), None);
    }

    #[test]
    fn a_container_is_no_hypervisor() {
        let of = |virtualization: Option<&str>| {
            let virtualization = virtualization.map(str::to_owned);
            has_hypervisor(&Environment { virtualization, ..Environment::default() })
        };
        for bare in [NONE, "docker", "podman", "kubepods", "lxc", "containerd"] {
            assert_eq!(of(Some(bare)), Some(false), "{bare}");
        }
        for virtual_machine in ["kvm", "kvm, docker", "unknown hypervisor"] {
            assert_eq!(of(Some(virtual_machine)), Some(true), "{virtual_machine}");
        }
        assert_eq!(of(None), None);
        assert!(container().is_none_or(|name| CONTAINERS.contains(&name)), "{:?}", container());
    }

    #[test]
    fn the_flag_is_a_whole_word() {
        assert!(has_hypervisor_flag("processor: 0\nflags\t\t: fpu hypervisor sse\n"));
        assert!(!has_hypervisor_flag("flags\t: fpu nohypervisors\n"));
        assert!(!has_hypervisor_flag(""));
    }
}
