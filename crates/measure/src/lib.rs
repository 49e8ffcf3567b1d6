//! Measurements on the real machine, all on the same I/O engines: workloads ([`session`]) and fixed
//! amounts of work ([`vxbench`]) in forked workers, and given requests at given times ([`replay`]).

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
pub use worker::rows::KeptRows;
