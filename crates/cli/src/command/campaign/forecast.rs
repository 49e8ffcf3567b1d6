//! `ioscape campaign run --dry-run`: what a campaign will take, at the pace of a short trial at each place.

use crate::command::vxbench::run;
use crate::failure::Failure;
use crate::output;
use ioscape_arguments::CampaignRunArgs;
use ioscape_machine::target::ScratchFolder;
use ioscape_measure::vxbench::Watch;
use ioscape_schema::units::Seconds;
use ioscape_schema::{RowPlan, VxWorkload};
use ioscape_study::campaign::{Pace, TRIAL_BYTES, Work, describe_place, describe_rows, trial_job};
use ioscape_workload::campaign::Campaign;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

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
    let places = if args.fs.is_empty() { args.places.len() } else { args.fs.len() };
    let table = describe_rows(rows, campaign.method.len(), places, campaign.rounds);
    let mut out = format!("{}\n{table}", campaign.title);
    let mut total_s = 0.0;
    for path in &args.places {
        let kinds: Vec<bool> = match args.fs.is_empty() {
            true => vec![!path.is_dir() && path.exists()],
            false => args.fs.iter().map(|kind| kind == "raw").collect(),
        };
        let works = kinds.iter().map(|raw| Work::of(rows, campaign.rounds, *raw, args.fs_size));
        let works: Vec<Work> = works.collect();
        let pace = trial(path, interrupt)?;
        let (line, seconds) = describe_place(&path.display().to_string(), &works, pace);
        out += &line;
        total_s += seconds;
    }
    if args.places.len() > 1 {
        out += &format!("together about {}\n", Seconds(total_s));
    }
    output::print(&out)
}

/// Writes and reads a small file; `None` where that cannot be done, as on a device, which a dry run leaves alone.
fn trial(place: &Path, interrupt: &Arc<AtomicBool>) -> Result<Option<Pace>, Failure> {
    let folder = ScratchFolder::new_in(place);
    let Ok(folder) = folder else { return Ok(None) };
    let path = folder.path().join("file");
    let watch = Watch { interrupt: Arc::clone(interrupt), ..Watch::default() };
    let begun = Instant::now();
    let rate = |workload| -> Result<f64, Failure> {
        let job = trial_job(workload);
        Ok(run(&job, std::slice::from_ref(&path), true, &watch, None)?.total.throughput_bytes_per_s)
    };
    let rates = rate(VxWorkload::Write).and_then(|write| Ok((write, rate(VxWorkload::Read)?)));
    match rates {
        Ok((write, read)) => {
            Ok(Some(Pace::of_trial(TRIAL_BYTES, write, read, begun.elapsed().as_secs_f64())))
        }
        Err(interrupted @ Failure::Interrupted(_)) => Err(interrupted),
        Err(_) => Ok(None),
    }
}
