//! The machine that a result was measured on, as far as it matters to I/O.

use crate::units::Bytes;
use crate::virtualization::{AND, CONTAINERS, NONE, UNKNOWN};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The clock that timed the result, as measured at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Smallest non-zero step between two readings.
    pub precision_ns: f64,
    /// Time that one reading takes.
    pub cost_ns: f64,
}

/// What the result was measured on. Absent fields could not be determined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Kernel name and release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Processor model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Number of processors this process may run on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_count: Option<u32>,
    /// Processor time that a quota allows, in processors, if that is less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// Memory of the machine that this program and its file cache can have: without what is
    /// reserved as huge pages, and of the nodes that it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Size of the kernel's pages, in which its file cache holds files; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_bytes: Option<u64>,
    /// Memory limit the workers ran under, from `--memory` or an enclosing control group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
    /// Type of the file system, such as `ext4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// Mount options of the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_options: Option<String>,
    /// Size of the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system_bytes: Option<u64>,
    /// Free space before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// Block device below the file system, such as `vda`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Vendor and model of the device, as the device reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_model: Option<String>,
    /// Firmware of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_firmware: Option<String>,
    /// Link speed of the device, such as `16.0 GT/s PCIe x4` or `6.0 Gbps`; `USB` if it is on a USB
    /// bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_link: Option<String>,
    /// Kernel command-line parameters about mitigations of processor vulnerabilities, such as
    /// `mitigations=off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mitigations: Option<String>,
    /// I/O scheduler of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Whether the device reports that it rotates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// Loop device below the file system that passes even direct I/O through the file cache, with
    /// its file, such as `loop0 on /image`; `none` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_below: Option<String>,
    /// What control groups let this process read from and write to the devices, such as `sda: reads
    /// up to 20 MB/s`; `none` if they do not limit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_limit: Option<String>,
    /// Read-ahead of the device, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// The kernel's dirty-page settings (`/proc/sys/vm/dirty_*`), as they stand.
    #[serde(default)]
    pub vm_dirty: BTreeMap<String, u64>,
    /// Hypervisor or container, such as `kvm`; `none` on bare metal, `unknown` where a hypervisor's
    /// absence cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualization: Option<String>,
    /// The clock, as measured at start.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub clock: Clock,
    /// Cost of generating and timing one request without any I/O, from the null engine.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub harness_overhead_ns_per_io: f64,
    /// Load average over one minute before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_before: Option<f64>,
    /// Further file systems and devices that were used, in the order named; the fields above
    /// describe the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_places: Vec<OtherPlace>,
    /// Machine, target and options by name, for work that can be continued: these must be the same
    /// when it is. Names of options begin with `--`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub identity: BTreeMap<String, String>,
}

/// A further file system or device that was used. Absent fields could not be determined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherPlace {
    /// The path as named: a directory, a file or a device.
    pub path: String,
    /// Type of the file system, such as `ext4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// Mount options of the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_options: Option<String>,
    /// Size of the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system_bytes: Option<u64>,
    /// Free space before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// Block device below the file system, such as `vda`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Vendor and model of the device, as the device reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_model: Option<String>,
    /// Firmware of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_firmware: Option<String>,
    /// Link speed of the device, such as `16.0 GT/s PCIe x4` or `6.0 Gbps`; `USB` if it is on a USB
    /// bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_link: Option<String>,
    /// I/O scheduler of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Whether the device reports that it rotates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// Read-ahead of the device, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
}

impl OtherPlace {
    /// Returns what `there` says about the place at `path`, without what it says about the machine.
    pub fn of(path: &str, there: Environment) -> Self {
        Self {
            path: path.to_owned(),
            file_system: there.file_system,
            mount_options: there.mount_options,
            file_system_bytes: there.file_system_bytes,
            free_bytes: there.free_bytes,
            device: there.device,
            device_model: there.device_model,
            device_firmware: there.device_firmware,
            device_link: there.device_link,
            scheduler: there.scheduler,
            rotational: there.rotational,
            read_ahead_bytes: there.read_ahead_bytes,
        }
    }
}

/// The name of the memory size in an identity.
const MEMORY: &str = "memory";

