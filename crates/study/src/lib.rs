//! Plans and verdicts over many runs: campaigns, validation, concurrent writers, comparisons.
//!
//! A study never runs anything itself. It says which run comes next, takes the result of that run,
//! and finally gives a verdict. Every verdict follows from an interval. If the interval does not
//! decide, the verdict says so, and says what would decide.

pub mod ab;
pub mod campaign;
pub mod clients;
pub mod comparison;
pub mod frame;
mod mount_options;
pub mod older;
mod quantity;
pub mod ratio;
pub mod reach;
pub mod resume;
pub mod validation;
pub mod ways;
pub mod writers;
