//! Compares simulated drives with measured ones, with DiskSim, and with known results. One binary,
//! so that it is linked only once.

mod calibration;
mod data;
mod disksim;
mod hplajw;
mod last_written;
mod load;
mod mixed;
mod queueing;
mod told;
