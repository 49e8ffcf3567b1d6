//! Plans and verdicts over many runs: campaigns, validation, concurrent writers, comparisons.
//!
//! A study never runs anything itself. It says which run comes next, takes what the run found, and in the end gives a
//! verdict. Every verdict follows from an interval; where the interval does not decide, the verdict says so, and says what
//! would tell.

pub mod ab;
pub mod campaign;
pub mod clients;
pub mod comparison;
pub mod frame;
mod mount_options;
pub mod ratio;
pub mod reach;
pub mod resume;
pub mod validation;
pub mod ways;
pub mod writers;
