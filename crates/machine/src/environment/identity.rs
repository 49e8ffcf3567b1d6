//! Which machine and which place a result belongs to, by what lasts from one boot to the next.

use crate::memory::memory;
use crate::mounts;
use crate::text;
use rustix::fs::FileType;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Names of properties with their values as text.
pub type Identity = BTreeMap<String, String>;

/// Memory is told in these units, since kernels keep somewhat different parts of it for themselves.
const MEMORY_UNIT: u64 = 256 << 20;

/// All that must be the same when work is continued: this machine, `places` by their labels, and `more`.
pub fn of_work<'a>(
    places: impl IntoIterator<Item = (String, &'a Path)>,
    more: Identity,
) -> Identity {
    let mut all = of_machine();
    all.extend(places.into_iter().flat_map(|(label, path)| of_place(&label, path)));
    all.extend(more);
    all
}

/// This machine: a hash of its number, its processors and its memory. What cannot be asked is absent.
pub fn of_machine() -> Identity {
    let mut found = Identity::new();
    let number = ["/etc/machine-id", "/var/lib/dbus/machine-id"].into_iter().find_map(text::read);
    if let Some(number) = number.filter(|number| !number.trim().is_empty()) {
        // Results are shared, and the number itself is said to be confidential.
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
    found
}

/// The directory, file or device at `path`, whose properties are called after `label`.
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
        put("'s device number", format!("{major}:{minor}"));
        return found;
    }
    put("'s inode", state.st_ino.to_string());
    if let Ok(system) = rustix::fs::statvfs(&real) {
        put("'s file system number", format!("{:x}", system.f_fsid));
    }
    let mount = File::open(&real).ok().and_then(|file| mounts::of(&file, &real));
    if let Some(system) = mount.map(|mount| mounts::describe(&mount)) {
        put("'s file system", system.name);
        put("'s mount options", system.mount_options);
    }
    found
}

/// A short name for bytes that is the same on every machine and in every version: FNV-1a (Fowler, Noll & Vo), 64 bits.
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
        assert_eq!(one["target's file system number"], two["target's file system number"]);
        assert!(of_machine().contains_key("memory"));
    }
}
