//! The contents of the page: tables, figures, and the sections of every kind of outcome.

pub mod alike;
pub mod campaign;
pub mod characterization;
pub mod clients;
pub mod figure;
pub mod findings;
pub mod joint;
pub mod measured;
pub mod models;
pub mod os;
pub mod replay;
pub mod section;
pub mod sections;
pub mod simulation;
pub mod simulations;
pub mod tables;
pub mod values;
pub mod vxbench;
