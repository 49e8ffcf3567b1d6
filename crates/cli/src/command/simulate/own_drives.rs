//! `ioscape simulate --own-drive`: every trace on the drive on which it was measured, one row each.

use super::pass::{compared, pass, setups};
use crate::drives::DriveFiles;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::traces::Rows;
use ioscape_arguments::SimulateArgs;
use ioscape_schema::{SimulatedCell, Simulation, Warning};
use ioscape_simulate::catalog::Files;
use ioscape_simulate::setup::Setup;
use std::path::{Path, PathBuf};

/// Extensions of files that describe a drive.
const ENDINGS: [&str; 3] = ["toml", "parv", "diskspecs"];

/// Runs the command.
///
/// # Errors
/// A trace has no drive beside it or does not fit it, or the output cannot be written.
pub fn main(args: &SimulateArgs) -> Result<(), Failure> {
    let names = outputs::names_of(&args.out).reads("the trace", &args.trace);
    let drives = args.trace.iter().flat_map(|trace| ENDINGS.map(|one| trace.with_extension(one)));
    let mut outputs = names.reads("the drive", drives).open()?;
    let mut all = Simulation {
        drive: "each trace on its own".to_owned(),
        arrivals: args.arrivals.word().to_owned(),
        ..Simulation::default()
    };
    let mut document = output::document(0);
    let (mut traces, mut status) = (Vec::new(), Vec::new());
    let own = on_their_own(args)?;
    for (path, setups) in args.trace.iter().zip(&own) {
        let choices = args.choices();
        let mut trace = Rows::open(std::slice::from_ref(path), &args.of_trace)?;
        let found = pass(args, (setups, &choices), &mut trace, None)?.simulated;
        let (agreement, doubts) = compared(&found, &trace)?;
        for doubt in doubts {
            let message = format!("{}: {}", path.display(), doubt.message);
            document.warn(Warning { message, ..doubt });
        }
        let one = found.simulation(trace.info());
        all.requests += one.requests;
        all.devices.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        all.left_out.extend(one.left_out);
        // The agreement is that of the first combination.
        let mut agreement = Some(agreement);
        all.cells.extend(one.cells.into_iter().map(|cell| SimulatedCell {
            drive: Some(one.drive.clone()),
            agreement: agreement.take().flatten(),
            ..cell
        }));
        traces.push(path.display().to_string());
        status.push(one.drive_status);
    }
    status.dedup();
    (all.trace, all.drive_status) = (traces.join(", "), status.join("; "));
    document.outcome = Some(all.into());
    outputs::finish(&mut outputs, &document, args.out.json)
}

/// The setups for the devices of each trace: the drive beside it. Drives with the same name, such
/// as copies of one file, are named together with their traces.
fn on_their_own(args: &SimulateArgs) -> Result<Vec<Vec<Setup>>, Failure> {
    let of = |path: &PathBuf| setups(args, &[beside(path)?]);
    let mut all: Vec<Vec<Setup>> = args.trace.iter().map(of).collect::<Result<_, Failure>>()?;
    let names: Vec<String> = all.iter().map(|own| own[0].name()).collect();
    for ((own, name), path) in all.iter_mut().zip(&names).zip(&args.trace) {
        if names.iter().filter(|other| *other == name).count() > 1 {
            own[0].given = Some(path.display().to_string());
        }
    }
    Ok(all)
}

/// The file beside a trace that describes its drive.
fn beside(trace: &Path) -> Result<String, Failure> {
    let files = ENDINGS.map(|ending| trace.with_extension(ending));
    let found = files.iter().find(|file| DriveFiles.exists(file));
    found.map(|file| file.display().to_string()).ok_or_else(|| {
        Failure::Misuse(format!(
            "{}: no drive lies beside it; looked for {}",
            trace.display(),
            files.map(|file| file.display().to_string()).join(", ")
        ))
    })
}
