//! Sorts jobs by their recorded issue times. Jobs come in order of arrival, and none is issued
//! before it arrives. So once a job's issue time is no later than the latest arrival, no later job
//! can precede it.

use crate::job::Job;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Jobs that wait because a job yet to arrive may have been issued before them.
#[derive(Clone, Debug, Default)]
pub struct IssueOrder {
    waiting: BinaryHeap<Waiting>,
    latest_ns: u64,
}

#[derive(Clone, Debug)]
struct Waiting {
    ticket: u64,
    job: Job,
}

impl Waiting {
    fn key(&self) -> (u64, u64) {
        (self.job.io.issued_ns, self.ticket)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed: the heap yields its greatest, which shall be the one issued first.
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl IssueOrder {
    /// Adds the next job in order of arrival.
    pub fn push(&mut self, ticket: u64, job: Job) {
        self.latest_ns = self.latest_ns.max(job.io.queued_ns);
        self.waiting.push(Waiting { ticket, job });
    }

    /// Returns the next job in order of issue, once it is certain; `at_end` says that no more jobs
    /// come.
    pub fn pop(&mut self, at_end: bool) -> Option<(u64, Job)> {
        let first = self.waiting.peek()?;
        if !at_end && first.job.io.issued_ns > self.latest_ns {
            return None;
        }
        self.waiting.pop().map(|first| (first.ticket, first.job))
    }
}
