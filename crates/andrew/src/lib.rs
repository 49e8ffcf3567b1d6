//! The Modified Andrew Benchmark's source tree and the toolchain that builds it (Ousterhout 1990, section 9).
//!
//! Both are the same bytes on every machine: the tree is generated, and the toolchain compiles a subset of C for one
//! invented 32-bit target, so that only the machine and its system differ. Nothing here touches a file; whoever runs the
//! benchmark copies the files of [`Andrew`] and calls its tools in a process per step.

mod build;
mod compiler;
mod tree;
mod words;

pub use build::Andrew;
