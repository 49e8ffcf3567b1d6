//! A trace simulated on disks on a bus: host queues, the bus, and a row for every request.

use crate::Error;
use crate::command::{BusNeed, Command, DiskOptions, Done, Parts, Traffic};
use crate::disk::Disk;
use crate::drive::Drive;
use crate::schedule::{Queue, Scheduler, Waiting};
use ioscape_schema::{Io, IoFlags, Op};
use std::collections::BTreeMap;

/// When requests come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// At their recorded arrivals, whatever the disk does: an open system.
    #[default]
    Queued,
    /// When they were recorded to go to the disk, in that order: the disk alone, without the host's queue.
    Issued,
    /// Each one its recorded think time after the completion of the one before: a closed system with one user a disk.
    Closed,
}

impl Arrivals {
    /// The word that the command line and result files use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Issued => "issued",
            Self::Closed => "closed",
        }
    }
}

/// What is simulated: disks, host and the times of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The disks.
    pub disk: DiskOptions,
    /// The host's order.
    pub scheduler: Scheduler,
    /// The host's times.
    pub arrivals: Arrivals,
    /// Whether all disks share one bus; otherwise each has its own.
    pub shared_bus: bool,
}

/// One request of a trace, in blocks of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Row of the trace, from 0.
    pub row: u32,
    /// Disk, from 0.
    pub disk: u16,
    /// The row itself, with the recorded times.
    pub io: Io,
    /// What it asks.
    pub command: Command,
}

/// One simulated request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedRequest {
    /// Row of the trace, from 0.
    pub row: u32,
    /// That row with the times of the simulation.
    pub io: Io,
    /// Where its time at the disk went.
    pub parts: Parts,
}

impl SimulatedRequest {
    /// The job with the times of the simulation; what the trace tells of queue and completion holds no longer.
    #[inline]
    pub(crate) fn new(job: &Job, queued_ns: u64, issued_ns: u64, done: Done) -> Self {
        let completed_ns = done.completed_ns;
        let io = Io { queued_ns, issued_ns, completed_ns, queue_length: 0, error: 0, ..job.io };
        Self { row: job.row, io, parts: done.parts }
    }

    /// Time at the disk.
    pub fn physical_ns(&self) -> u64 {
        self.io.physical_ns()
    }

    /// Time in queue and at the disk.
    pub fn elapsed_ns(&self) -> u64 {
        self.io.elapsed_ns()
    }
}

/// A simulated trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulatedTrace {
    /// A row per request, in the order of the jobs.
    pub rows: Vec<SimulatedRequest>,
    /// What the disks wrote.
    pub traffic: Traffic,
}

/// What a trace must fit: a drive's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent<'a> {
    /// What the drive is called.
    pub name: &'a str,
    /// Bytes of a block.
    pub sector_bytes: u32,
    /// Blocks.
    pub blocks: u64,
    /// Whether it acts on discards and flushes.
    pub has_flash: bool,
}

impl Extent<'_> {
    /// Bytes of all blocks.
    pub fn bytes(&self) -> u64 {
        self.blocks * u64::from(self.sector_bytes)
    }
}

impl<'a> From<&'a Drive> for Extent<'a> {
    fn from(drive: &'a Drive) -> Self {
        let blocks = drive.mechanism.layout.blocks();
        Self { name: &drive.name, sector_bytes: drive.sector_bytes, blocks, has_flash: false }
    }
}

/// Requests by device.
pub fn by_device(rows: &[Io]) -> BTreeMap<u16, u64> {
    let mut counts = BTreeMap::new();
    for io in rows {
        *counts.entry(io.device).or_insert(0) += 1;
    }
    counts
}

/// Turns the rows of a trace into jobs for a drive; flushes and discards are left out where they do nothing. `devices` are the
/// trace's devices that are simulated, in the order of their disks.
///
/// # Errors
/// Names the first row that does not fit: times running backwards, offsets or lengths that are no whole blocks, and
/// blocks beyond the drive's capacity.
pub fn jobs<'a>(
    rows: &[Io],
    devices: &[u16],
    drive: impl Into<Extent<'a>>,
) -> Result<Vec<Job>, Error> {
    let drive = drive.into();
    let mut jobs = Vec::with_capacity(rows.len());
    let mut last_ns = 0;
    for (index, io) in rows.iter().enumerate() {
        if !io.moves_data() && !drive.has_flash {
            continue;
        }
        let Some(disk) = devices.iter().position(|&d| d == io.device) else { continue };
        if io.queued_ns < last_ns {
            return Err(Error::request(
                index,
                "it arrived before the one above it: sort the trace by arrival",
            ));
        }
        last_ns = io.queued_ns;
        if io.issued_ns < io.queued_ns || io.completed_ns < io.issued_ns {
            return Err(Error::request(index, "its times run backwards"));
        }
        let command = command(io, index, drive)?;
        jobs.push(Job { row: index as u32, disk: disk as u16, io: *io, command });
    }
    Ok(jobs)
}

