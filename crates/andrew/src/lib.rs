//! The Modified Andrew Benchmark's source tree and the toolchain that builds it (Ousterhout 1990, section 9).
//!
//! Both are byte for byte the same on every machine: the tree is generated, and the toolchain
//! compiles a subset of C for an invented 32-bit target. So results differ only by machine and
//! operating system. Nothing here touches a file: the benchmark copies the files of [`Andrew`] and
//! calls its tools, with a process per step.

mod build;
mod compiler;
mod tree;
mod words;

pub use build::Andrew;
