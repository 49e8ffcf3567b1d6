//! Comma-separated values: the rows of measured points, and of what models say.

pub mod campaign;
pub mod models;
pub mod os;
pub mod points;
mod rows;
pub mod simulation;
pub mod vxbench;

pub use rows::line;
