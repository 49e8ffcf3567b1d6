//! The real machine: targets, file cache, memory limits, clock, load and environment; the only crate that touches them.
//!
//! What is written is never anything but a scratch file of our own making, or a file or device that the user named
//! together with the permission to destroy its data (see [`target`]).

pub mod cache;
pub mod calls;
pub mod cgroup;
pub mod clock;
mod engine;
pub mod environment;
pub mod error;
mod extents;
pub mod load;
pub mod namespace;
pub mod os;
pub mod record;
pub mod replay;
pub mod session;
mod shared;
mod stop;
pub mod target;
#[cfg(test)]
mod testing;
mod text;
pub mod traps;
pub mod vxbench;
mod worker;

pub use clock::Clock;
pub use error::{Death, Error};
pub use session::{Phase, Progress, RunOptions, Session, SessionOptions};
pub use target::{FileSystemInfo, Target, TargetOptions};
pub use traps::traps;
