//! Trace-driven simulation of disks, their caches and schedulers, and of whole systems, in integer nanoseconds.
//!
//! Floating point is used only to turn parameters into tables and in statistics of finished runs;
//! during a run, every time is a whole number of nanoseconds. This crate uses no clock, file,
//! thread, global or unordered map, so the same inputs give the same bytes everywhere.

mod alone;
pub mod array;
pub mod cache;
pub mod calibrate;
pub mod catalog;
pub mod cell;
pub mod combinations;
pub mod command;
pub mod compare;
pub mod disk;
pub mod disksim;
pub mod drive;
pub mod drives;
pub mod error;
pub mod extent;
pub mod fit;
mod halves;
pub mod job;
mod knobs;
pub mod layout;
mod load;
pub mod mechanism;
pub mod nvram;
mod outward;
mod phase;
mod places;
pub mod read_ahead;
pub mod rows;
pub mod schedule;
pub mod seek;
mod seeks;
mod seen;
pub mod segments;
pub mod setup;
pub mod simulate;
mod skews;
pub mod ssd;
pub mod stream;
pub mod summary;
pub mod system;
pub mod twin;
pub mod work;

#[cfg(test)]
mod testing;

pub use command::{Command, DiskOptions, Done, Parts, Traffic, WriteCache};
pub use compare::{Agreement, agreement};
pub use disk::Disk;
pub use drive::{Drive, Parameters, Status};
pub use error::Error;
pub use extent::Extent;
pub use job::{Arrivals, Configuration, Job, Jobs, SimulatedRequest, SimulatedTrace, jobs};
pub use schedule::{SCHEDULERS, Scheduler};
pub use simulate::{one_step, simulate, simulate_into};
pub use stream::Stream;
