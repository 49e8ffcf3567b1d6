//! Parameter files of DiskSim 4.0 (`.diskspecs`, `.model`, `.seek`; CMU-PDL-08-101), read as drives.

mod layout;
mod parse;
mod specs;
mod trace;

pub use specs::{Specs, read};
pub use trace::{Validated, validation_trace};

#[cfg(test)]
mod tests;
