//! Campaigns: tables of `vxbench` runs, described in TOML files, planned as pure functions.

mod ratio;

pub use ratio::{PairedRatio, median, paired_ratio};
