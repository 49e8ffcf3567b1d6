//! A drive and its two queues: the host's and its own.

use super::unit::Unit;
use crate::command::{BusNeed, Command};
use crate::schedule::{Queue, Scheduler, Waiting};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A command on its way to a disk.
#[derive(Clone, Copy, Debug)]
pub struct Coming {
    /// When it arrives.
    pub at_ns: u64,
    /// Row number of its request.
    pub flight: usize,
    /// The command.
    pub command: Command,
}

/// A command at the drive that needs the bus.
#[derive(Clone, Copy, Debug)]
pub struct Current {
    /// The command; `arrival_ns` is when it was issued to the drive.
    pub waiting: Waiting,
    /// When the drive began with it.
    pub begun_ns: u64,
    /// When and how long it needs the bus.
    pub need: BusNeed,
}

/// The state of a drive and its queues.
#[derive(Clone, Debug)]
pub struct Station<'a> {
    /// The drive.
    pub unit: Unit<'a>,
    /// The host's queue.
    host: Queue,
    /// The drive's own queue.
    own: Queue,
    /// Commands the drive accepts at once, including the one in progress.
    depth: usize,
    /// Commands not yet in a queue, by arrival time.
    coming: VecDeque<Coming>,
    /// When it acts next; `u64::MAX` if it has nothing to do.
    pub at_ns: u64,
    /// The command at the drive that needs the bus.
    pub current: Option<Current>,
    free_ns: u64,
    /// Completion times of concurrent commands, on a drive that accepts many, such as a solid-state
    /// drive.
    ends: BinaryHeap<Reverse<u64>>,
    /// First block after the last command.
    pub last_block: u64,
}

impl<'a> Station<'a> {
    /// A drive at rest that accepts `depth` commands and orders them by aged shortest access time.
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

    /// The number of commands not complete at `now_ns`, including those yet to arrive.
    pub fn load(&mut self, now_ns: u64) -> usize {
        self.forget_ended(now_ns);
        let at_work = usize::from(self.current.is_some() || self.free_ns > now_ns);
        self.coming.len() + self.host.len() + self.own.len() + self.ends.len() + at_work
    }

    /// Records that a drive that accepts many commands began another at `now_ns`.
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

    /// Adds a command that will arrive.
    pub fn send(&mut self, coming: Coming) {
        let at = self.coming.partition_point(|other| other.at_ns <= coming.at_ns);
        self.coming.insert(at, coming);
        if self.current.is_none() {
            self.at_ns = self.at_ns.min(coming.at_ns.max(self.free_ns));
        }
    }

    /// Takes the next command that has arrived by `now_ns`.
    pub fn arrived(&mut self, now_ns: u64) -> Option<Coming> {
        self.coming.front().filter(|coming| coming.at_ns <= now_ns)?;
        self.coming.pop_front()
    }

    /// Takes the drive's next command at `now_ns`, when it is free, after queueing all commands
    /// that arrived by then. Commands that arrived while the drive's queue had room went into it at
    /// once.
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

    /// Records that the drive is free from `free_ns` on, and when it acts next.
    pub fn rest(&mut self, free_ns: u64) {
        self.free_ns = free_ns;
        self.wait();
    }

    /// Sets when the drive can take its next command.
    pub fn wait(&mut self) {
        self.at_ns = if self.host.is_empty() && self.own.is_empty() {
            self.coming.front().map_or(u64::MAX, |coming| coming.at_ns.max(self.free_ns))
        } else {
            self.free_ns
        };
    }
}
