//! The commands: what the arguments mean, and what is poured into what.

pub mod evaluate;
pub mod report;
pub mod run;
