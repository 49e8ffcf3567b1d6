//! The scheduling disciplines, the waiting requests, and the state from which the next one is
//! chosen.

use crate::command::Command;
use crate::disk::Outlook;

/// The published scheduling disciplines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Upwards by block number, then back to the lowest request, as HP-UX did.
    CScan,
    /// Up and down, turning at the last request: a host cannot move the arm without a request.
    Scan,
    /// The same as [`Self::Scan`], under the usual name for turning at the last request.
    Look,
    /// The same as [`Self::CScan`].
    CLook,
    /// Shortest distance in blocks first.
    Sstf,
    /// Shortest access time (seek and rotation) first.
    Satf,
    /// Shortest access time less a share of the waiting time, which prevents starvation (Jacobson &
    /// Wilkes 1991, aged SATF).
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

/// Waiting time that offsets one unit of access time in [`Scheduler::AgedSatf`].
const AGEING: u64 = 30;

/// A waiting request.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its row.
    pub row: usize,
    /// When it arrived.
    pub arrival_ns: u64,
    /// The command.
    pub command: Command,
}

/// The discipline, and the position from which it makes the next choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) scheduler: Scheduler,
    /// First block after the last request sent.
    pub(super) head: u64,
    pub(super) rising: bool,
}

impl Course {
    /// Whether even a single waiting request may reverse the direction.
    #[inline]
    pub(super) fn turns(&self) -> bool {
        matches!(self.scheduler, Scheduler::Scan | Scheduler::Look)
    }

    /// A request's cost in the shortest-access disciplines: its positioning time, less its credit
    /// for waiting.
    #[inline]
    pub(super) fn cost_ns(&self, waiting: &Waiting, outlook: &Outlook<'_>) -> i64 {
        let credit_ns = self.credit_ns(waiting.arrival_ns, outlook.now_ns);
        outlook.positioning_ns(&waiting.command) as i64 - credit_ns
    }

    /// The credit for waiting of a request that arrived at `arrival_ns`.
    #[inline]
    pub(super) fn credit_ns(&self, arrival_ns: u64, now_ns: u64) -> i64 {
        match self.scheduler {
            Scheduler::AgedSatf => ((now_ns - arrival_ns) / AGEING) as i64,
            _ => 0,
        }
    }
}
