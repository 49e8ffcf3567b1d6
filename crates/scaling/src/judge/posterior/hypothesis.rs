//! One number of ends of levels, with where they lie and how probable it is.

use super::ends::LevelEnd;
use super::place::Bounds;
use ioscape_schema::BorderOperation;

/// Probability from which on an end is one of these requests.
const SURE: f64 = 0.9;

/// Bounds of one end for pure reads, pure writes and the mix, in the order of [`OPERATIONS`](super::ends::OPERATIONS).
pub(crate) type EndBounds = [Bounds; 3];

/// One number of ends: the most probable places, and the logarithm of its probability, not normalized.
#[derive(Clone, Debug)]
pub(crate) struct Hypothesis {
    pub ends: Vec<LevelEnd>,
    /// Of each end, low and high with 95 % probability, in ln(bytes); known of the most probable hypothesis alone.
    pub bounds: Vec<EndBounds>,
    /// Of each end, how probable it is that it is one of reads, and one of writes.
    pub shares: Vec<[f64; 2]>,
    pub log_probability: f64,
    /// Where no single place of the last end is probable but all together are: the most probable of them, with weights that sum to 1.
    pub ways: Vec<(f64, Vec<LevelEnd>)>,
    /// Logarithm of the width of the peak, over all ends.
    pub volume: f64,
    /// Whether nothing else was asked of it, since it is far less probable than another.
    pub is_hopeless: bool,
}

impl Hypothesis {
    /// Whether an end is surely one of such requests; the mix has the ends of both.
    pub(crate) fn has(&self, end: usize, operation: BorderOperation) -> bool {
        let [reads, writes] = self.shares[end];
        match operation {
            BorderOperation::Read => reads >= SURE,
            BorderOperation::Write => writes >= SURE,
            BorderOperation::Mixed => true,
        }
    }
}
