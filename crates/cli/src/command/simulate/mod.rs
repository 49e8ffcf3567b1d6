//! `ioscape simulate`: a trace against simulated disks, in all combinations asked for, in one pass.

mod own_drives;
mod pass;

use crate::drives::DriveFiles;
use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use crate::traces::{ROWS, Rows};
use ioscape_arguments::SimulateArgs;
use ioscape_machine::terminal::Progress;
use ioscape_schema::{SimulatedCell, Simulation};
use ioscape_simulate::cell::Setup;
use ioscape_simulate::fit::device_name;
use pass::{AtWork, Found, Table, begun, check_disks, finished_one, left_out, pass};

/// Runs the command.
///
/// # Errors
/// A drive or trace that cannot be read or do not fit, and output that cannot be written.
pub fn main(args: &SimulateArgs) -> Result<(), Failure> {
    if args.own_drive {
        return own_drives::main(args);
    }
    let names = outputs::names_of(&args.out).reads("the trace", &args.trace);
    // The file may follow the name of a device.
    let behind = args.drive.iter().filter_map(|one| Some(one.split_once('=')?.1));
    let drives: Vec<&str> = args.drive.iter().map(String::as_str).chain(behind).collect();
    let mut outputs = names.reads("--drive", drives).writes(ROWS, &args.rows).open()?;
    let setups = Setup::all(&args.drive, args.precondition, &DriveFiles)?;
    check_disks(args, &setups)?;
    let choices = args.choices();
    let mut trace = Rows::open(&args.trace, &args.of_trace)?;
    let drives: Vec<String> = setups.iter().map(Setup::name).collect();
    let table = outputs.take(ROWS).map(|place| Table::begin(place, &drives[0]));
    let mut table = table.transpose()?;
    let cells = begun(args, &setups, &choices, table.is_some())?;
    let found = pass(args, cells, &mut trace, table.as_mut())?;
    let simulation = told(args, &setups, &trace, found)?;
    let written = table.map_or(Ok(()), |table| table.keep(trace.info()));
    let mut document = output::document(0);
    document.outcome = Some(simulation.into());
    both(outputs::finish(&mut outputs, &document, args.out.json), written)
}

/// Refuses the drive of a device that made no request: it would be without effect.
fn all_met(setup: &Setup, trace: &Rows, seen: &[u16]) -> Result<(), Failure> {
    let unmet = setup.unmet(&trace.info().devices, seen);
    if unmet.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = seen.iter().map(|&d| device_name(trace.info(), d)).collect();
    Err(Failure::Misuse(format!(
        "--drive {}=...: no request of the trace is of that device; requests are of {}",
        unmet.join("=..., "),
        names.join(", ")
    )))
}

/// The result, once nothing speaks against it.
fn told(
    args: &SimulateArgs,
    setups: &[Setup],
    trace: &Rows,
    found: Found<'_>,
) -> Result<Simulation, Failure> {
    let first = finished_one(setups, trace, &found)?;
    all_met(&setups[0], trace, &first.devices())?;
    let progress = Progress::of_jobs(0, 1, "simulate");
    progress.doing("comparison with the recorded times");
    let agreement = first.agreement();
    progress.done();
    let names = args.trace.iter().map(|path| path.display().to_string());
    let joined = |what: fn(&Setup) -> String| {
        let mut all: Vec<String> = setups.iter().map(what).collect();
        all.dedup();
        all.join("; ")
    };
    let kept = |at: &AtWork<'_>| {
        let of_many = setups.len() > 1 || !setups[at.setup].named.is_empty();
        let drive = of_many.then(|| setups[at.setup].name());
        SimulatedCell { drive, ..at.cell.kept() }
    };
    Ok(Simulation {
        drive: joined(Setup::name),
        drive_status: joined(Setup::status),
        trace: names.collect::<Vec<_>>().join(", "),
        devices: first.devices().iter().map(|&d| device_name(trace.info(), d)).collect(),
        arrivals: args.arrivals.name().to_owned(),
        requests: first.requests(),
        cells: found.cells.iter().map(kept).collect(),
        agreement,
        left_out: left_out(setups, &found.cells),
        absorption: found.absorption,
    })
}
