//! Trace-driven simulation of disks, their caches and schedulers, and of whole systems, in integer nanoseconds.
