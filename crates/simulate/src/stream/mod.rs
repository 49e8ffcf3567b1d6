//! Streaming simulation of drives: memory grows with the waiting requests, not with the trace.

mod events;
mod issue_order;
mod lane;
mod station;
mod unit;
mod volume;

use crate::array::Level;
use crate::command::{Stretch, Traffic, Work};
use crate::job::{Arrivals, Configuration, Job, SimulatedRequest};
use crate::schedule::Scheduler;
use events::Events;
use issue_order::IssueOrder;
use lane::Lane;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
pub use unit::Kind;
use unit::Unit;
pub(crate) use unit::{on_disk, wants_flush};

/// A running simulation.
///
/// Jobs come in order of arrival. Each gets a number, from 0, under which its completion is
/// reported. Completions may come in another order if the host reorders requests or there are
/// several disks.
#[derive(Clone, Debug)]
pub struct Stream<'a> {
    arrivals: Arrivals,
    by_issue: IssueOrder,
    next: u64,
    way: Way<'a>,
}

#[derive(Clone, Debug)]
enum Way<'a> {
    /// Independent drives that keep the order of arrival: each job begins when it has arrived and
    /// the one before it is complete.
    Lanes(Vec<Lane<'a>>),
    /// Drives with reordering host queues, arrays or a shared bus.
    Events(Events<'a>),
}

impl<'a> Stream<'a> {
    /// A simulation without drives.
    pub fn new(options: &Configuration) -> Self {
        // In a closed system no request waits, so the host has nothing to reorder.
        let keeps_order =
            options.scheduler == Scheduler::Fcfs || options.arrivals == Arrivals::Closed;
        let reorders = options.disk.queue_depth > 1 && options.arrivals != Arrivals::Closed;
        let is_simple = options.array.level == Level::Single && !reorders;
        let way = match keeps_order && is_simple && !options.shared_bus {
            true => Way::Lanes(Vec::new()),
            false => Way::Events(Events::new(options)),
        };
        Self { arrivals: options.arrivals, by_issue: IssueOrder::default(), next: 0, way }
    }

    /// Ends early once `stop` is set: requests that wait in queues then never complete.
    pub fn heed(&mut self, stop: &Arc<AtomicBool>) {
        if let Way::Events(events) = &mut self.way {
            events.heed(stop);
        }
    }

    /// Adds a drive, or an array of drives if the options say so, after the existing ones.
    pub fn add(&mut self, kind: Kind<'a>) {
        match &mut self.way {
            Way::Lanes(lanes) => lanes.push(Lane::new(kind)),
            Way::Events(events) => events.add(kind),
        }
    }

    /// Takes more jobs; calls `done` for each request that completes.
    pub fn take(&mut self, jobs: &[Job], done: &mut impl FnMut(u64, SimulatedRequest)) {
        if self.arrivals == Arrivals::Issued {
            for job in jobs {
                self.by_issue.push(self.next, *job);
                self.next += 1;
                while let Some((ticket, job)) = self.by_issue.pop(false) {
                    self.way.push(ticket, &job, self.arrivals, done);
                }
            }
            return;
        }
        for job in jobs {
            self.way.push(self.next, job, self.arrivals, done);
            self.next += 1;
        }
    }

    /// Completes all jobs taken; returns what the drives wrote, in bytes.
    pub fn finish(&mut self, done: &mut impl FnMut(u64, SimulatedRequest)) -> Traffic {
        while let Some((ticket, job)) = self.by_issue.pop(true) {
            self.way.push(ticket, &job, self.arrivals, done);
        }
        if let Way::Events(events) = &mut self.way {
            events.finish(done);
        }
        let traffic = self.units().fold(Traffic::default(), |sum, unit| sum.plus(&unit.traffic()));
        // A drive that still writes back its buffer while others work uses active power.
        let end_ns = self.units().map(Unit::completed_ns).max().unwrap_or(0);
        self.units_mut().for_each(|unit| unit.end_at(end_ns));
        traffic
    }

    /// How long the drives have been busy so far.
    pub fn work(&self) -> Work {
        self.units().fold(Work::default(), |sum, unit| Work {
            busy_ns: sum.busy_ns + unit.busy_ns(),
            busiest_ns: sum.busiest_ns.max(unit.busy_ns()),
            drives: sum.drives + 1,
        })
    }

    /// The last time in which each drive of a volume had a command throughout, if each volume has so
    /// many `disks`.
    pub fn stretches(&self, volume: usize, disks: usize) -> Vec<Stretch> {
        self.units().skip(volume * disks).take(disks).map(Unit::stretch).collect()
    }

    /// The energy of all drives over the `of_ns` nanoseconds of the finished simulation, in joules;
    /// `None` if there are no drives, or if the power of any is unknown.
    pub fn energy_j(&self, of_ns: u64) -> Option<f64> {
        let each = |unit: &Unit<'a>| Some(unit.power?.energy_j(unit.active_ns(), of_ns));
        self.units().next()?;
        self.units().map(each).sum()
    }

    fn units(&self) -> Box<dyn Iterator<Item = &Unit<'a>> + '_> {
        match &self.way {
            Way::Lanes(lanes) => Box::new(lanes.iter().map(|lane| &lane.unit)),
            Way::Events(events) => Box::new(events.units()),
        }
    }

    fn units_mut(&mut self) -> Box<dyn Iterator<Item = &mut Unit<'a>> + '_> {
        match &mut self.way {
            Way::Lanes(lanes) => Box::new(lanes.iter_mut().map(|lane| &mut lane.unit)),
            Way::Events(events) => Box::new(events.units_mut()),
        }
    }
}

impl Way<'_> {
    #[inline]
    fn push(
        &mut self,
        ticket: u64,
        job: &Job,
        arrivals: Arrivals,
        done: &mut impl FnMut(u64, SimulatedRequest),
    ) {
        match self {
            Way::Lanes(lanes) => {
                done(ticket, lanes[usize::from(job.disk)].serve(job, arrivals));
            }
            Way::Events(events) => events.push(ticket, job, done),
        }
    }
}

#[cfg(test)]
mod tests;
