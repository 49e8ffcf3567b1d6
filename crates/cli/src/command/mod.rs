//! The commands: what the arguments mean, and what is poured into what.

pub mod compare;
pub mod evaluate;
pub mod predict;
pub mod report;
pub mod run;
pub mod trace;
pub mod validate;
