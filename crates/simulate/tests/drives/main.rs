//! Simulated drives against measured ones, against DiskSim, and against what is known of them. One binary, so that it is linked once.

mod calibration;
mod data;
mod disksim;
mod hplajw;
mod last_written;
mod load;
mod mixed;
mod queueing;
mod told;
