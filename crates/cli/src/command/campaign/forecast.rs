//! What a campaign will take: its rows, their space, and the time at the pace of a short trial.

use super::cells::wanted;
use super::places::Laid;
use crate::args::CampaignRunArgs;
use crate::command::vxbench::run;
use crate::failure::Failure;
use crate::output;
use ioscape_measure::vxbench::Watch;
use ioscape_schema::units::{Bytes, Rate, Seconds};
use ioscape_schema::{VxJob, VxWorkload};
use ioscape_workload::campaign::{Campaign, CellPlan, Prepare, RowPlan};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Size of the trial, in bytes.
const TRIAL: u64 = 64 << 20;

/// How fast a place is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pace {
    /// Writing to the device, in bytes per second.
    write: f64,
    /// Reading from the device, in bytes per second.
    read: f64,
    /// What any run takes beside its requests, in seconds.
    run_s: f64,
}

/// Where no trial is possible.
const ASSUMED: Pace = Pace { write: 300e6, read: 300e6, run_s: 0.01 };

/// What is to be done in all rounds at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Work {
    written: f64,
    read: f64,
    runs: f64,
}

impl Work {
    fn seconds(&self, pace: &Pace) -> f64 {
        self.written / pace.write + self.read / pace.read + self.runs * pace.run_s
    }
}

/// Prints the rows with the space they need, and the time at the pace of the places.
///
/// # Errors
/// The trial was interrupted, or nothing can be printed.
pub fn print(
    args: &CampaignRunArgs,
    campaign: &Campaign,
    rows: &[RowPlan],
    interrupt: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let mut out = format!("{}\n", campaign.title);
    for row in rows {
        let names: Vec<String> =
            row.settings.iter().map(|s| format!("{} {}", s.name, s.text)).collect();
        let moved: u64 = row.cells.iter().map(CellPlan::moved_bytes).sum();
        out += &format!(
            "  {:<44} space {:>9}, moves {:>9} per place and round\n",
            names.join(", "),
            Bytes(space(row) as f64),
            Bytes(moved as f64)
        );
    }
    let places = if args.fs.is_empty() { args.places.len() } else { args.fs.len() };
    out += &format!(
        "{} rows, {} methods, {places} places, {} rounds: up to {} of space per place\n",
        rows.len(),
        campaign.method.len(),
        campaign.rounds,
        Bytes(rows.iter().map(space).max().unwrap_or(0) as f64)
    );
    out += &times(args, campaign, rows, interrupt)?;
    output::print(&out)
}

fn space(row: &RowPlan) -> u64 {
    row.cells.iter().map(CellPlan::space_bytes).max().unwrap_or(0)
}

/// A line for every place tried, and the sum.
fn times(
    args: &CampaignRunArgs,
    campaign: &Campaign,
    rows: &[RowPlan],
    interrupt: &Arc<AtomicBool>,
) -> Result<String, Failure> {
    let (mut out, mut total_s) = (String::new(), 0.0);
    for path in &args.places {
        let kinds: Vec<bool> = match args.fs.is_empty() {
            true => vec![!path.is_dir() && path.exists()],
            false => args.fs.iter().map(|kind| kind == "raw").collect(),
        };
        let trial = trial(path, interrupt)?;
        let pace = trial.unwrap_or(ASSUMED);
        let works: Vec<Work> = kinds.iter().map(|raw| work(rows, campaign.rounds, *raw)).collect();
        let seconds: f64 = works.iter().map(|work| work.seconds(&pace)).sum();
        let moved: f64 = works.iter().map(|work| work.read + work.written).sum();
        out += &format!(
            "{}: {} to move, about {} at {} {} writing and {} reading\n",
            path.display(),
            Bytes(moved),
            Seconds(seconds),
            if trial.is_some() { "a measured" } else { "an assumed" },
            Rate(pace.write),
            Rate(pace.read)
        );
        total_s += seconds;
    }
    if args.places.len() > 1 {
        out += &format!("together about {}\n", Seconds(total_s));
    }
    Ok(out)
}

