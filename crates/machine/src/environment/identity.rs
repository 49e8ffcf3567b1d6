//! Identifies the machine and place of a result by properties that survive a reboot.

use crate::cgroup::{enclosing_limit, shows_limits};
use crate::device::BlockDevice;
use crate::memory::memory;
use crate::mounts::{self, FileSystemInfo};
use crate::text;
use ioscape_schema::units::Bytes;
use ioscape_schema::virtualization::NONE;
use rustix::fs::FileType;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Names of properties with their values as text.
pub type Identity = BTreeMap<String, String>;

/// File systems whose number is that of their device, which may change at another boot or in
/// another pod (kernel: their `statfs`).
const NUMBERED_BY_DEVICE: [&str; 6] = ["xfs", "f2fs", "nilfs2", "vfat", "exfat", "udf"];

/// Property name of a device identifier that holds wherever the device is attached; it follows the
/// place's label.
const DEVICE_IDENTIFIER: &str = "'s device identifier";

/// Memory is rounded to this unit, since kernels reserve slightly different amounts.
const MEMORY_UNIT: u64 = 256 << 20;

/// Returns everything that must be unchanged when work is continued: this machine, `places` by
/// their labels, and `more`.
pub fn of_work<'a>(
    places: impl IntoIterator<Item = (String, &'a Path)>,
    more: Identity,
) -> Identity {
    let mut all = of_machine();
    all.extend(places.into_iter().flat_map(|(label, path)| of_place(&label, path)));
    all.extend(more);
    all
}

/// Returns this machine's identity: a hash of its id, its processors, its memory, and the limit that
/// control groups set on it. Unknown properties are absent.
pub fn of_machine() -> Identity {
    let mut found = Identity::new();
    let number = ["/etc/machine-id", "/var/lib/dbus/machine-id"].into_iter().find_map(text::read);
    if let Some(number) = number.filter(|number| !number.trim().is_empty()) {
        // Results are shared, and the id itself is documented as confidential.
        found.insert("machine".to_owned(), format!("{:016x}", hash(number.trim().as_bytes())));
    }
    let info = text::read("/proc/cpuinfo").unwrap_or_default();
    if let Some(model) = super::cpu_model(&info) {
        found.insert("processor".to_owned(), model);
    }
    if let Ok(count) = std::thread::available_parallelism() {
        found.insert("processors".to_owned(), count.to_string());
    }
    let units = (memory().total + MEMORY_UNIT / 2) / MEMORY_UNIT;
    found.insert("memory".to_owned(), format!("{} MiB", units * (MEMORY_UNIT >> 20)));
    if let Some(limit) = limit_in_words(enclosing_limit(), shows_limits("memory")) {
        found.insert("memory limit".to_owned(), limit);
    }
    found
}

/// Returns a memory limit in words; `None` if there may be one that does not show.
fn limit_in_words(limit: Option<u64>, shows: bool) -> Option<String> {
    let none = shows.then(|| NONE.to_owned());
    limit.map(|bytes| Bytes(bytes as f64).to_string()).or(none)
}

/// Returns the identity of the directory, file or device at `path`, with property names that begin
/// with `label`.
pub fn of_place(label: &str, path: &Path) -> Identity {
    let mut found = Identity::new();
    let mut put = |what: &str, value: String| {
        found.insert(format!("{label}{what}"), value);
    };
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    put("", real.display().to_string());
    let Ok(state) = rustix::fs::stat(&real) else { return found };
    if FileType::from_raw_mode(state.st_mode) == FileType::BlockDevice {
        let (major, minor) = mounts::split(state.st_rdev);
        match BlockDevice::at((major, minor)).as_ref().and_then(identifier) {
            Some(own) => put(DEVICE_IDENTIFIER, own),
            None => put("'s device number", format!("{major}:{minor}")),
        }
        return found;
    }
    put("'s inode", state.st_ino.to_string());
    let mount = File::open(&real).ok().and_then(|file| mounts::of(&file, &real));
    if let Some(system) = mount.map(|mount| mounts::describe(&mount)) {
        if let Some((what, value)) = told_apart(&system, &real, Path::new("/sys")) {
            put(what, value);
        }
        put("'s file system", system.name);
        put("'s mount options", system.mount_options);
    }
    found
}

