//! Block-I/O traces: formats in, rows out; one-pass analyses that merge; a trace as a five-parameter workload.

pub mod analyze;
