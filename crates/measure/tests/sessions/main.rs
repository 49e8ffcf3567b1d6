//! Sessions on real files: measurements, failures, and blocks found wrong. They share one binary,
//! so that it is linked only once.

#[path = "../../tests/common/mod.rs"]
mod common;
mod course;
mod engines;
mod failures;
mod limit;
mod rows;
mod space;
mod verify;
