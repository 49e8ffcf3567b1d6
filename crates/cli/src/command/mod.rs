//! The commands: each reads its arguments, calls the crates, and prints what they return.

pub mod ab;
pub mod calibrate;
pub mod campaign;
pub mod characterize;
pub mod client;
pub mod compare;
pub mod doctor;
pub mod evaluate;
pub mod evaluate_sim;
pub mod install;
pub mod os;
pub mod predict;
pub mod report;
pub mod run;
pub mod simulate;
pub mod single_writer;
pub mod trace;
pub mod twin;
pub mod validate;
pub mod vxbench;
