//! Measuring on the real machine: workloads ([`session`]) and exact work ([`vxbench`]) in forked workers, and given requests at
//! given times ([`replay`]), all on the same I/O engines.

mod conductor;
mod engine;
pub mod replay;
pub mod session;
pub mod together;
mod verify;
pub mod vxbench;
mod worker;

pub use session::{Phase, Progress, RunOptions, Session, SessionOptions};
pub use verify::Ledger;
