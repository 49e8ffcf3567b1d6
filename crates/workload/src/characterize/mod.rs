//! Characterization of requests: recovers the model's five parameters from what a workload issued.

mod application;
mod commits;
mod distance;
mod doubts;
mod fit;
mod phases;
mod share;
mod stages;
mod touched;
mod turns;

pub use application::Application;
pub use doubts::{MappedFaults, Unseen, doubts};
pub use fit::fit;
