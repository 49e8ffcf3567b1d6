//! The requests of a trace as jobs for simulated disks, and what became of them.

use crate::Error;
use crate::array::Array;
use crate::command::{Command, DiskOptions, Done, Parts, Traffic};
use crate::extent::Extent;
use crate::fit::Fitting;
use crate::schedule::Scheduler;
use ioscape_schema::units::counted;
use ioscape_schema::{Io, IoFlags, Op};
use std::cmp::Reverse;
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

    /// When a job is said to have come: as recorded, but in a closed system when it came there.
    #[inline]
    fn queued_ns(self, job: &Job, arrival_ns: u64) -> u64 {
        match self {
            Self::Closed => arrival_ns,
            Self::Queued | Self::Issued => job.io.queued_ns,
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
    /// The array of disks that stands for every device.
    pub array: Array,
}

/// One request of a trace, in blocks of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Row of the trace, from 0.
    pub row: u64,
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
    pub row: u64,
    /// That row with the times of the simulation.
    pub io: Io,
    /// When it came to what is simulated: its arrival in `io`, or its recorded issue where requests come as they were issued.
    pub came_ns: u64,
    /// Where its time at the disk went.
    pub parts: Parts,
}

impl SimulatedRequest {
    /// The job, which came and was issued at these times, with those of the simulation; what the trace tells of queue and completion holds no
    /// longer.
    #[inline]
    pub(crate) fn new(
        job: &Job,
        arrivals: Arrivals,
        [came_ns, issued_ns]: [u64; 2],
        done: Done,
    ) -> Self {
        let (queued_ns, completed_ns) = (arrivals.queued_ns(job, came_ns), done.completed_ns);
        let io = Io { queued_ns, issued_ns, completed_ns, queue_length: 0, error: 0, ..job.io };
        Self { row: job.row, io, came_ns, parts: done.parts }
    }

    /// Time at the disk.
    pub fn physical_ns(&self) -> u64 {
        self.io.physical_ns()
    }

    /// Time in queue and at the disk.
    pub fn elapsed_ns(&self) -> u64 {
        self.io.completed_ns.saturating_sub(self.came_ns)
    }
}

/// A simulated trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulatedTrace {
    /// A row per request, in the order of the jobs.
    pub rows: Vec<SimulatedRequest>,
    /// What the disks wrote, in bytes.
    pub traffic: Traffic,
}

/// The latest arrival: files hold times up to twice that, which leaves room for completions.
const LATEST_NS: u64 = 1 << 62;

/// The device that comes most often among those of some requests; of equals the lowest.
pub fn busiest(devices: impl Iterator<Item = u16>) -> Option<u16> {
    let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
    devices.for_each(|device| *counts.entry(device).or_default() += 1);
    let most = counts.into_iter().max_by_key(|&(device, count)| (count, Reverse(device)));
    most.map(|(device, _)| device)
}

/// Rows of a trace as jobs, batch by batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jobs {
    /// The next row.
    row: u64,
    last_ns: u64,
    fitting: Fitting,
    arrivals: Arrivals,
    /// Rows that became jobs: those whose completion is not recorded, and the others.
    timed: [u64; 2],
    /// Discards that drives do nothing with.
    discards: u64,
    wrapped: u64,
}

impl Jobs {
    /// No rows yet; those to come are made to fit like this, and arrive so.
    pub fn new(fitting: Fitting, arrivals: Arrivals) -> Self {
        Self { fitting, arrivals, ..Self::default() }
    }

    /// Appends to `into` what `rows` ask of their disks; flushes and discards are left out where they do nothing.
    /// `disk` tells a device's disk and what must fit it; `None` leaves the row out.
    ///
    /// # Errors
    /// Names the first row that does not fit: times running backwards, offsets or lengths that are no whole blocks, and
    /// blocks beyond the drive's capacity; and what `disk` says.
    pub fn convert<'a>(
        &mut self,
        rows: &[Io],
        into: &mut Vec<Job>,
        mut disk: impl FnMut(u16) -> Result<Option<(u16, Extent<'a>)>, Error>,
    ) -> Result<(), Error> {
        into.reserve(rows.len());
        for io in rows {
            let row = self.row;
            self.row += 1;
            let Some((disk, extent)) = disk(io.device)? else { continue };
            let is_flush = io.request.len == 0;
            if !io.moves_data() && !(if is_flush { extent.flushes } else { extent.discards }) {
                self.discards += u64::from(!is_flush);
                continue;
            }
            let mut io = *io;
            self.wrapped += u64::from(self.fitting.fit(&mut io, extent));
            self.timed[usize::from(io.is_timed())] += 1;
            if self.arrivals == Arrivals::Closed {
                self.fitting.stretch(&mut io);
            }
            self.check_times(&io, row)?;
            let mut job = Job { row, disk, io, command: command(&io, row, extent)? };
            if !extent.discards {
                // Zeros are written like other data, also to an array of drives that could do without.
                job.io.flags.remove(IoFlags::ZEROES);
            }
            into.push(job);
        }
        Ok(())
    }

