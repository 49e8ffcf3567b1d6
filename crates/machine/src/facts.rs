//! What the plan of an evaluation needs to know about a target and the memory in front of it.

use crate::cgroup::{Traffic, enclosing_limit};
use crate::environment;
use crate::memory::memory;
use crate::target::Target;
use crate::traps::traps;
use ioscape_schema::{Access, WarningKind};
use std::collections::BTreeMap;

/// If the kernel never flushes by itself, writes that continue for this many seconds count as
/// undisturbed.
const NEVER_FLUSHED_S: f64 = 5.0;

/// What a plan needs to know about a target.
#[derive(Clone, Debug)]
pub struct TargetFacts {
    /// Largest set that the target holds, in bytes.
    pub capacity_bytes: u64,
    /// Size of the file system or device, in bytes; 0 if unknown.
    pub total_bytes: u64,
    /// Memory of the machine, or of the group this process already runs in; absent where no part of
    /// it caches files (DAX).
    pub memory_bytes: Option<u64>,
    /// Whether files are themselves pages of memory, without a file cache beside them.
    pub is_in_memory: bool,
    /// Why no control group limits how much of the files is cached; absent if one does.
    pub unlimited: Option<&'static str>,
    /// Whether sets come into the file cache page by page.
    pub comes_by_pages: bool,
    /// Why direct I/O may not reach a block device, for example on a file system that reports no
    /// alignment or on an encrypted file; absent if it should reach one.
    pub direct_doubt: Option<String>,
    /// Why no file can be opened for direct I/O here; absent if one can.
    pub direct_refusal: Option<String>,
    /// Alignment required for direct I/O.
    pub direct_align: Option<u64>,
    /// Time after which the kernel has flushed a dirty page, in seconds.
    pub flush_interval_s: Option<f64>,
}

impl TargetFacts {
    /// Determines the facts; leaves nothing behind.
    pub fn of(target: &Target) -> Self {
        let within = enclosing_limit().unwrap_or(u64::MAX);
        let is_in_memory = target.are_files_memory();
        Self {
            capacity_bytes: target.capacity_bytes(),
            total_bytes: target.total_bytes(),
            memory_bytes: (!target.file_system().is_dax()).then(|| memory().total.min(within)),
            is_in_memory,
            unlimited: target.file_system().unlimited(),
            comes_by_pages: target.file_system().comes_by_pages() && !is_in_memory,
            direct_doubt: direct_doubt(target),
            direct_refusal: target.open_file(Access::Direct, false).err().map(|e| e.to_string()),
            direct_align: target.direct_align().map(u64::from),
            flush_interval_s: flush_interval_s(&environment::capture(target, None).vm_dirty),
        }
    }
}

/// Over a network the answer is the server's, whatever it does; a local file system should reach a
/// device.
fn direct_doubt(target: &Target) -> Option<String> {
    let mut doubts = traps(target, Traffic { writes: false, ..Traffic::ALL }).into_iter();
    let doubt = doubts.find(|doubt| doubt.kind == WarningKind::DirectWithoutDevice);
    let is_local = !target.file_system().is_network_or_fuse;
    doubt.filter(|_| is_local).map(|doubt| doubt.message)
}

/// Returns the time after which the kernel has flushed a dirty page, in seconds, from its
/// `settings` in `/proc/sys/vm`; `None` if unknown. A page is flushed at the flusher's first
/// wake-up after it expired, and is on the device by the next one.
pub fn flush_interval_s(settings: &BTreeMap<String, u64>) -> Option<f64> {
    let seconds = |key: &str| settings.get(key).map(|&centis| centis as f64 / 100.0);
    let expire = seconds("dirty_expire_centisecs")?;
    match seconds("dirty_writeback_centisecs")? {
        wake_up if wake_up > 0.0 => Some(expire + 2.0 * wake_up),
        _ => Some(NEVER_FLUSHED_S),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flush_interval_follows_the_settings() {
        let settings = |expire, wake_up| {
            let all = [("dirty_expire_centisecs", expire), ("dirty_writeback_centisecs", wake_up)];
            all.map(|(key, value)| (key.to_owned(), value)).into_iter().collect::<BTreeMap<_, _>>()
        };
        assert_eq!(flush_interval_s(&settings(3000, 500)), Some(40.0));
        assert_eq!(flush_interval_s(&settings(3000, 0)), Some(NEVER_FLUSHED_S));
        assert_eq!(flush_interval_s(&BTreeMap::new()), None);
    }
}
