//! The state of the machine's memory, and the kernel's settings for dirty pages.

use crate::{affinity, text};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Warning, WarningKind};
use std::collections::BTreeMap;
use std::path::Path;

/// Where the kernel describes the nodes of a NUMA machine, and its huge pages.
const NODES: &str = "/sys/devices/system/node";
const HUGE_PAGES: &str = "/sys/kernel/mm/hugepages";

/// Share by which total memory may vary without having changed.
const CHANGED: f64 = 0.02;

/// The machine's memory at one moment, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// All memory of the machine.
    pub installed: u64,
    /// Memory that this program and its file cache can have: without what is reserved as huge
    /// pages, and of the nodes that it may use.
    pub total: u64,
    /// Memory that new programs could get without swapping.
    pub available: u64,
    /// Unused memory, of the nodes that this program may use.
    pub free: u64,
    /// The file cache.
    pub cached: u64,
    /// Dirty pages, without those under write-back.
    pub dirty: u64,
    /// Dirty bytes at which writers are throttled (`vm.dirty_bytes` or `vm.dirty_ratio`).
    pub dirty_threshold_bytes: u64,
}

/// Reads the state of the memory; unknown values are 0. Without `/proc` the kernel still reports
/// total and free memory.
pub fn memory() -> Memory {
    let Some(info) = text::read("/proc/meminfo") else { return without_proc() };
    let bytes = |name| text::field(&info, name).unwrap_or(0) * 1024;
    let (installed, available) = (bytes("MemTotal"), bytes("MemAvailable"));
    let of_machine = without_proc().installed;
    let unreserved = unreserved(installed, of_machine, reserved(Path::new(HUGE_PAGES)));
    // A container may be told less than the nodes have, too.
    let of_nodes = of_nodes(Path::new(NODES), &nodes()).unwrap_or([u64::MAX; 2]);
    let [total, free] = [unreserved.min(of_nodes[0]), bytes("MemFree").min(of_nodes[1])];
    Memory {
        installed,
        total,
        available: available.min(total),
        free,
        cached: bytes("Cached"),
        dirty: bytes("Dirty"),
        dirty_threshold_bytes: dirty_threshold(&vm_dirty(), available),
    }
}

/// Returns the warning that total memory was `was` bytes and is `now`; `None` if they are alike, or
/// unknown (0).
pub fn doubt_of_change(was: u64, now: u64) -> Option<Warning> {
    let is_known = was > 0 && now > 0;
    (is_known && was.abs_diff(now) as f64 > CHANGED * was as f64).then(|| {
        let [was, now] = [was, now].map(|bytes| Bytes(bytes as f64));
        let message = format!(
            "the memory of this machine changed from {was} to {now} meanwhile (a balloon, hot-plug or huge pages): the size of the file cache, and what is predicted for other memory, may be of either; keep the memory fixed and measure again"
        );
        Warning::new(WarningKind::Drift, message)
    })
}

/// Reads sysinfo(2). It does not report the file cache, which could be reclaimed, so available
/// memory is too low.
fn without_proc() -> Memory {
    let found = rustix::system::sysinfo();
    let bytes = |count: u64| count.saturating_mul(u64::from(found.mem_unit).max(1));
    let free = bytes(found.freeram.saturating_add(found.bufferram));
    let installed = bytes(found.totalram);
    Memory { installed, total: installed, available: free, free, ..Memory::default() }
}

/// Returns the nodes that this program may take memory from, by its control group and by its own
/// policy; empty if the kernel does not tell.
fn nodes() -> Vec<usize> {
    let status = text::read("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    let mut nodes = text::list(list.unwrap_or_default());
    if let Some(bound) = affinity::bound_nodes() {
        nodes.retain(|node| bound.contains(node));
    }
    nodes
}

/// Returns the part of the memory `told` that huge pages leave. A container may be told its own
/// memory, but the machine's huge pages, which are no part of it.
fn unreserved(told: u64, of_machine: u64, reserved: u64) -> u64 {
    of_machine.checked_sub(reserved).map_or(told, |left| told.min(left))
}

/// Returns total memory without huge pages, and free memory, of those of the nodes in `directory`
/// that are `allowed`; `None` if these are all, or if the kernel does not tell.
fn of_nodes(directory: &Path, allowed: &[usize]) -> Option<[u64; 2]> {
    let all = text::list(&text::read(directory.join("has_memory"))?);
    let ours: Vec<usize> = all.iter().copied().filter(|node| allowed.contains(node)).collect();
    if ours.is_empty() || ours.len() == all.len() {
        return None;
    }
    let mut sums = [0; 2];
    for node in ours {
        let node = directory.join(format!("node{node}"));
        let info = text::read(node.join("meminfo"))?;
        let bytes = |name| {
            let (_, rest) = info.split_once(name)?;
            Some(rest.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
        };
        sums[0] += bytes("MemTotal:")?.saturating_sub(reserved(&node.join("hugepages")));
        sums[1] += bytes("MemFree:")?;
    }
    Some(sums)
}

/// Returns the bytes that are reserved as huge pages of all sizes, used or not, by the kernel's
/// `directory` of them.
fn reserved(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let of_size = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let kb: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        Some(text::read_number(entry.path().join("nr_hugepages"))? * kb * 1024)
    };
    entries.filter_map(of_size).sum()
}

/// Returns the dirty bytes at which writers are throttled, from the settings (kernel documentation,
/// admin-guide/sysctl/vm).
fn dirty_threshold(settings: &BTreeMap<String, u64>, available: u64) -> u64 {
    let setting = |name: &str| settings.get(name).copied().unwrap_or(0);
    match setting("dirty_bytes") {
        0 => (u128::from(available) * u128::from(setting("dirty_ratio")) / 100) as u64,
        bytes => bytes,
    }
}

/// Returns the kernel's dirty-page settings by name, such as `dirty_ratio`.
pub(crate) fn vm_dirty() -> BTreeMap<String, u64> {
    let entries = std::fs::read_dir("/proc/sys/vm").into_iter().flatten().flatten();
    let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry));
    let dirty = named.filter(|(name, _)| name.starts_with("dirty"));
    dirty.filter_map(|(name, entry)| Some((name, text::read_number(entry.path())?))).collect()
}

