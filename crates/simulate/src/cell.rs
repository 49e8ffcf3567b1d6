//! One combination of options, simulated on a trace that comes in batches: rows in, results of the
//! simulation out.

use crate::array::{Array, Level};
use crate::catalog::Target;
use crate::combinations::{Choices, as_chosen};
use crate::command::{DiskOptions, Traffic};
use crate::error::Error;
use crate::extent::Extent;
use crate::fit::{Fitting, check_sector, device_name};
use crate::job::{Arrivals, Configuration, Job, Jobs, SimulatedRequest};
use crate::load::Load;
use crate::rows::InOrder;
use crate::setup::Setup;
use crate::stream::{Kind, Stream};
use crate::summary::{self, Compared, Times};
use ioscape_schema::{Device, Io, SimulatedCell};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
    /// The first jobs, with their simulated times at the disk.
    judged: Option<Vec<(Job, u64)>>,
    rows: Option<InOrder>,
    done: Vec<SimulatedRequest>,
}

/// The devices seen so far.
#[derive(Default)]
struct Volumes<'a> {
    /// The volume of every device.
    of: Vec<Option<u16>>,
    /// The drive that stands for each volume, and its extent.
    all: Vec<(&'a Target, Extent<'a>)>,
    /// The load on every device.
    loads: Vec<Load>,
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
            judged: None,
            rows: None,
            done: Vec::new(),
        }
    }

    /// Compares the first requests of the trace with their recorded times, if disks stand for
    /// devices.
    pub fn judge(&mut self) {
        let has_disks = self.options.array.level == Level::Single && !self.setup.is_flash();
        self.judged = has_disks.then(Vec::new);
    }

    /// Keeps simulated rows for [`Self::take_rows`].
    pub fn keep_rows(&mut self) {
        self.rows = Some(InOrder::new(self.options.arrivals == Arrivals::Closed));
    }

    /// Ends early once `stop` is set; the cell then has no results.
    pub fn heed(&mut self, stop: &Arc<AtomicBool>) {
        self.stream.heed(stop);
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
                let more = jobs.iter().take(JUDGED_MOST - judged.len());
                judged.extend(more.map(|job| (*job, 0)));
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
            let name = device_name(devices, device);
            Ok(Some((volumes.add((device, name), target, extent), extent)))
        })
    }

    fn simulate(&mut self, jobs: &[Job]) {
        if let Some(rows) = &mut self.rows {
            jobs.iter().for_each(|job| rows.expect(job.row));
        }
        let (times, rows, loads) = (&mut self.times, &mut self.rows, &mut self.volumes.loads);
        let judged = &mut self.judged;
        let mut done = |ticket, row| note(ticket, row, judged, times, rows, loads);
        self.stream.take(jobs, &mut done);
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
        let (times, rows, loads) = (&mut self.times, &mut self.rows, &mut self.volumes.loads);
        let judged = &mut self.judged;
        let mut done = |ticket, row| note(ticket, row, judged, times, rows, loads);
        self.traffic = self.stream.finish(&mut done);
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
        let of_ns = Load::length_ns(&self.volumes.loads);
        let share = |busy_ns: u64, drives: u64| busy_ns as f64 / (of_ns as f64 * drives as f64);
        let utilization = (of_ns > 0).then(|| share(work.busy_ns, work.drives));
        let of_many = utilization.filter(|_| work.drives > 1);
        let mut flash = self.setup.targets().filter_map(Target::flash);
        let is_told = !flash.any(|model| model.is_spare_assumed);
        SimulatedCell {
            write_amplification: kept.write_amplification.filter(|_| is_told),
            utilization,
            utilization_most: of_many.map(|_| share(work.busiest_ns, 1)),
            energy_j: self.stream.energy_j(of_ns),
            ..kept
        }
    }

    /// Says which devices of a finished cell got more requests than their drives complete.
    pub fn overloads(&self) -> impl Iterator<Item = String> {
        let is_open = self.options.arrivals != Arrivals::Closed;
        let loads = self.volumes.loads.iter().zip(&self.volumes.of).filter(move |_| is_open);
        loads.filter_map(|(load, volume)| {
            let disks = usize::from(self.options.array.disks);
            load.overload(&self.stream.stretches(usize::from((*volume)?), disks))
        })
    }

    /// Reasons in the files of solid-state drives to distrust the times of a finished cell.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        let of = |(load, volume): (&Load, &Option<u16>)| {
            let (target, all) = self.volumes.all[usize::from((*volume)?)];
            let model = target.flash()?;
            // An array spreads its bytes evenly over its drives.
            let share = model.blocks as f64 / all.blocks as f64;
            let (end_bytes, writes) = ((load.end_bytes as f64 * share) as u64, load.writes);
            let doubts = model.doubts.iter();
            let doubts = doubts.filter(move |doubt| doubt.is_about(end_bytes, writes));
            Some(doubts.map(|doubt| doubt.message.clone()))
        };
        self.volumes.loads.iter().zip(&self.volumes.of).filter_map(of).flatten()
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
        let Some(judged) = self.judged.as_ref().filter(|_| self.jobs.wrapped() == 0) else {
            return Compared::default();
        };
        let disk = |device: u16| {
            let device = usize::from(device);
            let (target, _) = self.volumes.all[usize::from(self.volumes.of[device]?)];
            let Target::Disk(drive) = target else { return None };
            let options = disk_options(self.choices, &self.options, target);
            Some((&**drive, options, self.volumes.loads[device].name.as_str()))
        };
        summary::compared(judged, disk, tells_issue)
    }
}