/// Returns whether a property has changed.
fn differ(name: &str, was: &str, now: &str) -> bool {
    was != now && !(name == MEMORY && may_be_one(was, now))
}

/// Returns whether two memory sizes, as text, may belong to one machine.
fn may_be_one(was: &str, now: &str) -> bool {
    let bytes = |told: &str| told.strip_suffix(" MiB")?.parse::<u64>().ok()?.checked_mul(1 << 20);
    bytes(was).zip(bytes(now)).is_some_and(|(was, now)| is_near(was, now))
}

/// Returns whether two memory sizes in bytes may belong to one machine. Kernels reserve slightly
/// different amounts, and hypervisors lend some memory to other guests.
fn is_near(was: u64, now: u64) -> bool {
    was.abs_diff(now) <= (was.max(now) / 16).max(256 << 20)
}

impl Environment {
    /// Returns whether there is a hypervisor; a container alone is not one. `None` if unknown.
    pub fn has_hypervisor(&self) -> Option<bool> {
        let is_hypervisor = |name: &str| name != NONE && !CONTAINERS.contains(&name);
        let mut names = self.virtualization.as_deref()?.split(AND);
        let found = names.find(|name| is_hypervisor(name));
        (found != Some(UNKNOWN)).then_some(found.is_some())
    }

