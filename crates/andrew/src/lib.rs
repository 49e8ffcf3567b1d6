//! The Modified Andrew Benchmark's source tree and the compiler that builds it.
