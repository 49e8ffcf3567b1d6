//! In which order the host sends waiting requests to a disk.

use crate::command::Command;
use crate::disk::Disk;

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

/// The waiting requests of a disk.
#[derive(Clone, Debug)]
pub struct Queue {
    scheduler: Scheduler,
    waiting: std::collections::VecDeque<Waiting>,
    /// First block after the last request sent.
    head: u64,
    rising: bool,
}

impl Queue {
    /// An empty queue.
    pub fn new(scheduler: Scheduler) -> Self {
        Self { scheduler, waiting: std::collections::VecDeque::new(), head: 0, rising: true }
    }

    /// Requests waiting.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds a request.
    #[inline]
    pub fn push(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
    }

    /// Takes the next request to send at `now_ns`.
    #[inline]
    pub fn pop(&mut self, now_ns: u64, disk: &Disk<'_>) -> Option<Waiting> {
        let next = match self.waiting.len() {
            0 => return None,
            1 => 0,
            _ => self.choose(now_ns, disk)?,
        };
        let chosen = self.waiting.remove(next)?;
        self.head = chosen.command.block + chosen.command.count;
        Some(chosen)
    }

    fn choose(&mut self, now_ns: u64, disk: &Disk<'_>) -> Option<usize> {
        let head = self.head;
        match self.scheduler {
            Scheduler::Fcfs => Some(0),
            Scheduler::CScan | Scheduler::CLook => {
                self.least(|w| (w.command.block < head, w.command.block))
            }
            Scheduler::Scan | Scheduler::Look => {
                let ahead = |w: &Waiting, rising| (w.command.block >= head) == rising;
                if !self.waiting.iter().any(|w| ahead(w, self.rising)) {
                    self.rising = !self.rising;
                }
                let rising = self.rising;
                self.least(|w| (!ahead(w, rising), w.command.block.abs_diff(head)))
            }
            Scheduler::Sstf => self.least(|w| w.command.block.abs_diff(head)),
            Scheduler::Satf => self.least(|w| disk.positioning_ns(now_ns, &w.command)),
            Scheduler::AgedSatf => self.least(|w| {
                let waited = (now_ns - w.arrival_ns) / AGEING;
                disk.positioning_ns(now_ns, &w.command) as i64 - waited as i64
            }),
        }
    }

    /// The first of those with the least key.
    fn least<K: Ord>(&self, key: impl Fn(&Waiting) -> K) -> Option<usize> {
        (0..self.waiting.len()).min_by_key(|&at| key(&self.waiting[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DiskOptions;

    fn order(scheduler: Scheduler, head: u64, blocks: &[u64]) -> Vec<u64> {
        let drive = crate::testing::simple();
        let disk = Disk::new(&drive, DiskOptions::default());
        let mut queue = Queue::new(scheduler);
        queue.head = head;
        for (row, &block) in blocks.iter().enumerate() {
            let command = Command { block, count: 1, write: false, synchronous: true };
            queue.push(Waiting { row, arrival_ns: 0, command });
        }
        std::iter::from_fn(|| queue.pop(0, &disk).map(|w| w.command.block)).collect()
    }

    #[test]
    fn every_discipline_keeps_its_order() {
        let blocks = [500, 100, 900, 450, 520];
        assert_eq!(order(Scheduler::Fcfs, 480, &blocks), blocks);
        assert_eq!(order(Scheduler::CScan, 480, &blocks), [500, 520, 900, 100, 450]);
        assert_eq!(order(Scheduler::CLook, 480, &blocks), [500, 520, 900, 100, 450]);
        assert_eq!(order(Scheduler::Look, 480, &blocks), [500, 520, 900, 450, 100]);
        assert_eq!(order(Scheduler::Scan, 480, &blocks), [500, 520, 900, 450, 100]);
        assert_eq!(order(Scheduler::Sstf, 480, &blocks), [500, 520, 450, 100, 900]);
        for scheduler in [Scheduler::Satf, Scheduler::AgedSatf] {
            let mut all = order(scheduler, 480, &blocks);
            all.sort_unstable();
            assert_eq!(all, [100, 450, 500, 520, 900]);
        }
    }
}
