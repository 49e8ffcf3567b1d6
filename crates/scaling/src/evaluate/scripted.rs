//! A made-up probe for unit tests: each run costs the same, all sets are as fast, and filling a cache takes as long as it is told.

use super::probe::{Probe, ProbeRequest};
use crate::testing::measurement;
use ioscape_schema::Measurement;
use std::convert::Infallible;

/// Throughput of everything but four processes, which are twice as fast, in bytes per second.
const SPEED: f64 = 1e8;

/// The probe.
pub(super) struct Scripted {
    /// What each run costs besides, in seconds.
    pub cost_s: f64,
    /// What bringing a set into the file cache takes where it is given time for that, in seconds.
    pub fill_s: f64,
}

impl Probe for Scripted {
    type Error = Infallible;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Infallible> {
        let fill_s = (request.fill_s > 0.0).then_some(self.fill_s);
        let speed = if request.workload.process_num == 4 { 2.0 * SPEED } else { SPEED };
        let cost_s = self.cost_s + fill_s.unwrap_or(0.0);
        Ok(Measurement { fill_s, ..measurement(&request.workload, speed, cost_s, speed) })
    }
}
