//! Options of a whole analysis, common to all its parts.

use super::blocks::{BlockAlign, BlockSize, MOST_BYTES};
use super::time_series::DAY_NS;
use ioscape_schema::{Io, TraceInfo};
use serde::{Deserialize, Serialize};

/// What an analysis needs besides its table of blocks: its other tables, rows in transit, files'
/// row groups.
const BESIDE_BYTES: u64 = 128 << 20;
/// The least memory left for tables that grow with the trace.
const LEAST_BYTES: u64 = 64 << 20;
/// The most bytes for the places written within 30 seconds: enough for 170 GiB if dense.
const WRITTEN_BYTES: usize = 256 << 20;

/// The options of a whole analysis; parts that are merged share them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalysisOptions {
    /// Size of a block in figures that count blocks, a power of two of at least 512, otherwise
    /// rounded down to one; the paper's is 8 KiB.
    pub block_bytes: u64,
    /// Where the blocks of caches and of sets begin; Figures 12 and 13 always count by [`BlockAlign::Request`].
    pub block_align: BlockAlign,
    /// The time at which `queued_ns` is 0, in nanoseconds since 1970, so that windows, hours and
    /// days begin where the clock's do. 0 if the trace does not record it.
    pub origin_ns: u64,
    /// The file system's interleave in bytes, for sequential requests; `None` looks for it, 0 says
    /// that there is none.
    pub interleave_bytes: Option<u64>,
    /// The most blocks for which the miss-ratio curve is exact, at least 65,536; each takes about
    /// 40 bytes.
    pub exact_blocks: usize,
    /// The most bytes for the table of blocks, which grows most with the trace; at this limit it
    /// goes on with a sample.
    pub table_bytes: usize,
    /// The most bytes for what is learned of individual disks; at this limit the less busy disks
    /// are only counted.
    pub disk_bytes: usize,
    /// The most bytes for the places written within 30 seconds; a result that would take more is
    /// left out.
    pub written_bytes: usize,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        Self {
            block_bytes: 8192,
            block_align: BlockAlign::Aligned,
            origin_ns: 0,
            interleave_bytes: None,
            exact_blocks: 0,
            table_bytes: MOST_BYTES,
            disk_bytes: MOST_BYTES,
            written_bytes: WRITTEN_BYTES,
        }
    }
}

impl AnalysisOptions {
    /// Sets the time at which the trace begins, if the trace records it; before 1970, only the time
    /// of day.
    #[must_use]
    pub fn beginning(mut self, info: &TraceInfo) -> Self {
        let time_of_day = |ns: i64| ns.rem_euclid(DAY_NS as i64) as u64;
        let origin = |ns: i64| u64::try_from(ns).unwrap_or_else(|_| time_of_day(ns));
        self.origin_ns = info.started_unix_ns.map_or(0, origin);
        self
    }

    /// Makes windows begin where the clock's do; the trace begins at `origin_ns` on that clock.
    #[must_use]
    pub fn on_the_clock(mut self, origin_ns: u64) -> Self {
        self.origin_ns = origin_ns;
        self
    }

    /// Whether parts analyzed with these options and with `other` can be merged.
    pub fn merges_with(&self, other: &Self) -> bool {
        let Self { origin_ns, table_bytes, disk_bytes, written_bytes, .. } = *self;
        *self == Self { origin_ns, table_bytes, disk_bytes, written_bytes, ..other.clone() }
    }

    /// Shifts the times of rows to the clock, on which the trace begins at `origin_ns`.
    pub fn put_on_the_clock(&self, rows: &mut [Io]) {
        if self.origin_ns == 0 {
            return;
        }
        for io in rows {
            io.queued_ns = io.queued_ns.saturating_add(self.origin_ns);
            io.issued_ns = io.issued_ns.saturating_add(self.origin_ns);
            io.completed_ns = io.completed_ns.saturating_add(self.origin_ns);
        }
    }

    /// Divides so much memory, in bytes, over the whole analysis.
    ///
    /// # Errors
    /// It is too little for any trace: returns the least that suffices.
    pub fn within(mut self, memory_bytes: u64) -> Result<Self, u64> {
        let exact = self.exact_blocks.saturating_mul(40) as u64;
        let beside = BESIDE_BYTES.saturating_add(exact);
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        match memory_bytes.checked_sub(beside).filter(|&rest| rest >= LEAST_BYTES) {
            None => Err(beside.saturating_add(LEAST_BYTES)),
            Some(rest) => {
                let eighth = rest / 8;
                self.table_bytes = size(rest - 2 * eighth);
                self.disk_bytes = size(eighth);
                self.written_bytes = size(eighth).min(WRITTEN_BYTES);
                Ok(self)
            }
        }
    }

    /// The blocks in which caches and sets are counted.
    pub fn blocks(&self) -> BlockSize {
        BlockSize::of(self.block_bytes).begin(self.block_align)
    }
}
