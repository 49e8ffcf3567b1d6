//! Jobs in the order in which they were recorded to go to the disk. They come in the order of arrival, and nothing is issued before it
//! arrives: so what was issued before the latest arrival has nobody before it any more.

use crate::job::Job;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The jobs that wait for what may have been issued before them.
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
        // The heap gives its greatest: the one issued first.
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
    /// The next job in the order of arrivals.
    pub fn push(&mut self, ticket: u64, job: Job) {
        self.latest_ns = self.latest_ns.max(job.io.queued_ns);
        self.waiting.push(Waiting { ticket, job });
    }

    /// The next job in the order of issues, once it is known to be the next; `at_end` no more will come.
    pub fn pop(&mut self, at_end: bool) -> Option<(u64, Job)> {
        let first = self.waiting.peek()?;
        if !at_end && first.job.io.issued_ns > self.latest_ns {
            return None;
        }
        self.waiting.pop().map(|first| (first.ticket, first.job))
    }
}
