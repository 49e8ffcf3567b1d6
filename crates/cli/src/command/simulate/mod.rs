//! `ioscape simulate`: a trace on simulated drives, in all requested combinations, in one pass.

mod own_drives;
mod pass;

use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use crate::traces::{ROWS, Rows};
use ioscape_arguments::SimulateArgs;
use ioscape_machine::terminal::Progress;
use ioscape_schema::{Simulation, Warning};
use pass::{Found, Table, compared, pass, setups};

/// Runs the command.
///
/// # Errors
/// A drive or trace cannot be read, they do not fit, or the output cannot be written.
pub fn main(args: &SimulateArgs) -> Result<(), Failure> {
    if args.own_drive {
        return own_drives::main(args);
    }
    let names = outputs::names_of(&args.out).reads("the trace", &args.trace);
    // The file may follow the name of a device.
    let behind = args.drive.iter().filter_map(|one| Some(one.split_once('=')?.1));
    let drives: Vec<&str> = args.drive.iter().map(String::as_str).chain(behind).collect();
    let mut outputs = names.reads("--drive", drives).writes(ROWS, &args.rows).open()?;
    let setups = setups(args, &args.drive)?;
    let choices = args.choices();
    let mut trace = Rows::open(&args.trace, &args.of_trace)?;
    let table = outputs.take(ROWS).map(|place| Table::begin(place, &setups[0].name()));
    let mut table = table.transpose()?;
    let found = pass(args, (&setups, &choices), &mut trace, table.as_mut())?;
    let (simulation, doubts) = told(args, &trace, found)?;
    let written = table.map_or(Ok(()), |table| table.keep(trace.info()));
    let mut document = output::document(0);
    doubts.into_iter().for_each(|doubt| document.warn(doubt));
    document.outcome = Some(simulation.into());
    both(outputs::finish(&mut outputs, &document, args.out.json), written)
}

/// The result, once nothing rules it out, and the warnings about it.
fn told(
    args: &SimulateArgs,
    trace: &Rows,
    found: Found<'_>,
) -> Result<(Simulation, Vec<Warning>), Failure> {
    found.simulated.check_met(trace.info()).map_err(Failure::Misuse)?;
    let progress = Progress::of_jobs(0, 1, "simulate");
    progress.doing("comparison with the recorded times");
    let (agreement, doubts) = compared(&found.simulated, trace)?;
    progress.done();
    let names = args.trace.iter().map(|path| path.display().to_string());
    let simulation = Simulation {
        trace: names.collect::<Vec<_>>().join(", "),
        arrivals: args.arrivals.word().to_owned(),
        agreement,
        absorption: found.absorption,
        ..found.simulated.simulation(trace.info())
    };
    Ok((simulation, doubts))
}