    /// Returns what a virtual machine does not see of its disks; `None` where there is none for
    /// sure.
    pub fn unseen_host(&self) -> Option<&'static str> {
        (self.has_hypervisor() == Some(true)).then_some(
            "the host may limit I/O, and serve direct and synchronous requests from its memory, unseen",
        )
    }

    /// Returns how `now` differs from this identity, one phrase per difference. It compares what
    /// both know of machine and target, and the options that `now` names.
    pub fn identity_differences(&self, now: &BTreeMap<String, String>) -> Vec<String> {
        let differs = |(name, now): (&String, &String)| match self.identity.get(name) {
            Some(was) if differ(name, was, now) => Some(format!("{name} was {was} and is {now}")),
            None if name.starts_with("--") => Some(format!("{name} was not given and is {now}")),
            _ => None,
        };
        now.iter().filter_map(differs).collect()
    }

    /// Returns in what the machines of two results differ: the name of each property, its value
    /// here and its value in `other`. It compares what both know of memory, processors and
    /// hypervisor.
    pub fn machines_apart(&self, other: &Self) -> Vec<(&'static str, [String; 2])> {
        let memory = self.memory_bytes.zip(other.memory_bytes);
        let memory = memory.filter(|(ours, theirs)| !is_near(*ours, *theirs));
        let memory =
            memory.map(|(a, b)| (Bytes(a as f64).to_string(), Bytes(b as f64).to_string()));
        let processors = self.processors().zip(other.processors());
        let virtualization =
            |one: &Self| one.has_hypervisor().and_then(|_| one.virtualization.clone());
        let virtualization = virtualization(self).zip(virtualization(other));
        let all =
            [("memory", memory), ("processors", processors), ("virtualization", virtualization)];
        let apart = all.into_iter().filter_map(|(what, both)| Some((what, both?)));
        apart.filter(|(_, (a, b))| a != b).map(|(what, (a, b))| (what, [a, b])).collect()
    }

    /// Returns in what differs how requests get from the file system to the device: the name of each
    /// property, its value here and its value in `other`, if both tell it.
    pub fn ways_apart(&self, other: &Self) -> Vec<(&'static str, [String; 2])> {
        let is_comparable = self.schedules_like(other);
        let all = [
            (
                "scheduler",
                [&self.scheduler, &other.scheduler].map(|it| it.as_ref().filter(|_| is_comparable)),
            ),
            ("loop device that caches", [self.cached_below.as_ref(), other.cached_below.as_ref()]),
            ("I/O limit of a control group", [self.io_limit.as_ref(), other.io_limit.as_ref()]),
        ];
        let apart = all.into_iter().filter_map(|(what, [a, b])| Some((what, [a?, b?])));
        apart
            .filter(|(_, [a, b])| a != b)
            .map(|(what, both)| (what, both.map(Clone::clone)))
            .collect()
    }

    /// Returns whether its scheduler can be compared with that of `other`. Older documents, without
    /// `cached_below`, name that of a volume (LVM, LUKS) itself, and later ones its drive's.
    fn schedules_like(&self, other: &Self) -> bool {
        let is_volume = |one: &Self| one.device.as_ref().is_some_and(|d| d.starts_with("dm-"));
        let is_as_old = self.cached_below.is_some() == other.cached_below.is_some();
        is_as_old || !(is_volume(self) || is_volume(other))
    }

    /// Returns the number of processors, and how much of their time a quota allows, in words.
    pub fn processors(&self) -> Option<String> {
        let count = self.cpu_count?;
        Some(match self.cpu_quota {
            Some(quota) => format!("{count}, of which a quota allows {quota:.2}"),
            None => count.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtualization::CONTAINER;

    #[test]
    fn differences_are_named() {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let identity = map(&[("memory", "1"), ("--seed", "1"), ("target", "/a")]);
        let was = Environment { identity, ..Environment::default() };
        let differences = |now| was.identity_differences(&map(now));
        assert!(differences(&[("memory", "1"), ("--seed", "1"), ("machine", "x")]).is_empty());
        assert_eq!(
            differences(&[("target", "/b"), ("--direct", "true")]),
            ["--direct was not given and is true", "target was /a and is /b"]
        );
    }

    /// Guards against a defect: a guest that had got eight times the memory and processors was
    /// taken for the one evaluated.
    #[test]
    fn a_machine_of_another_size_or_hypervisor_is_told() {
        let small = Environment {
            memory_bytes: Some(8 << 30),
            cpu_count: Some(2),
            virtualization: Some("kvm".to_owned()),
            ..Environment::default()
        };
        let large = Environment {
            memory_bytes: Some(64 << 30),
            cpu_quota: Some(1.5),
            virtualization: Some("vmware".to_owned()),
            ..small.clone()
        };
        let told = small.machines_apart(&large);
        assert_eq!(told.len(), 3);
        assert_eq!(told[0], ("memory", ["8 GiB", "64 GiB"].map(str::to_owned)));
        assert_eq!(told[1].1[1], "2, of which a quota allows 1.50");
        let near = Environment { memory_bytes: Some((8 << 30) - (200 << 20)), ..small.clone() };
        let virtualization = Some("unknown".to_owned());
        let untold = Environment { virtualization, ..small.clone() };
        for same in [small.clone(), near, untold, Environment::default()] {
            assert!(small.machines_apart(&same).is_empty(), "{same:?}");
        }
    }

    /// Guards against refusing the same machine under a kernel that reserves 8 MiB more, so that
    /// its memory is rounded differently.
    #[test]
    fn a_little_less_memory_is_no_other_machine() {
        let with = |memory: &str| [(MEMORY.to_owned(), memory.to_owned())].into();
        let differs = |was: &str, now: &str| {
            let was = Environment { identity: with(was), ..Environment::default() };
            !was.identity_differences(&with(now)).is_empty()
        };
        assert!(!differs("15872 MiB", "15616 MiB") && !differs("1024 MiB", "768 MiB"));
        assert!(differs("16128 MiB", "8192 MiB") && differs("1024 MiB", "512 MiB"));
        assert!(differs("1", "2"), "of whatever unit");
    }

    #[test]
    fn a_container_is_no_hypervisor() {
        let of = |virtualization: Option<&str>| {
            let virtualization = virtualization.map(str::to_owned);
            let told = Environment { virtualization, ..Environment::default() };
            assert_eq!(told.unseen_host().is_some(), told.has_hypervisor() == Some(true));
            told.has_hypervisor()
        };
        for bare in [NONE, "docker", "podman", "kubepods", "lxc", "containerd", CONTAINER] {
            assert_eq!(of(Some(bare)), Some(false), "{bare}");
        }
        for virtual_machine in ["kvm", "kvm, docker", "unknown hypervisor"] {
            assert_eq!(of(Some(virtual_machine)), Some(true), "{virtual_machine}");
        }
        for untold in [None, Some(UNKNOWN), Some("unknown, docker")] {
            assert_eq!(of(untold), None, "{untold:?}");
        }
    }
}
