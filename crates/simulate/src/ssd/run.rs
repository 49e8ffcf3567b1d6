//! A solid-state drive at work: when dies, channels, link and write buffer are free.

use super::{Filled, Ftl, Model};
use crate::command::{Command, Done, Parts, Traffic};
use crate::simulate::{Arrivals, Job, SimulatedRequest, SimulatedTrace};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A solid-state drive and its state.
#[derive(Clone, Debug)]
pub struct Ssd<'a> {
    model: &'a Model,
    ftl: Ftl,
    die_free_ns: Vec<u64>,
    channel_free_ns: Vec<u64>,
    link_free_ns: u64,
    /// When the pages in the write buffer are programmed, with their numbers.
    programmed: BinaryHeap<Reverse<(u64, u32)>>,
    /// Pages in the write buffer, and when the last copy of each is programmed.
    buffered: BTreeMap<u32, u64>,
    /// Counts, in blocks of 512 bytes; `destaged` includes what garbage collection moved.
    pub traffic: Traffic,
}

impl<'a> Ssd<'a> {
    /// A drive at rest.
    pub fn new(model: &'a Model) -> Self {
        let mut ftl = Ftl::new(&model.flash, model.pages());
        if model.filled == Filled::Full {
            for page in 0..model.pages() {
                ftl.program(page);
            }
        }
        Self {
            model,
            ftl,
            die_free_ns: vec![0; model.dies() as usize],
            channel_free_ns: vec![0; model.flash.channels as usize],
            link_free_ns: 0,
            programmed: BinaryHeap::new(),
            buffered: BTreeMap::new(),
            traffic: Traffic::default(),
        }
    }

    /// Carries out a command that comes at `now_ns`, beside those that are still in progress.
    pub fn serve(&mut self, now_ns: u64, command: Command) -> Done {
        let count = command.count.min(self.model.blocks.saturating_sub(command.block));
        let command = Command { count, ..command };
        self.release(now_ns);
        if command.write { self.write(now_ns, command) } else { self.read(now_ns, command) }
    }

    /// Numbers of the pages that a command touches.
    fn pages(&self, command: Command) -> std::ops::Range<u32> {
        let first = command.block / self.model.page_blocks;
        let end = (command.block + command.count).div_ceil(self.model.page_blocks);
        first as u32..end as u32
    }

    fn channel(&self, die: usize) -> usize {
        die % self.channel_free_ns.len()
    }

    fn read(&mut self, now_ns: u64, command: Command) -> Done {
        let started = now_ns + self.model.command_ns;
        let (mut ready, mut waited_ns) = (started, 0);
        let mut cached = true;
        for page in self.pages(command) {
            if self.buffered.contains_key(&page) || !self.ftl.holds(page) {
                continue;
            }
            cached = false;
            let sensed = self.sense(started, page);
            waited_ns = waited_ns.max(sensed - started - self.model.read_ns);
            let channel = self.channel(self.ftl.die(page));
            let free = &mut self.channel_free_ns[channel];
            *free = sensed.max(*free) + self.model.channel_page_ns;
            ready = ready.max(*free);
        }
        self.traffic.read_hits += u64::from(cached);
        let link = ready.max(self.link_free_ns);
        self.link_free_ns = link + command.count * self.model.link_block_ns;
        let parts = Parts {
            waited_ns,
            overhead_ns: self.model.command_ns,
            bus_ns: self.link_free_ns - ready,
            transfer_ns: ready - started - waited_ns,
            cached,
            ..Parts::default()
        };
        Done { completed_ns: self.link_free_ns, parts }
    }

    /// Reads a page from the cells of its die; gives the time when it is done.
    fn sense(&mut self, from_ns: u64, page: u32) -> u64 {
        let free = &mut self.die_free_ns[self.ftl.die(page)];
        *free = from_ns.max(*free) + self.model.read_ns;
        *free
    }

