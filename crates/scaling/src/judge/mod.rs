//! What the answers mean: borders, regions, findings and sentences from the points measured.

pub(crate) mod assemble;
pub(crate) mod borders;
pub(crate) mod curve;
mod drift;
pub(crate) mod evidence;
mod findings;
mod flush;
pub(crate) mod focal;
mod in_memory;
pub(crate) mod levels;
pub(crate) mod log;
pub(crate) mod points;
mod policy;
pub(crate) mod regions;
pub(crate) mod segment;
mod sentences;

pub use findings::findings;
