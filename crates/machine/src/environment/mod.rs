//! Describes the machine, as far as it matters to I/O.

pub mod identity;
mod virtualization;

use crate::cache::page_size;
use crate::cgroup::{self, Traffic};
use crate::device::BlockDevice;
use crate::layers::{cached_below, disks_below, io_limits};
use crate::load;
use crate::memory::{memory, vm_dirty};
use crate::mounts::{self, FileSystemInfo};
use crate::parallel::allowed;
use crate::target::Target;
use crate::text;
use ioscape_schema::virtualization::NONE;
use ioscape_schema::{Environment, OtherPlace};
use std::path::Path;

/// Returns everything about the machine except the clock and the harness's own cost.
///
/// `memory_limit` is the workers' memory limit in bytes; if a lower one already applies, that is
/// reported instead.
pub fn capture(target: &Target, memory_limit: Option<u64>) -> Environment {
    let on = capture_on(target.file_system());
    Environment {
        memory_limit_bytes: memory_limit.into_iter().chain(on.memory_limit_bytes).min(),
        file_system_bytes: Some(target.total_bytes()).filter(|bytes| *bytes > 0),
        free_bytes: Some(target.free_bytes()).filter(|bytes| *bytes > 0),
        read_ahead_bytes: read_ahead(target).or(on.read_ahead_bytes),
        ..on
    }
}

/// Returns what is known of a file system or device without a file on it.
pub fn capture_on(file_system: &FileSystemInfo) -> Environment {
    let device = BlockDevice::at(file_system.device);
    let queue = |setting| device.as_ref().and_then(|device| device.queue(setting));
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let or_none = |text: String| known(&text).unwrap_or_else(|| NONE.to_owned());
    let below = disks_below(file_system);
    let cached = || or_none(cached_below(file_system, &below).unwrap_or_default());
    Environment {
        file_system: known(&file_system.name),
        mount_options: known(&file_system.mount_options),
        device: device.as_ref().map(BlockDevice::name),
        device_model: device.as_ref().and_then(BlockDevice::model),
        device_firmware: device.as_ref().and_then(BlockDevice::firmware),
        device_link: device.as_ref().and_then(BlockDevice::link),
        // Devices that only pass requests on schedule none.
        scheduler: device
            .as_ref()
            .and_then(|device| device.drive().queue("scheduler"))
            .and_then(|line| chosen(&line)),
        rotational: queue("rotational").map(|flag| flag == "1"),
        cached_below: device.as_ref().map(|_| cached()),
        io_limit: io_limits(file_system, &below, Traffic::ALL).map(or_none),
        read_ahead_bytes: queue("read_ahead_kb").and_then(kib),
        ..machine(None)
    }
}

/// Describes several places by their paths: the first one in full, of the others only each file
/// system or device, once.
pub fn capture_on_all<'a>(
    places: impl IntoIterator<Item = (&'a Path, &'a FileSystemInfo)>,
) -> Option<Environment> {
    let mut seen: Vec<&FileSystemInfo> = Vec::new();
    let mut all: Option<Environment> = None;
    for (path, file_system) in places {
        if seen.contains(&file_system) {
            continue;
        }
        seen.push(file_system);
        let here = capture_on(file_system);
        match &mut all {
            None => all = Some(here),
            Some(first) => {
                first.other_places.push(OtherPlace::of(&path.display().to_string(), here));
            }
        }
    }
    all
}

/// Describes the machine without a target: processors, memory, kernel and its settings.
pub fn machine(memory_limit: Option<u64>) -> Environment {
    let system = rustix::system::uname();
    Environment {
        kernel: Some(format!(
            "{} {}",
            system.sysname().to_string_lossy(),
            system.release().to_string_lossy()
        )),
        cpu_model: cpu_model(&text::read("/proc/cpuinfo").unwrap_or_default()),
        cpu_count: allowed().try_into().ok(),
        cpu_quota: cgroup::Quota::tight().map(|quota| quota.processors),
        memory_bytes: Some(memory().total).filter(|bytes| *bytes > 0),
        page_bytes: Some(page_size()),
        memory_limit_bytes: memory_limit.into_iter().chain(cgroup::enclosing_limit()).min(),
        mitigations: text::read("/proc/cmdline").and_then(|line| mitigations(&line)),
        vm_dirty: vm_dirty(),
        virtualization: virtualization::detect(),
        load_before: load::load_average(),
        ..Environment::default()
    }
}

