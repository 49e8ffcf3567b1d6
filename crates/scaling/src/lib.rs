//! The self-scaling evaluation: it asks a probe for workloads until it understands the performance
//! of a system.
//!
//! Everything here is a function of its inputs: the crate touches no disk, file or clock. Time is
//! the sum of the costs that the probe reports. [`explore()`] runs the evaluation, [`plan()`] says
//! what it is going to do, and [`RecordedProbe`] continues an interrupted one.
//!
//! After P. M. Chen and D. A. Patterson, "A New Approach to I/O Performance Evaluation:
//! Self-Scaling I/O Benchmarks, Predicted I/O Performance", ACM Transactions on Computer Systems
//! 12(4), 1994 ("self-scaling paper"), and "Unix I/O Performance in Workstations and Mainframes",
//! 1994 ("Unix I/O paper").

mod bounds;
pub mod evaluate;
pub mod judge;
pub mod model;
mod phase;
mod statistics;
pub mod system;
#[cfg(test)]
mod testing;
pub mod workload_sets;

pub use bounds::Bounds;
pub use evaluate::{
    EvaluationOptions, INTERACTIONS, Interrupted, OptionsError, Plan, PlannedPhase, Probe,
    ProbeRequest, Progress, RecordedProbe, TimeLimits, counted_again, explore, plan,
};
pub use judge::{findings, judge};
pub use phase::Phase;
pub use system::System;
