//! A disk of its own that takes its jobs one after the other.

use crate::command::{DiskOptions, Traffic};
use crate::disk::Disk;
use crate::drive::Drive;
use crate::job::{Arrivals, Job, SimulatedRequest};

/// The disk, and where it stands.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    disk: Disk<'a>,
    free_ns: u64,
    /// Recorded completion of the job before.
    before_ns: u64,
}

impl<'a> Lane<'a> {
    /// A disk at rest.
    pub fn new(drive: &'a Drive, options: DiskOptions) -> Self {
        Self { disk: Disk::new(drive, options), free_ns: 0, before_ns: 0 }
    }

    /// Carries out the next job.
    #[inline]
    pub fn serve(&mut self, job: &Job, arrivals: Arrivals) -> SimulatedRequest {
        let arrival_ns = match arrivals {
            Arrivals::Queued => job.io.queued_ns,
            Arrivals::Issued => job.io.issued_ns,
            Arrivals::Closed => self.free_ns + job.io.queued_ns.saturating_sub(self.before_ns),
        };
        let issued_ns = arrival_ns.max(self.free_ns);
        let done = self.disk.serve(issued_ns, job.command);
        (self.free_ns, self.before_ns) = (done.completed_ns, job.io.completed_ns);
        SimulatedRequest::new(job, arrivals.queued_ns(job, arrival_ns), issued_ns, done)
    }

    /// What the disk wrote.
    pub fn traffic(&self) -> Traffic {
        self.disk.traffic
    }
}
