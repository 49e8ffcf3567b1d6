//! `ioscape simulate`: a trace against simulated disks, in all combinations asked for, in one pass.

use crate::args::SimulateArgs;
use crate::drives::DriveFiles;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::progress::Progress;
use crate::traces::{Output, ROWS, Rows, format_of_rows};
use ioscape_machine::output::Destination;
use ioscape_machine::parallel;
use ioscape_schema::{HostCacheAbsorption, Io, Simulation, TraceInfo};
use ioscape_simulate::catalog::Target;
use ioscape_simulate::cell::{Batch, Cell};
use ioscape_simulate::combinations::combinations;
use ioscape_simulate::fit::device_name;
use ioscape_simulate::nvram::AbsorbedAtHost;
use ioscape_simulate::{Configuration, SimulatedRequest, rows};
use ioscape_trace::Writer;
use std::sync::{Mutex, PoisonError};

/// Runs the command.
///
/// # Errors
/// A drive or trace that cannot be read or do not fit, and output that cannot be written.
pub fn main(args: &SimulateArgs) -> Result<(), Failure> {
    if let Some(path) = &args.rows {
        format_of_rows(path)?;
    }
    let names = outputs::names_of(&args.out).reads("the trace", &args.trace);
    let mut outputs = names.reads("--drive", [&args.drive]).writes(ROWS, &args.rows).open()?;
    let target = Target::named(&args.drive, args.precondition, &DriveFiles)?;
    let configurations = configurations(args, &target)?;
    let mut trace = Rows::open(&args.trace, &args.of_trace)?;
    let table = outputs.take(ROWS).map(|place| Table::begin(place, target.extent().name));
    let mut table = table.transpose()?;
    let found = pass(args, &target, &configurations, &mut trace, table.as_mut())?;
    let simulation = told(args, &target, &trace, found)?;
    if let Some(table) = table {
        table.keep(trace.info())?;
    }
    let mut document = output::document(0);
    document.outcome = Some(simulation.into());
    outputs::pour(&mut outputs, &document, args.out.json)
}

/// A solid-state drive has a write buffer of its own and no need of a host's order: nothing of either can be chosen.
fn configurations(args: &SimulateArgs, target: &Target) -> Result<Vec<Configuration>, Failure> {
    let model = match target {
        Target::Disk(drive) => {
            return combinations(&args.choices(), drive).map_err(Failure::Misuse);
        }
        Target::Flash(model) => model,
    };
    let chosen = [
        ("--cache", args.cache.is_some()),
        ("--destage", args.destage.is_some()),
        ("--freeing", args.freeing.is_some()),
        ("--sweep", !args.sweep.is_empty()),
        ("--scheduler", args.scheduler.is_some()),
        ("--read-ahead", args.read_ahead.is_some()),
        ("--shared-bus", args.shared_bus),
    ];
    if let Some((name, _)) = chosen.iter().find(|(_, chosen)| *chosen) {
        return Err(Failure::Misuse(format!(
            "{name} is for disks: {} is a solid-state drive with its own write buffer",
            model.name
        )));
    }
    Ok(vec![Configuration { arrivals: args.arrivals, ..Configuration::default() }])
}

/// What a pass through the trace found.
struct Found<'a> {
    cells: Vec<Cell<'a>>,
    absorption: Vec<HostCacheAbsorption>,
}

/// A combination at work, and why it had to stop.
type AtWork<'a> = (Cell<'a>, Option<ioscape_simulate::Error>);

