//! An independent drive that serves jobs in order: one at a time, or at once on a drive that
//! accepts many.

use super::unit::{Kind, Unit};
use crate::job::{Arrivals, Job, SimulatedRequest};

/// A drive and its progress through the jobs.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    /// The drive.
    pub unit: Unit<'a>,
    free_ns: u64,
    /// Recorded completion time of the previous job.
    before_ns: u64,
}

impl<'a> Lane<'a> {
    /// A drive at rest.
    pub fn new(kind: Kind<'a>) -> Self {
        Self { unit: Unit::new(kind), free_ns: 0, before_ns: 0 }
    }

    /// Carries out the next job.
    #[inline]
    pub fn serve(&mut self, job: &Job, arrivals: Arrivals) -> SimulatedRequest {
        let arrival_ns = match arrivals {
            Arrivals::Queued => job.io.queued_ns,
            Arrivals::Issued => job.io.issued_ns,
            Arrivals::Closed => self.free_ns + job.io.queued_ns.saturating_sub(self.before_ns),
        };
        let issued_ns =
            if self.unit.takes_many() { arrival_ns } else { arrival_ns.max(self.free_ns) };
        let done = self.unit.serve(issued_ns, job.command, job.io.flags);
        (self.free_ns, self.before_ns) = (done.completed_ns, job.io.completed_ns);
        SimulatedRequest::new(job, arrivals, [arrival_ns, issued_ns], done)
    }
}
