//! `ioscape simulate`: a trace against simulated disks, in all combinations asked for.

use crate::args::SimulateArgs;
use crate::drives::DriveFiles;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::progress::Progress;
use crate::traces::{Output, ROWS, Rows, format_of_rows};
use ioscape_machine::output::Destination;
use ioscape_machine::parallel;
use ioscape_schema::{Io, SimulatedCell, Simulation, SimulationAgreement, TraceInfo};
use ioscape_simulate::catalog::Target;
use ioscape_simulate::combinations::combinations;
use ioscape_simulate::drive::Status;
use ioscape_simulate::fit::{check_sectors, device_name, fit, left_out};
use ioscape_simulate::{
    Configuration, Drive, Job, SimulatedTrace, jobs, nvram, rows, simulate, simulate_into, ssd,
    summary,
};

/// Rows that are written at once.
const ROWS_AT_ONCE: usize = 1 << 16;

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
    let mut trace = Rows::open(&args.trace, &args.of_trace)?.all()?;
    let progress = Progress::of_jobs(0, 1, "simulate");
    let devices = trace.devices();
    let extent = target.extent();
    check_sectors(&trace.info, &devices, extent)?;
    if let Some(what) = left_out(&trace.rows, &devices, extent) {
        output::tell(&format!("Not simulated: {what}"));
    }
    let wrapped = fit(&mut trace.rows, extent, args.wrap, args.scale_time);
    if wrapped > 0 {
        output::tell(&format!("{wrapped} requests beyond {} were wrapped", extent.name));
    }
    let all = jobs(&trace.rows, &devices, extent).map_err(|e| {
        let wrap = if e.to_string().contains("beyond") { ", or give --wrap" } else { "" };
        Failure::Misuse(format!("{e}{wrap}"))
    })?;
    if all.is_empty() {
        return Err(Failure::Misuse("no request of the trace moves data on these devices".into()));
    }
    let (found, run) = match &target {
        Target::Disk(drive) => on_disk(args, drive, &all, &progress)?,
        Target::Flash(model) => on_flash(args, model, &all, &progress)?,
    };
    if let Some(place) = outputs.take(ROWS) {
        write_rows(place, run, &rows::info(&trace.info, extent.name))?;
    }
    let names = args.trace.iter().map(|path| path.display().to_string());
    let mut document = output::document(0);
    let simulation = Simulation {
        drive: extent.name.to_owned(),
        drive_status: found.status.words().to_owned(),
        trace: names.collect::<Vec<_>>().join(", "),
        devices: devices.iter().map(|&d| device_name(&trace.info, d)).collect(),
        arrivals: args.arrivals.name().to_owned(),
        requests: all.len() as u64,
        cells: found.cells,
        agreement: found.agreement,
        absorption: nvram::absorption_at_host(&trace.rows),
    };
    document.outcome = Some(simulation.into());
    progress.done();
    outputs::pour(&mut outputs, &document, args.out.json)
}

/// Writes simulated rows as a trace.
fn write_rows(
    place: Destination,
    mut run: SimulatedTrace,
    info: &TraceInfo,
) -> Result<(), Failure> {
    let failed = |e: ioscape_trace::Error| Failure::Failed(e.to_string());
    let format = format_of_rows(place.path())?;
    let (file, mut writer) = Output::with_columns(place, format, &rows::COLUMNS)?;
    run.sort_by_arrival();
    for some in run.rows.chunks(ROWS_AT_ONCE) {
        let ios: Vec<Io> = some.iter().map(|row| row.io).collect();
        let parts: Vec<u64> = some.iter().flat_map(|row| row.columns()).collect();
        writer.rows_with(&ios, &parts, info).map_err(failed)?;
    }
    writer.finish(info).map_err(failed)?;
    file.keep().map(drop)
}

/// What a kind of drive has to say.
struct Found {
    status: Status,
    cells: Vec<SimulatedCell>,
    agreement: Option<SimulationAgreement>,
}

fn on_disk(
    args: &SimulateArgs,
    drive: &Drive,
    all: &[Job],
    progress: &Progress,
) -> Result<(Found, SimulatedTrace), Failure> {
    let cells = combinations(&args.choices(), drive).map_err(Failure::Misuse)?;
    progress.doing(&format!("{} requests, {} combinations", all.len(), cells.len()));
    let agreement = cells.first().and_then(|first| summary::busiest_agreement(drive, all, first));
    let first = cells.first().filter(|_| args.rows.is_some());
    let found = Found {
        status: drive.status,
        cells: run_all(drive, all, &cells, args.threads)?,
        agreement,
    };
    Ok((found, first.map(|first| simulate(drive, all, first)).unwrap_or_default()))
}

/// A solid-state drive has a write buffer of its own and no need of a host's order: nothing of either can be chosen.
fn on_flash(
    args: &SimulateArgs,
    model: &ssd::Model,
    all: &[Job],
    progress: &Progress,
) -> Result<(Found, SimulatedTrace), Failure> {
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
    progress.doing(&format!("{} requests", all.len()));
    let run = ssd::simulate(model, all, args.arrivals);
    let cells = vec![summary::flash_cell(model, &run)];
    Ok((Found { status: model.status, cells, agreement: None }, run))
}

/// Simulates all combinations on several threads; the result does not depend on how many.
fn run_all(
    drive: &Drive,
    jobs: &[Job],
    cells: &[Configuration],
    threads: Option<u32>,
) -> Result<Vec<SimulatedCell>, Failure> {
    let threads = threads.map_or_else(parallel::processors, |threads| threads as usize);
    let work = |configuration: &Configuration, run: &mut SimulatedTrace| {
        simulate_into(drive, jobs, configuration, run);
        summary::cell(drive, configuration, run)
    };
    parallel::each(cells, threads, work).map_err(|failed| {
        let numbers: Vec<String> = failed.iter().map(usize::to_string).collect();
        Failure::Failed(format!(
            "combination {} of {} failed: no result is written (this is a defect of ioscape)",
            numbers.join(", "),
            cells.len()
        ))
    })
}
