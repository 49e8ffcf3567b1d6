//! The state of the machine's memory, and the kernel's settings for dirty pages.

use crate::text;
use std::collections::BTreeMap;

/// The machine's memory at one moment, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Total memory.
    pub total: u64,
    /// Memory that new programs could get without swapping.
    pub available: u64,
    /// Unused memory.
    pub free: u64,
    /// The file cache.
    pub cached: u64,
    /// Dirty pages and pages under write-back.
    pub dirty: u64,
    /// Dirty bytes at which writers are throttled (`vm.dirty_bytes` or `vm.dirty_ratio`).
    pub dirty_threshold_bytes: u64,
}

/// Reads the state of the memory; unknown values are 0. Without `/proc` the kernel still reports
/// total and free memory.
pub fn memory() -> Memory {
    let Some(info) = text::read("/proc/meminfo") else { return without_proc() };
    let bytes = |name| text::field(&info, name).unwrap_or(0) * 1024;
    let available = bytes("MemAvailable");
    Memory {
        total: bytes("MemTotal"),
        available,
        free: bytes("MemFree"),
        cached: bytes("Cached"),
        dirty: bytes("Dirty") + bytes("Writeback"),
        dirty_threshold_bytes: dirty_threshold(&vm_dirty(), available),
    }
}

/// Reads sysinfo(2). It does not report the file cache, which could be reclaimed, so available
/// memory is too low.
fn without_proc() -> Memory {
    let found = rustix::system::sysinfo();
    let bytes = |count: u64| count.saturating_mul(u64::from(found.mem_unit).max(1));
    let free = bytes(found.freeram.saturating_add(found.bufferram));
    Memory { total: bytes(found.totalram), available: free, free, ..Memory::default() }
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
    fn the_dirty_threshold_follows_bytes_before_ratio() {
        let mut settings = BTreeMap::from([("dirty_ratio".to_owned(), 20)]);
        assert_eq!(dirty_threshold(&settings, 1000), 200);
        settings.insert("dirty_bytes".to_owned(), 0);
        assert_eq!(dirty_threshold(&settings, 1000), 200);
        settings.insert("dirty_bytes".to_owned(), 77);
        assert_eq!(dirty_threshold(&settings, 1000), 77);
    }

    #[test]
    fn memory_is_plausible() {
        let memory = memory();
        assert!(memory.total >= memory.available && memory.available > 0);
        assert!(memory.free <= memory.total && memory.dirty <= memory.total);
        assert!(memory.dirty_threshold_bytes > 0);
    }
}
