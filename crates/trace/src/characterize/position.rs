//! Where a request stands among the requests of its process to its device.

use ioscape_schema::{ModelFit, Op, RequestCounts, Workload};

/// Measures how well the model describes the counts.
pub type Fit = fn(&RequestCounts, &Workload) -> ModelFit;

/// The position of a request in its stream.
#[derive(Clone, Copy, Debug)]
pub struct RequestPosition {
    /// Whether it begins where the previous one ended.
    pub follows: bool,
    /// The operation of the previous one.
    pub before: Option<Op>,
    /// Length of the sequential run that this request ended; 0 for none.
    pub ended_run: u64,
}
