//! The real machine: processes, shared memory, control groups, clock, targets, cache control and what the kernel tells of itself.
