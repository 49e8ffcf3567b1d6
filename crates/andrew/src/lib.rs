//! The Modified Andrew Benchmark's source tree and the toolchain that builds it (Ousterhout 1990, section 9).
//!
//! Both are the same bytes on every machine: the tree is generated, and the toolchain compiles a subset of C for one
//! invented 32-bit target, so that only the machine and its system differ. Nothing here touches a file; whoever runs the
//! benchmark copies [`tree::files`] and calls [`toolchain`] in a process per step.

mod build;
mod compiler;
pub mod toolchain;
pub mod tree;
mod words;

pub use build::Andrew;
