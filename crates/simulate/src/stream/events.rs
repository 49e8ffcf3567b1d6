//! Drives with host queues, alone and in arrays, on buses of their own or on one together: whoever acts next, in the order of time.

use super::Kind;
use super::station::{Coming, Current, Station};
use super::unit::Unit;
use super::volume::{Flight, Volume};
use crate::array::{Array, Level, Part};
use crate::command::{Command, Done};
use crate::job::{Arrivals, Configuration, Job, SimulatedRequest};
use crate::schedule::Scheduler;
use ioscape_schema::IoFlags;
use std::collections::VecDeque;

/// All drives, and the requests that are not complete.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    arrivals: Arrivals,
    scheduler: Scheduler,
    shared_bus: bool,
    array: Array,
    volumes: Vec<Volume>,
    stations: Vec<Station<'a>>,
    bus_free_ns: u64,
    /// Requests by the number that queues know them by.
    flights: Vec<Flight>,
    /// Numbers to be used again.
    spare: Vec<usize>,
    parts: Vec<Part>,
}

impl<'a> Events<'a> {
    /// No drives yet.
    pub fn new(options: &Configuration) -> Self {
        Self {
            arrivals: options.arrivals,
            scheduler: options.scheduler,
            shared_bus: options.shared_bus,
            array: options.array,
            volumes: Vec::new(),
            stations: Vec::new(),
            bus_free_ns: 0,
            flights: Vec::new(),
            spare: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// One more volume, of drives like this.
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

    /// The same, to be changed.
    pub fn units_mut(&mut self) -> impl Iterator<Item = &mut Unit<'a>> {
        self.stations.iter_mut().map(|station| &mut station.unit)
    }

    /// The next request: everything before it happens first, as far as it does not depend on what comes later.
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

    /// A request of a closed system: it comes some time after the one before it is complete.
    fn push_closed(&mut self, row: usize, job: &Job, done: &mut impl FnMut(u64, SimulatedRequest)) {
        let volume = &mut self.volumes[usize::from(job.disk)];
        let thinks_ns = job.io.queued_ns.saturating_sub(volume.before_ns);
        volume.before_ns = job.io.completed_ns;
        volume.coming.push_back((thinks_ns, row));
        self.go_on(usize::from(job.disk));
        // A volume that has no request may get one at any time: others go on only while all have one.
        while self.volumes.iter().all(|volume| volume.is_busy) {
            let Some(at) = self.earliest() else { return };
            self.act(at, done);
        }
    }

    /// Starts the next request of a volume of a closed system that has none.
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

    /// Most requests that were waiting or at work at once.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.flights.len()
    }

    /// A request comes to its volume.
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
            // What is flushed before its data may be on any disk.
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

    /// The disk of a mirror that a read which comes at `at_ns` goes to: that with fewest commands, and of those the one that was last
    /// nearest.
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
            self.stations[first + usize::from(part.disk)].send(coming);
        }
    }

    /// What happens before `limit_ns`.
    fn run_until(&mut self, limit_ns: u64, done: &mut impl FnMut(u64, SimulatedRequest)) {
        while let Some(at) = self.earliest().filter(|&at| self.stations[at].at_ns < limit_ns) {
            self.act(at, done);
        }
    }

    /// The drive that acts next: the first of the earliest.
    #[inline]
    fn earliest(&self) -> Option<usize> {
        match self.stations.len() {
            0 => None,
            1 => Some(0),
            many => (0..many).min_by_key(|&at| self.stations[at].at_ns),
        }
    }

    /// What a drive does at its time: takes a command, or transfers it on the bus.
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
        // What came while the disk was busy is in the queue before the next choice.
        station.rest(served.completed_ns);
        self.part_done(waiting.row, waiting.arrival_ns, served, done);
    }

    /// A part of a request is complete; what waits for it begins, or the request is complete.
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
