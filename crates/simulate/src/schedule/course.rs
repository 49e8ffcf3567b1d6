//! The disciplines, the requests they choose among, and where the next choice begins.

use crate::command::Command;
use crate::disk::Disk;

/// The published disciplines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Upwards by block number, then back to the lowest request: what HP-UX did.
    CScan,
    /// Up and down, turning at the last request: a host sends the arm nowhere without one.
    Scan,
    /// The same as [`Self::Scan`], by the name of drives that turn there.
    Look,
    /// The same as [`Self::CScan`].
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

/// Where the next choice begins, and by which discipline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) scheduler: Scheduler,
    /// First block after the last request sent.
    pub(super) head: u64,
    pub(super) rising: bool,
}

impl Course {
    /// Whether the direction depends on where the requests are, even if there is one alone.
    #[inline]
    pub(super) fn turns(&self) -> bool {
        matches!(self.scheduler, Scheduler::Scan | Scheduler::Look)
    }

    /// What a request costs in the disciplines of shortest access: its positioning time at `now_ns`, less its credit for waiting.
    #[inline]
    pub(super) fn cost_ns(&self, waiting: &Waiting, now_ns: u64, disk: &Disk<'_>) -> i64 {
        let credit_ns = self.credit_ns(waiting.arrival_ns, now_ns);
        disk.positioning_ns(now_ns, &waiting.command) as i64 - credit_ns
    }

    /// What a request that came at `arrival_ns` has gained by waiting.
    #[inline]
    pub(super) fn credit_ns(&self, arrival_ns: u64, now_ns: u64) -> i64 {
        match self.scheduler {
            Scheduler::AgedSatf => ((now_ns - arrival_ns) / AGEING) as i64,
            _ => 0,
        }
    }
}
