//! The ranges of the five parameters within which workloads are chosen.

/// Ranges within which the evaluation may move, both ends allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Smallest and largest set, in bytes.
    pub unique_bytes: [u64; 2],
    /// Smallest and largest mean request size, in bytes.
    pub size_mean: [u64; 2],
    /// Fewest and most processes.
    pub process_num: [u32; 2],
}
