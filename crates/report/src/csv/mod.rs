//! Comma-separated values of measured points and of models' results.

pub mod campaign;
pub mod models;
pub mod os;
pub mod points;
mod rows;
pub mod simulation;
pub mod vxbench;

pub use rows::line;
