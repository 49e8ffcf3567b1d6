//! The requests of a trace as jobs for simulated disks, and their results.

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

/// When requests arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// At their recorded arrival times, whatever the disk does: an open system.
    #[default]
    Queued,
    /// At their recorded times of issue to the disk, in that order: the disk alone, without the
    /// host's queue.
    Issued,
    /// Each after its recorded think time following the completion before: a closed system with one
    /// user per disk.
    Closed,
}

ioscape_schema::words!(Arrivals, Queued => "queued", Issued => "issued", Closed => "closed");

impl Arrivals {
    /// The reported arrival of a job: as recorded, or in a closed system the simulated one.
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
    /// The host's scheduler.
    pub scheduler: Scheduler,
    /// When requests arrive.
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
    /// The command to the disk.
    pub command: Command,
}

/// One simulated request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedRequest {
    /// Row of the trace, from 0.
    pub row: u64,
    /// That row with the times of the simulation.
    pub io: Io,
    /// When it came to the simulated system: its arrival in `io`, or its recorded issue with
    /// [`Arrivals::Issued`].
    pub came_ns: u64,
    /// Where its time at the disk went.
    pub parts: Parts,
}

impl SimulatedRequest {
    /// Returns the job with its simulated times. The queue length and error that the trace recorded
    /// no longer apply, so they are cleared.
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

    /// Time in the queue and at the disk.
    pub fn elapsed_ns(&self) -> u64 {
        self.io.completed_ns.saturating_sub(self.came_ns)
    }
}

/// A simulated trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulatedTrace {
    /// One row per request, in the order of the jobs.
    pub rows: Vec<SimulatedRequest>,
    /// What the disks wrote, in bytes.
    pub traffic: Traffic,
}

/// The latest arrival: files hold times up to twice this, which leaves room for completions.
const LATEST_NS: u64 = 1 << 62;

/// Returns the device with the most requests; of several, the lowest.
pub fn busiest(devices: impl Iterator<Item = u16>) -> Option<u16> {
    let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
    devices.for_each(|device| *counts.entry(device).or_default() += 1);
    let most = counts.into_iter().max_by_key(|&(device, count)| (count, Reverse(device)));
    most.map(|(device, _)| device)
}

/// Converts rows of a trace to jobs, batch by batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jobs {
    /// The next row.
    row: u64,
    last_ns: u64,
    fitting: Fitting,
    arrivals: Arrivals,
    /// Rows that became jobs: those without a recorded completion, and those with one.
    timed: [u64; 2],
    /// Recorded completion of the latest job of every disk, and how many jobs came before that of
    /// the one before them.
    ends_ns: Vec<u64>,
    overlapping: u64,
    /// Discards left out because the drive does nothing with them.
    discards: u64,
    wrapped: u64,
}

impl Jobs {
    /// Starts with no rows; those to come are made to fit as `fitting` says, and arrive as
    /// `arrivals` says.
    pub fn new(fitting: Fitting, arrivals: Arrivals) -> Self {
        Self { fitting, arrivals, ..Self::default() }
    }

