//! `ioscape calibrate`: fits a drive to one half of a measured trace and judges it on the other.

use crate::args::CalibrateArgs;
use crate::drives::DriveFiles;
use crate::failure::Failure;
use crate::output;
use crate::outputs::{self, RESULT};
use crate::progress::Progress;
use crate::traces::Rows;
use ioscape_machine::interrupt;
use ioscape_schema::text::DRIVE_MARK;
use ioscape_simulate::calibrate::{Search, calibrate, verdict};
use ioscape_simulate::catalog;
use ioscape_simulate::fit::check_sector;
use ioscape_simulate::job::by_device;
use ioscape_simulate::{Job, jobs};
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Fewest requests that a fit is based on.
const JOBS_LEAST: usize = 200;

/// Runs the command.
///
/// # Errors
/// A trace without measured times or too short, one that does not fit the drive, and output that cannot be written.
pub fn main(args: &CalibrateArgs) -> Result<(), Failure> {
    let names = outputs::names(args.force).reads("the trace", &args.trace);
    let names = names.reads("--drive", [&args.drive]);
    let mut outputs = names.writes(RESULT, &args.output).open()?;
    let misuse = |e: ioscape_simulate::Error| Failure::Misuse(e.to_string());
    let start = catalog::parameters(&args.drive, &DriveFiles)?;
    let drive = catalog::build(&args.drive, &start)?;
    let trace = Rows::open(&args.trace, &args.of_trace)?.all()?;
    let busiest =
        by_device(&trace.rows).into_iter().max_by_key(|&(d, n)| (n, std::cmp::Reverse(d)));
    let device = match &trace.asked {
        Some(devices) if devices.len() > 1 => {
            return Err(Failure::Misuse(
                "--disk: a drive is fitted to one disk of the trace, so name one".to_owned(),
            ));
        }
        Some(devices) => devices.clone(),
        None => busiest.map(|(device, _)| device).into_iter().collect(),
    };
    for &device in &device {
        check_sector(&trace.info.devices, device, (&drive).into())?;
    }
    let mut all = jobs(&trace.rows, &device, &drive).map_err(misuse)?;
    if all.len() < JOBS_LEAST || all.iter().all(|j| j.io.physical_ns() == 0) {
        return Err(Failure::Misuse(format!(
            "{} requests with measured times: a fit needs {JOBS_LEAST}; give a trace that has completions",
            all.len()
        )));
    }
    all.sort_by_key(|j| j.io.issued_ns);
    let (first, second) = all.split_at(all.len() / 2);
    let search = Search { rounds: args.rounds, skews: !args.keep_skews, ..Search::default() };
    let fitted = with_progress(&start, first, search)?;
    let failed = |e: ioscape_simulate::Error| Failure::Failed(e.to_string());
    let (mut fitted, summary) = verdict(&start, fitted, [first, second]).map_err(failed)?;
    fitted.sources.insert("calibration".to_owned(), summary.join("; "));
    let text = format!("{DRIVE_MARK}.\n{}", fitted.text().map_err(misuse)?);
    for line in &summary {
        output::tell(line);
    }
    match &args.output {
        Some(_) => Ok(outputs.text(RESULT, &text)?),
        None => output::print(&text),
    }
}

fn with_progress(
    start: &ioscape_simulate::Parameters,
    jobs: &[Job],
    search: Search,
) -> Result<ioscape_simulate::Parameters, Failure> {
    let progress = Progress::of_jobs(0, 1, "calibrate");
    let (stopped, flag) = (Cell::new(false), interrupt::flag());
    let mut step = |name: &str, cost_ns: f64| {
        progress.doing(&format!("{name}, error {:.3} ms", cost_ns / 1e6));
        stopped.set(flag.load(Ordering::Relaxed));
        !stopped.get()
    };
    let fitted = calibrate(start, jobs, search, &mut step);
    progress.done();
    if stopped.get() {
        return Err(Failure::Interrupted("interrupted: nothing was written".to_owned()));
    }
    fitted.map_err(|e| Failure::Failed(e.to_string()))
}
