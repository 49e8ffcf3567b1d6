//! Block-I/O traces: formats in, rows out; one-pass analyses that merge; a trace as a five-parameter workload.

pub mod analyze;
pub mod characterize;
mod columns;
pub mod error;
pub mod read;
pub mod write;

pub use error::{Error, Place};
pub use read::{Format, Options, Reader, Source, open};
pub use write::{OutFormat, Writer};
