//! The block-trace recorder and the call tracer.
