//! Parameter files of DiskSim 4.0 (`.parv`, `.diskspecs`, `.model`, `.seek`; CMU-PDL-08-101), read as drives.

mod bed;
mod folder;
mod found;
mod layout;
mod layout_g2;
mod layout_g4;
mod left_out;
mod parse;
mod specs;

pub use folder::{Folder, is_description};
pub use specs::{Specs, read};

#[cfg(test)]
mod spares_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod variations_tests;
