//! In which order the host sends waiting requests to a disk.

mod course;
mod few;
mod many;

pub use course::{SCHEDULERS, Scheduler, Waiting};

use crate::disk::Disk;
use course::Course;
use many::Many;
use std::collections::VecDeque;

/// Requests that are looked through one by one; more are kept in order. Up to here looking is faster.
const FEW: usize = 32;

/// The waiting requests of a disk.
#[derive(Clone, Debug)]
pub struct Queue {
    course: Course,
    /// All that wait, in the order they came, while they are few or it is the order they are sent in.
    few: VecDeque<Waiting>,
    /// All that wait, once they are many, until none is left.
    many: Many,
    /// Flushes that wait, which lie nowhere: no order by place knows where.
    flushes: VecDeque<Waiting>,
}

impl Queue {
    /// An empty queue.
    pub fn new(scheduler: Scheduler) -> Self {
        let course = Course { scheduler, head: 0, rising: true };
        Self { course, few: VecDeque::new(), many: Many::default(), flushes: VecDeque::new() }
    }

    /// Requests waiting.
    pub fn len(&self) -> usize {
        self.few.len() + self.many.len() + self.flushes.len()
    }

    /// Whether nobody waits.
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

    /// Takes the next request to send at `now_ns`; of equals, the one that came first. Flushes go before all others, and leave the head where it is.
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