/// Returns what distinguishes the file system of `path` from another one in its place. That is its
/// own number, or else its device's lasting identifier, as the kernel shows it below `sys`. `None`
/// if it has no such identifier.
fn told_apart(system: &FileSystemInfo, path: &Path, sys: &Path) -> Option<(&'static str, String)> {
    if has_lasting_number(&system.name) {
        let state = rustix::fs::statvfs(path).ok()?;
        return Some(("'s file system number", format!("{:x}", state.f_fsid)));
    }
    let device = BlockDevice::below(sys, system.device)?;
    Some((DEVICE_IDENTIFIER, identifier(&device)?))
}

/// Returns a hash of a device's lasting identifier, which may contain a serial number.
fn identifier(device: &BlockDevice) -> Option<String> {
    device.identifier().map(|own| format!("{:016x}", hash(own.as_bytes())))
}

/// Returns whether file systems of this kind have the same number wherever they are mounted.
fn has_lasting_number(kind: &str) -> bool {
    !NUMBERED_BY_DEVICE.contains(&kind)
}

/// Returns a hash that is the same on every machine and in every version: FNV-1a (Fowler, Noll &
/// Vo), 64 bits.
pub fn hash(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn places_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let one = of_place("target", dir.path());
        assert_eq!(one, of_place("target", &dir.path().join(".")));
        let two = of_place("target", other.path());
        assert_ne!(one["target"], two["target"]);
        assert_ne!(one["target's inode"], two["target's inode"]);
        let number = "target's file system number";
        assert_eq!(one.get(number), two.get(number));
        assert_eq!(one.contains_key(number), has_lasting_number(&one["target's file system"]));
        assert!(of_machine().contains_key("memory"));
    }

    /// Guards against a defect: an evaluation that began in a pod of 512 MiB went on in one of
    /// 8 GiB, and its result held the caches of both.
    #[test]
    fn a_pod_with_another_memory_limit_is_another_machine() {
        let told = |limit, shows| limit_in_words(limit, shows).unwrap_or_default();
        assert_eq!([told(Some(512 << 20), true), told(Some(8 << 30), false)], ["512 MiB", "8 GiB"]);
        assert_eq!([told(None, true), told(None, false)], ["none", ""]);
        let is_told = enclosing_limit().is_some() || shows_limits("memory");
        assert_eq!(of_machine().contains_key("memory limit"), is_told);
    }

    /// Guards against taking a volume for another file system after its pod restarted and attached
    /// it as another device.
    #[test]
    fn a_number_that_is_the_devices_says_nothing_of_a_file_system() {
        assert!(!has_lasting_number("xfs") && !has_lasting_number("f2fs"));
        assert!(has_lasting_number("ext4") && has_lasting_number("btrfs"), "of its UUID");
    }

    /// Guards against continuing work from the XFS of one disk on that of another disk, mounted in
    /// the same place.
    #[test]
    fn file_systems_without_a_lasting_number_are_told_apart_by_their_devices() {
        let sys = tempfile::tempdir().unwrap();
        let of = |minor, wwid: &str| {
            let device = sys.path().join(format!("dev/block/8:{minor}"));
            std::fs::create_dir_all(&device).unwrap();
            std::fs::write(device.join("wwid"), wwid).unwrap();
            let (name, device) = ("xfs".to_owned(), (8, minor));
            let system = FileSystemInfo { name, device, ..FileSystemInfo::default() };
            told_apart(&system, sys.path(), sys.path())
        };
        let first = of(0, "naa.5000c500\n");
        assert_eq!(first.as_ref().map(|told| told.0), Some(DEVICE_IDENTIFIER));
        assert_ne!(first, of(16, "naa.5000c511\n"));
        assert_eq!(first, of(32, "naa.5000c500\n"), "attached again as another device");
        assert_eq!(of(48, "\n"), None, "its device has no name");
    }
}
