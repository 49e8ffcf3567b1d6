//! The operating-system micro-benchmarks, one question per file.
