//! A validation of predictions: which workloads are measured, in which order, for how long, and what is doubtful about it.
//!
//! [`ValidationProgress::next`] says what to measure and for how long, [`ValidationProgress::record`] takes the measurement; in the
//! end the measurements are found by what they were for. What the models make of them is not known here.

mod change;
mod earlier;
mod progress;
mod schedule;

pub use change::changed;
pub use earlier::{EarlierValidation, NotContinued};
pub use progress::{NextMeasurement, ValidationProgress};
pub use schedule::{Purpose, Schedule, ValidationSample, ValidationStep};
