//! A session on one target: it prepares the set, runs workloads on it, and reports the results and
//! their certainty.

mod conduct;
mod fill;
mod layout;
mod options;
mod prepare;
mod run;
mod sampler;
mod state;
mod summary;
mod verify;
mod warm_up;
mod witness;

pub use crate::conductor::failure::vet_ring;
pub use options::{Course, Mark, Phase, Progress, RunOptions, SessionOptions};
pub use state::Session;
