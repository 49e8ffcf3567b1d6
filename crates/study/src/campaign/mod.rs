//! Tables of `vxbench` runs: what they will take, in which order they are measured, and what they show.

mod growth;
mod pieces;

pub use growth::growth_in_threads;
pub use pieces::pieces_of_aged_files;
