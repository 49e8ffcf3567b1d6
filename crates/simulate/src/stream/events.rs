//! Event-driven simulation of drives with host queues, alone or in arrays, with separate buses or a
//! shared one: the earliest drive acts next.

use super::Kind;
use super::station::{Coming, Current, Station};
use super::unit::Unit;
use super::volume::{Flight, Volume};
use crate::array::{Array, Level, Part};
use crate::command::{Command, Done};
use crate::job::{Arrivals, Configuration, Job, SimulatedRequest};
use crate::schedule::Scheduler;
use ioscape_schema::IoFlags;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// All drives, and the requests that are not complete.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    arrivals: Arrivals,
    scheduler: Scheduler,
    shared_bus: bool,
    array: Array,
    volumes: Vec<Volume>,
    stations: Vec<Station<'a>>,
    /// When each drive acts next, and its number; entries with another time than its own are stale.
    agenda: BinaryHeap<Reverse<(u64, usize)>>,
    /// Once set, no drive acts any more.
    stop: Arc<AtomicBool>,
    bus_free_ns: u64,
    /// Requests in progress, by the row number under which queues hold them.
    flights: Vec<Flight>,
    /// Row numbers free for reuse.
    spare: Vec<usize>,
    parts: Vec<Part>,
}

impl<'a> Events<'a> {
    /// A simulation without drives.
    pub fn new(options: &Configuration) -> Self {
        Self {
            arrivals: options.arrivals,
            scheduler: options.scheduler,
            shared_bus: options.shared_bus,
            array: options.array,
            volumes: Vec::new(),
            stations: Vec::new(),
            agenda: BinaryHeap::new(),
            stop: Arc::default(),
            bus_free_ns: 0,
            flights: Vec::new(),
            spare: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Lets no drive act once `stop` is set.
    pub fn heed(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    /// Adds a volume made of drives of this kind.
    pub fn add(&mut self, kind: Kind<'a>) {
        let (sector_bytes, depth) = match kind {
            Kind::Disk(drive, options) => (drive.sector_bytes, options.queue_depth),
            Kind::Flash(_) => (crate::ssd::SECTOR_BYTES, 1),
        };
        self.volumes.push(Volume {
            array: self.array,
            sector_bytes,
            first: self.stations.len(),
            coming: VecDeque::new(),
            is_busy: false,
            free_ns: 0,
            before_ns: 0,
        });
        let (array, scheduler) = (self.array, self.scheduler);
        let station = |disk| Station::new(Unit::in_array(kind, array, disk), scheduler, depth);
        self.stations.extend((0..self.array.disks).map(station));
    }

    /// The drives.
    pub fn units(&self) -> impl Iterator<Item = &Unit<'a>> {
        self.stations.iter().map(|station| &station.unit)
    }

    /// The drives, mutably.
    pub fn units_mut(&mut self) -> impl Iterator<Item = &mut Unit<'a>> {
        self.stations.iter_mut().map(|station| &mut station.unit)
    }

    /// Adds the next request, after simulating everything before it that cannot depend on later
    /// requests.
    pub fn push(&mut self, ticket: u64, job: &Job, done: &mut impl FnMut(u64, SimulatedRequest)) {
        let row = self.spare.pop().unwrap_or(self.flights.len());
        let flight = Flight::new(ticket, *job);
        match self.flights.get_mut(row) {
            Some(place) => *place = flight,
            None => self.flights.push(flight),
        }
        let at = match self.arrivals {
            Arrivals::Queued => job.io.queued_ns,
            Arrivals::Issued => job.io.issued_ns,
            Arrivals::Closed => return self.push_closed(row, job, done),
        };
        self.run_until(at, done);
        self.start(row, at);
    }

    /// Adds a request of a closed system: it arrives its think time after the previous one
    /// completes.
    fn push_closed(&mut self, row: usize, job: &Job, done: &mut impl FnMut(u64, SimulatedRequest)) {
        let volume = &mut self.volumes[usize::from(job.disk)];
        let thinks_ns = job.io.queued_ns.saturating_sub(volume.before_ns);
        volume.before_ns = job.io.completed_ns;
        volume.coming.push_back((thinks_ns, row));
        self.go_on(usize::from(job.disk));
        // An idle volume may get a request for any time, so drives that share a bus act only while
        // every volume is busy.
        while (!self.shared_bus || self.volumes.iter().all(|volume| volume.is_busy))
            && self.step(u64::MAX, done)
        {}
    }

    /// Starts the next request of an idle volume of a closed system.
    fn go_on(&mut self, at: usize) {
        let volume = &mut self.volumes[at];
        if volume.is_busy {
            return;
        }
        if let Some((thinks_ns, row)) = volume.coming.pop_front() {
            volume.is_busy = true;
            let from_ns = volume.free_ns + thinks_ns;
            self.start(row, from_ns);
        }
    }

    /// Everything that is left.
    pub fn finish(&mut self, done: &mut impl FnMut(u64, SimulatedRequest)) {
        self.run_until(u64::MAX, done);
    }

    /// Most requests that were waiting or at work at once, or the entries of the agenda if more.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.flights.len().max(self.agenda.len())
    }

