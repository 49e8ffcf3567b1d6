//! Campaigns: tables of `vxbench` runs, described in TOML files and planned as pure functions of them.

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