/// Reads the trace once: every combination takes every batch, on several threads; the result does not depend on how many.
fn pass<'a>(
    args: &SimulateArgs,
    target: &'a Target,
    configurations: &[Configuration],
    trace: &mut Rows,
    mut table: Option<&mut Table>,
) -> Result<Found<'a>, Failure> {
    let begin = |options: &Configuration| (Cell::new(target, *options, args.fitting()), None);
    let mut cells: Vec<AtWork<'a>> = configurations.iter().map(begin).collect();
    if let Some((first, _)) = cells.first_mut() {
        first.judge();
        if table.is_some() {
            first.keep_rows();
        }
    }
    let threads = args.threads.map_or_else(parallel::processors, |threads| threads as usize);
    let mut absorbed = args.absorption.then(AbsorbedAtHost::default);
    let done = Mutex::new(Vec::new());
    let mut more = true;
    let next = |mut batch: Batch| {
        if let Some(table) = &mut table {
            table.write(&mut done.lock().unwrap_or_else(PoisonError::into_inner), trace.info())?;
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
    let work = |(cell, error): &mut AtWork<'_>, batch: &Batch| {
        *error = cell.take(batch).err();
        let rows = cell.take_rows();
        done.lock().unwrap_or_else(PoisonError::into_inner).extend(rows);
        error.is_none()
    };
    let found = parallel::to_all(cells, threads, next, work)?;
    let cells = finished(found, configurations.len())?;
    let mut rows = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (cells, last): (Vec<Cell<'_>>, Vec<Vec<SimulatedRequest>>) = cells.into_iter().unzip();
    if let Some(table) = table {
        rows.extend(last.into_iter().flatten());
        table.write(&mut rows, trace.info())?;
    }
    Ok(Found { cells, absorption: absorbed.map(AbsorbedAtHost::finish).unwrap_or_default() })
}

/// The combinations when all of them are done, with the rows that came last.
fn finished<'a>(
    found: Result<Vec<AtWork<'a>>, Vec<usize>>,
    count: usize,
) -> Result<Vec<(Cell<'a>, Vec<SimulatedRequest>)>, Failure> {
    let cells = found.map_err(|failed| {
        let numbers: Vec<String> = failed.iter().map(usize::to_string).collect();
        Failure::Failed(format!(
            "combination {} of {count} failed: no result is written (this is a defect of ioscape)",
            numbers.join(", ")
        ))
    })?;
    let finish = |(mut cell, error): AtWork<'a>| {
        if let Some(error) = error {
            let wrap = if error.to_string().contains("beyond") { ", or give --wrap" } else { "" };
            return Err(Failure::Misuse(format!("{error}{wrap}")));
        }
        cell.finish();
        let rows = cell.take_rows();
        Ok((cell, rows))
    };
    cells.into_iter().map(finish).collect()
}

/// The result, once nothing speaks against it.
fn told(
    args: &SimulateArgs,
    target: &Target,
    trace: &Rows,
    Found { cells, absorption }: Found<'_>,
) -> Result<Simulation, Failure> {
    trace.done();
    if trace.interrupted() {
        return Err(Failure::Interrupted("interrupted: nothing was written".to_owned()));
    }
    trace.check()?;
    let extent = target.extent();
    let Some(first) = cells.first().filter(|cell| cell.requests() > 0) else {
        return Err(Failure::Misuse("no request of the trace moves data on these devices".into()));
    };
    let (wrapped, left_out) = first.fitted();
    if let Some(what) = left_out {
        output::tell(&format!("Not simulated: {what}"));
    }
    if wrapped > 0 {
        output::tell(&format!("{wrapped} requests beyond {} were wrapped", extent.name));
    }
    if trace.moved() > 0 {
        output::tell(&format!("{} requests were put in the order of arrival", trace.moved()));
    }
    let progress = Progress::of_jobs(0, 1, "simulate");
    progress.doing("comparison with the recorded times");
    let agreement = first.agreement();
    progress.done();
    let names = args.trace.iter().map(|path| path.display().to_string());
    Ok(Simulation {
        drive: extent.name.to_owned(),
        drive_status: target.status().words().to_owned(),
        trace: names.collect::<Vec<_>>().join(", "),
        devices: first.devices().iter().map(|&d| device_name(trace.info(), d)).collect(),
        arrivals: args.arrivals.name().to_owned(),
        requests: first.requests(),
        cells: cells.iter().map(Cell::kept).collect(),
        agreement,
        absorption,
    })
}

/// Simulated rows on their way into a file.
struct Table {
    file: Output,
    writer: Writer,
    drive: String,
}

impl Table {
    fn begin(place: Destination, drive: &str) -> Result<Self, Failure> {
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
        self.writer.rows_with(&ios, &parts, &info).map_err(|e| Failure::Failed(e.to_string()))
    }

    fn keep(self, trace: &TraceInfo) -> Result<(), Failure> {
        let info = rows::info(trace, &self.drive);
        self.writer.finish(&info).map_err(|e| Failure::Failed(e.to_string()))?;
        self.file.keep().map(drop)
    }
}