    /// Sends a request that arrives at `at_ns` to its volume.
    fn start(&mut self, row: usize, at_ns: u64) {
        let job = self.flights[row].job;
        let copy = self.copy(usize::from(job.disk), &job.command, at_ns);
        let volume = &self.volumes[usize::from(job.disk)];
        let mut parts = std::mem::take(&mut self.parts);
        volume.array.plan(job.command, volume.sector_bytes, copy, &mut parts);
        let flight = &mut self.flights[row];
        flight.arrival_ns = at_ns;
        if volume.array.level != Level::Single
            && job.command.count > 0
            && job.io.flags.contains(IoFlags::FLUSH)
            && self.stations[volume.first].unit.flushes()
        {
            // Data to flush first may be on any disk, so all disks are flushed before the parts.
            flight.flags.remove(IoFlags::FLUSH);
            flight.wait(parts.drain(..));
            let command = Command { count: 0, write: false, ..job.command };
            let flush = |disk| Part { disk, second: false, command };
            parts.extend((0..volume.array.disks).map(flush));
        } else {
            flight.wait(parts.iter().copied().filter(|part| part.second));
            parts.retain(|part| !part.second);
        }
        self.send(row, &parts, at_ns);
        self.parts = parts;
    }

    /// Chooses the mirror's disk for a read that arrives at `at_ns`: the one with the fewest
    /// commands, and among equals the one whose last access was nearest.
    fn copy(&mut self, volume: usize, command: &Command, at_ns: u64) -> u16 {
        let Volume { array, first, .. } = self.volumes[volume];
        if array.level != Level::Mirrored || command.write {
            return 0;
        }
        let key = |disk: &u16| {
            let station = &mut self.stations[first + usize::from(*disk)];
            (station.load(at_ns), station.last_block.abs_diff(command.block))
        };
        (0..array.disks).min_by_key(key).unwrap_or(0)
    }

    fn send(&mut self, row: usize, parts: &[Part], at_ns: u64) {
        let flight = &mut self.flights[row];
        flight.send(parts.len());
        let first = self.volumes[usize::from(flight.job.disk)].first;
        for part in parts {
            let coming = Coming { at_ns, flight: row, command: part.command };
            let at = first + usize::from(part.disk);
            let before_ns = self.stations[at].at_ns;
            self.stations[at].send(coming);
            if self.stations[at].at_ns != before_ns {
                self.enter(at);
            }
        }
    }

    /// Simulates everything that happens before `limit_ns`.
    fn run_until(&mut self, limit_ns: u64, done: &mut impl FnMut(u64, SimulatedRequest)) {
        while self.step(limit_ns, done) {}
    }

