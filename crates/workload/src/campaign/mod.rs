//! Campaigns: tables of `vxbench` runs, described in TOML files, from which pure functions plan the
//! runs.

mod file;
mod parse;
mod reference;
mod rows;
mod shipped;
#[cfg(test)]
mod tests;

pub use file::{Campaign, CampaignError, Method, ROWS_MAX, Settings, Text, Vary};
pub use reference::parse_reference;
pub use shipped::{SHIPPED, Shipped};
