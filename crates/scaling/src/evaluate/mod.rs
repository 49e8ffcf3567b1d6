//! What to measure next: plans an evaluation, calls the probe, and keeps to the budget.
//!
//! It uses the judge to find where a further point is most informative, and the model to choose
//! points off the curves. Neither of these uses this module. See [`explore()`].

mod all_parameters;
mod allotment;
mod axis;
mod confirm;
mod costs;
mod exploration;
mod explore;
mod fills;
mod options;
mod pilot;
mod plan;
mod probe;
mod pure_mixes;
mod recorded;
mod region_curves;
mod rounds;
mod set_sizes;
mod storage_reads;
mod storage_speed;
mod sweep;
#[cfg(test)]
mod testing;

pub use explore::explore;
pub use options::{EvaluationOptions, INTERACTIONS, OptionsError, POINTS_LEAST};
pub use plan::{Filling, Plan, PlannedPhase, plan};
pub use probe::{Interrupted, Probe, ProbeRequest, Progress, TimeLimits};
pub use recorded::{RecordedProbe, counted_again};
