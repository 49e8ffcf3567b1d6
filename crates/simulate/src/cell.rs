//! One combination at work on a trace that comes in batches: rows in, what is kept of the simulation out.

use crate::array::Level;
use crate::catalog::{Files, Target};
use crate::combinations::{Choices, as_chosen, combinations, of_flash};
use crate::command::{DiskOptions, Traffic};
use crate::error::Error;
use crate::extent::Extent;
use crate::fit::{Fitting, check_sector, device_name};
use crate::job::{Arrivals, Configuration, Job, Jobs, SimulatedRequest};
use crate::rows::InOrder;
use crate::ssd::Filled;
use crate::stream::{Kind, Stream};
use crate::summary::{self, Times};
use ioscape_schema::{Device, Io, SimulatedCell, SimulationAgreement};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

/// Requests from the beginning of a trace that are compared with their recorded times.
pub const JUDGED_MOST: usize = 1 << 18;

/// Rows that become jobs and are simulated before the next ones: they stay in a processor's nearest caches on their way.
const NEAR: usize = 128;

/// Some rows of a trace in the order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The rows.
    pub rows: Vec<Io>,
    /// The devices that they name.
    pub devices: Arc<[Device]>,
}

/// What stands for the devices of a trace.
pub struct Setup {
    /// Drives of devices by their names.
    pub named: Vec<(String, Target)>,
    /// The drive of every other device.
    pub others: Option<Target>,
    /// What their descriptions state and the simulation leaves out, each after the drive's name or file.
    pub left_out: Vec<String>,
}

impl Setup {
    /// The setups of a command's drives: one for every drive that is for all devices, each with the drives of single devices, `DEVICE=DRIVE`.
    ///
    /// # Errors
    /// As of [`Target::named`]; a device with two drives.
    pub fn all(
        drives: &[String],
        filled: Option<Filled>,
        files: &dyn Files,
    ) -> Result<Vec<Self>, Error> {
        // A file may have an equals sign in its name.
        let of_device = |text: &&String| text.contains('=') && !files.exists(Path::new(text));
        let (named, others): (Vec<&String>, Vec<&String>) = drives.iter().partition(of_device);
        one_each(&named)?;
        let begin = |others: Option<&String>| {
            let named = named.iter().filter_map(|text| text.split_once('='));
            let mut left_out = Vec::new();
            let mut target = |name: &str| {
                let heard = Heard { files, left_out: RefCell::default() };
                let target = Target::named(name, filled, &heard)?;
                let what = heard.left_out.into_inner().into_iter();
                left_out.extend(what.map(|what| format!("{name}: {what}")));
                Ok::<_, Error>(target)
            };
            let named = named
                .map(|(device, name)| Ok((device.to_owned(), target(name)?)))
                .collect::<Result<_, Error>>()?;
            let others = others.map(|name| target(name)).transpose()?;
            Ok(Self { named, others, left_out })
        };
        match others.as_slice() {
            [] => Ok(vec![begin(None)?]),
            some => some.iter().map(|name| begin(Some(name))).collect(),
        }
    }

    /// The combinations of these drives: those of the first disk. Nothing of the host's order and of a disk's caches can be chosen where
    /// all are solid-state drives.
    ///
    /// # Errors
    /// As of [`combinations`], for every disk; as of [`of_flash`].
    pub fn combinations(&self, choices: &Choices) -> Result<Vec<Configuration>, String> {
        let disks = self.targets().filter_map(|target| match target {
            Target::Disk(drive) => Some(drive),
            Target::Flash(_) => None,
        });
        let of_each: Vec<Vec<Configuration>> =
            disks.map(|drive| combinations(choices, drive)).collect::<Result<_, _>>()?;
        of_each.into_iter().next().map_or_else(|| of_flash(choices), Ok)
    }

    /// Whether all are solid-state drives.
    pub fn is_flash(&self) -> bool {
        self.targets().all(|target| matches!(target, Target::Flash(_)))
    }

    /// How far to trust them.
    pub fn status(&self) -> String {
        let mut words: Vec<&str> = self.targets().map(|t| t.status().words()).collect();
        words.dedup();
        words.join(", ")
    }

    /// What the drives are called.
    pub fn name(&self) -> String {
        let named = self.named.iter().map(|(device, t)| format!("{device}={}", t.extent().name));
        let others = self.others.iter().map(|target| target.extent().name.to_owned());
        named.chain(others).collect::<Vec<_>>().join(", ")
    }