/// What all rounds of the table do at a place; files are laid out again where a row or method needs others.
fn work(rows: &[RowPlan], rounds: u32, raw: bool) -> Work {
    let mut all = Work::default();
    let mut laid: Option<Laid> = None;
    for _ in 0..rounds {
        for plan in rows.iter().flat_map(|row| &row.cells).filter(|plan| plan.raw == raw) {
            let needed = Some(wanted(plan));
            if laid != needed && (raw || plan.prepare != Prepare::Fresh) {
                all.written += plan.space_bytes() as f64;
                all.runs += f64::from(plan.files_written);
            }
            laid = needed;
            all.runs += 1.0;
            let moved = plan.moved_bytes() as f64;
            match plan.job.workload.writes() {
                true => all.written += moved,
                false => all.read += moved,
            }
        }
    }
    all
}

/// Writes and reads a small file; `None` where that cannot be done, as on a device, which a dry run leaves alone.
fn trial(place: &Path, interrupt: &Arc<AtomicBool>) -> Result<Option<Pace>, Failure> {
    let folder = tempfile::Builder::new().prefix(".ioscape-trial-").tempdir_in(place);
    let Ok(folder) = folder else { return Ok(None) };
    let path = folder.path().join("file");
    let watch = Watch { interrupt: Arc::clone(interrupt), on_progress: None };
    let job = |workload, count| VxJob {
        workload,
        iosize: 1 << 20,
        iocount: Some(count),
        fsync: workload == VxWorkload::Write,
        cold: workload == VxWorkload::Read,
        ..VxJob::default()
    };
    let begun = Instant::now();
    let rate = |workload, count| -> Result<f64, Failure> {
        let job = job(workload, count);
        Ok(run(&job, std::slice::from_ref(&path), true, &watch, None)?.total.throughput_bytes_per_s)
    };
    let outcome = (|| {
        let (write, read) =
            (rate(VxWorkload::Write, TRIAL >> 20)?, rate(VxWorkload::Read, TRIAL >> 20)?);
        let moving_s = TRIAL as f64 / write.max(1.0) + TRIAL as f64 / read.max(1.0);
        let run_s = (begun.elapsed().as_secs_f64() - moving_s).max(0.0) / 2.0;
        Ok(Pace { write: write.max(1.0), read: read.max(1.0), run_s })
    })();
    match outcome {
        Ok(pace) => Ok(Some(pace)),
        Err(interrupted @ Failure::Interrupted(_)) => Err(interrupted),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_laid_out_once_while_all_rows_need_the_same() {
        let text = |prepare: &str| {
            format!(
                "title = \"t\"\nrounds = 3\n[base]\nfile_size = \"1M\"\n[[vary]]\nname = \"iosize\"\n\
                 values = [\"64k\", \"256k\"]\n[[method]]\nname = \"a\"\nwith = {{ prepare = \"{prepare}\" }}\n\
                 [[method]]\nname = \"raw\"\nraw = true\n"
            )
        };
        let campaign = Campaign::parse(&text("written")).unwrap();
        let rows = campaign.rows(u64::MAX).unwrap();
        let once = Work { written: 1048576.0, read: 6.0 * 1048576.0, runs: 7.0 };
        assert_eq!(work(&rows, 3, false), once);
        assert_eq!(work(&rows, 3, true), once);
        let pace = Pace { write: 1048576.0, read: 2097152.0, run_s: 0.5 };
        assert_eq!(once.seconds(&pace), 1.0 + 3.0 + 3.5);
    }

    #[test]
    fn fresh_files_are_not_laid_out() {
        let campaign = Campaign::parse(
            "title = \"t\"\n[base]\nworkload = \"write\"\nfile_size = \"1M\"\nprepare = \"fresh\"\n[[method]]\nname = \"a\"\n",
        )
        .unwrap();
        let rows = campaign.rows(u64::MAX).unwrap();
        assert_eq!(work(&rows, 2, false), Work { written: 2097152.0, read: 0.0, runs: 2.0 });
    }
}