    /// Appends the commands of `rows` to `into`; leaves out flushes and discards that have no
    /// effect. `disk` maps a device to its disk and that disk's extent; `None` leaves the row out.
    ///
    /// # Errors
    /// Names the first row that does not fit: times that run backwards, offsets or lengths that are
    /// no whole blocks, or blocks beyond the drive's capacity. Errors of `disk` are passed on.
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
            let (mut io, issued_ns) = (*io, io.issued_ns);
            self.wrapped += u64::from(self.fitting.fit(&mut io, extent));
            self.timed[usize::from(io.is_timed())] += 1;
            match self.arrivals {
                Arrivals::Queued => {}
                Arrivals::Issued => self.fitting.reissue(&mut io, issued_ns),
                Arrivals::Closed => self.fitting.stretch(&mut io),
            }
            self.check_times(&io, row)?;
            self.note_overlap(&io, disk);
            let mut job = Job { row, disk, io, command: command(&io, row, extent)? };
            if !extent.discards {
                // Zeros are written like other data, even to an array of drives that could skip
                // them.
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

    /// Counts a job that came before the one before it was complete.
    #[inline]
    fn note_overlap(&mut self, io: &Io, disk: u16) {
        let disk = usize::from(disk);
        self.ends_ns.resize(self.ends_ns.len().max(disk + 1), 0);
        self.overlapping += u64::from(io.queued_ns < self.ends_ns[disk]);
        self.ends_ns[disk] = io.completed_ns;
    }

    /// How many rows were wrapped so far.
    pub fn wrapped(&self) -> u64 {
        self.wrapped
    }

    /// What was left out so far, in words; `name` is the disk's.
    pub fn left_out(&self, name: &str) -> Vec<String> {
        let all = [self.left_discards(name), self.without_think_times(), self.one_by_one()];
        all.into_iter().flatten().collect()
    }

    fn left_discards(&self, name: &str) -> Option<String> {
        let discards = counted(self.discards, "discard");
        (self.discards > 0).then(|| format!("{discards} ({name} does nothing with such requests)"))
    }

    /// Requests of a closed system that were in flight together: it has one user per disk.
    fn one_by_one(&self) -> Option<String> {
        let all = counted(self.timed.iter().sum(), "request");
        let some = self.overlapping;
        (self.arrivals == Arrivals::Closed && some > 0).then(|| {
            format!(
                "{some} of {all} in flight together with the one before: they follow it without a pause"
            )
        })
    }

    /// Think times of a closed system that are unknown, because the completion before was not
    /// recorded.
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

/// Converts the rows of a trace to jobs for a drive. `devices` are the devices that are simulated,
/// in the order of their disks.
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
    // Explicitly or implicitly asynchronous: a write is taken to be one unless it is marked as
    // synchronous.
    let synchronous =
        io.flags.contains(IoFlags::SYNC) || (!write && !io.flags.contains(IoFlags::ASYNC));
    if len == 0 {
        // A flush has no place, whatever offset the trace gives it.
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

/// Converts bytes to sectors, and returns whether they are whole. Most sector sizes are a power of
/// two, which needs no division.
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

    fn converted(times_ms: &[[u64; 3]], fitting: Fitting, arrivals: Arrivals) -> (Jobs, Vec<Job>) {
        let drive = crate::testing::simple();
        let row = |times: &[u64; 3]| {
            let [queued_ns, issued_ns, completed_ns] = times.map(|ms| ms * 1_000_000);
            let request = ioscape_schema::Request { len: 512, ..Default::default() };
            Io { request, queued_ns, issued_ns, completed_ns, ..Io::default() }
        };
        let rows: Vec<Io> = times_ms.iter().map(row).collect();
        let (mut jobs, mut all) = (Jobs::new(fitting, arrivals), Vec::new());
        jobs.convert(&rows, &mut all, |_| Ok(Some((0, Extent::from(&drive))))).expect("jobs");
        (jobs, all)
    }

    /// Guards against issues 95 and 65 ms after the first: only arrivals were scaled.
    #[test]
    fn scaled_issues_keep_their_order() {
        let times = [[0, 0, 10], [10, 100, 110], [90, 110, 120]];
        let fitting = Fitting { scale_time: Some(0.5), wrap: false };
        let (_, jobs) = converted(&times, fitting, Arrivals::Issued);
        let found = jobs.iter().map(|job| [job.io.issued_ns, job.io.physical_ns()]);
        let ms = found.map(|times| times.map(|ns| ns / 1_000_000)).collect::<Vec<_>>();
        assert_eq!(ms, [[0, 10], [50, 10], [55, 10]]);
    }

    /// Guards against one user in silence where 25 requests were in flight.
    #[test]
    fn a_closed_system_tells_which_requests_overlapped() {
        let times = [[0, 0, 10], [5, 5, 20], [20, 20, 30]];
        let told = |arrivals| converted(&times, Fitting::default(), arrivals).0.left_out("d");
        assert_eq!(told(Arrivals::Queued), Vec::<String>::new());
        let [one] = &told(Arrivals::Closed)[..] else { panic!("one sentence") };
        assert!(one.starts_with("1 of 3 requests in flight together"), "{one}");
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
