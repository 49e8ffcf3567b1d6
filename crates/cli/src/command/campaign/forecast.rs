//! `ioscape campaign run --dry-run`: what a campaign will take, at the pace of a short trial at each place.

use super::cell::measure;
use super::room::made;
use crate::command::vxbench::run_strictly;
use crate::failure::Failure;
use crate::output;
use ioscape_arguments::CampaignRunArgs;
use ioscape_machine::loops::Recipe;
use ioscape_measure::vxbench::Watch;
use ioscape_measure::vxbench::site::CampaignSite;
use ioscape_schema::units::Seconds;
use ioscape_schema::{RowPlan, VxWorkload};
use ioscape_study::campaign::{
    Pace, TRIAL_BYTES, Work, describe_place, describe_rows, trial_job, trial_names,
};
use ioscape_workload::campaign::Campaign;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Prints the rows with the space they need, and the time at the pace of the places.
///
/// # Errors
/// File systems cannot be made as requested, a trial was interrupted, or the output cannot be
/// written.
pub fn print(
    args: &CampaignRunArgs,
    campaign: &Campaign,
    rows: &[RowPlan],
    interrupt: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let recipes = if args.fs.is_empty() { Vec::new() } else { made(args)?.0 };
    let places = if recipes.is_empty() { args.places.len() } else { recipes.len() };
    let table = describe_rows(rows, campaign.method.len(), places, campaign.rounds);
    let mut out = format!("{}\n{table}", campaign.title);
    let mut total_s = 0.0;
    for path in &args.places {
        let raw = are_raw(path, &recipes);
        let works = raw.iter().map(|raw| Work::of(rows, campaign.rounds, *raw, args.fs_size));
        let works: Vec<Work> = works.collect();
        let has_names = works.iter().any(|work| work.name_operations > 0.0);
        let pace = trial(path, has_names, interrupt)?;
        let (line, seconds) = describe_place(&path.display().to_string(), &works, pace);
        out += &line;
        total_s += seconds;
    }
    if args.places.len() > 1 {
        out += &format!("together about {}\n", Seconds(total_s));
    }
    output::print(&out)
}

/// Which of the file systems to be made in a place are bare devices; if none is to be made, whether
/// the place is one.
fn are_raw(place: &Path, recipes: &[Recipe]) -> Vec<bool> {
    match recipes {
        [] => vec![!place.is_dir() && place.exists()],
        all => all.iter().map(|recipe| recipe.kind() == "raw").collect(),
    }
}

/// Measures the pace with a small file and, if the campaign has names, with name operations.
/// Returns the reason if there is no trial, as on a device, which a dry run leaves alone.
fn trial(
    place: &Path,
    has_names: bool,
    interrupt: &Arc<AtomicBool>,
) -> Result<Result<Pace, String>, Failure> {
    match place.metadata() {
        Ok(found) if found.is_dir() => {}
        Ok(found) if found.file_type().is_block_device() => {
            return Ok(Err("a dry run leaves devices alone".to_owned()));
        }
        Ok(_) => return Ok(Err("it is no directory and no block device".to_owned())),
        Err(why) => return Ok(Err(format!("it cannot be looked at here ({why})"))),
    }
    let watch = Watch { interrupt: Arc::clone(interrupt), ..Watch::default() };
    match measured(place, has_names, &watch) {
        Err(interrupted @ Failure::Interrupted(_)) => Err(interrupted),
        Err(why) => Ok(Err(format!("a trial failed ({why})"))),
        Ok(pace) => Ok(Ok(pace)),
    }
}

fn measured(place: &Path, has_names: bool, watch: &Watch) -> Result<Pace, Failure> {
    let mut site = CampaignSite::open(place)?;
    let path = site.folder().unwrap_or(place).join("file");
    let begun = Instant::now();
    let rate = |workload| -> Result<f64, Failure> {
        let job = trial_job(workload);
        let run = run_strictly(&job, std::slice::from_ref(&path), true, watch, None)?;
        Ok(run.total.throughput_bytes_per_s)
    };
    let (write, read) = (rate(VxWorkload::Write)?, rate(VxWorkload::Read)?);
    let pace = Pace::of_trial(TRIAL_BYTES, write, read, begun.elapsed().as_secs_f64());
    if !has_names {
        return Ok(pace);
    }
    let begun = Instant::now();
    measure(&mut site, &trial_names(), watch, false)?;
    Ok(pace.with_names(begun.elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a defect: the time for a second device, `raw-b`, was that of three methods
    /// for directories.
    #[test]
    fn a_device_is_a_device_under_a_name_of_its_own_too() {
        let of = |name: &str| Recipe { name: name.to_owned(), ..Recipe::default() };
        let recipes = ["ext4", "raw-a", "raw"].map(of);
        assert_eq!(are_raw(Path::new("/"), &recipes), [false, true, true]);
        assert_eq!(are_raw(Path::new("/"), &[]), [false]);
    }
}
