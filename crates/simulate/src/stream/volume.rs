//! A request to a volume: the parts that it becomes on the disks of an array, and when all of them are done.

use crate::array::{Array, Part};
use crate::command::{Done, Parts};
use crate::job::{Arrivals, Job, SimulatedRequest};
use std::collections::VecDeque;

/// A volume: an array, or a disk alone.
#[derive(Clone, Debug)]
pub struct Volume {
    /// How its blocks lie on its disks.
    pub array: Array,
    /// Bytes of a block.
    pub sector_bytes: u32,
    /// The first of its disks among all.
    pub first: usize,
    /// In a closed system the requests that wait for the one in progress: how long after it they come.
    pub coming: VecDeque<(u64, usize)>,
    /// Whether a request is in progress, of a closed system.
    pub is_busy: bool,
    /// When the last request was complete.
    pub free_ns: u64,
    /// Recorded completion of the last request that came, for the think times of a closed system.
    pub before_ns: u64,
}

/// A request that is not complete.
#[derive(Clone, Debug)]
pub struct Flight {
    /// Its number.
    pub ticket: u64,
    /// What is asked.
    pub job: Job,
    /// When it came.
    pub arrival_ns: u64,
    issued_ns: u64,
    completed_ns: u64,
    /// Parts that are not complete.
    left: usize,
    /// Parts that wait for those.
    pub later: Vec<Part>,
    parts: Parts,
}

impl Flight {
    /// A request that has come.
    pub fn new(ticket: u64, job: Job) -> Self {
        Self {
            ticket,
            job,
            arrival_ns: 0,
            issued_ns: u64::MAX,
            completed_ns: 0,
            left: 0,
            later: Vec::new(),
            parts: Parts::default(),
        }
    }

    /// As many parts go to their disks.
    pub fn send(&mut self, parts: usize) {
        self.left = parts;
    }

    /// A part that was issued at `issued_ns` is complete; whether it was the last of those that were sent.
    pub fn part_done(&mut self, issued_ns: u64, done: Done) -> bool {
        self.issued_ns = self.issued_ns.min(issued_ns);
        // Where the time went is told of the part that was complete last.
        if done.completed_ns >= self.completed_ns {
            (self.completed_ns, self.parts) = (done.completed_ns, done.parts);
        }
        self.left -= 1;
        self.left == 0
    }

    /// When the parts that were sent were complete.
    pub fn completed_ns(&self) -> u64 {
        self.completed_ns
    }

    /// The request when all is done.
    pub fn told(&self, arrivals: Arrivals) -> SimulatedRequest {
        let queued_ns = arrivals.queued_ns(&self.job, self.arrival_ns);
        let done = Done { completed_ns: self.completed_ns, parts: self.parts };
        SimulatedRequest::new(&self.job, queued_ns, self.issued_ns, done)
    }
}
