//! `ioscape calibrate`: fits a drive to one half of a measured trace and judges it on the other.

use crate::drives::DriveFiles;
use crate::failure::Failure;
use crate::output;
use crate::outputs::{self, RESULT};
use crate::traces::Rows;
use ioscape_arguments::CalibrateArgs;
use ioscape_machine::interrupt;
use ioscape_machine::output::Content;
use ioscape_machine::terminal::Progress;
use ioscape_schema::text::DRIVE_MARK;
use ioscape_simulate::calibrate::{self, Search, verdict};
use ioscape_simulate::{Job, catalog};
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Runs the command.
///
/// # Errors
/// The trace lacks measured times, is too short or does not fit the drive, or the output cannot be
/// written.
pub fn main(args: &CalibrateArgs) -> Result<(), Failure> {
    let names = outputs::names(args.force).reads("the trace", &args.trace);
    let names = names.reads("--drive", [&args.drive]).holding(RESULT, Content::Drive);
    let mut outputs = names.writes(RESULT, &args.output).open()?;
    let start = catalog::parameters(&args.drive, &DriveFiles)?;
    let drive = catalog::build(&args.drive, &start)?;
    let trace = Rows::open(&args.trace, &args.of_trace)?.all()?;
    let all = trace.asked.as_deref();
    let [first, second] = calibrate::halves(&trace.rows, &trace.info, all, &drive)?;
    let search = Search { rounds: args.rounds, skews: !args.keep_skews, ..Search::default() };
    let fitted = with_progress(&start, &first, search)?;
    let failed = |e: ioscape_simulate::Error| Failure::Failed(e.to_string());
    let (mut fitted, summary) = verdict(&start, fitted, [&first, &second]).map_err(failed)?;
    fitted.sources.insert("calibration".to_owned(), summary.join("; "));
    let text = format!("{DRIVE_MARK}calibrate.\n{}", fitted.text()?);
    for line in &summary {
        output::tell(line);
    }
    outputs::text(&mut outputs, &text, "toml")
}

fn with_progress(
    start: &ioscape_simulate::Parameters,
    jobs: &[Job],
    search: Search,
) -> Result<calibrate::Fitted, Failure> {
    let progress = Progress::of_jobs(0, 1, "calibrate");
    let (stopped, flag) = (Cell::new(false), interrupt::flag());
    let mut step = |name: &str, cost_ns: f64| {
        progress.doing(&format!("{name}, error {:.3} ms", cost_ns / 1e6));
        stopped.set(flag.load(Ordering::Relaxed));
        !stopped.get()
    };
    let fitted = calibrate::calibrate(start, jobs, search, &mut step);
    progress.done();
    if stopped.get() {
        return Err(Failure::Interrupted("interrupted: nothing was written".to_owned()));
    }
    fitted.map_err(|e| Failure::Failed(e.to_string()))
}
