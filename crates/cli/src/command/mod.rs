//! The commands: what the arguments mean, and what is poured into what.

pub mod calibrate;
pub mod compare;
pub mod evaluate;
pub mod evaluate_sim;
pub mod predict;
pub mod report;
pub mod run;
pub mod simulate;
pub mod validate;
