//! One combination at work on a trace that comes in batches: rows in, what is kept of the simulation out.

use crate::catalog::Target;
use crate::command::{DiskOptions, Traffic};
use crate::error::Error;
use crate::fit::{Fitting, check_sector};
use crate::job::{Arrivals, Configuration, Job, Jobs, SimulatedRequest};
use crate::rows::InOrder;
use crate::ssd::FlashStream;
use crate::stream::Stream;
use crate::summary::{self, Times};
use ioscape_schema::{Device, Io, SimulatedCell, SimulationAgreement};
use std::sync::Arc;

/// Requests from the beginning of a trace that are compared with their recorded times.
pub const JUDGED_MOST: usize = 1 << 18;

/// Some rows of a trace in the order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The rows.
    pub rows: Vec<Io>,
    /// The devices that they name.
    pub devices: Arc<[Device]>,
}

/// A combination at work.
pub struct Cell<'a> {
    target: &'a Target,
    options: Configuration,
    jobs: Jobs,
    batch: Vec<Job>,
    engine: Engine<'a>,
    /// The disk of every device seen so far.
    disks: Vec<Option<u16>>,
    count: u16,
    times: Times,
    traffic: Traffic,
    judged: Option<Vec<Job>>,
    rows: Option<InOrder>,
    done: Vec<SimulatedRequest>,
}

enum Engine<'a> {
    Disks(Stream<'a>),
    Flash(FlashStream<'a>),
}

impl<'a> Cell<'a> {
    /// Drives like `target`, as many as the trace has devices; a solid-state drive takes only the arrivals of the options.
    pub fn new(target: &'a Target, options: Configuration, fitting: Fitting) -> Self {
        let engine = match target {
            Target::Disk(_) => Engine::Disks(Stream::new(&options)),
            Target::Flash(_) => Engine::Flash(FlashStream::new(options.arrivals)),
        };
        Self {
            target,
            options,
            jobs: Jobs::new(fitting),
            batch: Vec::new(),
            engine,
            disks: Vec::new(),
            count: 0,
            times: Times::default(),
            traffic: Traffic::default(),
            judged: None,
            rows: None,
            done: Vec::new(),
        }
    }

    /// Compares the first requests of the trace with their recorded times.
    pub fn judge(&mut self) {
        self.judged = matches!(self.target, Target::Disk(_)).then(Vec::new);
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
        jobs.clear();
        let (extent, target) = (self.target.extent(), self.target);
        let (disks, count, engine) = (&mut self.disks, &mut self.count, &mut self.engine);
        let disk_options = self.options.disk;
        self.jobs.convert(&batch.rows, &mut jobs, |device| {
            if let Some(Some(disk)) = disks.get(usize::from(device)) {
                return Ok(Some((*disk, extent)));
            }
            check_sector(&batch.devices, device, extent)?;
            engine.add(target, disk_options);
            disks.resize(disks.len().max(usize::from(device) + 1), None);
            disks[usize::from(device)] = Some(*count);
            *count += 1;
            Ok(Some((*count - 1, extent)))
        })?;
        if let Some(judged) = &mut self.judged {
            judged.extend(jobs.iter().take(JUDGED_MOST - judged.len()));
        }
        self.simulate(&jobs);
        self.batch = jobs;
        Ok(())
    }

    fn simulate(&mut self, jobs: &[Job]) {
        if let Some(rows) = &mut self.rows {
            jobs.iter().for_each(|job| rows.expect(job.row));
        }
        let (times, rows) = (&mut self.times, &mut self.rows);
        let mut done = |_: u64, row: SimulatedRequest| {
            times.add(&row);
            if let Some(rows) = rows {
                rows.done(row);
            }
        };
        match &mut self.engine {
            Engine::Disks(stream) => stream.take(jobs, &mut done),
            Engine::Flash(stream) => stream.take(jobs, &mut done),
        }
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
        let seen = self.disks.iter().enumerate().filter(|(_, disk)| disk.is_some());
        seen.map(|(device, _)| device as u16).collect()
    }

    /// Requests of the trace that were simulated so far.
    pub fn requests(&self) -> u64 {
        self.times.requests()
    }

    /// What was wrapped so far, and in words what was left out.
    pub fn fitted(&self) -> (u64, Option<String>) {
        (self.jobs.wrapped(), self.jobs.left_out(self.target.extent().name))
    }

    /// Completes what was taken.
    pub fn finish(&mut self) {
        let (times, rows) = (&mut self.times, &mut self.rows);
        let mut done = |_: u64, row: SimulatedRequest| {
            times.add(&row);
            if let Some(rows) = rows {
                rows.done(row);
            }
        };
        self.traffic = match &mut self.engine {
            Engine::Disks(stream) => stream.finish(&mut done),
            Engine::Flash(stream) => stream.finish(&mut done),
        };
        if let Some(rows) = &mut self.rows {
            rows.release(&mut self.done, true);
        }
    }

    /// What is kept of a finished cell.
    pub fn kept(&self) -> SimulatedCell {
        match self.target {
            Target::Disk(drive) => summary::cell(drive, &self.options, &self.times, &self.traffic),
            Target::Flash(model) => summary::flash_cell(model, &self.times, &self.traffic),
        }
    }

    /// How far the judged requests are from their recorded times; `None` where nothing was recorded.
    pub fn agreement(&self) -> Option<SimulationAgreement> {
        let (Target::Disk(drive), Some(judged)) = (self.target, &self.judged) else { return None };
        summary::busiest_agreement(drive, judged, &self.options)
    }
}

impl<'a> Engine<'a> {
    fn add(&mut self, target: &'a Target, options: DiskOptions) {
        match (self, target) {
            (Self::Disks(stream), Target::Disk(drive)) => stream.add(drive, options),
            (Self::Flash(stream), Target::Flash(model)) => stream.add(model),
            _ => {}
        }
    }
}
