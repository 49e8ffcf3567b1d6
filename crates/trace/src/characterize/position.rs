//! Where a request stands in the requests of its process to its device.

use ioscape_schema::{ModelFit, Op, RequestCounts, Workload};

/// Says how well the model describes what was counted.
pub type Fit = fn(&RequestCounts, &Workload) -> ModelFit;

/// What the place of a request in its stream tells.
#[derive(Clone, Copy, Debug)]
pub struct RequestPosition {
    /// Whether it begins where the one before ended.
    pub follows: bool,
    /// The kind of the one before.
    pub before: Option<Op>,
    /// Length of the sequential run that it ended; 0 for none.
    pub ended_run: u64,
}
