//! One number of level ends, with their places and the probability of that number.

use super::ends::{Curves, LevelEnd};
use super::place::Bounds;
use ioscape_schema::BorderOperation;

/// Least probability at which an end counts for a kind of request.
const SURE: f64 = 0.9;

/// Least factor by which a curve must slow down behind an end for the end to be a border of that curve.
pub(super) const SHOWS: f64 = 1.1;

/// Bounds of one end for pure reads, pure writes and the mix, in the order of [`OPERATIONS`](super::ends::OPERATIONS).
pub(crate) type EndBounds = [Bounds; 3];

/// One number of ends: their most probable places, and the logarithm of its probability, not
/// normalized.
#[derive(Clone, Debug)]
pub(crate) struct Hypothesis {
    pub ends: Vec<LevelEnd>,
    /// Bounds of each end with 95 % probability, in ln(bytes); known only for the most probable
    /// hypothesis.
    pub bounds: Vec<EndBounds>,
    /// For each end, the probability that it holds for reads, and that it holds for writes.
    pub shares: Vec<[f64; 2]>,
    pub log_probability: f64,
    /// The most probable ways to add the last end, with weights that sum to 1; empty unless no
    /// single place is probable but all together are.
    pub ways: Vec<(f64, Vec<LevelEnd>)>,
    /// Logarithm of the width of the peak, over all ends.
    pub volume: f64,
    /// Whether it was not examined any further, since it is far less probable than another.
    pub is_hopeless: bool,
}

impl Hypothesis {
    /// Whether an end surely holds for such requests; the mix has the ends of both.
    pub(crate) fn has(&self, end: usize, operation: BorderOperation) -> bool {
        let [reads, writes] = self.shares[end];
        match operation {
            BorderOperation::Read => reads >= SURE,
            BorderOperation::Write => writes >= SURE,
            BorderOperation::Mixed => true,
        }
    }

    /// Returns the ends of one kind of request, by their index, and how many times slower the law
    /// predicts sets well beyond each.
    pub(super) fn slower_behind(
        &self,
        curves: &Curves,
        operation: BorderOperation,
    ) -> Vec<(usize, f64)> {
        let fit = curves.fit(operation, &self.ends, None);
        let own: Vec<usize> = (0..self.ends.len()).filter(|&i| self.has(i, operation)).collect();
        let at = |i: usize| self.ends[i].log_bytes;
        let ratio = |(n, &i): (usize, &usize)| {
            let next_end = own.get(n + 1).map_or(f64::INFINITY, |&next| at(next));
            let well_behind = next_end.min(at(i) + 2f64.ln());
            (i, (fit.log_time(well_behind) - fit.log_time(at(i))).exp())
        };
        own.iter().enumerate().map(ratio).collect()
    }
}
