//! Text for a terminal: tables, charts of characters, and the text of every kind of outcome.

pub mod application;
pub mod campaign;
pub mod characterization;
mod chart;
mod clients;
pub mod doctor;
pub mod evaluation;
mod ink;
pub mod measured;
pub mod models;
pub mod os;
pub mod replay;
pub mod simulation;
pub mod tables;
pub mod trace_files;
pub mod vxbench;

pub use ink::Style;
