//! One combination of options, simulated on a trace that comes in batches: rows in, results of the
//! simulation out.

use crate::array::{Array, Level};
use crate::catalog::Target;
use crate::combinations::{Choices, as_chosen};
use crate::command::{DiskOptions, Traffic};
use crate::error::Error;
use crate::extent::Extent;
use crate::fit::{Fitting, check_sector};
use crate::job::{Arrivals, Configuration, Job, Jobs, SimulatedRequest};
use crate::rows::InOrder;
use crate::setup::Setup;
use crate::stream::{Kind, Stream};
use crate::summary::{self, Compared, Times};
use ioscape_schema::{Device, Io, SimulatedCell};
use std::sync::Arc;

/// How many requests from the beginning of a trace are compared with their recorded times, at most.
pub const JUDGED_MOST: usize = 1 << 18;

/// Rows that are converted to jobs and simulated at a time, few enough to stay in the processor's
/// nearest caches.
const NEAR: usize = 128;

/// Some rows of a trace, in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The rows.
    pub rows: Vec<Io>,
    /// The devices that they name.
    pub devices: Arc<[Device]>,
}

/// The simulation of one combination.
pub struct Cell<'a> {
    setup: &'a Setup,
    choices: &'a Choices,
    options: Configuration,
    jobs: Jobs,
    batch: Vec<Job>,
    stream: Stream<'a>,
    volumes: Volumes<'a>,
    times: Times,
    traffic: Traffic,
    /// From the first arrival to the last completion.
    span: Span,
    judged: Option<Vec<Job>>,
    rows: Option<InOrder>,
    done: Vec<SimulatedRequest>,
}

/// The time from the first arrival to the last completion: neither a trace nor the part chosen of
/// it need begin at 0.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    from_ns: Option<u64>,
    until_ns: u64,
}

impl Span {
    #[inline]
    fn add(&mut self, row: &SimulatedRequest) {
        self.from_ns = Some(self.from_ns.map_or(row.came_ns, |from| from.min(row.came_ns)));
        self.until_ns = self.until_ns.max(row.io.completed_ns);
    }

    fn length_ns(&self) -> u64 {
        self.until_ns - self.from_ns.unwrap_or(self.until_ns)
    }
}

/// The devices seen so far.
#[derive(Default)]
struct Volumes<'a> {
    /// The volume of every device.
    of: Vec<Option<u16>>,
    /// The drive that stands for each volume, and its extent.
    all: Vec<(&'a Target, Extent<'a>)>,
}

impl<'a> Cell<'a> {
    /// Simulates the drives of `setup`, one or an array for every device of the trace, with one
    /// combination of `choices`.
    pub fn new(
        setup: &'a Setup,
        choices: &'a Choices,
        options: Configuration,
        fitting: Fitting,
    ) -> Self {
        // The method of simulation depends on the deepest queue of all drives.
        let depth =
            setup.targets().map(|target| disk_options(choices, &options, target).queue_depth);
        let queue_depth = depth.max().unwrap_or(1);
        let deepest =
            Configuration { disk: DiskOptions { queue_depth, ..options.disk }, ..options };
        Self {
            setup,
            choices,
            options,
            jobs: Jobs::new(fitting, options.arrivals),
            batch: Vec::new(),
            stream: Stream::new(&deepest),
            volumes: Volumes::default(),
            times: Times::default(),
            traffic: Traffic::default(),
            span: Span::default(),
            judged: None,
            rows: None,
            done: Vec::new(),
        }
    }

    /// Compares the first requests of the trace with their recorded times, if all devices are the
    /// same model of disk.
    pub fn judge(&mut self) {
        let alone = self.setup.named.is_empty() && self.options.array.level == Level::Single;
        let is_disk = matches!(self.setup.others, Some(Target::Disk(_)));
        self.judged = (alone && is_disk).then(Vec::new);
    }

    /// Keeps simulated rows for [`Self::take_rows`].
    pub fn keep_rows(&mut self) {
        self.rows = Some(InOrder::new(self.options.arrivals == Arrivals::Closed));
    }

    /// Simulates more of the trace.
    ///
    /// # Errors
    /// A row or device does not fit; the cell cannot be used after that.
    pub fn take(&mut self, batch: &Batch) -> Result<(), Error> {
        let mut jobs = std::mem::take(&mut self.batch);
        for rows in batch.rows.chunks(NEAR) {
            jobs.clear();
            self.convert(rows, &batch.devices, &mut jobs)?;
            if let Some(judged) = &mut self.judged {
                judged.extend(jobs.iter().take(JUDGED_MOST - judged.len()));
            }
            self.simulate(&jobs);
        }
        self.batch = jobs;
        Ok(())
    }

    /// Converts rows to jobs; a device gets its drive when it first occurs.
    fn convert(
        &mut self,
        rows: &[Io],
        devices: &[Device],
        jobs: &mut Vec<Job>,
    ) -> Result<(), Error> {
        let (volumes, stream) = (&mut self.volumes, &mut self.stream);
        let (setup, choices, options) = (self.setup, self.choices, &self.options);
        self.jobs.convert(rows, jobs, |device| {
            if let Some(&Some(volume)) = volumes.of.get(usize::from(device)) {
                return Ok(Some((volume, volumes.all[usize::from(volume)].1)));
            }
            let target = setup.target(devices, device)?;
            let disk = disk_options(choices, options, target);
            let extent = extent(target, options.array);
            check_sector(devices, device, extent)?;
            if extent.blocks == 0 {
                let (array, name) = (options.array, extent.name);
                let why = format!("{array}: a disk of {name} holds no whole chunk");
                return Err(Error::Configuration(why));
            }
            stream.add(match target {
                Target::Disk(drive) => Kind::Disk(drive, disk),
                Target::Flash(model) => Kind::Flash(model),
            });
            Ok(Some((volumes.add(device, target, extent), extent)))
        })
    }

