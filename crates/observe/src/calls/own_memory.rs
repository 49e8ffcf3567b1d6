//! Memory that processes have for themselves, as far as the kernel's figures prove it.
//!
//! The kernel reports how much memory of each kind a process has now, and the most that it ever
//! had. It does not report when that was or which kinds it included. Pages of mapped files, which
//! belong to the file cache, may be part of it. So everything that a process has mapped by then is
//! subtracted as such pages, except for files that are memory themselves. The process is examined
//! once more before it maps a lot.
//!
//! When one process ends, the present memory of all is added up. Anonymous pages that a process got
//! from its parent, and pages of files in memory, may be shared, so they count once.

use super::threads::LiveThreads;
use ioscape_machine::clock::monotonic_ns;
use ioscape_machine::text;
use std::collections::HashMap;

/// Bytes of files that a process may map between two examinations. Most programs map a few small
/// files as they begin.
const LOOKED_EVERY: u64 = 1 << 20;
/// All processes are examined again only after this many times as long as it took last: many may
/// run, and end often.
const REST: u64 = 100;

/// Bytes of files that a process has mapped since it executed its program, except programs,
/// libraries and files in memory.
#[derive(Clone, Copy, Debug, Default)]
struct Mapped {
    bytes: u64,
    /// Their number at the last examination.
    looked_at: u64,
}

/// The most memory that the processes had for themselves: one of them at any time, or all together
/// when one ended.
#[derive(Debug, Default)]
pub(super) struct OwnMemory {
    /// Mapped bytes, by process number.
    mapped: HashMap<i32, Mapped>,
    /// Anonymous memory that a process got from its parent, in bytes, by process number.
    inherited: HashMap<i32, u64>,
    most_bytes: Option<u64>,
    /// When all processes may be examined again.
    rested_ns: u64,
}

impl OwnMemory {
    /// A lower bound in bytes; `None` where the kernel does not say.
    pub(super) fn most_bytes(&self) -> Option<u64> {
        self.most_bytes
    }

    /// Notes that a process begins, with this status and the mappings of its parent.
    pub(super) fn begin(&mut self, process: i32, parent: Option<i32>, status: &str) {
        self.inherited.insert(process, bytes(status, "RssAnon").unwrap_or(0));
        if let Some(mapped) = parent.and_then(|parent| self.mapped.get(&parent)).copied() {
            self.mapped.insert(process, mapped);
        }
    }

    /// Notes that a process executed a program, or is gone: none of its mappings are left.
    pub(super) fn forget(&mut self, process: i32) {
        self.mapped.remove(&process);
        self.inherited.remove(&process);
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

    /// Reads the kernel's present figures for all processes, unless it did so a moment ago.
    pub(super) fn look_at_all(&mut self, living: &LiveThreads) {
        let begin_ns = monotonic_ns();
        if begin_ns < self.rested_ns {
            return;
        }
        let all = living.processes().into_iter().filter_map(|process| {
            let status = text::read(format!("/proc/{process}/status"))?;
            Some((status, self.inherited.get(&process).copied().unwrap_or(0)))
        });
        let together = together_bytes(all);
        self.most_bytes = self.most_bytes.map(|most| most.max(together));
        let end_ns = monotonic_ns();
        self.rested_ns = end_ns + REST * (end_ns - begin_ns);
    }
}

fn bytes(status: &str, name: &str) -> Option<u64> {
    text::field(status, name).map(|kib| kib.saturating_mul(1024))
}

/// Memory that processes have for themselves now, as a lower bound in bytes, from the status of
/// each and from the anonymous memory that it got from its parent.
fn together_bytes(all: impl Iterator<Item = (String, u64)>) -> u64 {
    let (mut anonymous, mut shared) = (0u64, 0);
    for (status, inherited) in all {
        let now = |name: &str| bytes(&status, name).unwrap_or(0);
        anonymous = anonymous.saturating_add(now("RssAnon").saturating_sub(inherited));
        shared = now("RssShmem").max(shared);
    }
    anonymous.saturating_add(shared)
}

/// Memory that a process had for itself at some time since it executed its program, as a lower
/// bound in bytes, from its status and from the bytes of files that it has mapped so far; `None`
/// where the kernel does not say.
fn own_bytes(status: &str, mapped_bytes: u64) -> Option<u64> {
    let now = |name: &str| bytes(status, name).unwrap_or(0);
    // `RssFile` includes pages of the program and its libraries.
    let most = bytes(status, "VmHWM")?.saturating_sub(now("RssFile")).saturating_sub(mapped_bytes);
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

    /// As with a program that forks its loaders, which share what it had read by then.
    #[test]
    fn what_processes_share_counts_once() {
        let [parent, loader, other] = [(900, 50, 0), (1300, 80, 700), (300, 80, 0)].map(
            |(anonymous, shared, inherited_kib): (u64, u64, u64)| {
                let status = format!("RssAnon:\t{anonymous} kB\nRssShmem:\t{shared} kB");
                (status, inherited_kib << 10)
            },
        );
        let all = [parent, loader.clone(), loader, other];
        assert_eq!(together_bytes(all.into_iter()), (900 + 600 + 600 + 300 + 80) << 10);
        assert_eq!(together_bytes([("RssAnon: 1 kB".to_owned(), 9 << 10)].into_iter()), 0);
    }

    #[test]
    fn a_process_has_mapped_what_its_parent_has_and_a_program_nothing() {
        let mut all = OwnMemory::default();
        all.map((7, 7), 100);
        all.begin(8, Some(7), "RssAnon: 4 kB");
        all.map((8, 9), 50);
        all.begin(10, Some(8), "RssAnon: 4 kB");
        all.forget(10);
        all.begin(11, Some(10), "");
        let bytes = [7, 8, 10, 11].map(|one| all.mapped.get(&one).map_or(0, |mapped| mapped.bytes));
        assert_eq!(bytes, [100, 150, 0, 0]);
        assert_eq!(all.inherited, HashMap::from([(8, 4096), (11, 0)]));
        assert_eq!(all.most_bytes(), None, "nobody was looked at for so little");
    }
}
