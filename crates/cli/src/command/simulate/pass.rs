//! One pass through a trace: every combination of every setup takes every row of it.

use crate::drives::DriveFiles;
use crate::failure::Failure;
use crate::output;
use crate::traces::{Output, Rows, format_of_rows};
use ioscape_arguments::SimulateArgs;
use ioscape_machine::output::Destination;
use ioscape_machine::{interrupt, parallel};
use ioscape_schema::{HostCacheAbsorption, Io, SimulationAgreement, TraceInfo, Warning};
use ioscape_simulate::cell::Batch;
use ioscape_simulate::combinations::Choices;
use ioscape_simulate::nvram::AbsorbedAtHost;
use ioscape_simulate::setup::Setup;
use ioscape_simulate::work::{AtWork, NotSimulated, Simulated, requests_were};
use ioscape_simulate::{SimulatedRequest, rows};
use ioscape_trace::analyze::tells_issue;
use ioscape_trace::{Writer, doubts_of_simulation};
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Returns the setups of these drives.
///
/// # Errors
/// A drive cannot be read, or options for disks are given without disks.
pub fn setups(args: &SimulateArgs, drives: &[String]) -> Result<Vec<Setup>, Failure> {
    let setups = Setup::all(drives, args.precondition, &DriveFiles)?;
    if setups.iter().all(Setup::is_flash) {
        args.check_without_disks(&setups[0].name()).map_err(Failure::Misuse)?;
    }
    Ok(setups)
}

/// The results of a pass through the trace.
pub struct Found<'a> {
    /// All combinations.
    pub simulated: Simulated<'a>,
    /// What a cache at the host absorbs, if requested.
    pub absorption: Vec<HostCacheAbsorption>,
}

/// Reads the trace once: every combination takes every batch, on several threads, whose number does
/// not affect the result. Notes for the user are reported.
///
/// # Errors
/// Options contradict each other, the trace cannot be read or does not fit the drives, rows cannot
/// be written, the pass was interrupted, or nothing was simulated.
pub fn pass<'a>(
    args: &SimulateArgs,
    (setups, choices): (&'a [Setup], &'a Choices),
    trace: &mut Rows,
    mut table: Option<&mut Table>,
) -> Result<Found<'a>, Failure> {
    let threads = args.threads.map_or_else(parallel::processors, |threads| threads as usize);
    let cells = AtWork::all(setups, choices, args.fitting(), table.is_some());
    let (mut cells, stop) = (cells.map_err(Failure::Misuse)?, interrupt::flag());
    cells.iter_mut().for_each(|at| at.cell.heed(&stop));
    let mut absorbed = args.absorption.then(AbsorbedAtHost::default);
    let done = Mutex::new(Vec::new());
    let mut more = true;
    let next = |mut batch: Batch| {
        if let Some(table) = &mut table {
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            table.write(&mut done, trace.info())?;
        }
        if !more {
            return Ok(None);
        }
        more = trace.next(&mut batch.rows)?;
        if batch.devices.len() != trace.info().devices.len() {
            batch.devices = trace.info().devices.clone().into();
        }
        if let Some(absorbed) = &mut absorbed {
            // The cache sees the requests at their times in the simulation, too.
            let mut rows = Cow::from(&batch.rows);
            if args.scale_time.is_some() {
                rows.to_mut().iter_mut().for_each(|io| args.fitting().scale(io));
            }
            absorbed.take(&rows);
        }
        Ok::<_, Failure>(Some(batch))
    };
    let work = |at: &mut AtWork<'_>, batch: &Batch| {
        let goes_on = at.take(batch) && !stop.load(Ordering::Relaxed);
        let rows = at.cell.take_rows();
        if !rows.is_empty() {
            done.lock().unwrap_or_else(PoisonError::into_inner).extend(rows);
        }
        goes_on
    };
    let count = cells.len();
    let cells = parallel::to_all(cells, threads, next, work)?;
    let mut simulated = Simulated::of(setups, cells, count).map_err(|error| match error {
        NotSimulated::Defect(why) => Failure::Failed(why),
        NotSimulated::Misfit(why) => Failure::Misuse(why),
    })?;
    trace.done();
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted("interrupted: nothing was written".to_owned()));
    }
    if let Some(table) = table {
        let mut rows = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.extend(simulated.take_rows());
        table.write(&mut rows, trace.info())?;
    }
    ended(trace, &simulated)?;
    Ok(Found { simulated, absorption: absorbed.map(AbsorbedAtHost::finish).unwrap_or_default() })
}

/// Reports what the user should know about a trace that was simulated to its end.
fn ended(trace: &Rows, simulated: &Simulated<'_>) -> Result<(), Failure> {
    trace.check()?;
    simulated.first().map_err(Failure::Misuse)?;
    simulated.notes().iter().for_each(|note| output::tell(note));
    let moved = trace.selected.moved();
    if moved > 0 {
        let told = requests_were(moved, "");
        output::tell(&format!("{told} put in the order of arrival"));
    }
    Ok(())
}

/// How far the first combination is from what the trace recorded, and the warnings about the trace,
/// the combinations and that comparison.
///
/// # Errors
/// Nothing of the trace was simulated.
pub fn compared(
    simulated: &Simulated<'_>,
    trace: &Rows,
) -> Result<(Option<SimulationAgreement>, Vec<Warning>), Failure> {
    let first = simulated.first().map_err(Failure::Misuse)?;
    let compared = first.compared(tells_issue(trace.info()));
    let doubts = doubts_of_simulation(trace.info()).into_iter().chain(simulated.doubts());
    let doubts = doubts.chain(compared.doubts()).collect();
    Ok((compared.agreement, doubts))
}

/// Simulated rows being written to a file.
pub struct Table {
    file: Output,
    writer: Writer,
    drive: String,
}

impl Table {
    /// Begins a file.
    pub fn begin(place: Destination, drive: &str) -> Result<Self, Failure> {
        let format = format_of_rows(place.path())?;
        let (file, writer) = Output::with_columns(place, format, &rows::COLUMNS)?;
        Ok(Self { file, writer, drive: drive.to_owned() })
    }

    /// Writes the rows in `done` and empties it.
    fn write(
        &mut self,
        done: &mut Vec<SimulatedRequest>,
        trace: &TraceInfo,
    ) -> Result<(), Failure> {
        if done.is_empty() {
            return Ok(());
        }
        let ios: Vec<Io> = done.iter().map(|row| row.io).collect();
        let parts: Vec<u64> = done.iter().flat_map(SimulatedRequest::columns).collect();
        done.clear();
        let info = rows::info(trace, &self.drive);
        Ok(self.writer.rows_with(&ios, &parts, &info)?)
    }

    /// Completes the file and gives it its name.
    pub fn keep(self, trace: &TraceInfo) -> Result<(), Failure> {
        let info = rows::info(trace, &self.drive);
        self.writer.finish(&info)?;
        self.file.keep().map(drop)
    }
}
