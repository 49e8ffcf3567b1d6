//! A request to a volume: its parts on the disks of an array, and when they are all complete.

use crate::array::{Array, Part};
use crate::command::{Done, Parts};
use crate::job::{Arrivals, Job, SimulatedRequest};
use ioscape_schema::IoFlags;
use std::collections::VecDeque;

/// A volume: an array or a single disk.
#[derive(Clone, Debug)]
pub struct Volume {
    /// How its blocks are laid out on its disks.
    pub array: Array,
    /// Bytes of a block.
    pub sector_bytes: u32,
    /// Index of its first disk among all disks.
    pub first: usize,
    /// In a closed system, the requests that follow the one in progress: the think time before
    /// each, and its index.
    pub coming: VecDeque<(u64, usize)>,
    /// Whether a request is in progress, in a closed system.
    pub is_busy: bool,
    /// When the last request was complete.
    pub free_ns: u64,
    /// Recorded completion time of the latest request, for the think times of a closed system.
    pub before_ns: u64,
}

/// A request in progress.
#[derive(Clone, Debug)]
pub struct Flight {
    /// Its number.
    pub ticket: u64,
    /// The job.
    pub job: Job,
    /// Flags of its parts: those of the job, except a flush that is sent as separate parts.
    pub flags: IoFlags,
    /// When it arrived.
    pub arrival_ns: u64,
    issued_ns: u64,
    completed_ns: u64,
    /// Parts sent so far, and how many of the last batch are not complete.
    sent: usize,
    left: usize,
    /// Parts that wait for the last batch; those marked `second` also wait for the unmarked ones.
    later: Vec<Part>,
    parts: Parts,
}

impl Flight {
    /// A request that has arrived.
    pub fn new(ticket: u64, job: Job) -> Self {
        Self {
            ticket,
            job,
            flags: job.io.flags,
            arrival_ns: 0,
            issued_ns: u64::MAX,
            completed_ns: 0,
            sent: 0,
            left: 0,
            later: Vec::new(),
            parts: Parts::default(),
        }
    }

    /// Adds parts, in order, that wait for the parts sent before them.
    pub fn wait(&mut self, parts: impl IntoIterator<Item = Part>) {
        self.later.extend(parts);
    }

    /// Takes the next batch of parts, which no longer wait for others.
    pub fn take_next(&mut self) -> Vec<Part> {
        let first = self.later.partition_point(|part| !part.second);
        if first == 0 {
            return std::mem::take(&mut self.later);
        }
        let second = self.later.split_off(first);
        std::mem::replace(&mut self.later, second)
    }

    /// Records that a batch of `parts` parts goes to the disks.
    pub fn send(&mut self, parts: usize) {
        self.sent += parts;
        self.left = parts;
    }

    /// Records the completion of a part that was issued at `issued_ns`; returns whether it was the
    /// last of its batch.
    pub fn part_done(&mut self, issued_ns: u64, done: Done) -> bool {
        self.issued_ns = self.issued_ns.min(issued_ns);
        // The breakdown of the time is that of the part that completed last.
        if done.completed_ns >= self.completed_ns {
            (self.completed_ns, self.parts) = (done.completed_ns, done.parts);
        }
        self.left -= 1;
        self.left == 0
    }

    /// When the parts sent so far were complete.
    pub fn completed_ns(&self) -> u64 {
        self.completed_ns
    }

    /// The finished request.
    pub fn told(&self, arrivals: Arrivals) -> SimulatedRequest {
        let mut parts = self.parts;
        // Time that other disks of the array spent first, such as on reads for the parity, counts
        // as waiting for the last part.
        if self.sent > 1 {
            let all_ns = self.completed_ns.saturating_sub(self.issued_ns);
            parts.waited_ns += all_ns.saturating_sub(parts.total_ns());
        }
        let done = Done { completed_ns: self.completed_ns, parts };
        SimulatedRequest::new(&self.job, arrivals, [self.arrival_ns, self.issued_ns], done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use ioscape_schema::Io;

    #[test]
    fn the_parts_of_a_request_in_an_array_add_up() {
        let command = Command { block: 0, count: 8, write: true, synchronous: false };
        let job = Job { row: 0, disk: 0, io: Io::default(), command };
        let mut flight = Flight::new(0, job);
        let done = |seek_ns: u64, completed_ns| Done {
            completed_ns,
            parts: Parts { seek_ns, ..Parts::default() },
        };
        flight.send(2);
        assert!(!flight.part_done(100, done(300, 400)));
        assert!(flight.part_done(100, done(500, 600)));
        flight.send(1);
        assert!(flight.part_done(600, done(250, 850)));
        let told = flight.told(Arrivals::Issued);
        assert_eq!((told.physical_ns(), told.parts.seek_ns, told.parts.waited_ns), (750, 250, 500));
    }
}