    fn write(&mut self, now_ns: u64, command: Command) -> Done {
        let started = now_ns + self.model.command_ns;
        let first_bit = started.max(self.link_free_ns);
        let (mut at, mut waited_ns) = (first_bit, 0);
        let end = command.block + command.count;
        for page in self.pages(command) {
            let low = u64::from(page) * self.model.page_blocks;
            let blocks = end.min(low + self.model.page_blocks) - command.block.max(low);
            at += blocks * self.model.link_block_ns;
            self.release(at);
            while self.programmed.len() >= self.model.buffer_pages {
                let Some(&Reverse((done, _))) = self.programmed.peek() else { break };
                waited_ns += done.saturating_sub(at);
                at = at.max(done);
                self.release(at);
            }
            self.program(at, page, blocks < self.model.page_blocks);
        }
        self.link_free_ns = at;
        self.traffic.written += command.count;
        let parts = Parts {
            waited_ns,
            overhead_ns: self.model.command_ns,
            bus_ns: at - started - waited_ns,
            cached: true,
            ..Parts::default()
        };
        Done { completed_ns: at, parts }
    }

    /// Sends a buffered page to its die. A page of which only a part is new is read before.
    fn program(&mut self, from_ns: u64, page: u32, in_part: bool) {
        let die = self.ftl.die(page);
        let old_ns = if in_part && self.ftl.holds(page) && !self.buffered.contains_key(&page) {
            self.sense(from_ns, page)
        } else {
            from_ns
        };
        let channel = self.channel(die);
        let free = &mut self.channel_free_ns[channel];
        *free = old_ns.max(*free) + self.model.channel_page_ns;
        let come = *free;
        let model = self.model;
        let done = self.ftl.program(page);
        let garbage_ns = u64::from(done.moved) * (model.read_ns + model.program_ns)
            + u64::from(done.erased) * model.erase_ns;
        let free = &mut self.die_free_ns[die];
        *free = come.max(*free) + garbage_ns + model.program_ns;
        self.programmed.push(Reverse((*free, page)));
        self.buffered.insert(page, *free);
        self.traffic.destaged += u64::from(1 + done.moved) * model.page_blocks;
    }

    /// Gives back the room of what is programmed by `now_ns`.
    fn release(&mut self, now_ns: u64) {
        while let Some(&Reverse((done, page))) = self.programmed.peek() {
            if done > now_ns {
                return;
            }
            self.programmed.pop();
            if self.buffered.get(&page) == Some(&done) {
                self.buffered.remove(&page);
            }
        }
    }
}

/// Simulates jobs on solid-state drives, one for every disk of the trace; requests go to the drive when they come, many
/// at a time, but one at a time in a closed system.
pub fn simulate(model: &Model, jobs: &[Job], arrivals: Arrivals) -> SimulatedTrace {
    let count = jobs.iter().map(|j| usize::from(j.disk) + 1).max().unwrap_or(0);
    let mut drives: Vec<(Ssd<'_>, [u64; 2])> =
        (0..count).map(|_| (Ssd::new(model), [0, 0])).collect();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    if arrivals == Arrivals::Issued {
        order.sort_by_key(|&at| jobs[at].io.issued_ns);
    }
    let mut rows = vec![SimulatedRequest::default(); jobs.len()];
    for at in order {
        let job = &jobs[at];
        let (drive, [free_ns, before_ns]) = &mut drives[usize::from(job.disk)];
        let now = match arrivals {
            Arrivals::Queued => job.io.queued_ns,
            Arrivals::Issued => job.io.issued_ns,
            Arrivals::Closed => *free_ns + job.io.queued_ns.saturating_sub(*before_ns),
        };
        let done = drive.serve(now, job.command);
        (*free_ns, *before_ns) = (done.completed_ns, job.io.completed_ns);
        let queued_ns = if arrivals == Arrivals::Issued { job.io.queued_ns } else { now };
        rows[at] = SimulatedRequest::new(job, queued_ns, now, done);
    }
    let traffic =
        drives.iter().fold(Traffic::default(), |sum, (drive, _)| sum.plus(&drive.traffic));
    SimulatedTrace { rows, traffic }
}
