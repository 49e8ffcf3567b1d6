//! Sizes of the blocks and files that must not fit into a cache: derived from the caches, limited
//! by memory and storage.

use ioscape_machine::cgroup::available_memory;
use ioscape_machine::target;
use ioscape_schema::units::Bytes;
use std::fs::File;
use std::path::Path;

/// Bytes of a cache line.
const LINE: u64 = 64;

/// The least size that is assumed to exceed every cache.
const PAST_LEAST: u64 = 16 << 20;

/// Bytes of each of two blocks. Their half a gigabyte exceeds the last cache of any processor,
/// whatever is reported: virtual machines often report only part of the cache that they have.
const PAST_ALL: u64 = 256 << 20;

/// The largest share of the available memory that a case may take: one part in this many.
const MEMORY_SHARE: u64 = 4;

/// The largest share of the free space that the files of a run may take: one part in this many.
const SPACE_SHARE: u64 = 4;

/// The machine's limits, from which sizes are planned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Data caches from the first level on, in bytes.
    pub(crate) caches: Vec<u64>,
    /// Whether the kernel reported them; otherwise they are those of a small server.
    pub(crate) reported: bool,
    /// Available memory: what the machine has available or what a control group's limit leaves,
    /// whichever is less.
    pub(crate) memory: u64,
    /// Free space in each directory, in the order named; `None` if the file system does not report
    /// it.
    pub(crate) space: Vec<Option<u64>>,
    /// The numbers of concurrent tasks to measure, in ascending order.
    pub(crate) tasks: Vec<u32>,
}

/// Whether sizes exceed the last cache of any processor, even if a smaller one is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PastAll {
    /// The copied blocks do.
    pub(crate) copies: bool,
    /// Everything else sized to exceed the last cache does: the file of `read`, and the memory
    /// whose latency is measured.
    pub(crate) others: bool,
}

impl Sizes {
    /// Returns the sizes of this machine, with these caches, `reported` by the kernel or assumed,
    /// for files in `directories`.
    pub(crate) fn find(caches: &[u64], reported: bool, directories: &[impl AsRef<Path>]) -> Self {
        let free = |path: &Path| {
            let folder = File::open(path).ok()?;
            Some(target::space(&folder, false).ok()?.1)
        };
        let space = directories.iter().map(|path| free(path.as_ref())).collect();
        let memory = available_memory();
        Self { caches: caches.to_vec(), reported, memory, space, tasks: vec![1] }
    }

    /// Returns the size of the last cache.
    fn last(&self) -> u64 {
        self.caches.last().copied().unwrap_or(32 << 20)
    }

    /// Returns the bytes of each of two blocks that together are twice the last cache, so that
    /// copied data has left the cache before it is needed again.
    ///
    /// # Errors
    /// There is no room for them; the error says why.
    pub(crate) fn block_past_caches(&self) -> Result<u64, String> {
        let len = self.piece();
        self.fits(2 * len, &self.past("two blocks")).map(|_| len)
    }

    /// Returns the same size, whether or not there is room.
    pub(crate) fn piece(&self) -> u64 {
        self.last().max(PAST_LEAST)
    }

    /// Returns how many pieces of [`Self::block_past_caches`] make a block that no cache holds,
    /// even one larger than reported; one if there is no room for two such blocks.
    pub(crate) fn pieces_past_all(&self) -> u64 {
        let pieces = PAST_ALL.div_ceil(self.piece());
        if self.fits(2 * pieces * self.piece(), "").is_ok() { pieces } else { 1 }
    }

    /// Returns which sizes exceed the last cache even if it is larger than reported.
    pub(crate) fn past_all(&self) -> PastAll {
        PastAll {
            copies: self.pieces_past_all() * self.piece() >= PAST_ALL,
            others: self.file_bytes() >= PAST_ALL,
        }
    }

    /// Returns the bytes of each of two blocks that together fill half of the cache of this level
    /// and size.
    ///
    /// # Errors
    /// There is no room for them; the error says why.
    pub(crate) fn block_within(&self, level: u32, cache: u64) -> Result<u64, String> {
        let len = (cache / 4 / LINE).max(1) * LINE;
        let what = format!(
            "two blocks that fill half of the level {level} cache, {},",
            self.origin(cache)
        );
        self.fits(2 * len, &what).map(|_| len)
    }

    /// Returns the bytes of a file twice as large as the last cache. A run keeps two such files in
    /// the directory of this number.
    ///
    /// # Errors
    /// There is no room for it; the error says why.
    pub(crate) fn file_past_caches(&self, directory: usize) -> Result<u64, String> {
        let bytes = self.file_bytes();
        self.fits(2 * bytes, &self.past("two files"))?;
        let mib = (2 * bytes) >> 20;
        match self.space.get(directory).copied().flatten() {
            Some(free) if 2 * bytes <= free / SPACE_SHARE => Ok(bytes),
            Some(free) => Err(format!(
                "two files past the last cache take {mib} MiB, more than a quarter of the free space ({} MiB)",
                free >> 20
            )),
            None => Err(format!(
                "two files past the last cache take {mib} MiB, and how much space is free cannot be told"
            )),
        }
    }

