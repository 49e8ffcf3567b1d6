//! The real machine: processes, shared memory, control groups, clock, targets, cache control, and
//! what the kernel reports about itself. Everything that measures builds on it.
//!
//! The crate writes only to scratch files of its own, to files or devices whose data the user gave
//! up (see [`target`]), and to outputs (see [`output`]).

pub mod affinity;
pub mod allocator;
pub mod arrays;
mod attached;
mod awaited;
mod btrfs;
pub mod cache;
pub mod cgroup;
pub mod clock;
pub mod crew;
pub mod descriptors;
pub mod device;
pub mod doctor;
pub mod environment;
pub mod error;
pub mod extents;
mod facts;
pub mod input;
pub mod interrupt;
pub mod keeper;
mod layers;
pub mod limits;
pub mod load;
mod locks;
pub mod loops;
pub mod memory;
pub mod mounts;
pub mod namespace;
mod opened;
pub mod output;
pub mod parallel;
pub mod pipeline;
pub mod serve;
pub mod shared;
pub mod stuck;
pub mod target;
pub mod terminal;
#[doc(hidden)]
pub mod testing;
pub mod text;
pub mod thread;
pub mod tracefs;
pub mod traps;
pub mod usage;
pub mod witness;

pub use clock::Clock;
pub use error::{Death, Error};
pub use facts::{TargetFacts, flush_interval_s};
pub use layers::{rest_in_turn, served_here};
pub use mounts::FileSystemInfo;
pub use target::{Target, TargetOptions};
pub use traps::traps;
