//! Sessions on real files: what is measured, what fails, and what is found wrong. One binary, so that it is linked once.

#[path = "../../tests/common/mod.rs"]
mod common;
mod course;
mod engines;
mod failures;
mod limit;
mod rows;
mod space;
mod verify;
