//! One pass through a trace: every combination of every setup takes every row of it.

use crate::failure::Failure;
use crate::output;
use crate::traces::{Output, Rows, format_of_rows};
use ioscape_arguments::SimulateArgs;
use ioscape_machine::output::Destination;
use ioscape_machine::parallel;
use ioscape_schema::{HostCacheAbsorption, Io, TraceInfo};
use ioscape_simulate::cell::{Batch, Cell, Setup};
use ioscape_simulate::combinations::Choices;
use ioscape_simulate::nvram::AbsorbedAtHost;
use ioscape_simulate::{SimulatedRequest, rows};
use ioscape_trace::Writer;
use std::sync::{Mutex, PoisonError};

/// Refuses options for disks where there are none.
///
/// # Errors
/// Such an option was given.
pub fn check_disks(args: &SimulateArgs, setups: &[Setup]) -> Result<(), Failure> {
    match setups.iter().all(Setup::is_flash) {
        true => args.check_without_disks(&setups[0].name()).map_err(Failure::Misuse),
        false => Ok(()),
    }
}

/// All combinations of all setups, the first of each to be compared with the recorded times.
///
/// # Errors
/// Options that contradict each other or have nothing to act upon.
pub fn begun<'a>(
    args: &SimulateArgs,
    setups: &'a [Setup],
    choices: &'a Choices,
    keeps_rows: bool,
) -> Result<Vec<AtWork<'a>>, Failure> {
    let mut cells = Vec::new();
    for (number, setup) in setups.iter().enumerate() {
        for options in setup.combinations(choices).map_err(Failure::Misuse)? {
            let mut cell = Cell::new(setup, choices, options, args.fitting());
            if cells.is_empty() {
                cell.judge();
                if keeps_rows {
                    cell.keep_rows();
                }
            }
            cells.push(AtWork { cell, setup: number, error: None });
        }
    }
    Ok(cells)
}

/// What a pass through the trace found.
pub struct Found<'a> {
    /// The combinations.
    pub cells: Vec<AtWork<'a>>,
    /// What a cache at the host absorbs, if it was asked for.
    pub absorption: Vec<HostCacheAbsorption>,
}

/// A combination at work, the number of its setup, and why it had to stop.
pub struct AtWork<'a> {
    /// The combination.
    pub cell: Cell<'a>,
    /// The number of its setup.
    pub setup: usize,
    error: Option<ioscape_simulate::Error>,
}

/// Reads the trace once: every combination takes every batch, on several threads; the result does not depend on how many.
///
/// # Errors
/// A trace that cannot be read or does not fit the drives, and rows that cannot be written.
pub fn pass<'a>(
    args: &SimulateArgs,
    cells: Vec<AtWork<'a>>,
    trace: &mut Rows,
    mut table: Option<&mut Table>,
) -> Result<Found<'a>, Failure> {
    let threads = args.threads.map_or_else(parallel::processors, |threads| threads as usize);
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
            absorbed.take(&batch.rows);
        }
        Ok::<_, Failure>(Some(batch))
    };
    let work = |at: &mut AtWork<'_>, batch: &Batch| {
        at.error = at.cell.take(batch).err();
        let rows = at.cell.take_rows();
        if !rows.is_empty() {
            done.lock().unwrap_or_else(PoisonError::into_inner).extend(rows);
        }
        at.error.is_none()
    };
    let count = cells.len();
    let mut cells = finished(parallel::to_all(cells, threads, next, work)?, count)?;
    if let Some(table) = table {
        let mut rows = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.extend(cells.iter_mut().flat_map(|at| at.cell.take_rows()));
        table.write(&mut rows, trace.info())?;
    }
    Ok(Found { cells, absorption: absorbed.map(AbsorbedAtHost::finish).unwrap_or_default() })
}

/// The combinations when all of them are done.
fn finished(
    found: Result<Vec<AtWork<'_>>, Vec<usize>>,
    count: usize,
) -> Result<Vec<AtWork<'_>>, Failure> {
    let mut cells = found.map_err(|failed| {
        let numbers: Vec<String> = failed.iter().map(usize::to_string).collect();
        Failure::Failed(format!(
            "combination {} of {count} failed: no result is written (this is a defect of ioscape)",
            numbers.join(", ")
        ))
    })?;
    for at in &mut cells {
        if let Some(error) = &at.error {
            let wrap = if error.to_string().contains("beyond") { ", or give --wrap" } else { "" };
            return Err(Failure::Misuse(format!("{error}{wrap}")));
        }
        at.cell.finish();
    }
    Ok(cells)
}

/// The first cell of a trace that was simulated to its end, with what the user should know of it.
///
/// # Errors
/// It was interrupted, or nothing of the trace was simulated.
pub fn finished_one<'f, 'a>(
    setups: &[Setup],
    trace: &Rows,
    found: &'f Found<'a>,
) -> Result<&'f Cell<'a>, Failure> {
    trace.done();
    trace.whole("interrupted: nothing was written")?;
    let first = found.cells.first().map(|at| &at.cell).filter(|cell| cell.requests() > 0);
    let nothing =
        || Failure::Misuse("no request of the trace moves data on these devices".to_owned());
    let first = first.ok_or_else(nothing)?;
    warn(setups, &found.cells, trace);
    Ok(first)
}

/// What the user should know of the trace on each setup.
fn warn(setups: &[Setup], cells: &[AtWork<'_>], trace: &Rows) {
    for (number, setup) in setups.iter().enumerate() {
        let Some(at) = cells.iter().find(|at| at.setup == number) else { continue };
        let (wrapped, left_out) = at.cell.fitted();
        for what in left_out.into_iter().chain(at.cell.powerless()) {
            output::tell(&format!("Not simulated: {what}"));
        }
        if wrapped > 0 {
            output::tell(&format!("{wrapped} requests beyond {} were wrapped", setup.name()));
        }
    }
    if trace.moved() > 0 {
        output::tell(&format!("{} requests were put in the order of arrival", trace.moved()));
    }
}

/// What the result says was not simulated, of each setup.
pub fn left_out(setups: &[Setup], cells: &[AtWork<'_>]) -> Vec<String> {
    let of = |(number, setup): (usize, &Setup)| {
        let at = cells.iter().find(|at| at.setup == number);
        let met =
            at.into_iter().flat_map(|at| at.cell.fitted().1.into_iter().chain(at.cell.powerless()));
        setup.left_out.iter().cloned().chain(met).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for what in setups.iter().enumerate().flat_map(of) {
        if !all.contains(&what) {
            all.push(what);
        }
    }
    all
}

/// Simulated rows on their way into a file.
pub struct Table {
    file: Output,
    writer: Writer,
    drive: String,
}

impl Table {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(place: Destination, drive: &str) -> Result<Self, Failure> {
        let format = format_of_rows(place.path())?;
        let (file, writer) = Output::with_columns(place, format, &rows::COLUMNS)?;
        Ok(Self { file, writer, drive: drive.to_owned() })
    }

    /// Writes what is in `done` and empties it.
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

    /// Gives the file its name.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(self, trace: &TraceInfo) -> Result<(), Failure> {
        let info = rows::info(trace, &self.drive);
        self.writer.finish(&info)?;
        self.file.keep().map(drop)
    }
}
