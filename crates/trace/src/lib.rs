//! Block-I/O traces: formats in, rows out; one-pass analyses that merge; a trace as a five-parameter workload.

pub mod analyze;
pub mod error;
pub mod read;

pub use error::{Error, Place};
pub use read::{Format, Options, Reader, Source, open};
