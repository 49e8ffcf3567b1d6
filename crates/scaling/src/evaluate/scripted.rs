//! Made-up probes for unit tests: each run costs the same, all sets are as fast, and filling a cache takes as long as it is told; or the larger
//! sets have no room, or others disturb the first runs.

use super::probe::{Probe, ProbeRequest};
use crate::testing::measurement;
use ioscape_schema::{Measurement, Workload};
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

/// A machine that others disturb for so many runs more.
pub(super) struct Busy(pub usize);

impl Probe for Busy {
    type Error = Infallible;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Infallible> {
        let disturbed = self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        Ok(Measurement { disturbed, ..measurement(&request.workload, SPEED, 0.5, SPEED) })
    }
}

/// A target that has room for sets of up to so many bytes: what it fails with is the set that has none, and 0 once it was asked so often.
pub(super) struct Quota {
    pub room: u64,
    pub asked: usize,
    pub asked_most: usize,
}

impl Quota {
    pub(super) fn new(room: u64) -> Self {
        Self { room, asked: 0, asked_most: usize::MAX }
    }
}

impl Probe for Quota {
    type Error = u64;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, u64> {
        if self.asked == self.asked_most {
            return Err(0);
        }
        self.asked += 1;
        match request.workload.unique_bytes {
            set if set > self.room => Err(set),
            _ => Ok(measurement(&request.workload, SPEED, 0.5, SPEED)),
        }
    }

    fn lacks_room(&self, workload: &Workload, error: &u64) -> bool {
        *error == workload.unique_bytes
    }
}
