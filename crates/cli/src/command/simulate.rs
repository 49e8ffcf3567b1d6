//! `ioscape simulate`: a trace against simulated disks, in all combinations asked for.

use crate::args::SimulateArgs;
use crate::drives::Target;
use crate::failure::Failure;
use crate::outputs::Names;
use crate::progress::Progress;
use crate::traces::{Output, ROWS, Rows, format_of_rows};
use crate::{drives, output};
use ioscape_machine::output::Place;
use ioscape_schema::{Io, SimulatedCell, Simulation, SimulationAgreement, TraceInfo};
use ioscape_simulate::combinations::combinations;
use ioscape_simulate::drive::Status;
use ioscape_simulate::{
    Drive, Job, Options, Replayed, jobs, nvram, replay, replay_into, rows, ssd, summary,
};
use std::sync::atomic::{AtomicUsize, Ordering};

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
    let names = Names::of(&args.out).reads("the trace", &args.trace);
    let mut outputs = names.reads("--drive", [&args.drive]).writes(ROWS, &args.rows).open()?;
    let target = drives::target(&args.drive)?;
    let trace = Rows::open(&args.trace, &args.of_trace)?.all()?;
    let progress = Progress::of_jobs(0, 1, "simulate");
    let devices = drives::devices(&trace);
    let extent = target.extent();
    drives::check_sectors(&trace, &devices, extent)?;
    let all = jobs(&trace.rows, &devices, extent).map_err(|e| Failure::Misuse(e.to_string()))?;
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
        devices: devices.iter().map(|&d| drives::device_name(&trace, d)).collect(),
        arrivals: args.arrivals.name().to_owned(),
        requests: all.len() as u64,
        cells: found.cells,
        agreement: found.agreement,
        absorption: nvram::absorption_at_host(&trace.rows),
    };
    document.outcome = Some(simulation.into());
    progress.done();
    outputs.pour(&document, args.out.json)
}

/// Writes simulated rows as a trace.
fn write_rows(place: Place, mut run: Replayed, info: &TraceInfo) -> Result<(), Failure> {
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
) -> Result<(Found, Replayed), Failure> {
    let cells = combinations(&args.choices(), drive).map_err(Failure::Misuse)?;
    progress.doing(&format!("{} requests, {} combinations", all.len(), cells.len()));
    let agreement = cells.first().and_then(|first| summary::busiest_agreement(drive, all, first));
    let first = cells.first().filter(|_| args.rows.is_some());
    let found = Found {
        status: drive.status,
        cells: run_all(drive, all, &cells, threads(args)),
        agreement,
    };
    Ok((found, first.map(|first| replay(drive, all, first)).unwrap_or_default()))
}

/// A solid-state drive has a write buffer of its own and no need of a host's order: nothing of either can be chosen.
fn on_flash(
    args: &SimulateArgs,
    model: &ssd::Model,
    all: &[Job],
    progress: &Progress,
) -> Result<(Found, Replayed), Failure> {
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
    let run = ssd::replay(model, all, args.arrivals);
    let cells = vec![summary::flash_cell(model, &run)];
    Ok((Found { status: model.status, cells, agreement: None }, run))
}

fn threads(args: &SimulateArgs) -> usize {
    let here = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    args.threads.map_or(here, |n| n as usize)
}

/// Simulates all combinations on several threads; the result does not depend on how many.
fn run_all(drive: &Drive, jobs: &[Job], cells: &[Options], threads: usize) -> Vec<SimulatedCell> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut done, mut run) = (Vec::new(), Replayed::default());
        while let Some(options) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
            replay_into(drive, jobs, options, &mut run);
            done.push((options, summary::cell(drive, options, &run)));
        }
        done
    };
    let mut found = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(cells.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect::<Vec<_>>()
    });
    found.sort_by_key(|(options, _)| cells.iter().position(|cell| cell == *options));
    found.into_iter().map(|(_, cell)| cell).collect()
}