    #[inline]
    fn check_times(&mut self, io: &Io, row: u64) -> Result<(), Error> {
        if io.queued_ns < self.last_ns {
            let why = "it arrived before the one above it: sort the trace by arrival";
            return Err(Error::request(row, why));
        }
        if io.queued_ns > LATEST_NS {
            let why = "it arrives later than the 146 years that can be counted";
            return Err(Error::request(row, why));
        }
        self.last_ns = io.queued_ns;
        if io.issued_ns < io.queued_ns || io.completed_ns < io.issued_ns {
            return Err(Error::request(row, "its times run backwards"));
        }
        Ok(())
    }

    /// Rows that were wrapped so far.
    pub fn wrapped(&self) -> u64 {
        self.wrapped
    }

    /// What was left out so far, in words: `name` is the disk's.
    pub fn left_out(&self, name: &str) -> Vec<String> {
        self.left_discards(name).into_iter().chain(self.without_think_times()).collect()
    }

    fn left_discards(&self, name: &str) -> Option<String> {
        let discards = counted(self.discards, "discard");
        (self.discards > 0).then(|| format!("{discards} ({name} does nothing with such requests)"))
    }

    /// Think times of a closed system that cannot be told: they begin with the completion of the request before.
    fn without_think_times(&self) -> Option<String> {
        let [untimed, timed] = self.timed;
        let all = counted(untimed + timed, "request");
        (self.arrivals == Arrivals::Closed && untimed > 0).then(|| {
            format!(
                "think times after {untimed} of {all} without a recorded completion: the time from one arrival to the next counts as such"
            )
        })
    }
}

/// The rows of a trace as jobs for a drive. `devices` are the trace's devices that are simulated, in the order of their disks.
///
/// # Errors
/// As of [`Jobs::convert`].
pub fn jobs<'a>(
    rows: &[Io],
    devices: &[u16],
    drive: impl Into<Extent<'a>>,
) -> Result<Vec<Job>, Error> {
    let (extent, mut jobs) = (drive.into(), Vec::new());
    let disk = |device| Ok(devices.iter().position(|&d| d == device).map(|at| (at as u16, extent)));
    Jobs::default().convert(rows, &mut jobs, disk)?;
    Ok(jobs)
}

fn command(io: &Io, index: u64, drive: Extent<'_>) -> Result<Command, Error> {
    let (offset, len) = (io.request.offset, u64::from(io.request.len));
    let write = io.request.op == Op::Write;
    // Asynchronous explicitly or implicitly: a write that nobody is known to wait for.
    let synchronous =
        io.flags.contains(IoFlags::SYNC) || (!write && !io.flags.contains(IoFlags::ASYNC));
    if len == 0 {
        // A flush has no place, whatever stands for one in the trace.
        return Ok(Command { block: 0, count: 0, write, synchronous });
    }
    let ([block, count], whole) = in_sectors([offset, len], drive.sector_bytes);
    if !whole {
        let sector = drive.sector_bytes;
        return Err(Error::request(
            index,
            format!(
                "{len} bytes at byte {offset} are no whole sectors of {sector} bytes of {}; choose a drive with sectors like the trace's",
                drive.name
            ),
        ));
    }
    if block + count > drive.blocks {
        let (capacity, name) = (drive.bytes(), drive.name.to_owned());
        return Err(Error::Beyond { index, offset, len, capacity, name });
    }
    Ok(Command { block, count, write, synchronous })
}

/// Bytes as sectors, and whether these are whole ones. Almost all sectors have a power of two of bytes, which needs no division.
#[inline]
fn in_sectors(bytes: [u64; 2], sector_bytes: u32) -> ([u64; 2], bool) {
    let sector = u64::from(sector_bytes);
    if sector_bytes.is_power_of_two() {
        let shift = sector.trailing_zeros();
        return (bytes.map(|b| b >> shift), (bytes[0] | bytes[1]) & (sector - 1) == 0);
    }
    (bytes.map(|b| b / sector), bytes.iter().all(|b| b.is_multiple_of(sector)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_cannot_be_counted_are_refused() {
        let drive = crate::testing::simple();
        let io =
            Io { queued_ns: 1 << 50, issued_ns: 1 << 50, completed_ns: 1 << 50, ..Io::default() };
        let io = Io { request: ioscape_schema::Request { len: 512, ..io.request }, ..io };
        let refused = |factor| {
            let fitting = Fitting { scale_time: Some(factor), wrap: false };
            let mut disk = |_| Ok(Some((0, Extent::from(&drive))));
            let mut jobs = Jobs::new(fitting, Arrivals::default());
            jobs.convert(&[io], &mut Vec::new(), &mut disk).err()
        };
        assert_eq!(refused(4096.0), None);
        let why = refused(1e6).expect("35,000 years").to_string();
        assert!(why.contains("146 years"), "{why}");
    }

    #[test]
    fn sectors_of_any_size_are_counted() {
        for sector in [256u32, 512, 520, 4096] {
            for bytes in
                [[0, 520 * 4096], [u64::from(sector) * 7, u64::from(sector)], [1, 512], [512, 1]]
            {
                let (counted, whole) = in_sectors(bytes, sector);
                assert_eq!(counted, bytes.map(|b| b / u64::from(sector)));
                assert_eq!(
                    whole,
                    bytes.iter().all(|b| b % u64::from(sector) == 0),
                    "{bytes:?} of {sector}"
                );
            }
        }
    }
}
