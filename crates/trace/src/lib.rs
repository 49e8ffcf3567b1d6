//! Block-I/O traces: reads and writes many formats, analyzes a trace in one pass with results that
//! merge, and characterizes it as a five-parameter workload.

pub mod analyze;
pub mod characterize;
pub mod classify;
mod clock;
mod columns;
pub mod compare;
mod doubts;
pub mod error;
mod live;
mod parts;
mod pattern;
pub mod queue;
pub mod read;
mod recorded;
pub mod replay;
pub mod ring;
mod selected;
pub mod slow;
#[doc(hidden)]
pub mod testing;
mod wanted;
pub mod write;

pub use classify::{BlockTypes, classify};
pub use clock::TraceClock;
pub use doubts::{doubts, doubts_of_replay, doubts_of_simulation, doubts_of_workloads};
pub use error::{Error, FilePosition};
pub use live::Live;
pub use pattern::PatternBuilder;
pub use read::{Format, ReadOptions, Reader, Source, needs_file, open};
pub use recorded::Recorded;
pub use selected::{SelectError, SelectedRows};
pub use wanted::Wanted;
pub use write::{OutFormat, Writer};
