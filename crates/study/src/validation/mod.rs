//! A validation of predictions: which workloads are measured, in what order, for how long, and what
//! is doubtful about it.
//!
//! [`ValidationProgress::next`] says what to measure and for how long,
//! [`ValidationProgress::record`] takes the measurement. At the end, the measurements are found by
//! their purposes. This module does not know what the models make of them.

mod change;
mod earlier;
mod progress;
mod schedule;

pub use change::changed;
pub use earlier::{EarlierValidation, NotContinued};
pub use progress::{NextMeasurement, ValidationProgress};
pub use schedule::{Purpose, Schedule, ValidationSample, ValidationStep};
