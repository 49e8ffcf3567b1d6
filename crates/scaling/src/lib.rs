//! The self-scaling evaluation: asks a probe for workloads until the performance of a system is understood.
//!
//! Everything here is a function of its inputs: the crate knows no disk, no file and no clock. Time is the sum of what
//! the probe says that its measurements cost. See [`explore()`] for the evaluation, [`plan()`] for what it is going to
//! do, and [`Replay`] for continuing an interrupted one.
//!
//! After P. M. Chen and D. A. Patterson, "A New Approach to I/O Performance Evaluation: Self-Scaling I/O Benchmarks,
//! Predicted I/O Performance", ACM Transactions on Computer Systems 12(4), 1994 ("self-scaling paper"), and
//! "Unix I/O Performance in Workstations and Mainframes", 1994 ("Unix I/O paper").

mod all_parameters;
mod assemble;
mod borders;
mod curves;
mod drift;
pub mod explore;
pub mod findings;
mod focal;
mod grid;
mod in_memory;
mod levels;
pub mod model;
pub mod options;
pub mod phase;
mod pilot;
pub mod plan;
mod policy;
pub mod probe;
mod regions;
pub mod replay;
mod rounds;
mod segment;
mod sentences;
mod session;
mod store;
mod sweep;
#[cfg(test)]
mod testing;
pub mod workload_sets;

pub use explore::explore;
pub use findings::findings;
pub use options::{Bounds, Options, OptionsError};
pub use phase::Phase;
pub use plan::{Plan, PlannedPhase, plan};
pub use probe::{Ask, Effort, Probe, Progress, Stopped};
pub use replay::Replay;
