//! What holds for a whole analysis, whatever its parts.

use super::blocks::{BlockAlign, BlockSize};
use super::time_series::DAY_NS;
use ioscape_schema::TraceInfo;

/// What holds for a whole analysis; parts that are merged share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalysisOptions {
    /// Size of a block in figures that count blocks, a power of two from 512 on, or else the one below; the paper's is 8 KiB.
    pub block_bytes: u64,
    /// Where the blocks of caches and of sets begin; Figures 12 and 13 always count by [`BlockAlign::Request`].
    pub block_align: BlockAlign,
    /// Time of day at which the trace begins: hours and days are counted from midnight.
    pub origin_ns: u64,
    /// Interleave of the file system in bytes for sequential requests; `None` looks for it, 0 says there is none.
    pub interleave_bytes: Option<u64>,
    /// Most blocks for which the miss-ratio curve is exact, at least 65,536; each takes about 40 bytes.
    pub exact_blocks: usize,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        Self {
            block_bytes: 8192,
            block_align: BlockAlign::Aligned,
            origin_ns: 0,
            interleave_bytes: None,
            exact_blocks: 0,
        }
    }
}

impl AnalysisOptions {
    /// With the time of day at which the trace begins, when the trace tells it.
    #[must_use]
    pub fn beginning(mut self, info: &TraceInfo) -> Self {
        let day = DAY_NS as i64;
        self.origin_ns = info.started_unix_ns.map_or(0, |ns| ns.rem_euclid(day) as u64);
        self
    }

    /// The blocks that caches and sets are counted in.
    pub fn blocks(&self) -> BlockSize {
        BlockSize::of(self.block_bytes).begin(self.block_align)
    }
}
