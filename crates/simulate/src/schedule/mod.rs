//! In which order the host sends waiting requests to a disk.

mod few;
mod many;

use crate::command::Command;
use crate::disk::Disk;
use many::Many;
use std::collections::VecDeque;

/// The published disciplines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Upwards by block number, then back to the lowest: what HP-UX did. The arm goes back to the first block of the disk.
    CScan,
    /// Up to the last block of the disk and down to the first, in turns.
    Scan,
    /// Up and down, turning at the last request.
    Look,
    /// Upwards, then straight to the lowest request.
    CLook,
    /// Shortest distance in blocks first.
    Sstf,
    /// Shortest seek and rotation first.
    Satf,
    /// The same less a share of the time waited, so that nobody starves (Jacobson & Wilkes 1991, aged SATF).
    AgedSatf,
}

/// Names of the disciplines on the command line.
pub const SCHEDULERS: [(&str, Scheduler); 8] = [
    ("fcfs", Scheduler::Fcfs),
    ("c-scan", Scheduler::CScan),
    ("scan", Scheduler::Scan),
    ("look", Scheduler::Look),
    ("c-look", Scheduler::CLook),
    ("sstf", Scheduler::Sstf),
    ("satf", Scheduler::Satf),
    ("aged-satf", Scheduler::AgedSatf),
];

/// Time waited that makes up for one unit of access time, in [`Scheduler::AgedSatf`]: waiting counts a thirtieth.
const AGEING: u64 = 30;

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its row.
    pub row: usize,
    /// When it came.
    pub arrival_ns: u64,
    /// What it asks.
    pub command: Command,
}

/// Requests that are looked through one by one; more are kept in order. Up to here looking is faster.
const FEW: usize = 32;

/// Where the next choice begins, and by which discipline.
#[derive(Clone, Copy, Debug)]
struct Course {
    scheduler: Scheduler,
    /// First block after the last request sent.
    head: u64,
    rising: bool,
}

impl Course {
    /// What a request costs in the disciplines of shortest access: its positioning time at `now_ns`, less its credit for waiting.
    #[inline]
    fn cost_ns(&self, waiting: &Waiting, now_ns: u64, disk: &Disk<'_>) -> i64 {
        let credit_ns = self.credit_ns(waiting.arrival_ns, now_ns);
        disk.positioning_ns(now_ns, &waiting.command) as i64 - credit_ns
    }

    /// What a request that came at `arrival_ns` has gained by waiting.
    #[inline]
    fn credit_ns(&self, arrival_ns: u64, now_ns: u64) -> i64 {
        match self.scheduler {
            Scheduler::AgedSatf => ((now_ns - arrival_ns) / AGEING) as i64,
            _ => 0,
        }
    }
}

/// The waiting requests of a disk.
#[derive(Clone, Debug)]
pub struct Queue {
    course: Course,
    /// All that wait, in the order they came, while they are few or it is the order they are sent in.
    few: VecDeque<Waiting>,
    /// All that wait, once they are many, until none is left.
    many: Many,
}

impl Queue {
    /// An empty queue.
    pub fn new(scheduler: Scheduler) -> Self {
        let course = Course { scheduler, head: 0, rising: true };
        Self { course, few: VecDeque::new(), many: Many::default() }
    }

    /// Requests waiting.
    pub fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_empty()
    }

    /// Adds a request.
    #[inline]
    pub fn push(&mut self, waiting: Waiting) {
        if self.course.scheduler == Scheduler::Fcfs
            || (self.few.len() < FEW && self.many.is_empty())
        {
            return self.few.push_back(waiting);
        }
        self.few.drain(..).for_each(|earlier| self.many.push(earlier));
        self.many.push(waiting);
    }

    /// Takes the next request to send at `now_ns`; of equals, the one that came first.
    #[inline]
    pub fn pop(&mut self, now_ns: u64, disk: &Disk<'_>) -> Option<Waiting> {
        let chosen = if self.many.is_empty() {
            few::take(&mut self.few, &mut self.course, now_ns, disk)?
        } else {
            self.many.take(&mut self.course, now_ns, disk)?
        };
        self.course.head = chosen.command.block + chosen.command.count;
        Some(chosen)
    }
}

#[cfg(test)]
mod tests;
