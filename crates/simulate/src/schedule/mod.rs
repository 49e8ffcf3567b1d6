//! The order in which the host sends waiting requests to a disk.

mod course;
mod few;
mod many;

pub use course::{SCHEDULERS, Scheduler, Waiting};

use crate::disk::Disk;
use course::Course;
use many::Many;
use std::collections::VecDeque;

/// Most requests that are searched linearly; longer queues are indexed. Up to this length a linear
/// search is faster.
const FEW: usize = 32;

/// The waiting requests of a disk.
#[derive(Clone, Debug)]
pub struct Queue {
    course: Course,
    /// All waiting requests in order of arrival, while they are few or the discipline is first
    /// come, first served.
    few: VecDeque<Waiting>,
    /// All waiting requests from when they became many until none is left.
    many: Many,
    /// Waiting flushes, kept apart because they have no block to order them by.
    flushes: VecDeque<Waiting>,
}

impl Queue {
    /// Creates an empty queue.
    pub fn new(scheduler: Scheduler) -> Self {
        let course = Course { scheduler, head: 0, rising: true };
        Self { course, few: VecDeque::new(), many: Many::default(), flushes: VecDeque::new() }
    }

    /// The number of waiting requests.
    pub fn len(&self) -> usize {
        self.few.len() + self.many.len() + self.flushes.len()
    }

    /// Whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_empty() && self.flushes.is_empty()
    }

    /// Adds a request.
    #[inline]
    pub fn push(&mut self, waiting: Waiting) {
        if waiting.command.count == 0 && self.course.scheduler != Scheduler::Fcfs {
            return self.flushes.push_back(waiting);
        }
        if self.course.scheduler == Scheduler::Fcfs
            || (self.few.len() < FEW && self.many.is_empty())
        {
            return self.few.push_back(waiting);
        }
        self.few.drain(..).for_each(|earlier| self.many.push(earlier));
        self.many.push(waiting);
    }

    /// Takes the next request to send at `now_ns`; among equals, the earliest. Under every
    /// discipline but first come, first served, flushes go before all others. A flush does not move
    /// the head.
    #[inline]
    pub fn pop(&mut self, now_ns: u64, disk: &Disk<'_>) -> Option<Waiting> {
        if let Some(flush) = self.flushes.pop_front() {
            return Some(flush);
        }
        let chosen = if self.many.is_empty() {
            few::take(&mut self.few, &mut self.course, now_ns, disk)?
        } else {
            self.many.take(&mut self.course, now_ns, disk)?
        };
        if chosen.command.count > 0 {
            self.course.head = chosen.command.block + chosen.command.count;
        }
        Some(chosen)
    }
}

#[cfg(test)]
mod tests;
