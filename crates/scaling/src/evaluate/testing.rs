//! Made-up probes for unit tests. Each run costs the same, all sets are equally fast, and filling a
//! cache takes the given time; or larger sets have no room, or other work disturbs the first runs.

use super::probe::{Probe, ProbeRequest};
use crate::testing::measurement;
use ioscape_schema::{Measurement, Workload};
use std::convert::Infallible;

/// Throughput in bytes per second, except with four processes, which are twice as fast.
const SPEED: f64 = 1e8;

/// The probe.
pub(super) struct Scripted {
    /// What each run costs apart from filling, in seconds.
    pub cost_s: f64,
    /// What bringing a set into the file cache takes where there is time for it, in seconds.
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

/// A machine that other work disturbs for this many more runs.
pub(super) struct Busy(pub usize);

impl Probe for Busy {
    type Error = Infallible;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Infallible> {
        let disturbed = self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        Ok(Measurement { disturbed, ..measurement(&request.workload, SPEED, 0.5, SPEED) })
    }
}

/// A target with room for sets of up to this many bytes. It fails with the size of a set without
/// room, and with 0 once it was asked this often.
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