/// Makes the allocator return larger freed blocks to the kernel at once, and keep none per thread.
/// A bound on the memory in use then bounds the process's size, at some cost in time. Call it
/// before there are threads.
#[allow(unsafe_code, reason = "settings of the C library's allocator")]
pub fn keep_nothing_freed() {
    #[cfg(target_env = "gnu")]
    {
        const PIECE: libc::c_int = 64 << 10;
        for (setting, value) in [
            (libc::M_ARENA_MAX, 1),
            (libc::M_MMAP_THRESHOLD, PIECE),
            (libc::M_TRIM_THRESHOLD, PIECE),
        ] {
            // SAFETY: sets a parameter of the allocator; one that it rejects changes nothing.
            unsafe { libc::mallopt(setting, value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_of_memory_without_proc() {
        let (plain, bare) = (memory(), without_proc());
        assert!(bare.total > 0 && bare.available <= bare.total, "{bare:?}");
        // A container's memory limit may affect one figure and not the other.
        assert!(plain.total <= bare.total.next_multiple_of(1 << 20), "{plain:?} {bare:?}");
    }

    #[test]
    fn a_balloon_that_takes_memory_is_told_and_what_the_kernel_takes_for_itself_is_not() {
        assert_eq!(doubt_of_change(24 << 30, (24 << 30) - (100 << 20)), None);
        assert_eq!([doubt_of_change(0, 1 << 30), doubt_of_change(1 << 30, 0)], [None, None]);
        let told = doubt_of_change(24 << 30, 12 << 30).expect("a doubt").message;
        assert!(told.contains("changed from 24 GiB to 12 GiB meanwhile"), "{told}");
    }

    #[test]
    fn the_dirty_threshold_follows_bytes_before_ratio() {
        let mut settings = BTreeMap::from([("dirty_ratio".to_owned(), 20)]);
        assert_eq!(dirty_threshold(&settings, 1000), 200);
        settings.insert("dirty_bytes".to_owned(), 0);
        assert_eq!(dirty_threshold(&settings, 1000), 200);
        settings.insert("dirty_bytes".to_owned(), 77);
        assert_eq!(dirty_threshold(&settings, 1000), 77);
    }

    /// Writes a file of this text, with the directories above it.
    fn put(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Guards against a server with 448 of 512 GiB in huge pages, or a job on one of its nodes,
    /// whose file cache counted as 512 GiB.
    #[test]
    fn the_file_cache_gets_no_huge_pages_and_nothing_of_other_nodes() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        put(&at("has_memory"), "0,2-3\n");
        for node in [0, 2, 3] {
            let text = format!(
                "Node {node} MemTotal:       1000 kB\nNode {node} MemFree:        {node}00 kB\n"
            );
            put(&at(&format!("node{node}/meminfo")), &text);
        }
        put(&at("node2/hugepages/hugepages-2kB/nr_hugepages"), "100\n");
        put(&at("node2/hugepages/hugepages-16kB/nr_hugepages"), "10\n");
        put(&at("node2/hugepages/other"), "7\n");
        assert_eq!(reserved(&at("node2/hugepages")), 360 * 1024);
        assert_eq!(reserved(&at("none")), 0);
        let of = |allowed: &[usize]| of_nodes(place.path(), allowed);
        assert_eq!(of(&[2]), Some([640 << 10, 200 << 10]));
        assert_eq!(of(&[0, 1, 2]), Some([1640 << 10, 200 << 10]));
        assert_eq!([of(&[0, 1, 2, 3]), of(&[])], [None, None]);
        assert_eq!(of_nodes(&at("none"), &[0]), None);
        assert!(!nodes().is_empty(), "Linux tells");
    }

    /// Guards against a container of 16 GiB that had 8 once its programs used half: the huge pages
    /// are of its host's 64.
    #[test]
    fn a_container_loses_nothing_to_the_huge_pages_of_its_host() {
        let gib =
            |told: u64, of_machine: u64| unreserved(told << 30, of_machine << 30, 8 << 30) >> 30;
        assert_eq!([gib(16, 64), gib(64, 64), gib(16, 20)], [16, 56, 12]);
        assert_eq!(gib(4, 4), 4, "a machine has not less than it reserves");
    }

    #[test]
    fn memory_is_plausible() {
        let memory = memory();
        assert!(memory.total >= memory.available && memory.available > 0);
        assert!(memory.installed >= memory.total);
        assert!(memory.free <= memory.total && memory.dirty <= memory.total);
        assert!(memory.dirty_threshold_bytes > 0);
    }
}
