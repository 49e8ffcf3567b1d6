//! A drive and the queues in front of it: the host's, and the drive's own.

use super::unit::Unit;
use crate::command::{BusNeed, Command};
use crate::schedule::{Queue, Scheduler, Waiting};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A command on its way to a disk.
#[derive(Clone, Copy, Debug)]
pub struct Coming {
    /// When it comes.
    pub at_ns: u64,
    /// The request that it is part of.
    pub flight: usize,
    /// What is asked.
    pub command: Command,
}

/// A command at the drive that needs the bus.
#[derive(Clone, Copy, Debug)]
pub struct Current {
    /// The command; `arrival_ns` is when it was issued to the drive.
    pub waiting: Waiting,
    /// When the drive began with it.
    pub begun_ns: u64,
    /// The bus that it needs.
    pub need: BusNeed,
}

/// Where a drive and its queues stand.
#[derive(Clone, Debug)]
pub struct Station<'a> {
    /// The drive.
    pub unit: Unit<'a>,
    /// The host's queue.
    host: Queue,
    /// The drive's own.
    own: Queue,
    /// Commands that the drive takes, the one in progress included.
    depth: usize,
    /// Commands that are not yet in a queue, by time.
    coming: VecDeque<Coming>,
    /// When it acts next; `u64::MAX` when nothing is known to be done.
    pub at_ns: u64,
    /// The command at the drive that needs the bus.
    pub current: Option<Current>,
    free_ns: u64,
    /// When commands are complete that the drive has at once, as a solid-state drive does.
    ends: BinaryHeap<Reverse<u64>>,
    /// First block after the last command.
    pub last_block: u64,
}

impl<'a> Station<'a> {
    /// A drive at rest, which takes `depth` commands and chooses among them by the shortest access, aged.
    pub fn new(unit: Unit<'a>, scheduler: Scheduler, depth: u32) -> Self {
        Self {
            unit,
            host: Queue::new(scheduler),
            own: Queue::new(Scheduler::AgedSatf),
            depth: depth.max(1) as usize,
            coming: VecDeque::new(),
            at_ns: u64::MAX,
            current: None,
            free_ns: 0,
            ends: BinaryHeap::new(),
            last_block: 0,
        }
    }

    /// Commands that are not complete at `now_ns`, those included that are waited for.
    pub fn load(&mut self, now_ns: u64) -> usize {
        self.forget_ended(now_ns);
        let at_work = usize::from(self.current.is_some() || self.free_ns > now_ns);
        self.coming.len() + self.host.len() + self.own.len() + self.ends.len() + at_work
    }

    /// A drive that takes commands as they come has another since `now_ns`.
    pub fn took(&mut self, now_ns: u64, command: Command, completed_ns: u64) {
        self.forget_ended(now_ns);
        self.ends.push(Reverse(completed_ns));
        self.last_block = command.block + command.count;
        self.wait();
    }

    fn forget_ended(&mut self, now_ns: u64) {
        while self.ends.peek().is_some_and(|end| end.0 <= now_ns) {
            self.ends.pop();
        }
    }

    /// A command that will come.
    pub fn send(&mut self, coming: Coming) {
        let at = self.coming.partition_point(|other| other.at_ns <= coming.at_ns);
        self.coming.insert(at, coming);
        if self.current.is_none() {
            self.at_ns = self.at_ns.min(coming.at_ns.max(self.free_ns));
        }
    }

    /// The next command that comes by `now_ns`.
    pub fn arrived(&mut self, now_ns: u64) -> Option<Coming> {
        self.coming.front().filter(|coming| coming.at_ns <= now_ns)?;
        self.coming.pop_front()
    }

    /// Puts what has come by `now_ns`, when the drive is free, into the queues, and gives the command that the drive takes next. What came
    /// while the drive had room went to it at once.
    pub fn next(&mut self, now_ns: u64) -> Option<Waiting> {
        while let Some(Coming { at_ns, flight, command }) = self.arrived(now_ns) {
            let waiting = Waiting { row: flight, arrival_ns: at_ns, command };
            if self.depth > 1 && self.host.is_empty() && self.own.len() + 1 < self.depth {
                self.own.push(waiting);
            } else {
                self.host.push(waiting);
            }
        }
        let disk = self.unit.disk()?;
        while self.own.len() < self.depth {
            let Some(waiting) = self.host.pop(now_ns, disk) else { break };
            self.own.push(Waiting { arrival_ns: now_ns, ..waiting });
        }
        self.own.pop(now_ns, disk)
    }

    /// After a completion: when the next command can be taken.
    pub fn rest(&mut self, free_ns: u64) {
        self.free_ns = free_ns;
        self.wait();
    }

    /// When the next command can be taken.
    pub fn wait(&mut self) {
        self.at_ns = if self.host.is_empty() && self.own.is_empty() {
            self.coming.front().map_or(u64::MAX, |coming| coming.at_ns.max(self.free_ns))
        } else {
            self.free_ns
        };
    }
}