impl<'a> Volumes<'a> {
    fn add(
        &mut self,
        (device, name): (u16, String),
        target: &'a Target,
        extent: Extent<'a>,
    ) -> u16 {
        let (device, volume) = (usize::from(device), self.all.len() as u16);
        self.loads.resize_with(self.loads.len().max(device + 1), Load::default);
        self.loads[device].name = name;
        self.of.resize(self.of.len().max(device + 1), None);
        self.of[device] = Some(volume);
        self.all.push((target, extent));
        volume
    }
}

/// Counts a request that is done.
#[inline]
fn note(
    ticket: u64,
    row: SimulatedRequest,
    judged: &mut Option<Vec<(Job, u64)>>,
    times: &mut Times,
    rows: &mut Option<InOrder>,
    loads: &mut [Load],
) {
    if let Some((_, ns)) = judged.as_mut().and_then(|judged| judged.get_mut(ticket as usize)) {
        *ns = row.physical_ns();
    }
    times.add(&row);
    loads[usize::from(row.io.device)].add(&row);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{constant, io};
    use ioscape_schema::Op;

    /// Guards against times of a twin without a word of the set on which it was judged, and against
    /// the write amplification of flash that the fit made up.
    #[test]
    fn what_a_twins_file_says_against_it_is_told_of_the_requests_that_it_concerns() {
        let mut twin = crate::ssd::find("generic-ssd").unwrap();
        let sources = [
            ("verdict", "judged on a set of 1 GiB of 4 TiB; what requests over more"),
            ("filled", crate::ssd::ASSUMED_SPARE),
        ];
        twin.sources = sources.map(|(key, said)| (key.to_owned(), said.to_owned())).into();
        let others = Some(Target::Flash(Box::new(twin.build().unwrap())));
        let setup = Setup { others, ..Setup::default() };
        let of = |op, offset, array: &str| {
            let array = Array::parse(array).unwrap();
            let choices = Choices { array: Some(array), ..Choices::default() };
            let options = setup.combinations(&choices).unwrap().remove(0);
            let mut cell = Cell::new(&setup, &choices, options, Fitting::default());
            let rows = vec![io(op, 0, 1 << 20, 0), io(op, offset, 4096, 1_000_000)];
            cell.take(&Batch { rows, devices: Arc::from([Device::default()]) }).unwrap();
            cell.finish();
            assert_eq!(cell.kept().write_amplification, None);
            cell.doubts().collect::<Vec<String>>()
        };
        assert_eq!(of(Op::Read, 1 << 29, "none"), Vec::<String>::new());
        assert_eq!(of(Op::Read, 1 << 30, "raid0:2"), Vec::<String>::new());
        let said = [of(Op::Read, 1 << 30, "none"), of(Op::Write, 1 << 29, "none")];
        assert!(said[0].len() == 1 && said[0][0].contains("a set of 1 GiB of 4 TiB"), "{said:?}");
        assert!(said[1].len() == 1 && said[1][0].contains("spare flash is assumed"), "{said:?}");
    }

    /// Guards against "busy 28 %" alone where one of several drives gets more than it completes.
    #[test]
    fn an_overloaded_drive_is_named_among_idle_ones() {
        let others = Some(Target::Disk(Box::new(constant(1.0))));
        let setup = Setup { others, ..Setup::default() };
        let choices = Choices::default();
        let options = setup.combinations(&choices).unwrap().remove(0);
        let mut cell = Cell::new(&setup, &choices, options, Fitting::default());
        let row = |n: u64| {
            let device = if n.is_multiple_of(100) { 0 } else { 1 };
            Io { device, ..io(Op::Read, 0, 4096, n * 800_000) }
        };
        let named = |name: &str| Device { name: name.to_owned(), ..Device::default() };
        let devices = Arc::from([named("idle"), named("hot")]);
        cell.take(&Batch { rows: (0..5000).map(row).collect(), devices }).unwrap();
        cell.finish();
        let kept = cell.kept();
        let [mean, most] = [kept.utilization, kept.utilization_most].map(Option::unwrap);
        assert!(mean < 0.52 && most > 0.99, "{mean} {most}");
        let said: Vec<String> = cell.overloads().collect();
        assert!(said.len() == 1 && said[0].starts_with("device hot"), "{said:?}");
    }

    /// What an array says of random reads at a rate for 4 s, and of more of them in the end.
    fn told_of_array(a_second: u64, burst: u64) -> Vec<String> {
        let others = Some(Target::Disk(Box::new(constant(1.0))));
        let setup = Setup { others, ..Setup::default() };
        let array = Some(Array::parse("raid0:8").unwrap());
        let choices = Choices { array, ..Choices::default() };
        let options = setup.combinations(&choices).unwrap().remove(0);
        let mut cell = Cell::new(&setup, &choices, options, Fitting::default());
        let (every_ns, count, mut dice) = (1_000_000_000 / a_second, 4 * a_second, 1_u64);
        let mut row = |n: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // All drives rest for 50 ms after the first second.
            let rest_ns = if n < a_second { 0 } else { 50_000_000 };
            io(Op::Read, (dice >> 33) % 8000 * 4096, 4096, n.min(count) * every_ns + rest_ns)
        };
        let rows = (0..count + burst).map(&mut row).collect();
        cell.take(&Batch { rows, devices: Arc::from([Device::default()]) }).unwrap();
        cell.finish();
        cell.overloads().collect()
    }

    /// Guards against an overload by the last sync, for which the time before the last rest counted.
    #[test]
    fn a_burst_in_the_end_does_not_overload_an_array_that_was_busy_before() {
        assert_eq!(told_of_array(6000, 4000), Vec::<String>::new());
        let said = told_of_array(9500, 0);
        assert!(said.len() == 1 && said[0].starts_with("a drive of device"), "{said:?}");
    }
}