    /// Lets the next drive act if its time is before `limit_ns`; returns whether it did.
    fn step(&mut self, limit_ns: u64, done: &mut impl FnMut(u64, SimulatedRequest)) -> bool {
        let next = self.earliest().filter(|&at| self.stations[at].at_ns < limit_ns);
        let Some(at) = next.filter(|_| !self.stop.load(Ordering::Relaxed)) else { return false };
        self.act(at, done);
        self.enter(at);
        true
    }

    /// The drive that acts next: the earliest, and among equals the first.
    #[inline]
    fn earliest(&mut self) -> Option<usize> {
        while let Some(&Reverse((at_ns, at))) = self.agenda.peek() {
            if self.stations[at].at_ns == at_ns {
                return Some(at);
            }
            self.agenda.pop();
        }
        None
    }

    /// Enters when a drive acts next in the agenda.
    #[inline]
    fn enter(&mut self, at: usize) {
        let at_ns = self.stations[at].at_ns;
        if at_ns < u64::MAX {
            self.agenda.push(Reverse((at_ns, at)));
        }
    }

    /// Lets a drive act at its time: it begins a command, or transfers data on the bus.
    fn act(&mut self, at: usize, done: &mut impl FnMut(u64, SimulatedRequest)) {
        let station = &mut self.stations[at];
        let now = station.at_ns;
        if station.unit.takes_many() {
            let Some(coming) = station.arrived(now) else { return station.wait() };
            let flags = self.flights[coming.flight].flags;
            let served = station.unit.serve(now, coming.command, flags);
            station.took(now, coming.command, served.completed_ns);
            return self.part_done(coming.flight, now, served, done);
        }
        if station.current.is_none() {
            let Some(waiting) = station.next(now) else { return station.wait() };
            let flags = self.flights[waiting.row].flags;
            match station.unit.begin(now, waiting.command, flags) {
                Err(mut served) => {
                    served.parts.waited_ns += now - waiting.arrival_ns.min(now);
                    station.rest(served.completed_ns);
                    return self.part_done(waiting.row, waiting.arrival_ns, served, done);
                }
                Ok(need) => station.current = Some(Current { waiting, begun_ns: now, need }),
            }
            if let (true, Some(current)) = (self.shared_bus, station.current) {
                station.at_ns = current.need.at_ns;
                return;
            }
        }
        let Some(Current { waiting, begun_ns, need }) = station.current.take() else { return };
        let granted = if self.shared_bus { need.at_ns.max(self.bus_free_ns) } else { need.at_ns };
        self.bus_free_ns = granted + need.for_ns;
        let mut served = station.unit.finish([begun_ns, granted], need, waiting.command);
        served.parts.waited_ns += begun_ns - waiting.arrival_ns.min(begun_ns);
        station.last_block = waiting.command.block + waiting.command.count;
        // Commands that arrived while the disk was busy enter the queue before the next choice.
        station.rest(served.completed_ns);
        self.part_done(waiting.row, waiting.arrival_ns, served, done);
    }

    /// Handles the completion of a part: starts the parts that wait for it, or completes the
    /// request.
    fn part_done(
        &mut self,
        row: usize,
        issued_ns: u64,
        served: Done,
        done: &mut impl FnMut(u64, SimulatedRequest),
    ) {
        let flight = &mut self.flights[row];
        if !flight.part_done(issued_ns, served) {
            return;
        }
        let at_ns = flight.completed_ns();
        let next = flight.take_next();
        if !next.is_empty() {
            return self.send(row, &next, at_ns);
        }
        done(flight.ticket, flight.told(self.arrivals));
        let volume = usize::from(flight.job.disk);
        self.spare.push(row);
        self.volumes[volume].free_ns = at_ns;
        if self.arrivals == Arrivals::Closed {
            self.volumes[volume].is_busy = false;
            self.go_on(volume);
        }
    }
}