    /// All drives.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.named.iter().map(|(_, target)| target).chain(&self.others)
    }

    /// The names of devices that have a drive of their own, and are none of these of the trace.
    pub fn unmet(&self, devices: &[Device], seen: &[u16]) -> Vec<&str> {
        let met: Vec<&str> = seen
            .iter()
            .filter_map(|&device| self.own(devices, device))
            .map(|(of, _)| of.as_str())
            .collect();
        self.named.iter().map(|(of, _)| of.as_str()).filter(|of| !met.contains(of)).collect()
    }

    /// The drive that was given to a device by its name, or by its number where no device is called by that number.
    fn own(&self, devices: &[Device], device: u16) -> Option<&(String, Target)> {
        let name = devices.get(usize::from(device)).map_or("", |d| d.name.as_str());
        let number = device.to_string();
        let given = |word: &str| self.named.iter().find(|(of, _)| of == word);
        let is_a_name = devices.iter().any(|device| device.name == number);
        given(name).or_else(|| given(&number).filter(|_| !is_a_name))
    }

    /// The drive of a device, which is known by its name or its number.
    fn target(&self, devices: &[Device], device: u16) -> Result<&Target, Error> {
        let own = self.own(devices, device).map(|(_, target)| target);
        own.or(self.others.as_ref()).ok_or_else(|| {
            let name = device_name(devices, device);
            Error::Configuration(format!(
                "no drive for device {name} of the trace: add --drive {name}=DRIVE, or a --drive for all others"
            ))
        })
    }
}

/// Refuses a second drive for a device.
fn one_each(named: &[&String]) -> Result<(), Error> {
    let devices: Vec<&str> =
        named.iter().filter_map(|text| Some(text.split_once('=')?.0)).collect();
    let twice = (1..devices.len()).find(|&at| devices[..at].contains(&devices[at]));
    twice.map_or(Ok(()), |at| {
        Err(Error::Configuration(format!("--drive: device {} is given two drives", devices[at])))
    })
}

/// Files of drives, and what was said to be left out of one.
struct Heard<'a> {
    files: &'a dyn Files,
    left_out: RefCell<Vec<String>>,
}

impl Files for Heard<'_> {
    fn exists(&self, path: &Path) -> bool {
        self.files.exists(path)
    }

    fn text(&self, path: &Path) -> Result<String, String> {
        self.files.text(path)
    }

    fn names(&self, folder: &Path) -> Result<Vec<String>, String> {
        self.files.names(folder)
    }

    fn left_out(&self, what: &[String]) {
        self.left_out.borrow_mut().extend_from_slice(what);
        self.files.left_out(what);
    }
}

/// A combination at work.
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

/// The time in which requests came and were served: a trace need not begin at 0, nor what was asked for of it.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    from_ns: Option<u64>,
    until_ns: u64,
}