/// Returns the name of this machine.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the parameters about mitigations in a kernel command line (kernel-parameters.txt of
/// Linux 6.12).
fn mitigations(line: &str) -> Option<String> {
    const NAMES: [&str; 18] = [
        "mitigations",
        "nopti",
        "pti",
        "nospectre_v1",
        "nospectre_v2",
        "spectre_v2",
        "spectre_v2_user",
        "spectre_bhi",
        "spec_store_bypass_disable",
        "nospec_store_bypass_disable",
        "l1tf",
        "mds",
        "tsx_async_abort",
        "mmio_stale_data",
        "retbleed",
        "srbds",
        "spec_rstack_overflow",
        "gather_data_sampling",
    ];
    let kernel = line.split(" -- ").next().unwrap_or_default().split_whitespace();
    let of_these = |word: &&str| NAMES.contains(&word.split('=').next().unwrap_or_default());
    let found: Vec<&str> = kernel.filter(of_these).collect();
    (!found.is_empty()).then(|| found.join(" "))
}

fn kib(text: String) -> Option<u64> {
    text.parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the read-ahead below the target; file systems without a device have one too.
fn read_ahead(target: &Target) -> Option<u64> {
    let device = if target.file_system().name == "block" {
        target.file_system().device
    } else {
        let state = rustix::fs::fstat(target.file()).ok()?;
        mounts::split(state.st_dev)
    };
    let path = format!("/sys/class/bdi/{}:{}/read_ahead_kb", device.0, device.1);
    text::read(path).and_then(kib)
}

/// Returns the entry in brackets: `mq-deadline` of `none [mq-deadline]`; a single entry needs none.
fn chosen(line: &str) -> Option<String> {
    let bracketed = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let name = bracketed.map_or(line, |(name, _)| name).trim();
    (!name.is_empty() && !name.contains(' ')).then(|| name.to_owned())
}

/// Returns the processor's name; each architecture has its own key for it.
fn cpu_model(info: &str) -> Option<String> {
    ["model name", "Model", "cpu model", "Processor", "cpu", "uarch", "CPU part"].iter().find_map(
        |name| {
            let mut pairs = info.lines().filter_map(|line| line.split_once(':'));
            let value = pairs.find(|(key, _)| key.trim() == *name)?.1.trim();
            (!value.is_empty()).then(|| value.to_owned())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_scheduler_is_in_brackets() {
        assert_eq!(chosen("[none] mq-deadline").as_deref(), Some("none"));
        assert_eq!(chosen("mq-deadline kyber [bfq] none").as_deref(), Some("bfq"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(chosen(""), None);
        assert_eq!(chosen("a b"), None);
    }

    #[test]
    fn the_processor_is_named_on_each_architecture() {
        let x86 = "processor\t: 0\nmodel\t\t: 7\nmodel name\t: Fast: One\n";
        assert_eq!(cpu_model(x86).as_deref(), Some("Fast: One"));
        let arm = "processor\t: 0\nCPU part\t: 0xd0c\n\nModel\t\t: Raspberry Pi\n";
        assert_eq!(cpu_model(arm).as_deref(), Some("Raspberry Pi"));
        assert_eq!(cpu_model("processor: 0"), None);
    }

    #[test]
    fn mitigations_are_told_from_other_parameters() {
        let line = "quiet mitigations=auto,nosmt root=/dev/sda1 nopti -- mds=off";
        assert_eq!(mitigations(line).as_deref(), Some("mitigations=auto,nosmt nopti"));
        assert_eq!(mitigations("quiet ptitle=1"), None);
    }

    #[test]
    fn the_environment_of_a_directory_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::open(dir.path(), &Default::default()).unwrap();
        let environment = capture(&target, Some(1 << 20));
        assert!(environment.kernel.unwrap().starts_with("Linux "));
        let count = environment.cpu_count.unwrap();
        assert!(count > 0 && environment.cpu_quota.is_none_or(|quota| quota < f64::from(count)));
        assert_eq!(environment.memory_limit_bytes, Some(1 << 20));
        assert_eq!(environment.file_system.unwrap(), target.file_system().name);
        assert!(environment.free_bytes <= environment.file_system_bytes);
        assert!(environment.vm_dirty.contains_key("dirty_ratio"));
        assert!(environment.virtualization.is_some());
        assert_eq!(environment.device.is_some(), target.file_system().has_device);
    }
}