fn command(io: &Io, index: usize, drive: Extent<'_>) -> Result<Command, Error> {
    let sector = u64::from(drive.sector_bytes);
    let (offset, len) = (io.request.offset, u64::from(io.request.len));
    if offset % sector != 0 || len % sector != 0 {
        return Err(Error::request(
            index,
            format!(
                "{len} bytes at byte {offset} are no whole sectors of {sector} bytes of {}",
                drive.name
            ),
        ));
    }
    let (block, count) = (offset / sector, len / sector);
    if block + count > drive.blocks {
        return Err(Error::request(
            index,
            format!(
                "{len} bytes at byte {offset} are beyond the {} bytes of {}",
                drive.blocks * sector,
                drive.name
            ),
        ));
    }
    let write = io.request.op == Op::Write;
    // Asynchronous explicitly or implicitly: a write that nobody is known to wait for.
    let synchronous =
        io.flags.contains(IoFlags::SYNC) || (!write && !io.flags.contains(IoFlags::ASYNC));
    Ok(Command { block, count, write, synchronous })
}

/// Where a disk and its queue stand.
struct Station<'a> {
    disk: Disk<'a>,
    queue: Queue,
    /// This disk's jobs, in the order of their arrivals.
    jobs: Vec<u32>,
    next: usize,
    /// When it acts next; `u64::MAX` when all is done.
    at_ns: u64,
    /// The request at the disk that needs the bus.
    current: Option<(Waiting, u64, BusNeed)>,
    free_ns: u64,
}

impl Station<'_> {
    /// When the next job comes.
    fn arrival(&self, jobs: &[Job], arrivals: Arrivals) -> Option<u64> {
        let job = &jobs[*self.jobs.get(self.next)? as usize];
        Some(match arrivals {
            Arrivals::Queued => job.io.queued_ns,
            Arrivals::Issued => job.io.issued_ns,
            Arrivals::Closed => {
                let before =
                    self.next.checked_sub(1).map(|b| jobs[self.jobs[b] as usize].io.completed_ns);
                self.free_ns + job.io.queued_ns.saturating_sub(before.unwrap_or(0))
            }
        })
    }

    /// Puts into the queue what has come by `now_ns`.
    fn admit(&mut self, jobs: &[Job], arrivals: Arrivals, now_ns: u64) {
        while let Some(arrival_ns) = self.arrival(jobs, arrivals).filter(|&at| at <= now_ns) {
            let row = self.jobs[self.next] as usize;
            self.queue.push(Waiting { row, arrival_ns, command: jobs[row].command });
            self.next += 1;
            if arrivals == Arrivals::Closed {
                break;
            }
        }
    }

    /// After a completion: when the next request can be sent.
    fn rest(&mut self, jobs: &[Job], arrivals: Arrivals) {
        self.at_ns = if self.queue.is_empty() {
            self.arrival(jobs, arrivals).map_or(u64::MAX, |at| at.max(self.free_ns))
        } else {
            self.free_ns
        };
    }
}

/// Simulates jobs.
///
/// Everything happens in the order of time, then of disks: the same jobs give the same rows on every machine.
pub fn simulate(drive: &Drive, jobs: &[Job], options: &Configuration) -> SimulatedTrace {
    let mut run = SimulatedTrace::default();
    simulate_into(drive, jobs, options, &mut run);
    run
}

/// The same as [`simulate()`] into the memory of an earlier simulation: getting new memory for the rows takes as long as simulating.
pub fn simulate_into(
    drive: &Drive,
    jobs: &[Job],
    options: &Configuration,
    run: &mut SimulatedTrace,
) {
    let sorted = || jobs.is_sorted_by_key(|j| j.io.issued_ns);
    let ordered = options.arrivals != Arrivals::Issued || sorted();
    run.rows.clear();
    run.traffic = if options.scheduler == Scheduler::Fcfs && !options.shared_bus && ordered {
        in_order(drive, jobs, options, &mut run.rows)
    } else {
        by_events(drive, jobs, options, &mut run.rows)
    };
}

/// A disk that takes its jobs one after the other.
struct Lane<'a> {
    disk: Disk<'a>,
    free_ns: u64,
    /// Recorded completion of the job before.
    before_ns: u64,
}

/// Disks that share nothing and keep the order of arrival need no queue: each job begins when it has come and the one
/// before it is complete.
fn in_order(
    drive: &Drive,
    jobs: &[Job],
    options: &Configuration,
    rows: &mut Vec<SimulatedRequest>,
) -> Traffic {
    let count = jobs.iter().map(|j| usize::from(j.disk) + 1).max().unwrap_or(0);
    let lane = |_| Lane { disk: Disk::new(drive, options.disk), free_ns: 0, before_ns: 0 };
    let mut lanes: Vec<Lane<'_>> = (0..count).map(lane).collect();
    rows.reserve(jobs.len());
    for job in jobs {
        let lane = &mut lanes[usize::from(job.disk)];
        let arrival_ns = match options.arrivals {
            Arrivals::Queued => job.io.queued_ns,
            Arrivals::Issued => job.io.issued_ns,
            Arrivals::Closed => lane.free_ns + job.io.queued_ns.saturating_sub(lane.before_ns),
        };
        let issued_ns = arrival_ns.max(lane.free_ns);
        let done = lane.disk.serve(issued_ns, job.command);
        (lane.free_ns, lane.before_ns) = (done.completed_ns, job.io.completed_ns);
        rows.push(simulated(job, arrival_ns, issued_ns, done, options.arrivals));
    }
    lanes.iter().fold(Traffic::default(), |sum, lane| sum.plus(&lane.disk.traffic))
}

