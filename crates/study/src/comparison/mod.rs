//! Systems held against each other: ratios of their predictions, the cheapest that is fast enough, and how they differ.

mod choice;
mod differences;
mod ratio;

pub use choice::{Offer, cheapest, choose};
pub use differences::{EvaluatedSystem, differences};
pub use ratio::compare;
