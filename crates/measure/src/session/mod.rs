//! A session on one target: it prepares the set, runs workloads on it and says what came out and how sure that is.

mod conduct;
mod fill;
mod options;
mod prepare;
mod run;
mod state;
mod summary;
mod verify;
mod warm_up;
mod witness;

pub use crate::conductor::failure::vet_ring;
pub use options::{Course, Mark, Phase, Progress, RunOptions, SessionOptions};
pub use state::Session;
