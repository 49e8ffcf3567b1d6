//! The machine that a result was measured on, as far as it matters to I/O.

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
    /// Memory of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
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

/// Returns whether two memory sizes, as text, may belong to one machine. Kernels reserve slightly
/// different amounts, and hypervisors lend some memory to other guests.
fn may_be_one(was: &str, now: &str) -> bool {
    let mib = |told: &str| told.strip_suffix(" MiB")?.parse::<u64>().ok();
    let is_near = |(was, now): (u64, u64)| was.abs_diff(now) <= (was.max(now) / 16).max(256);
    mib(was).zip(mib(now)).is_some_and(is_near)
}

impl Environment {
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