impl Span {
    #[inline]
    fn add(&mut self, io: &Io) {
        self.from_ns = Some(self.from_ns.map_or(io.queued_ns, |from| from.min(io.queued_ns)));
        self.until_ns = self.until_ns.max(io.completed_ns);
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
    /// What stands for each, and what must fit it.
    all: Vec<(&'a Target, Extent<'a>)>,
}

impl<'a> Cell<'a> {
    /// Drives as `setup` says, one or an array for every device of the trace, with the options of a combination of `choices`.
    pub fn new(
        setup: &'a Setup,
        choices: &'a Choices,
        options: Configuration,
        fitting: Fitting,
    ) -> Self {
        // The way of simulating follows from the deepest queue of all drives.
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

    /// Compares the first requests of the trace with their recorded times, if all devices are one kind of disk.
    pub fn judge(&mut self) {
        let alone = self.setup.named.is_empty() && self.options.array.level == Level::Single;
        let is_disk = matches!(self.setup.others, Some(Target::Disk(_)));
        self.judged = (alone && is_disk).then(Vec::new);
    }

    /// Keeps simulated rows, to be taken by [`Self::take_rows`].
    pub fn keep_rows(&mut self) {
        self.rows = Some(InOrder::new(self.options.arrivals == Arrivals::Closed));
    }

    /// Simulates more of the trace.
    ///
    /// # Errors
    /// A row or device that does not fit; the cell is of no use after that.
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

    /// Rows as jobs; a device that is met for the first time gets its drive.
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
            let extent = extent(target, options, disk);
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

    /// The devices of the trace that have come so far.
    pub fn devices(&self) -> Vec<u16> {
        let seen = self.volumes.of.iter().enumerate().filter(|(_, volume)| volume.is_some());
        seen.map(|(device, _)| device as u16).collect()
    }

    /// Requests of the trace that were simulated so far.
    pub fn requests(&self) -> u64 {
        self.times.requests()
    }

    /// What was wrapped so far, and in words what was left out.
    pub fn fitted(&self) -> (u64, Vec<String>) {
        (self.jobs.wrapped(), self.jobs.left_out(&self.setup.name()))
    }

    /// Completes what was taken.
    pub fn finish(&mut self) {
        let (times, rows, span) = (&mut self.times, &mut self.rows, &mut self.span);
        self.traffic = self.stream.finish(&mut |_, row| note(row, times, rows, span));
        if let Some(rows) = &mut self.rows {
            rows.release(&mut self.done, true);
        }
    }

    /// What is kept of a finished cell.
    pub fn kept(&self) -> SimulatedCell {
        // What is chosen is chosen of disks, and the combinations are those of the first.
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

    /// The drives whose files do not tell what they take from the power supply, if others' do: then no energy of all can be told.
    pub fn powerless(&self) -> Option<String> {
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

    /// How far the judged requests are from their recorded times; `None` where nothing was recorded, or requests were wrapped: what was
    /// recorded is of other places.
    pub fn agreement(&self) -> Option<SimulationAgreement> {
        if self.jobs.wrapped() > 0 {
            return None;
        }
        let (Some(Target::Disk(drive)), Some(judged)) = (&self.setup.others, &self.judged) else {
            return None;
        };
        summary::busiest_agreement(drive, judged, &self.options)
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
    span.add(&row.io);
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

/// What must fit a volume: an array of solid-state drives is not told of discards, which would make its parity wrong.
fn extent<'a>(target: &'a Target, options: &Configuration, disk: DiskOptions) -> Extent<'a> {
    let (array, one) = (options.array, target.extent());
    let volatile = disk.cache.reports_early();
    Extent {
        blocks: array.blocks(one.blocks, one.sector_bytes),
        discards: one.discards && array.level == Level::Single,
        flushes: one.flushes || volatile,
        ..one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{drives, ssd};

    fn disk() -> Target {
        Target::Disk(Box::new(drives::find("hp-97560").unwrap().build().unwrap()))
    }

    fn flash() -> Target {
        Target::Flash(Box::new(ssd::find("generic-ssd").unwrap().build().unwrap()))
    }

    fn called(names: [&str; 2]) -> [Device; 2] {
        names.map(|name| Device { name: name.to_owned(), ..Device::default() })
    }

    #[test]
    fn a_device_whose_name_is_the_number_of_another_has_the_drive_of_its_name() {
        let devices = called(["1", "0"]);
        for reversed in [false, true] {
            let mut named = vec![("1".to_owned(), flash()), ("0".to_owned(), disk())];
            if reversed {
                named.reverse();
            }
            let setup = Setup { named, others: None, left_out: Vec::new() };
            assert!(matches!(setup.target(&devices, 0), Ok(Target::Flash(_))));
            assert!(matches!(setup.target(&devices, 1), Ok(Target::Disk(_))));
            assert!(setup.unmet(&devices, &[0, 1]).is_empty());
            assert_eq!(setup.unmet(&devices, &[0]), ["0"]);
        }
    }

    #[test]
    fn a_device_can_be_given_a_drive_by_its_number_where_none_is_called_by_it() {
        let named = vec![("0".to_owned(), disk())];
        let setup = Setup { named, others: Some(flash()), left_out: Vec::new() };
        let devices = called(["vda", "vdb"]);
        assert!(matches!(setup.target(&devices, 0), Ok(Target::Disk(_))));
        assert!(matches!(setup.target(&devices, 1), Ok(Target::Flash(_))));
        assert!(setup.unmet(&devices, &[0]).is_empty());
        let devices = called(["vda", "0"]);
        assert!(matches!(setup.target(&devices, 0), Ok(Target::Flash(_))));
        assert!(matches!(setup.target(&devices, 1), Ok(Target::Disk(_))));
    }
}