    fn simulate(&mut self, jobs: &[Job]) {
        if let Some(rows) = &mut self.rows {
            jobs.iter().for_each(|job| rows.expect(job.row));
        }
        let (times, rows, span) = (&mut self.times, &mut self.rows, &mut self.span);
        self.stream.take(jobs, &mut |_, row| note(row, times, rows, span));
    }

    /// The rows that are complete, in the order of arrival.
    pub fn take_rows(&mut self) -> Vec<SimulatedRequest> {
        let mut done = std::mem::take(&mut self.done);
        if let Some(rows) = &mut self.rows {
            rows.release(&mut done, false);
        }
        done
    }

    /// The devices of the trace that occurred so far.
    pub fn devices(&self) -> Vec<u16> {
        let seen = self.volumes.of.iter().enumerate().filter(|(_, volume)| volume.is_some());
        seen.map(|(device, _)| device as u16).collect()
    }

    /// How many requests of the trace were simulated so far.
    pub fn requests(&self) -> u64 {
        self.times.requests()
    }

    /// The name of what stands for the devices.
    pub fn name(&self) -> String {
        match self.options.array {
            Array { level: Level::Single, .. } => self.setup.name(),
            array => format!("{array} of {}", self.setup.name()),
        }
    }

    /// How many requests were wrapped so far.
    pub fn wrapped(&self) -> u64 {
        self.jobs.wrapped()
    }

    /// Reads, in a finished cell, of data that solid-state drives that began empty did not hold. An
    /// array's reads of old data and parity count too.
    pub fn unwritten_reads(&self) -> u64 {
        self.traffic.unwritten_reads
    }

    /// What was left out so far, in words.
    pub fn left_out(&self) -> impl Iterator<Item = String> {
        self.jobs.left_out(&self.name()).into_iter().chain(self.powerless())
    }

    /// Completes all requests taken.
    pub fn finish(&mut self) {
        let (times, rows, span) = (&mut self.times, &mut self.rows, &mut self.span);
        self.traffic = self.stream.finish(&mut |_, row| note(row, times, rows, span));
        if let Some(rows) = &mut self.rows {
            rows.release(&mut self.done, true);
        }
    }

    /// The results of a finished cell.
    pub fn kept(&self) -> SimulatedCell {
        // The options are those of disks, and the combinations those of the first disk.
        let is_disk = |target: &&Target| matches!(target, Target::Disk(_));
        let first = self.setup.targets().find(is_disk).or(self.setup.targets().next());
        let (options, times, traffic) = (&self.options, &self.times, &self.traffic);
        let kept = match first {
            Some(Target::Disk(drive)) => summary::cell(drive, options, times, traffic),
            Some(Target::Flash(model)) => summary::flash_cell(model, options, times, traffic),
            None => SimulatedCell::default(),
        };
        let work = self.stream.work();
        let of_ns = self.span.length_ns();
        let all_ns = of_ns as f64 * work.drives as f64;
        let utilization = (all_ns > 0.0).then(|| work.busy_ns as f64 / all_ns);
        SimulatedCell { utilization, energy_j: self.stream.energy_j(of_ns), ..kept }
    }

    /// Names the drives whose files do not state their power, if the files of others do: the total
    /// energy is then unknown.
    fn powerless(&self) -> Option<String> {
        let of = |knows: bool| {
            let drives = self.volumes.all.iter().map(|(target, _)| target);
            drives.filter(move |target| target.power().is_some() == knows)
        };
        let mut names: Vec<&str> = of(false).map(|target| target.extent().name).collect();
        names.sort_unstable();
        names.dedup();
        let untold = of(true).next().is_some() && !names.is_empty();
        untold.then(|| format!("energy: no power is stated of {}", names.join(", ")))
    }

    /// Compares the judged requests with their recorded times. `tells_issue` says whether the trace
    /// records when requests were issued; `None` if unknown. If requests were wrapped, nothing is
    /// compared: their recorded times belong to other places.
    pub fn compared(&self, tells_issue: Option<bool>) -> Compared {
        match (&self.setup.others, &self.judged) {
            (Some(Target::Disk(drive)), Some(judged)) if self.jobs.wrapped() == 0 => {
                summary::compared(drive, judged, &self.options, tells_issue)
            }
            _ => Compared::default(),
        }
    }
}

impl<'a> Volumes<'a> {
    fn add(&mut self, device: u16, target: &'a Target, extent: Extent<'a>) -> u16 {
        let (device, volume) = (usize::from(device), self.all.len() as u16);
        self.of.resize(self.of.len().max(device + 1), None);
        self.of[device] = Some(volume);
        self.all.push((target, extent));
        volume
    }
}

/// Counts a request that is done.
#[inline]
fn note(row: SimulatedRequest, times: &mut Times, rows: &mut Option<InOrder>, span: &mut Span) {
    times.add(&row);
    span.add(&row);
    if let Some(rows) = rows {
        rows.done(row);
    }
}

fn disk_options(choices: &Choices, options: &Configuration, target: &Target) -> DiskOptions {
    match target {
        Target::Disk(drive) => as_chosen(choices, options.disk, drive),
        Target::Flash(_) => DiskOptions::default(),
    }
}

/// The extent of a volume. An array of solid-state drives does not receive discards, which would
/// make its parity wrong. A flush is a request to every drive, even one that has nothing to flush:
/// combinations with different caches then serve the same requests.
fn extent(target: &Target, array: Array) -> Extent<'_> {
    let one = target.extent();
    Extent {
        blocks: array.blocks(one.blocks, one.sector_bytes),
        discards: one.discards && array.level == Level::Single,
        flushes: true,
        ..one
    }
}
