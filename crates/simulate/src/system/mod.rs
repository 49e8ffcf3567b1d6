//! Whole systems (processor, file cache, write policy, disk or server) in virtual time.

mod computed;
mod dirty;
mod evaluation;
mod flusher;
pub mod host;
pub mod log;
pub mod lru;
pub mod measure;
pub mod parameters;
pub mod run;

pub use evaluation::{cost_s, typical_cost_s};
pub use host::{Host, Storage};
pub use measure::{BLOCKS_MOST, blocks_most, measure};
pub use parameters::{SHIPPED, SystemParameters, block_sectors, find};
pub use run::{Course, Ran, run};

#[cfg(test)]
mod paper_tests;
#[cfg(test)]
mod tests;