/// Host queues in any order, and buses that disks share.
fn by_events(
    drive: &Drive,
    jobs: &[Job],
    options: &Configuration,
    rows: &mut Vec<SimulatedRequest>,
) -> Traffic {
    let mut stations = stations(drive, jobs, options);
    rows.resize(jobs.len(), SimulatedRequest::default());
    let mut bus_free = 0;
    while let Some(at) = earliest(&stations) {
        let station = &mut stations[at];
        let now = station.at_ns;
        if now == u64::MAX {
            break;
        }
        if station.current.is_none() {
            station.admit(jobs, options.arrivals, now);
            let Some(waiting) = station.queue.pop(now, &station.disk) else {
                station.rest(jobs, options.arrivals);
                continue;
            };
            let need = station.disk.begin(now, waiting.command);
            station.current = Some((waiting, now, need));
            if options.shared_bus {
                station.at_ns = need.at_ns;
                continue;
            }
        }
        let Some((waiting, issued_ns, need)) = station.current.take() else { break };
        let granted = if options.shared_bus { need.at_ns.max(bus_free) } else { need.at_ns };
        bus_free = granted + need.for_ns;
        let done = station.disk.finish(granted, need);
        let arrival_ns = waiting.arrival_ns;
        rows[waiting.row] =
            simulated(&jobs[waiting.row], arrival_ns, issued_ns, done, options.arrivals);
        station.free_ns = done.completed_ns;
        // What came while the disk was busy is in the queue before the next choice.
        station.rest(jobs, options.arrivals);
    }
    stations.iter().fold(Traffic::default(), |sum, station| sum.plus(&station.disk.traffic))
}

#[inline]
fn simulated(
    job: &Job,
    arrival_ns: u64,
    issued_ns: u64,
    done: Done,
    arrivals: Arrivals,
) -> SimulatedRequest {
    let queued_ns = match arrivals {
        Arrivals::Closed => arrival_ns,
        Arrivals::Queued | Arrivals::Issued => job.io.queued_ns,
    };
    SimulatedRequest::new(job, queued_ns, issued_ns, done)
}

/// The disk that acts next: the first of the earliest.
#[inline]
fn earliest(stations: &[Station<'_>]) -> Option<usize> {
    if stations.len() == 1 {
        return Some(0);
    }
    (0..stations.len()).min_by_key(|&at| stations[at].at_ns)
}

fn stations<'a>(drive: &'a Drive, jobs: &[Job], options: &Configuration) -> Vec<Station<'a>> {
    let count = jobs.iter().map(|j| usize::from(j.disk) + 1).max().unwrap_or(0);
    let mut stations: Vec<Station<'a>> = (0..count)
        .map(|_| Station {
            disk: Disk::new(drive, options.disk),
            queue: Queue::new(options.scheduler),
            jobs: Vec::new(),
            next: 0,
            at_ns: 0,
            current: None,
            free_ns: 0,
        })
        .collect();
    for (index, job) in jobs.iter().enumerate() {
        stations[usize::from(job.disk)].jobs.push(index as u32);
    }
    for station in &mut stations {
        if options.arrivals == Arrivals::Issued {
            station.jobs.sort_by_key(|&j| jobs[j as usize].io.issued_ns);
        }
        station.rest(jobs, options.arrivals);
    }
    stations
}

/// Predicts every request by itself: the disk is where the recorded request before it left it, and the platter is turned
/// so that that request's recorded completion was right. Gives the predicted physical times in nanoseconds, job by job;
/// the jobs are those of one disk in the order they went to it, and a prediction far (seconds) after the request before
/// it has lost the platter's angle.
pub fn one_step(drive: &Drive, options: DiskOptions, jobs: &[Job]) -> Vec<u64> {
    let mut disk = Disk::new(drive, options);
    let mut predicted = Vec::with_capacity(jobs.len());
    for job in jobs {
        let done = disk.serve(job.io.issued_ns, job.command);
        predicted.push(done.completed_ns - job.io.issued_ns);
        if done.parts.cached {
            // Its completion says nothing of the platter.
            continue;
        }
        let Command { block, count, .. } = job.command;
        let after_media = done.completed_ns - disk.free_ns().min(done.completed_ns);
        disk.resynchronize([block, count], job.io.completed_ns.saturating_sub(after_media));
    }
    predicted
}

#[cfg(test)]
#[path = "simulate_tests.rs"]
mod tests;
