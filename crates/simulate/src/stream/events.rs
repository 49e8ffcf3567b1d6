//! Disks with host queues, on buses of their own or on one together: whoever acts next, in the order of time.

use crate::command::{BusNeed, DiskOptions, Traffic};
use crate::disk::Disk;
use crate::drive::Drive;
use crate::job::{Arrivals, Configuration, Job, SimulatedRequest};
use crate::schedule::{Queue, Scheduler, Waiting};
use std::collections::VecDeque;

/// All disks, and the requests that are not complete.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    arrivals: Arrivals,
    scheduler: Scheduler,
    shared_bus: bool,
    stations: Vec<Station<'a>>,
    bus_free_ns: u64,
    /// Requests by the number that queues know them by.
    flights: Vec<(u64, Job)>,
    /// Numbers to be used again.
    spare: Vec<usize>,
}

/// Where a disk and its queue stand.
#[derive(Clone, Debug)]
struct Station<'a> {
    disk: Disk<'a>,
    queue: Queue,
    /// Requests that are not yet in the queue: when they come, in a closed system how long after the one before.
    coming: VecDeque<(u64, usize)>,
    /// When it acts next; `u64::MAX` when nothing is known to be done.
    at_ns: u64,
    /// The request at the disk that needs the bus.
    current: Option<(Waiting, u64, BusNeed)>,
    free_ns: u64,
    /// Recorded completion of the last request that came, for the think times of a closed system.
    before_ns: u64,
}

impl Station<'_> {
    /// When the next request comes.
    fn arrival(&self, arrivals: Arrivals) -> Option<u64> {
        let &(at, _) = self.coming.front()?;
        Some(if arrivals == Arrivals::Closed { self.free_ns + at } else { at })
    }

    /// Puts into the queue what has come by `now_ns`.
    fn admit(&mut self, flights: &[(u64, Job)], arrivals: Arrivals, now_ns: u64) {
        while let Some(arrival_ns) = self.arrival(arrivals).filter(|&at| at <= now_ns) {
            let Some((_, row)) = self.coming.pop_front() else { return };
            self.queue.push(Waiting { row, arrival_ns, command: flights[row].1.command });
            if arrivals == Arrivals::Closed {
                return;
            }
        }
    }

    /// After a completion: when the next request can be sent.
    fn rest(&mut self, arrivals: Arrivals) {
        self.at_ns = if self.queue.is_empty() {
            self.arrival(arrivals).map_or(u64::MAX, |at| at.max(self.free_ns))
        } else {
            self.free_ns
        };
    }
}

impl<'a> Events<'a> {
    /// No disks yet.
    pub fn new(options: &Configuration) -> Self {
        Self {
            arrivals: options.arrivals,
            scheduler: options.scheduler,
            shared_bus: options.shared_bus,
            stations: Vec::new(),
            bus_free_ns: 0,
            flights: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// One more disk.
    pub fn add(&mut self, drive: &'a Drive, options: DiskOptions) {
        self.stations.push(Station {
            disk: Disk::new(drive, options),
            queue: Queue::new(self.scheduler),
            coming: VecDeque::new(),
            at_ns: u64::MAX,
            current: None,
            free_ns: 0,
            before_ns: 0,
        });
    }

    /// The next request: everything before it happens first, as far as it does not depend on what comes later.
    pub fn push(&mut self, ticket: u64, job: &Job, done: &mut impl FnMut(u64, SimulatedRequest)) {
        let station = &mut self.stations[usize::from(job.disk)];
        let at = match self.arrivals {
            Arrivals::Queued => job.io.queued_ns,
            Arrivals::Issued => job.io.issued_ns,
            Arrivals::Closed => job.io.queued_ns.saturating_sub(station.before_ns),
        };
        station.before_ns = job.io.completed_ns;
        let row = self.spare.pop().unwrap_or(self.flights.len());
        match self.flights.get_mut(row) {
            Some(flight) => *flight = (ticket, *job),
            None => self.flights.push((ticket, *job)),
        }
        if self.arrivals != Arrivals::Closed {
            self.run_until(at, done);
        }
        let station = &mut self.stations[usize::from(job.disk)];
        station.coming.push_back((at, row));
        if station.at_ns == u64::MAX && station.current.is_none() {
            station.rest(self.arrivals);
        }
        if self.arrivals == Arrivals::Closed {
            self.run_fed(done);
        }
    }

    /// Most requests that were waiting or at work at once.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.flights.len()
    }

    /// Everything that is left.
    pub fn finish(&mut self, done: &mut impl FnMut(u64, SimulatedRequest)) -> Traffic {
        self.run_until(u64::MAX, done);
        self.stations
            .iter()
            .fold(Traffic::default(), |sum, station| sum.plus(&station.disk.traffic))
    }

    /// What happens before `limit_ns`.
    fn run_until(&mut self, limit_ns: u64, done: &mut impl FnMut(u64, SimulatedRequest)) {
        while let Some(at) = self.earliest().filter(|&at| self.stations[at].at_ns < limit_ns) {
            self.act(at, done);
        }
    }

    /// In a closed system a disk that has no request may get one at any time: others go on only while all have one.
    fn run_fed(&mut self, done: &mut impl FnMut(u64, SimulatedRequest)) {
        while self.stations.iter().all(|station| station.at_ns < u64::MAX) {
            let Some(at) = self.earliest() else { return };
            self.act(at, done);
        }
    }

    /// The disk that acts next: the first of the earliest.
    #[inline]
    fn earliest(&self) -> Option<usize> {
        match self.stations.len() {
            0 => None,
            1 => Some(0),
            many => (0..many).min_by_key(|&at| self.stations[at].at_ns),
        }
    }

    /// What a disk does at its time: takes a request, or transfers it on the bus.
    fn act(&mut self, at: usize, done: &mut impl FnMut(u64, SimulatedRequest)) {
        let station = &mut self.stations[at];
        let now = station.at_ns;
        if station.current.is_none() {
            station.admit(&self.flights, self.arrivals, now);
            let Some(waiting) = station.queue.pop(now, &station.disk) else {
                station.rest(self.arrivals);
                return;
            };
            let need = station.disk.begin(now, waiting.command);
            station.current = Some((waiting, now, need));
            if self.shared_bus {
                station.at_ns = need.at_ns;
                return;
            }
        }
        let Some((waiting, issued_ns, need)) = station.current.take() else { return };
        let granted = if self.shared_bus { need.at_ns.max(self.bus_free_ns) } else { need.at_ns };
        self.bus_free_ns = granted + need.for_ns;
        let served = station.disk.finish(granted, need);
        station.free_ns = served.completed_ns;
        // What came while the disk was busy is in the queue before the next choice.
        station.rest(self.arrivals);
        let (ticket, job) = &self.flights[waiting.row];
        let queued_ns = self.arrivals.queued_ns(job, waiting.arrival_ns);
        done(*ticket, SimulatedRequest::new(job, queued_ns, issued_ns, served));
        self.spare.push(waiting.row);
    }
}
