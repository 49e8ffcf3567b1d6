//! Memory that processes have for themselves, as far as the kernel's figures prove it.
//!
//! The kernel reports how much memory of each kind a process has now, and the most that it ever
//! had. It does not report when that was or which kinds it included. Pages of mapped files, which
//! belong to the file cache, may be part of it. So everything that a process has mapped by then is
//! subtracted as such pages, except for files that are memory themselves. The process is examined
//! once more before it maps a lot.

use ioscape_machine::text;
use std::collections::HashMap;

/// Bytes of files that a process may map between two examinations. Most programs map a few small
/// files as they begin.
const LOOKED_EVERY: u64 = 1 << 20;

/// Bytes of files that a process has mapped since it executed its program, except programs,
/// libraries and files in memory.
#[derive(Clone, Copy, Debug, Default)]
struct Mapped {
    bytes: u64,
    /// Their number at the last examination.
    looked_at: u64,
}

/// The most memory that any one process had for itself.
#[derive(Debug, Default)]
pub(super) struct OwnMemory {
    /// Mapped bytes, by process number.
    mapped: HashMap<i32, Mapped>,
    most_bytes: Option<u64>,
}

impl OwnMemory {
    /// A lower bound in bytes; `None` where the kernel does not say.
    pub(super) fn most_bytes(&self) -> Option<u64> {
        self.most_bytes
    }

    /// Notes that a process begins, with the mappings of its parent.
    pub(super) fn begin(&mut self, process: i32, parent: Option<i32>) {
        if let Some(mapped) = parent.and_then(|parent| self.mapped.get(&parent)).copied() {
            self.mapped.insert(process, mapped);
        }
    }

    /// Notes that a process executed a program, or is gone: none of its mappings are left.
    pub(super) fn forget(&mut self, process: i32) {
        self.mapped.remove(&process);
    }

    /// Notes that a thread of `process` is about to map `bytes` of a file.
    pub(super) fn map(&mut self, (process, tid): (i32, i32), bytes: u64) {
        let before = self.mapped.get(&process).copied().unwrap_or_default();
        let mut mapped = Mapped { bytes: before.bytes.saturating_add(bytes), ..before };
        if mapped.bytes - mapped.looked_at >= LOOKED_EVERY {
            self.look((process, tid));
            mapped.looked_at = mapped.bytes;
        }
        self.mapped.insert(process, mapped);
    }

    /// Reads the kernel's present figures for `process` from one of its threads: its first thread
    /// may have ended.
    pub(super) fn look(&mut self, (process, tid): (i32, i32)) {
        let mapped_bytes = self.mapped.get(&process).map_or(0, |mapped| mapped.bytes);
        let status = text::read(format!("/proc/{tid}/status"));
        let own = status.as_deref().and_then(|status| own_bytes(status, mapped_bytes));
        self.most_bytes = self.most_bytes.max(own);
    }
}

/// Memory that a process had for itself at some time since it executed its program, as a lower
/// bound in bytes, from its status and from the bytes of files that it has mapped so far; `None`
/// where the kernel does not say.
fn own_bytes(status: &str, mapped_bytes: u64) -> Option<u64> {
    let bytes = |name: &str| text::field(status, name).map(|kib| kib.saturating_mul(1024));
    let now = |name: &str| bytes(name).unwrap_or(0);
    // `RssFile` includes pages of the program and its libraries.
    let most = bytes("VmHWM")?.saturating_sub(now("RssFile")).saturating_sub(mapped_bytes);
    Some(most.max(now("RssAnon").saturating_add(now("RssShmem"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_pages_of_files_is_no_memory_of_a_process_itself() {
        let of = |[most, anonymous, shared]: [u64; 3], mapped_kib: u64| {
            let now = format!("RssAnon:\t{anonymous} kB\nRssFile:\t900 kB\nRssShmem:\t{shared} kB");
            own_bytes(&format!("Name:\trg\nVmHWM:\t{most} kB\n{now}\n"), mapped_kib << 10)
        };
        assert_eq!(of([1000, 60, 0], 0), Some(100 << 10), "it had more before");
        assert_eq!(of([1000, 60, 80], 0), Some(140 << 10), "memory that it shares is its own");
        assert_eq!(of([800, 60, 0], 0), Some(60 << 10));
        assert_eq!(of([15_000, 60, 0], 14_080), Some(60 << 10), "files that it unmapped since");
        assert_eq!(of([15_000, 60, 0], 100), Some(14_000 << 10));
        assert_eq!(own_bytes("VmHWM: 8 kB", 0), Some(8 << 10), "an older kernel does not part it");
        assert_eq!(own_bytes("Name: kthreadd", 0), None);
    }

    #[test]
    fn a_process_has_mapped_what_its_parent_has_and_a_program_nothing() {
        let mut all = OwnMemory::default();
        all.map((7, 7), 100);
        all.begin(8, Some(7));
        all.map((8, 9), 50);
        all.begin(10, Some(8));
        all.forget(10);
        all.begin(11, Some(10));
        let bytes = [7, 8, 10, 11].map(|one| all.mapped.get(&one).map_or(0, |mapped| mapped.bytes));
        assert_eq!(bytes, [100, 150, 0, 0]);
        assert_eq!(all.most_bytes(), None, "nobody was looked at for so little");
    }
}