    fn file_bytes(&self) -> u64 {
        2 * self.last().max(PAST_LEAST / 2)
    }

    fn past(&self, what: &str) -> String {
        format!("{what} past the last cache, {},", self.origin(self.last()))
    }

    /// Says where the size of a cache comes from.
    fn origin(&self, cache: u64) -> String {
        let size = Bytes(cache as f64);
        match self.reported {
            true => format!("which the kernel reports with {size}"),
            false => format!("which the kernel does not report and is taken to have {size}"),
        }
    }

    /// Refuses sizes beyond a case's share of the memory.
    ///
    /// # Errors
    /// There is too little memory; the error says how much `what`, a plural, takes and how much
    /// there is.
    pub(crate) fn fits(&self, bytes: u64, what: &str) -> Result<(), String> {
        if bytes <= self.memory / MEMORY_SHARE {
            return Ok(());
        }
        Err(format!(
            "{what} take {} MiB, more than a quarter of the available memory ({} MiB)",
            bytes >> 20,
            self.memory >> 20
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(last_mib: u64, memory_mib: u64, space_mib: u64) -> Sizes {
        let caches = vec![48 << 10, 1 << 20, last_mib << 20];
        let space = vec![Some(space_mib << 20)];
        Sizes { caches, reported: true, memory: memory_mib << 20, space, tasks: vec![1, 2] }
    }

    #[test]
    fn caches_decide_where_there_is_room() {
        let sizes = machine(32, 24_000, 45_000);
        assert_eq!(sizes.block_past_caches(), Ok(32 << 20));
        assert_eq!(sizes.file_past_caches(0), Ok(64 << 20));
        assert_eq!(machine(1, 24_000, 45_000).block_past_caches(), Ok(16 << 20));
        assert_eq!(
            machine(32, 600, 45_000).file_past_caches(0),
            Ok(64 << 20),
            "a group of 600 MiB"
        );
    }

    #[test]
    fn blocks_are_past_any_cache_where_there_is_room() {
        let of = |last_mib, memory_mib| {
            let sizes = machine(last_mib, memory_mib, 9);
            let PastAll { copies, others } = sizes.past_all();
            (sizes.pieces_past_all(), copies, others)
        };
        assert_eq!(of(16, 24_000), (16, true, false));
        assert_eq!(of(1, 24_000), (16, true, false), "pieces of 16 MiB");
        assert_eq!(of(16, 1_000), (1, false, false), "no room");
        assert_eq!(of(96, 24_000), (3, true, false));
        assert_eq!(of(200, 24_000), (2, true, true));
        assert_eq!(of(480, 24_000), (1, true, true));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let sizes = machine(480, 512, 45_000);
        let why = sizes.block_past_caches().unwrap_err();
        assert!(why.contains("480 MiB") && why.contains("(512 MiB)"), "{why}");
        let why = sizes.block_within(3, 2 << 30).unwrap_err();
        assert!(
            why.contains("half of the level 3 cache") && why.contains("take 1024 MiB"),
            "{why}"
        );
        assert_eq!(machine(480, 256, 9).block_within(2, 1 << 20), Ok(256 << 10));
        assert!(machine(480, 256, 9).block_within(3, 480 << 20).is_err(), "240 of 256 MiB");
        assert!(machine(32, 24_000, 300).file_past_caches(0).unwrap_err().contains("free space"));
        let unknown = Sizes { space: vec![None], ..machine(32, 24_000, 300) };
        assert!(unknown.file_past_caches(0).unwrap_err().contains("cannot be told"));
        assert!(machine(32, 24_000, 300).file_past_caches(1).is_err(), "no such directory");
    }

    #[test]
    fn a_cache_that_the_kernel_does_not_report_is_not_said_to_be_reported() {
        let reported = machine(32, 1, 45_000);
        let why = reported.block_past_caches().unwrap_err();
        assert!(why.contains("which the kernel reports with 32 MiB"), "{why}");
        let assumed = Sizes { reported: false, ..reported.clone() };
        for why in [
            assumed.block_past_caches().unwrap_err(),
            assumed.block_within(3, 32 << 20).unwrap_err(),
            assumed.file_past_caches(0).unwrap_err(),
        ] {
            assert!(why.contains("does not report and is taken to have 32 MiB"), "{why}");
        }
        let small = reported.block_within(1, 4 << 20).unwrap_err();
        assert!(small.contains("4 MiB"), "{small}");
    }

    #[test]
    fn this_machine_has_memory() {
        let sizes = Sizes::find(&[32 << 10], true, &[std::env::temp_dir()]);
        assert!(sizes.memory > 0 && sizes.space[0].is_some_and(|free| free > 0));
    }
}
