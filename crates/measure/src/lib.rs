//! Measuring on the real machine: workloads and exact work in forked workers, replay, micro-benchmarks, recorders.

pub mod calls;
mod engine;
pub mod os;
pub mod record;
pub mod replay;
pub mod session;
pub mod vxbench;
mod worker;

pub use session::{Phase, Progress, RunOptions, Session, SessionOptions};
