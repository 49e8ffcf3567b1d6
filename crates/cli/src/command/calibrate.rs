//! `ioscape calibrate`: fits a drive to one half of a measured trace and judges it on the other.

use crate::args::CalibrateArgs;
use crate::failure::Failure;
use crate::outputs::{Names, RESULT};
use crate::progress::Progress;
use crate::recognise::FITTED_DRIVE;
use crate::traces::Rows;
use crate::{drives, interrupt, output};
use ioscape_simulate::calibrate::{Fit, Search, calibrate, judge};
use ioscape_simulate::{Job, Status, jobs};
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Fewest requests that a fit is based on.
const JOBS_LEAST: usize = 200;

/// Runs the command.
///
/// # Errors
/// A trace without measured times or too short, one that does not fit the drive, and output that cannot be written.
pub fn main(args: &CalibrateArgs) -> Result<(), Failure> {
    let names = Names::new(args.force).reads("the trace", &args.trace);
    let names = names.reads("--drive", [&args.drive]);
    let mut outputs = names.writes(RESULT, &args.output).open()?;
    let misuse = |e: ioscape_simulate::Error| Failure::Misuse(e.to_string());
    let start = drives::parameters(&args.drive)?;
    let drive = drives::build(&args.drive, &start)?;
    let trace = Rows::open(&args.trace, &args.of_trace)?.all()?;
    let busiest =
        drives::counts(&trace).into_iter().max_by_key(|&(d, n)| (n, std::cmp::Reverse(d)));
    let device = match &trace.asked {
        Some(devices) if devices.len() > 1 => {
            return Err(Failure::Misuse(
                "--disk: a drive is fitted to one disk of the trace, so name one".to_owned(),
            ));
        }
        Some(devices) => devices.clone(),
        None => busiest.map(|(device, _)| device).into_iter().collect(),
    };
    drives::check_sectors(&trace, &device, (&drive).into())?;
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
    let mut fitted = with_progress(&start, first, search)?;
    fitted.status = Status::Calibrated;
    let summary = judged(&start, &fitted, [first, second])?;
    fitted.sources.insert("calibration".to_owned(), summary.join("; "));
    let text = format!("{FITTED_DRIVE}.\n{}", fitted.text().map_err(misuse)?);
    for line in &summary {
        output::tell(line);
    }
    match &args.output {
        Some(_) => outputs.text(RESULT, &text),
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

/// Start and fit on both halves, in words.
fn judged(
    start: &ioscape_simulate::Parameters,
    fitted: &ioscape_simulate::Parameters,
    halves: [&[Job]; 2],
) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    for (what, parameters) in [("start", start), ("fit", fitted)] {
        let drive = parameters.build().map_err(|e| Failure::Failed(e.to_string()))?;
        for (half, jobs) in ["first half (fitted)", "second half (held out)"].iter().zip(halves) {
            lines.push(format!("{what}, {half}: {}", sentence(&judge(&drive, jobs))));
        }
    }
    Ok(lines)
}

fn sentence(fit: &Fit) -> String {
    format!(
        "demerit {:.2} %, mean {:.3} ms for {:.3} ms measured; paired error of {} requests: median {:.3} ms, {:.1} % within 1 ms",
        100.0 * fit.free.demerit,
        fit.free.simulated_mean_ns / 1e6,
        fit.free.measured_mean_ns / 1e6,
        fit.paired.count,
        fit.paired.paired_median_ns / 1e6,
        100.0 * fit.paired.within_1ms
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_simulate::Agreement;

    #[test]
    fn a_fit_is_told_by_demerit_and_paired_error() {
        let free = Agreement {
            count: 21_126,
            measured_mean_ns: 25.409e6,
            simulated_mean_ns: 25.3994e6,
            demerit: 0.02254,
            ..Agreement::default()
        };
        let paired = Agreement {
            count: 17_000,
            paired_median_ns: 78_400.0,
            within_1ms: 0.9241,
            ..Agreement::default()
        };
        assert_eq!(
            sentence(&Fit { free, paired, cost_ns: 1.0 }),
            "demerit 2.25 %, mean 25.399 ms for 25.409 ms measured; paired error of 17000 requests: median 0.078 ms, 92.4 % within 1 ms"
        );
    }
}
